"""Episodes in AgentRewardBench's layout: cleaned trajectories, a JSON file each.

Lù et al., AgentRewardBench, arXiv 2504.08942; scripts/convert_trajectories_to_json.py and
clean_processed_trajectories.py of McGill-NLP/agent-reward-bench write them from AgentLab's records.
A step has `num`, `action`, `reasoning`, `url`, `axtree`, `screenshot_path`, `last_action_error` and
`open_pages_urls`; the last step may be the final look, without an action. Actions are BrowserGym's
calls; a bid such as `a51` of an inner frame gets a number of its own.
"""

import ast
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from apps.environment.browsergym.actions import ParsedCall, UserMessage, read_calls, translate
from tasks.task import Task
from webagent.action import Answer, GiveUp, is_final
from webagent.errors import ActionError, StoreError
from webagent.files import describe_invalid
from webagent.records import Decision, Ending, Node, Observation, Provenance, Step, Trajectory

_LINE = re.compile(
    r"""^(\s*)(?:\[(\w+)\] )?([A-Za-z]\w*)(?: ('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"))?(.*)$"""
)
"""Indentation, bid, role, the name as Python writes it, states."""
_BIDS = {
    **dict.fromkeys(
        ("fill", "clear", "check", "uncheck", "select_option", "click", "dblclick", "hover"), 1
    ),
    **dict.fromkeys(("press", "focus", "upload_file"), 1),
    "drag_and_drop": 2,
}
"""How many of a call's first arguments are bids."""
_BID_NAMES = ("bid", "from_bid", "to_bid")
_INNER = 1_000_000
"""First mark of the elements of inner frames."""
_PICTURES = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpg", b"RIFF": "webp"}


class RecordedStep(BaseModel):
    action: str | None = None
    reasoning: str | None = None
    url: str = ""
    screenshot_path: str | None = None
    last_action_error: str | None = None
    axtree: str | None = None


class RecordedEpisode(BaseModel):
    benchmark: str
    goal: str
    agent: str = ""
    seed: int | None = None
    valid: bool = True
    steps: list[RecordedStep] = Field(min_length=1)
    summary_info: dict[str, Any] = Field(default_factory=dict)


@dataclass(slots=True)
class BidNumbers:
    """Numbers for bids, the same for the same bid throughout an episode."""

    inner: dict[str, int] = field(default_factory=dict)

    def of(self, bid: str) -> int:
        if bid.isdecimal() and int(bid):
            return int(bid)
        return self.inner.setdefault(bid, _INNER + len(self.inner))

    def rewritten(self, call: ParsedCall) -> str:
        """Return the call as text, with bids as numbers."""
        count = _BIDS.get(call.name, 0)
        given = [
            str(self.of(str(value))) if place < count else value
            for place, value in enumerate(call.arguments)
        ]
        named = [
            f"{name}={str(self.of(str(value))) if name in _BID_NAMES else value!r}"
            for name, value in call.named.items()
        ]
        return f"{call.name}({', '.join([*map(repr, given), *named])})"


def read_episode(path: Path, keep: Callable[[bytes, str], str]) -> Trajectory:
    """Return the episode of a file; `keep` stores a screenshot and gives its reference.

    A text that is no call did nothing to the page and makes no step, several calls make several.
    Screenshots are looked for as named, from the file's folder and the folders above it; an episode
    whose screenshots were not fetched is read without them. Raises `StoreError` naming the file and
    what is wrong.
    """
    try:
        recorded = RecordedEpisode.model_validate(read_json(path))
    except ValidationError as error:
        raise StoreError(
            f"{path} is not a cleaned trajectory of AgentRewardBench: {describe_invalid(error)}"
        ) from error
    if not recorded.valid:
        raise StoreError(f"{path} is marked as not valid by its source, which leaves it out, too")
    marks = BidNumbers()
    pages = []
    for step in recorded.steps:
        picture = _find_picture(path, step.screenshot_path or "")
        pages.append(
            Observation(
                goal=recorded.goal.strip(),
                url=step.url,
                title="",
                nodes=read_tree(step.axtree or "", marks),
                outcome=" ".join((step.last_action_error or "").split()),
                screenshot=keep(*read_picture(picture)) if picture else "",
                captured=step.axtree or "",
            )
        )
    steps: list[Step] = []
    problems = [str(recorded.summary_info.get("err_msg") or "")]
    for number, (page, step) in enumerate(zip(pages, recorded.steps, strict=True), start=1):
        if step.action is None:
            continue
        try:
            calls = read_calls(step.action)
            if not calls:
                raise ActionError(f"not a call of BrowserGym: {step.action[:80]!r}")
            actions = [one for call in calls for one in translate(marks.rewritten(call))]
        except ActionError as error:
            problems.append(f"step {number}: {error}")
            continue
        thought = step.reasoning or ""  # of the first of several actions
        for one in actions:
            if not isinstance(one, UserMessage):
                action = one
            else:
                action = Answer(one.text) if one.role == "assistant" else GiveUp(one.text)
            steps.append(Step(page, Decision(action, thought=thought)))
            thought = ""
    task = Task(f"{path.stem.replace('.', '/', 1)}@1", recorded.steps[0].url, recorded.goal.strip())
    return Trajectory(
        id=f"agentrewardbench-{recorded.agent}-{path.stem}",
        task=task,
        goal=task.goal,
        steps=tuple(steps),
        last=pages[-1],
        ending=_ending(steps, recorded),
        error="; ".join(filter(None, problems)),
        provenance=Provenance(arm=recorded.agent, phase="imported"),
    )


def read_json(path: Path) -> Any:
    """Return the content of a JSON file. Raises `StoreError` when it is missing or damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise StoreError(f"{path} is damaged: {error}; copy it again from its source") from error


def read_picture(path: Path) -> tuple[bytes, str]:
    """Return a screenshot with the suffix of its format. Raises `StoreError` when it is none."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from error
    for beginning, suffix in _PICTURES.items():
        if content.startswith(beginning):
            return content, suffix
    raise StoreError(f"{path} is not a PNG, JPEG or WebP image; copy it again from its source")


def read_tree(text: str, marks: BidNumbers) -> tuple[Node, ...]:
    """Return the lines of a flattened accessibility tree as nodes."""
    nodes = []
    for found in filter(None, map(_LINE.match, text.splitlines())):
        indent, bid, role, quoted, rest = found.groups()
        try:
            name = str(ast.literal_eval(quoted or "''"))
        except (ValueError, SyntaxError):
            name = str(quoted)[1:-1]
        depth = len(indent.expandtabs(4)) // 2
        states = tuple(part.strip() for part in rest.split(",") if part.strip())
        if bid is None or role == "StaticText":
            nodes.append(Node(0, "text", name, depth=depth))
        else:
            nodes.append(Node(marks.of(bid), role, name, states=states, depth=depth))
    return tuple(nodes)


def _find_picture(path: Path, named: str) -> Path | None:
    """Return the screenshot's file, as named from any folder above; None without one."""
    if named in ("", "None"):
        return None
    if Path(named).is_absolute() or ".." in Path(named).parts:
        raise StoreError(f"{path} names the screenshot {named}, which is outside its own folders")
    return next((at for up in path.parents if (at := up / named).is_file()), None)


def _ending(steps: list[Step], recorded: RecordedEpisode) -> Ending:
    final = steps[-1].decision.action if steps else None
    if recorded.summary_info.get("err_msg"):
        return Ending.WORLD_FAILED
    if final is None or not is_final(final):
        is_over = recorded.summary_info.get("terminated")
        return Ending.TASK_OVER if is_over else Ending.STEP_LIMIT
    return Ending.ANSWERED if isinstance(final, Answer) else Ending.GAVE_UP
