"""The explorer that needs no model: it tries what a page offers, and measures its surprise."""

import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

import numpy as np

from loop.proposers.frontier import mask_address, weigh_form
from loop.proposers.page_forms import (
    ENTER,
    FormField,
    PageForm,
    find_field,
    find_forms,
    find_links,
    is_typed,
)
from loop.proposers.territory import (
    find_words,
    is_avoided,
    is_form_promised,
    is_preview,
    make_plausible_value,
)
from webagent.action import Action, format_action
from webagent.action.actions import (
    Answer,
    AnswerDialog,
    Check,
    Click,
    Fill,
    GoBack,
    Goto,
    Press,
    SelectOption,
)
from webagent.records import Candidate, Decision, Node, Observation, Step, Trajectory

_FILLED = (Fill, SelectOption, Check)


@dataclass(frozen=True, slots=True)
class ExplorationAim:
    """Where an episode is sent, and what was tried before it."""

    way: tuple[str, ...] = ()
    """Links to follow from the start page."""
    url: str = ""
    """Opened by its address where the way is lost."""
    tried: Mapping[str, int] = field(default_factory=Counter)
    """By offer, how often it was taken."""
    link_yield: float = 0.5


@dataclass(frozen=True, slots=True)
class Explorer:
    """Goes where it is sent; there and beyond it sends forms and follows links, the untried first.

    What it does follows from the seed, the episode's task and what it has seen, so that an episode
    played again is the same.
    """

    seed: int
    aims: Mapping[int, ExplorationAim]
    """By the seed of the episode's task."""
    may_destroy: bool = False
    form_weight: float = 2.0

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """The next thing to try; an empty answer when there is nothing left."""
        return Decision(self._choose(trajectory, observation), source="explore", weights="explorer")

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """The one action it has in mind."""
        decision = await self.act(trajectory, observation)
        candidate = Candidate(format_action(decision.action), log_prob=0.0)
        return [replace(decision, candidates=(candidate,))][:n]

    def _choose(self, trajectory: Trajectory, page: Observation) -> Action:
        aim = self.aims.get(trajectory.task.seed, ExplorationAim())
        if "dialog is open" in page.outcome:
            return AnswerDialog("accept" if self.may_destroy else "dismiss")
        if _host(page.url) != _host(trajectory.task.start_url):
            return GoBack() if trajectory.steps else Answer()
        return (
            self._on_the_way(trajectory, page, aim)
            or self._in_a_form(trajectory, page)
            or self._freely(trajectory, page, aim)
            or Answer()
        )

    def _on_the_way(
        self, trajectory: Trajectory, page: Observation, aim: ExplorationAim
    ) -> Action | None:
        done = len(trajectory.steps)
        clicked = [
            _name_of_target(step.observation, step.decision.action) for step in trajectory.steps
        ]
        if done >= len(aim.way) or tuple(clicked) != aim.way[:done]:
            return None
        link = next((n for n in page.nodes if n.mark and n.name == aim.way[done]), None)
        if link is not None:
            return Click(link.mark)
        return Goto(aim.url) if aim.url else None

    def _in_a_form(self, trajectory: Trajectory, page: Observation) -> Action | None:
        """The next field of the form that is being filled in, or its button; None in no form."""
        if not trajectory.steps:
            return None
        step = trajectory.steps[-1]
        action = step.decision.action
        mark = getattr(action, "mark", 0)
        if isinstance(action, _FILLED):
            touched = page.node(mark)
            form = next(
                (f for f in find_forms(page) if touched in [x.node for x in f.fields]), None
            )
            return self._next_in(form, trajectory, page) if form else None
        pressed = step.observation.node(mark)
        if isinstance(action, Click) and pressed is not None and is_preview(pressed.name):
            old = {button.name for form in find_forms(step.observation) for button in form.buttons}
            fresh = [b for form in find_forms(page) for b in form.buttons if b.name not in old]
            wanted = [b for b in fresh if not is_preview(b.name) and not self._is_avoided(b.name)]
            return Click(wanted[0].mark) if wanted else None
        return None

    def _freely(
        self, trajectory: Trajectory, page: Observation, aim: ExplorationAim
    ) -> Action | None:
        tried = Counter(aim.tried)
        for step in trajectory.steps:
            if offer := find_offer(step.observation, step.decision.action):
                tried[offer] += 1
        rng = np.random.default_rng([self.seed, trajectory.task.seed, len(trajectory.steps)])
        choices: list[tuple[float, Action]] = []
        forms = find_forms(page)
        alone = sum(not form.fields for form in forms)
        for form in forms:
            for name in (
                [button.name for button in self._buttons(form)] if form.buttons else [ENTER]
            )[:1]:
                weight = self.form_weight * (weigh_form(form.offer(name)) if form.fields else 1.0)
                weight /= 1.0 if form.fields else max(1, alone)
                if action := self._next_in(form, trajectory, page):
                    choices.append((weight / (1 + tried[form.offer(name)]) ** 2, action))
        links = find_links(page, self.may_destroy)
        fresh = [link for link in links if not tried[f"link:{link.name}"]]
        promise = [6.0 if is_form_promised(link.name) else 1.0 for link in fresh]
        share = 2.0 * aim.link_yield / max(1.0, sum(promise))
        choices += [
            (share * each, Click(link.mark)) for each, link in zip(promise, fresh, strict=True)
        ]
        choices += [(0.2 / len(links), Click(link.mark)) for link in links if link not in fresh]
        if not choices:
            return None
        weights = np.asarray([weight for weight, _ in choices])
        return choices[int(rng.choice(len(choices), p=weights / weights.sum()))][1]

    def _next_in(self, form: PageForm, trajectory: Trajectory, page: Observation) -> Action | None:
        """What is next in filling in a form: a field not touched on this visit, or the button."""
        plan = self._plan(form, trajectory, page)
        touched = _find_touched(trajectory, page)
        for entry, action in plan:
            if entry.label not in touched:
                return action
        buttons = self._buttons(form)
        if buttons:
            return Click(buttons[0].mark)
        typed = [entry for entry, _ in plan if is_typed(entry.node)]
        return Press(typed[-1].node.mark, "Enter") if typed else None

    def _plan(
        self, form: PageForm, trajectory: Trajectory, page: Observation
    ) -> list[tuple[FormField, Action]]:
        """Which fields are filled in and how: the same at every step of one visit."""
        visit = sum(isinstance(step.decision.action, Click | Press) for step in trajectory.steps)
        name = zlib.crc32("/".join(sorted(form.labels)).encode())
        words = find_words([n.name for n in page.nodes if n.role in ("text", "link")])
        plan = []
        for entry in form.fields:
            place = zlib.crc32(
                ("password" if "password" in entry.node.kind else entry.label).encode()
            )
            rng = np.random.default_rng([self.seed, trajectory.task.seed, visit, name, place])
            if entry.label and (action := _choose_entry(entry, words, rng, len(form.fields))):
                plan.append((entry, action))
        return plan

    def _buttons(self, form: PageForm) -> list[Node]:
        """Those that may be pressed, the ones that store before the ones that only show."""
        fine = [button for button in form.buttons if not self._is_avoided(button.name)]
        return sorted(fine, key=lambda button: is_preview(button.name))

    def _is_avoided(self, name: str) -> bool:
        return is_avoided(name, self.may_destroy)


def find_offer(page: Observation, action: Action) -> str:
    """What an action takes of a page's offers; empty where it only prepares one."""
    node = page.node(getattr(action, "mark", 0))
    if node is None or not isinstance(action, Click | Press):
        return ""
    if node.role == "link":
        return f"link:{node.name}"
    for form in find_forms(page):
        if node in form.buttons or (
            isinstance(action, Press) and node.mark in {field.node.mark for field in form.fields}
        ):
            return form.offer(node.name if node in form.buttons else ENTER)
    return ""


def _choose_entry(
    entry: FormField, words: Sequence[str], rng: np.random.Generator, fields: int
) -> Action | None:
    node = entry.node
    if is_typed(node):
        if node.value.strip() and rng.random() < 0.6:
            return None
        wanted = fields <= 3 or rng.random() < 0.7
        kind = node.kind or node.role
        value = make_plausible_value(entry.label, kind, words, rng) if wanted else ""
        return Fill(node.mark, value) if value else None
    if node.role in ("checkbox", "switch"):
        return Check(node.mark) if "checked" not in node.states and rng.random() < 0.2 else None
    if node.role == "radio":
        return Check(node.mark) if "checked" not in node.states and rng.random() < 0.4 else None
    options = [o for o in entry.options if o.strip(" -") and o != node.value]
    if not options or rng.random() < 0.45:
        return None
    return SelectOption(node.mark, options[int(rng.integers(len(options)))])


def _find_touched(trajectory: Trajectory, page: Observation) -> set[str]:
    """Labels of the fields that were filled in since the page was come to."""
    touched = set()
    for step in reversed(trajectory.steps):
        if not isinstance(step.decision.action, _FILLED) or step.observation.url != page.url:
            break
        entry = find_field(step.observation, step.decision.action.mark)
        touched |= {entry.label} if entry else set()
    return touched


def _name_of_target(page: Observation, action: Action) -> str:
    node = page.node(getattr(action, "mark", 0))
    return node.name if node is not None and isinstance(action, Click) else "\0"


def _host(url: str) -> str:
    return urlsplit(url).netloc


if TYPE_CHECKING:
    from worldmodel.accuracy import Predictor


@dataclass(frozen=True, slots=True)
class ObservedTransition:
    """A transition of an exploration: what was seen, done, and seen then. What a world model trains
    on says besides how the episode ended, which exploring does not."""

    steps: tuple[Step, ...]
    before: Observation
    action: Action
    after: Observation
    episode: str = ""


Surprise: TypeAlias = Callable[[ObservedTransition], float]
"""From 0, foreseen, to 1."""


def by_novelty() -> Surprise:
    """Where there is no world model: one over the root of how often the same was tried on the same
    kind of page with the same outcome. Counts as it is asked."""
    counts: Counter[tuple[str, ...]] = Counter()

    def surprise(moved: ObservedTransition) -> float:
        page_action = find_offer(moved.before, moved.action)
        key = (mask_address(moved.before.url), page_action, mask_address(moved.after.url))
        counts[key] += 1
        return 1.0 / sqrt(counts[key])

    return surprise


def by_prediction(world: "Predictor") -> Surprise:
    """What the world model got wrong: one less the F1 of the changes it predicted, and where
    nothing changed or was predicted to, whether the page is as predicted."""
    from worldmodel.accuracy import measure
    from worldmodel.transitions import Transition

    def surprise(moved: ObservedTransition) -> float:
        m = moved
        named = Transition(m.steps, m.before, m.action, m.after, False, "explore", m.episode)
        told = measure(world, [named])
        right = told.changed_f1 if told.changed_f1 is not None else told.exact
        return 1.0 - (right if right is not None else 0.0)

    return surprise
