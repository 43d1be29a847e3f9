"""Episodes in WebVoyager's layout: a folder with the messages and a screenshot for each look.

He et al., WebVoyager, arXiv 2401.13919; run.py of MinorJerry/WebVoyager (Apache-2.0) writes them.
Only the last looks keep their texts there, the others say that they were left out; addresses and
titles are not recorded. Labels of elements are kept as they are drawn on the screenshots, but for
the label 0, which is `ZERO` here, as mark 0 is static text.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from apps.imports import read_json, read_picture
from tasks.task import Task
from webagent.action import Action, Answer, Wait
from webagent.action.actions import Click, Fill, GoBack, Goto, Scroll
from webagent.errors import ActionError, StoreError
from webagent.records import Decision, Ending, Node, Observation, Provenance, Step, Trajectory

ZERO = 10_000
"""Mark of the element that carries the label 0."""
MESSAGES = "interact_messages.json"
VIEWPORT = (1024, 768)
MAX_STEPS = 15
_WINDOW_TURN = VIEWPORT[1] * 2 // 3
"""CSS pixels that one of its scrolls moves the window."""
_TASK = re.compile(r"Now given a task:\s*(.+?)\s*Please interact with\s+(\S+)", re.DOTALL)
_REPLY = re.compile(r"Thought:(.*?)Action:(.*)", re.DOTALL)
_ENTRY = re.compile(r";\s*\t\s*(?=\[\d+\]: )")
_ELEMENT = re.compile(r"\[(\d+)\]: (?:<(\w+)> )?(.*)", re.DOTALL)
_ROLES = {"button": "button", "input": "textbox", "textarea": "textbox", "select": "combobox"}
_OBSERVED = ("Observation:", "Now given a task")

_ACTIONS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Action]], ...] = (
    (re.compile(r"Click \[?(\d+)\]?"), lambda found: Click(_mark(found[1]))),
    (
        re.compile(r"Type \[?(\d+)\]?[; ]+\[?(.+?)\]?", re.DOTALL),
        lambda found: Fill(_mark(found[1]), found[2]),
    ),
    (
        re.compile(r"Scroll \[?(\d+|WINDOW)\]?[; ]+\[?(up|down)\]?", re.IGNORECASE),
        lambda found: Scroll(
            0 if found[1].upper() == "WINDOW" else _mark(found[1]),
            0,
            _WINDOW_TURN if found[2].lower() == "down" else -_WINDOW_TURN,
        ),
    ),
    (re.compile(r"Wait"), lambda found: Wait(5000)),
    (re.compile(r"GoBack"), lambda found: GoBack()),
    (re.compile(r"Google"), lambda found: Goto("https://www.google.com/")),
    (re.compile(r"ANSWER[; ]+\[?(.+?)\]?", re.DOTALL), lambda found: Answer(found[1].strip())),
)


def read_episode(folder: Path, keep: Callable[[bytes, str], str]) -> Trajectory:
    """Return the episode of a folder; `keep` stores a screenshot and gives its reference.

    A reply without an action did nothing to the page and makes no step; the error that came
    next is the following look's outcome. Raises `StoreError` naming the file and what is wrong.
    """
    path = folder / MESSAGES
    messages = read_json(path)
    if not isinstance(messages, list) or not all(
        (
            isinstance(each, dict)
            and isinstance(each.get("role"), str)
            and isinstance(each.get("content"), str | list)
        )
        for each in messages
    ):
        raise StoreError(f"{path} is not a list of messages with role and content")
    conversation = [each for each in messages if each["role"] != "system"]
    roles = [each["role"] for each in conversation]
    expected = [("user", "assistant")[index % 2] for index in range(len(roles))]
    if not roles or roles != expected:
        raise StoreError(f"{path}: user and assistant should take turns, found {roles}")
    texts = [*map(_read_text, conversation), *[""] * (len(conversation) % 2)]
    # A look with the reply to it, which is empty where the record breaks off.
    turns = list(zip(texts[::2], texts[1::2], strict=True))
    task = _read_task(folder, texts[0])
    steps: list[Step] = []
    seen: Observation | None = None
    unread: list[str] = []
    ending = Ending.STEP_LIMIT
    for number, (look, reply) in enumerate(turns, start=1):
        seen = _read_observation(folder, number, look, task, seen, keep)
        if not reply:
            unread.append("the record breaks off before the agent's reply")
            ending = Ending.MODEL_FAILED
            break
        try:
            found = _REPLY.search(reply)
            if found is None:
                raise ActionError("no Thought and Action")
            thought, action = found.groups()
            steps.append(Step(seen, Decision(read_action(action), thought=thought.strip())))
        except ActionError as error:
            unread.append(f"reply {number}: {error}")
    if ending is Ending.STEP_LIMIT and steps and isinstance(steps[-1].decision.action, Answer):
        ending = Ending.ANSWERED
    return Trajectory(
        id=f"webvoyager-{folder.name}",
        task=task,
        goal=task.goal,
        steps=tuple(steps),
        last=seen if ending != Ending.STEP_LIMIT else None,
        ending=ending,
        error="; ".join(unread),
        provenance=Provenance(world="browser", phase="imported", arm="webvoyager"),
    )


def read_action(text: str) -> Action:
    """Return one of WebVoyager's actions as ours. Raises `ActionError` for anything else.

    Its `Type` presses Enter after the text; `fill` stands for both here.
    """
    for pattern, make in _ACTIONS:
        found = pattern.fullmatch(text.strip())
        if found is not None:
            return make(found)
    raise ActionError(
        f"not an action of WebVoyager: {text.strip()[:80]!r}; expected Click [n], Type [n]; text,"
        " Scroll [n or WINDOW]; up or down, Wait, GoBack, Google or ANSWER; text"
    )


def read_elements(text: str) -> tuple[Node, ...]:
    """Return the marked elements that a look lists, in order; none where the list was left out."""
    start = re.search(r"^\[\d+\]: ", text, re.MULTILINE)
    if start is None:
        return ()
    nodes = []
    entries = _ENTRY.split(text[start.start() :].rstrip().removesuffix(";"))
    for label, tag, words in (
        found.groups("") for found in map(_ELEMENT.fullmatch, entries) if found
    ):
        name, *more = [part.strip('"') for part in words.strip().split('", "')]
        role, described = _ROLES.get(tag, "element"), "; ".join(more)
        nodes.append(Node(_mark(label), role, name, kind=tag, description=described))
    return tuple(nodes)


def _read_text(message: dict[str, object]) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part["text"]) for part in parts if part.get("type") == "text")


def _read_task(folder: Path, look: str) -> Task:
    found = _TASK.search(look)
    if found is None:
        raise StoreError(
            f"{folder / MESSAGES}: the first message names no task; expected 'Now given a task: …"
            " Please interact with …'"
        )
    name = folder.name.removeprefix("task")
    return Task(
        id=f"webvoyager/{name}@1",
        start_url=found[2],
        goal=" ".join(found[1].split()),
        max_steps=MAX_STEPS,
        viewport=VIEWPORT,
        clock="real",
    )


def _read_observation(
    folder: Path,
    number: int,
    look: str,
    task: Task,
    before: Observation | None,
    keep: Callable[[bytes, str], str],
) -> Observation:
    """Return what was seen; after an error no new look was taken, and the error is its outcome."""
    if before is not None and not look.startswith(_OBSERVED):
        return replace(before, outcome=" ".join(look.split()))
    picture, suffix = read_picture(folder / f"screenshot{number}.png")
    return Observation(
        goal=task.goal,
        url="",
        title="",
        nodes=read_elements(look),
        viewport=VIEWPORT,
        screenshot=keep(picture, suffix),
    )


def _mark(label: str) -> int:
    return int(label) or ZERO
