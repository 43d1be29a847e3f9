"""A language model as a world model: it is prompted with similar real steps and predicts the
changes."""

import asyncio
import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias
from urllib.parse import urlsplit

from webagent.action import Action, format_action
from webagent.errors import ModelError, PromptTooLongError
from webagent.models.model import Completion, Message, Model, Reply
from webagent.models.prompt import estimate_tokens, fence, load_prompt, shorten
from webagent.models.replies import UnusableError, ask_and_read
from webagent.models.spending import Ledger, MeteredModel
from webagent.observation.render import render_node
from webagent.records import Ending, Node, Observation
from webagent.training.language.texts import OVER, PROMPTS, apply_changes, page_changes, page_text
from worldmodel.cases import Occasion, TransitionCase
from worldmodel.compose import number
from worldmodel.kinds import GAP
from worldmodel.lines import mask, read_lines, unknown_line, unknown_lines
from worldmodel.prediction import Effect, Outcome, Prediction, Source
from worldmodel.recall import RememberedWorld
from worldmodel.rules import apply_rules, limit_steps
from worldmodel.transitions import Situation, Transition

PROMPT = load_prompt(PROMPTS / "world.md")
_ELEMENT = re.compile(
    r'\[(?P<mark>\d+)\] (?P<role>[\w-]+)(?: "(?P<name>.*?)")?(?: value="(?P<value>.*?)")?'
    r"(?P<states>(?: [a-z][\w-]*)*)(?: \(.*\))?(?: at -?\d+,-?\d+ size \d+x\d+)?"
)
_SHORTENED = " more characters)"
_HEADING = re.compile(r"tab \d+: .*|scrolled: \d+ px above, \d+ px below")
_LEFT_OUT = re.compile(r"\.\.\. (\d+)(?: more)? lines left out.*")
_UNSURE = 0.5
"""Confidence in a single reply without token probabilities."""
_LEAST_REPLY = 1024
_STEPS = 6
"""Earlier steps that a prompt tells; with the characters below each takes 60 tokens at most."""
_TITLE, _ADDRESS, _ACTION = 60, 90, 60


@dataclass(frozen=True, slots=True)
class PromptedWorld:
    """Any language model as a world model. Implements `WorldModel`.

    What a general rule decides is not queried. The confidence is the geometric mean of the
    reply's tokens' probabilities where the model returns them. P(success) is memory's.
    """

    model: Model
    memory: RememberedWorld = field(default_factory=RememberedWorld)
    examples: int = 3
    """Number of similar real transitions in the prompt; 0 for weights trained here, as they have
    not learned to use them, nor the goal and the earlier steps, which are shown otherwise."""
    asked: dict[Hashable, asyncio.Task[Completion]] | None = None
    """Replies to the questions so far; None to ask each anew."""

    def learn(self, transitions: Iterable[Transition]) -> None:
        """Remember transitions as examples; the model's weights do not change."""
        self.memory.learn(transitions)

    def charged_to(self, ledger: Ledger) -> "PromptedWorld":
        """Return the same model with its requests booked in a ledger and limited by it."""
        return replace(self, model=MeteredModel(self.model, ledger, "world"))

    def asked_once(self) -> "PromptedWorld":
        """Return the same model, which pays for each question once and remembers the reply."""
        return replace(self, asked={})

    def predict(self, situations: Sequence[Situation]) -> list[Prediction]:
        """Return the same as `expect`, for callers without an event loop."""
        return asyncio.run(self.expect(situations))

    async def expect(self, situations: Sequence[Situation]) -> list[Prediction]:
        """Return the model's predictions, all requested at once. An unparseable reply is retried
        once; if that fails, too, the source is unknown. Where a prompt does not fit the model's
        context, fewer examples are shown, then neither goal nor earlier pages; if it does not fit
        without them, the source is unknown.

        Raises `ModelError` if the model fails.
        """
        return list(await asyncio.gather(*map(self._expect_one, situations)))

    async def _expect_one(self, situation: Situation) -> Prediction:
        there = Occasion(situation)
        succeeds = self.memory.chance(there)
        if (ruled := apply_rules(situation)) is not None:
            return replace(ruled, outcome=replace(ruled.outcome, succeeds=succeeds))
        similar = [case for _, _, case in self.memory.recall(there)[: self.examples]]
        before = situation.observation

        def read(text: str) -> Observation:
            return read_page(text, before, similar)

        # Twice what such pages and changes take.
        expected = [page_text(before)]
        expected += [page_changes(c.transition.before, c.transition.after) for c in similar]
        limit = max(_LEAST_REPLY, 2 * max(map(estimate_tokens, expected)))

        async def ask(conversation: Sequence[Message]) -> Reply:
            asked = {} if self.asked is None else self.asked
            question = tuple(conversation), limit
            if question not in asked:
                reply = self.model.complete(conversation, temperature=0.0, max_tokens=limit)
                asked[question] = asyncio.ensure_future(reply)
            return (await asked[question]).replies[0]

        for messages, shown in self._write_shorter(situation, similar):
            try:
                first = await ask(messages)
                because = f"{self.model.name}, shown {shown} similar steps"
                break
            except PromptTooLongError as error:
                because = f"this page does not fit {self.model.name}: {error}"
        else:
            return _leave_open(situation, succeeds, because)
        try:
            page = await ask_and_read(
                ask, messages, read, lambda problem: PROMPT.fill("again", problem=problem), first
            )
        except (UnusableError, PromptTooLongError) as error:
            failed = f"the model's reply could not be read, twice: {error}"
            return _leave_open(situation, succeeds, failed)
        sure = _UNSURE
        if first.log_probs:
            sure = math.exp(sum(first.log_probs) / len(first.log_probs))
        effect = Effect.GOES if page.url != before.url else Effect.STAYS
        effect, ending = (Effect.ENDS, Ending.TASK_OVER) if page.over else (effect, None)
        outcome = Outcome(float(page.over), float(page.outcome != ""), succeeds)
        prediction = Prediction(page, outcome, effect, ending, sure, Source.MODELLED, because)
        return limit_steps(situation, prediction)

    def _write_shorter(
        self, situation: Situation, similar: Sequence[TransitionCase]
    ) -> Iterator[tuple[tuple[Message, Message], int]]:
        """Yield the question in ever shorter forms, with the number of similar steps in it."""
        shown = similar
        while shown:
            yield self._write(situation, shown, is_told_so_far=True), len(shown)
            shown = shown[: len(shown) // 2]
        if self.examples:
            yield self._write(situation, (), is_told_so_far=True), 0
        yield self._write(situation, (), is_told_so_far=False), 0

    def _write(
        self, situation: Situation, similar: Sequence[TransitionCase], *, is_told_so_far: bool
    ) -> tuple[Message, Message]:
        shown = [
            PROMPT.fill(
                "example",
                page=fence("page", page_text(case.transition.before)),
                action=self._tell(case.transition.action, case.transition.before),
                changes=fence(
                    "changes", page_changes(case.transition.before, case.transition.after)
                ),
            )
            for case in reversed(similar)  # the likest last, next to the question
        ]
        asked = PROMPT.fill(
            "user",
            page=fence("page", page_text(situation.observation)),
            action=self._tell(situation.action, situation.observation),
        )
        examples = [PROMPT.fill("examples", examples="\n\n".join(shown))] if shown else []
        so_far = [tell_so_far(situation)] if is_told_so_far else []
        user = "\n\n".join([*examples, *so_far, asked])
        return Message("system", PROMPT.fill("system")), Message("user", user)

    def _tell(self, action: Action, page: Observation) -> str:
        """Return the action with its element, which weights trained here have not seen."""
        target = page.node(getattr(action, "mark", 0)) if self.examples else None
        return format_action(action) + (f' on {target.role} "{target.name}"' if target else "")


def tell_so_far(situation: Situation) -> str:
    """Return the goal and the latest steps before this one, each with its page's title and address
    and what was done there, in at most some 550 tokens."""
    latest = situation.steps[-_STEPS:]
    left_out = len(situation.steps) - len(latest)
    lines = [f"({left_out} earlier ones)"] if left_out else []
    for step in latest:
        page = step.observation
        place = f"{shorten(page.title, _TITLE)} ({shorten(page.url, _ADDRESS)})"
        lines.append(f"{place}: {shorten(format_action(step.decision.action), _ACTION)}")
    goal = fence("goal", shorten(situation.observation.goal))
    earlier = fence("steps", "\n".join(lines) or "none")
    return PROMPT.fill("before", goal=goal, steps=earlier)


def _leave_open(situation: Situation, succeeds: float, because: str) -> Prediction:
    """Return that it is unknown what the action leads to."""
    outcome, before = Outcome(0.0, 0.0, succeeds), situation.observation
    prediction = Prediction(before, outcome, Effect.STAYS, None, 0.0, Source.UNKNOWN, because)
    return limit_steps(situation, prediction)


def read_page(
    reply: str, before: Observation, similar: Sequence[TransitionCase] = ()
) -> Observation:
    """Return the page after the changes that a model wrote.

    Unchanged lines are those of the page, including elements left out of the text; lines that a
    reply says are left out are unknown. A new line has the widget kind of lines with its role and
    name on the pages that `similar` led to, or on this page. Raises `UnusableError` for an invalid
    change of the page as shown.
    """
    shown = page_text(before)
    if reply.strip() == OVER:
        return replace(before, over=True, outcome="")
    try:
        text = apply_changes(shown, reply.strip())
    except ModelError as error:
        raise UnusableError(str(error)) from error
    title, _, rest = text.partition("\n")
    url, _, rest = rest.partition("\n")
    if "://" not in url:
        raise UnusableError(f"the second line of the page has to be its address, got {url[:60]!r}")
    try:
        urlsplit(url)
    except ValueError as error:
        raise UnusableError(f"{url[:60]!r} is not an address: {error}") from error
    lines = rest.removeprefix("\n").split("\n")
    known = _place_lines(shown.split("\n")[3:], before.nodes)
    kinds = _count_kinds(before, similar)
    nodes: list[Node] = []
    for line in lines:
        if found := known.get(line):
            nodes += found.pop(0)
        elif line.strip() and not _HEADING.fullmatch(line):
            nodes.append(_read_line(line, kinds))
    page = replace(
        before,
        url=url,
        title=title,
        tabs=(title,) if len(before.tabs) == 1 else before.tabs,
        nodes=number(nodes, read_lines(before)),
        outcome="" if text != shown else "no effect",
        screenshot="",
        captured="",
    )
    return page


def _place_lines(shown: Sequence[str], nodes: Sequence[Node]) -> dict[str, list[list[Node]]]:
    """Return for each line that is shown the nodes it stands for, in order: one, or those that are
    left out there."""
    rendered = [render_node(node) for node in nodes]
    known: dict[str, list[list[Node]]] = {}
    done = 0
    for place, line in enumerate(shown):
        following = shown[place + 1] if place + 1 < len(shown) else None
        at = _find(line, rendered, done)
        if at is not None:
            known.setdefault(line, []).append(list(nodes[done : at + 1]))
            done = at + 1
        elif following is None:
            known.setdefault(line, []).append(list(nodes[done:]))
        else:
            until = _find(following, rendered, done)
            until = done if until is None else until
            known.setdefault(line, []).append(list(nodes[done:until]))
            done = until
    return known


def _find(line: str, rendered: Sequence[str], first: int) -> int | None:
    if line.endswith(_SHORTENED):
        start = line.rpartition("... (")[0]
        return next((i for i in range(first, len(rendered)) if rendered[i].startswith(start)), None)
    try:
        return rendered.index(line, first)
    except ValueError:
        return None


_Kinds: TypeAlias = dict[tuple[str, ...], str]


def _count_kinds(before: Observation, similar: Sequence[TransitionCase]) -> _Kinds:
    """Return widget kinds by role and name, with its words that have digits masked too, and the
    most frequent one by role alone; those of the pages that similar steps led to come first."""
    kinds: _Kinds = {}
    for nodes in (*(case.after.nodes for case in similar), before.nodes):
        roles: dict[str, Counter[str]] = {}
        for node in nodes:
            kinds.setdefault((node.role, node.name), node.kind)
            kinds.setdefault((node.role, mask(node.name)), node.kind)
            roles.setdefault(node.role, Counter())[node.kind] += 1
        for role, found in roles.items():
            kinds.setdefault((role,), found.most_common(1)[0][0])
    return kinds


def _read_line(line: str, kinds: _Kinds) -> Node:
    text = line.lstrip(" ")
    depth = (len(line) - len(text)) // 2
    if left_out := _LEFT_OUT.fullmatch(text):
        return unknown_lines((), int(left_out[1]), int(left_out[1]), depth)
    match = _ELEMENT.fullmatch(text)
    if match is None:
        quoted = re.fullmatch(r'text "(.*)"', text)
        name, role, mark, value, states = quoted[1] if quoted else text, "text", 0, "", ()
    else:
        name, role, mark = match["name"] or "", match["role"], int(match["mark"])
        value, states = match["value"] or "", tuple(match["states"].split())
    name, value = (each.replace("\\n", "\n") for each in (name, value))
    keys = (role, name), (role, mask(name)), (role,)
    kind = next((kinds[key] for key in keys if key in kinds), "")
    node = Node(mark, role, name, value, states, depth=depth, kind=kind)
    return replace(unknown_line(node, name), value=value) if GAP in name + value else node
