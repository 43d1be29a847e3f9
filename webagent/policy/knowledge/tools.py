"""Tools of a site: what episodes that went well do and failed ones do not, as one action with
parameters.

After "Recon-Act" (He et al. 2025, arXiv 2509.21072) and "Alita" (Qiu et al. 2025, arXiv
2505.20286), where a model writes the tool. Here it is a run of steps that several successes have in
common, with what differs between them as its parameters. As an entry of the memory of sites:

    - t1: add_to_basket(link) (used 4, helped 4, hurt 0; from e1, e2; learnt 2026-11-25)
          click(link {link})
          click(button "Add to basket")
          expect(text "It is in your basket")

A tool needs the element of its first step, and has held where `expect` is on the page after its
last. A model calls it as any action; its steps are then done one after another without the model
being asked, each an ordinary step of the episode. Which step is next follows from the episode
alone, so that one that is resumed goes on as it would have.
"""

import re
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import SequenceMatcher
from inspect import Parameter, Signature
from typing import Any

from webagent.action import ACTIONS, Action, format_action, parse_action
from webagent.action.actions import (
    ACTION_NAMES,
    Check,
    Click,
    CustomAction,
    Fill,
    SelectOption,
    Uncheck,
)
from webagent.action.custom import custom_action
from webagent.errors import ActionError, SetupError
from webagent.policy.knowledge.entries import SiteEntry
from webagent.policy.knowledge.site_file import SiteFile
from webagent.records import Decision, Node, Observation, Step, Trajectory

TOOL = "tool"
"""The `Decision.source` of a tool's steps."""
LONGEST, SHORTEST = 6, 2
"""Steps of a tool."""
_ALIKE = 0.8
"""Likeness of names from which an element stands for one that is gone."""
_EXPECTED = 50
"""Characters of a line that is expected, at most."""
_VERBS = {
    "click": Click,
    "fill": Fill,
    "check": Check,
    "uncheck": Uncheck,
    "select_option": SelectOption,
}
_WITH_TEXT = ("fill", "select_option")
_VALUE = r'"(?:[^"\\]|\\.)*"|\{\w+\}'
_LINE = re.compile(
    rf"(?P<verb>\w+)\((?P<role>[\w-]+) (?P<name>{_VALUE})(?:, (?P<text>{_VALUE}))?\)"
)
_HEAD = re.compile(r"(?P<name>[a-z]\w*)\((?P<parameters>(?:\w+(?:, )?)*)\)")
_HAS_DIGIT = re.compile(r"\d").search
_UNDER_WAY = re.compile(r"\[tool (?P<call>.*) step (?P<step>\d+)\]\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ToolStep:
    """One line of a tool: what is done to an element of this role and name."""

    verb: str
    role: str
    name: str
    """In quotation marks, or a parameter in braces; so is the text."""
    text: str = ""

    def __str__(self) -> str:
        return f"{self.verb}({self.role} {self.name}{', ' * bool(self.text)}{self.text})"

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names in braces."""
        return tuple(each[1:-1] for each in (self.name, self.text) if each.startswith("{"))


@dataclass(frozen=True, slots=True)
class SiteTool:
    """A named run of steps on one site."""

    id: str
    site: str
    name: str
    parameters: tuple[str, ...]
    steps: tuple[ToolStep, ...]
    expected: str = ""
    """A line of the page after the last step; empty where nothing is expected."""

    def action(self, place: int, values: Mapping[str, str], page: Observation) -> Action | None:
        """Return a step on the page as it is now; None where its element is not there."""
        step = self.steps[place]
        node = _find(page, step.role, _fill(step.name, values))
        if node is None:
            return None
        text = (_fill(step.text, values),) if step.text else ()
        made: Any = _VERBS[step.verb]
        action: Action = made(node.mark, *text)
        return action


def read_tool(entry: SiteEntry, site: str) -> SiteTool:
    """Return the tool that an entry describes. Raises `SetupError` for one that makes no sense."""
    where = f"the tool {entry.id} of {site}"
    head = _HEAD.fullmatch(entry.text)
    if head is None:
        raise SetupError(f"{where}: {entry.text!r} is no name with parameters; expected name(a, b)")
    parameters = tuple(filter(None, head["parameters"].split(", ")))
    steps, expected = [], ""
    for line in filter(None, map(str.strip, entry.lines)):
        found = _LINE.fullmatch(line)
        if found and found["verb"] == "expect" and found["role"] == "text":
            expected = _fill(found["name"], {})
        elif (
            found
            and found["verb"] in _VERBS
            and bool(found["text"]) == (found["verb"] in _WITH_TEXT)
        ):
            steps.append(ToolStep(found["verb"], found["role"], found["name"], found["text"] or ""))
        else:
            raise SetupError(
                f'{where}: {line!r} is no step; expected such as click(button "Save"),'
                f' fill(textbox "Search", {{text}}) or expect(text "Saved"); verbs:'
                f" {', '.join(_VERBS)}"
            )
    named = {each for step in steps for each in step.parameters}
    if not steps or named != set(parameters):
        raise SetupError(
            f"{where} has the parameters {', '.join(parameters) or 'none'}, and its steps use"
            f" {', '.join(sorted(named)) or 'none'}; they must be the same"
        )
    known = ACTIONS.get(head["name"])
    if known is not None and not issubclass(known, CustomAction):
        raise SetupError(f"{where}: {head['name']} is an action already; give it another name")
    return SiteTool(entry.id, site, head["name"], parameters, tuple(steps), expected)


def offer(tool: SiteTool) -> str:
    """Make a tool an action that models can call, and return its name."""
    first = tool.steps[0]
    wanted = f"{first.role} {first.name}"

    def call(**values: str) -> str:
        # Reached only where the first step found no element.
        raise ValueError(f"this page has no {wanted}, which {tool.name} begins with")

    call.__name__ = tool.name
    call.__doc__ = (
        f"On {tool.site}, from a page with a {wanted}: {'; '.join(map(str, tool.steps))}."
    )
    call.__annotations__ = {**dict.fromkeys(tool.parameters, str), "return": str}
    named = [Parameter(each, Parameter.POSITIONAL_OR_KEYWORD) for each in tool.parameters]
    vars(call)["__signature__"] = Signature(named)
    custom_action(call)
    return tool.name


def begin_tool(tools: Mapping[str, SiteTool], decision: Decision, page: Observation) -> Decision:
    """Return the first step of the tool that a decision calls; the decision itself where it calls
    none, or where the tool does not fit the page: then the model is told so."""
    tool = tools.get(ACTION_NAMES[type(decision.action)])
    if tool is None or not isinstance(decision.action, CustomAction):
        return decision
    first = tool.action(0, _values(decision.action), page)
    if first is None:
        return decision
    note = f"{decision.thought} [tool {format_action(decision.action)} step 1]".strip()
    return replace(decision, action=first, thought=note)


def continue_tool(
    tools: Mapping[str, SiteTool], trajectory: Trajectory, page: Observation
) -> Decision | None:
    """Return the next step of the tool under way; None where there is none, it is done, or its next
    element is not on the page."""
    if not trajectory.steps or page.outcome:
        return None
    found = _read_note(tools, trajectory.steps[-1])
    if found is None or found.done >= len(found.tool.steps):
        return None
    action = found.tool.action(found.done, found.values, page)
    if action is None:
        return None
    note = f"[tool {found.call} step {found.done + 1}]"
    return Decision(action, thought=note, source=TOOL, weights=TOOL)


@dataclass(frozen=True, slots=True)
class _ToolCall:
    """A tool under way."""

    tool: SiteTool
    call: str
    values: Mapping[str, str]
    done: int
    """Steps that were done."""


def _read_note(tools: Mapping[str, SiteTool], step: Step) -> _ToolCall | None:
    noted = _UNDER_WAY.search(step.decision.thought)
    if noted is None:
        return None
    try:
        action = parse_action(noted["call"])
    except ActionError:
        return None
    tool = tools.get(ACTION_NAMES[type(action)])
    if tool is None or not isinstance(action, CustomAction):
        return None
    return _ToolCall(tool, noted["call"], _values(action), int(noted["step"]))


def credit_tools(file: SiteFile, episode: Trajectory) -> SiteFile:
    """Return the file with each call of a tool in an episode counted: it has helped where all steps
    were done and what it expects was there then. One that has broken more often than it held is
    retired; `add_tools` brings it back where successes show how it goes now."""
    known = [each for each in file.of_kind("tools") if not each.is_retired]
    tools = {tool.name: tool for tool in (read_tool(each, file.site) for each in known)}
    for tool in tools.values():
        offer(tool)
    pages = [step.observation for step in episode.steps]
    pages = [*pages[1:], *([episode.last] if episode.last else pages[-1:])]
    for place, step in enumerate(episode.steps):
        under_way = _read_note(tools, step)
        later = episode.steps[place + 1].decision.source if place + 1 < len(episode.steps) else ""
        if under_way is None or later == TOOL:
            continue
        tool = under_way.tool
        held = under_way.done == len(tool.steps) and not pages[place].outcome
        held = held and (not tool.expected or tool.expected in _lines(pages[place]))
        entry = file.entry(tool.id)
        assert entry is not None
        helped, hurt = entry.helped + held, entry.hurt + (not held)
        retired = hurt > helped
        counted = entry.changed(used=entry.used + 1, helped=helped, hurt=hurt, is_retired=retired)
        file = file.changed(counted)
    return file


def add_tools(file: SiteFile, judged: Sequence[tuple[Trajectory, bool]], most: int) -> SiteFile:
    """Return the file with the tools that a site's episodes show, at most so many besides those
    that are there. One that is there under the same name with other steps, and is retired, goes as
    the new successes do."""
    for made, sources in _find_tools(file.site, judged)[:most]:
        same = [each for each in file.of_kind("tools") if each.text.split("(")[0] == made.name]
        lines = [*map(str, made.steps)]
        lines += [f"expect(text {_quote(made.expected)})"] * bool(made.expected)
        text = f"{made.name}({', '.join(made.parameters)})"
        if not same:
            entry = SiteEntry("t", text, lines=tuple(lines), learnt=time.strftime("%Y-%m-%d"))
            file = file.added(entry.learnt_from(*sources))
        elif same[0].is_retired and same[0].lines != tuple(lines):
            mended = same[0].changed(
                text=text, lines=tuple(lines), used=0, helped=0, hurt=0, is_retired=False
            )
            file = file.changed(mended.learnt_from(*sources))
    return file


def _find_tools(
    site: str, judged: Sequence[tuple[Trajectory, bool]]
) -> list[tuple[SiteTool, tuple[str, ...]]]:
    """Return runs of steps that successes of at least two goals share, those first that save most
    and that failures of the same tasks have least, each with episodes that show it."""
    shown: dict[tuple[ToolStep, ...], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    failed: dict[tuple[ToolStep, ...], int] = defaultdict(int)
    after: dict[tuple[ToolStep, ...], list[set[str]]] = defaultdict(list)
    tried = {True: 0, False: 0}
    for episode, went_well in judged:
        tried[went_well] += 1
        for run, news in dict(_runs(episode)).items():
            if went_well:
                shown[run][episode.goal or episode.task.goal].append(episode.id)
                after[run].append(news)
            else:
                failed[run] += 1
    found: list[tuple[float, SiteTool, tuple[str, ...]]] = []
    for run, goals in shown.items():
        count = sum(map(len, goals.values()))
        lead = count / tried[True] - failed[run] / max(tried[False], 1)
        if len(goals) < 2 or lead <= 0:
            continue
        parameters = tuple(dict.fromkeys(each for step in run for each in step.parameters))
        common = sorted(set.intersection(*after[run]), key=len)
        named = [each for each in run if each.name.startswith('"')]
        name = f"{run[-1].verb} {named[-1].name}" if named else ""
        name = "_".join(re.findall(r"[a-z0-9]+", name.lower()))[:40].strip("_")
        known = ACTIONS.get(name, CustomAction)
        # A name with a digit is a record's more often than a site's.
        if not named or _HAS_DIGIT(str(run)) or not issubclass(known, CustomAction):
            continue
        tool = SiteTool("", site, name, parameters, run, common[-1] if common else "")
        ids = tuple(id for ids in goals.values() for id in ids)
        found.append((lead * (len(run) - 1), tool, ids))
    chosen: list[tuple[SiteTool, tuple[str, ...]]] = []
    for _, tool, ids in sorted(found, key=lambda each: (-each[0], each[1].name, str(each[1]))):
        shapes, own = [_shape(each) for each, _ in chosen], _shape(tool)
        is_new = tool.name not in [each.name for each, _ in chosen]
        if is_new and not any(own in shape or shape in own for shape in shapes):
            chosen.append((tool, ids))
    return chosen


def _shape(tool: SiteTool) -> str:
    """Return the steps as text, whatever the parameters are called."""
    return re.sub(r"\{\w+\}", "{}", " ".join(map(str, tool.steps)))


def _runs(episode: Trajectory) -> Iterator[tuple[tuple[ToolStep, ...], set[str]]]:
    """Yield the runs of steps that a tool can have, with the lines that are new on the page after
    each; what the goal names has become a parameter."""
    goal = (episode.goal or episode.task.goal).lower()
    steps = [_describe(step) for step in episode.steps]
    pages = [step.observation for step in episode.steps] + [episode.last]
    for start in range(len(steps)):
        for end in range(start + SHORTEST, min(start + LONGEST, len(steps)) + 1):
            run = steps[start:end]
            if not all(run):
                break
            values: dict[str, str] = {}
            told = tuple(
                replace(
                    step,
                    name=_parameter(step.name, step.role, goal, values),
                    text=step.text and _parameter(step.text, step.name, goal, values),
                )
                for step in run
                if step is not None
            )
            last = pages[end]
            new = _lines(last) - _lines(pages[end - 1]) if last is not None else set()
            yield (
                told,
                {each for each in new if 3 < len(each) <= _EXPECTED and not _HAS_DIGIT(each)},
            )


def _describe(step: Step) -> ToolStep | None:
    """Return a step without marks; None for one that a tool cannot have."""
    action = step.decision.action
    verb = ACTION_NAMES[type(action)]
    node = step.observation.node(getattr(action, "mark", 0))
    if verb not in _VERBS or node is None or not node.name:
        return None
    text = next((getattr(action, each) for each in ("text", "option") if hasattr(action, each)), "")
    has_text = verb in _WITH_TEXT
    return ToolStep(verb, node.role, _quote(node.name), _quote(text) if has_text else "")


def _parameter(quoted: str, called: str, goal: str, values: dict[str, str]) -> str:
    """Return a parameter in place of a text that the goal names, the same for the same text, named
    after its field or after the role of its element."""
    text = _fill(quoted, {})
    if len(text) < 2 or not re.search(rf"(?<!\w){re.escape(text.lower())}(?!\w)", goal):
        return quoted
    if text not in values:
        stem = "_".join(re.findall(r"[a-z]+", called.lower())) or "text"
        taken = sum(each.rstrip("0123456789") == stem for each in values.values())
        values[text] = stem if not taken else f"{stem}{taken + 1}"
    return f"{{{values[text]}}}"


def _find(page: Observation, role: str, name: str) -> Node | None:
    """Return the element of this role and name, else the one whose name is most like it."""
    of_role = [node for node in page.nodes if node.mark and node.role == role]
    exact = [node for node in of_role if node.name.casefold() == name.casefold()]
    if exact:
        return exact[0]

    def likeness(node: Node) -> float:
        return SequenceMatcher(None, node.name.casefold(), name.casefold()).ratio()

    best = max(of_role, key=likeness, default=None)
    return best if best is not None and likeness(best) >= _ALIKE else None


def _values(action: CustomAction) -> dict[str, str]:
    given: Any = action
    return {each.name: str(getattr(given, each.name)) for each in fields(given)}


def _fill(text: str, values: Mapping[str, str]) -> str:
    """Return what a quoted text or a parameter stands for."""
    return values[text[1:-1]] if text.startswith("{") else text[1:-1].replace('\\"', '"')


def _quote(text: str) -> str:
    return '"' + " ".join(text.split()).replace('"', '\\"') + '"'


def _lines(page: Observation | None) -> set[str]:
    return {" ".join(node.name.split()) for node in page.nodes} if page is not None else set()
