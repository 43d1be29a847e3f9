"""The explorer that needs no model: the frontier of a site's pages, and what it tries on each."""

import re
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

import numpy as np

from loop.proposers.page_forms import (
    ENTER,
    FormField,
    PageDescription,
    PageForm,
    find_field,
    find_forms,
    find_links,
    is_typed,
)
from loop.proposers.territory import find_words, is_form_promised, is_preview, make_plausible_value
from webagent.action import Action
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
from webagent.policy.policy import propose_certain
from webagent.records import Decision, Observation, Step, Trajectory
from worldmodel.kinds import mask_address

_SEARCHES = re.compile(r"search|filter|/(find|go)$", re.IGNORECASE)
_ALIKE = 3
"""From so many pages on, differing in one part of the path only, that part is a variable."""

UNKNOWN_PATH = tuple("?" * 12)
"""The way to a page that only its address leads to: longer than any other."""


@dataclass(slots=True)
class PageNode:
    """A kind of page: what is offered on it, and what has been tried."""

    key: str
    url: str
    """Where it was first seen."""
    title: str
    way: tuple[str, ...]
    """Names of the links that lead there from the start page, the shortest known."""
    offers: set[str] = field(default_factory=set)
    """What can be done there: `form:...`, `button:...`, `link:...`."""
    tried: Counter[str] = field(default_factory=Counter)
    visits: int = 0
    """Episodes that were sent there."""
    followed: int = 0
    found: int = 0
    """Links followed from there, and how many led to a page not known before."""
    surprise: float = 0.0
    """Sum over what was tried there."""

    @property
    def link_yield(self) -> float:
        """Expected share of links that lead to a new kind of page, from a prior of one half."""
        return (self.found + 1) / (self.followed + 2)

    @property
    def mean_surprise(self) -> float:
        """Over what was tried; what was never tried surprises by one."""
        count = self.tried.total()
        return (1.0 + self.surprise) / (1 + count)


class Frontier:
    """The pages known so far, and an order among them."""

    def __init__(self) -> None:
        self.nodes: dict[str, PageNode] = {}
        self.links_tried: Counter[str] = Counter()
        """By name, whatever the page: a site's menu is the same everywhere."""
        self._patterns: dict[tuple[str, ...], set[str]] = {}

    def see(self, page: PageDescription) -> PageNode:
        """Return the node of a page's kind, a new one where the kind was not known.

        A kind is the pattern of the path with what fields and buttons there are; for a page that
        has none, with the keys of its query.
        """
        path, _, query = mask_address(page.url).partition("?")
        shape = "|".join(sorted(page.structure))
        segments = path.split("/")
        places = range(2, len(segments))
        for place in places:
            slot = _slot(segments, place, shape)
            self._patterns.setdefault(slot, set()).add(segments[place])
        for place in places:
            if len(self._patterns.get(_slot(segments, place, shape), ())) >= _ALIKE:
                segments[place] = "*"
        key = f"{'/'.join(segments)} {shape or query}"
        node = self.nodes.setdefault(key, PageNode(key, page.url, page.title, page.way))
        if len(page.way) < len(node.way):
            node.way, node.url = page.way, page.url
        node.offers |= page.offers
        return node

    def note(self, node: PageNode, offer: str, surprise: float, found_new: bool) -> None:
        """Count an offer of a page as tried, with its surprise and whether it led to a new page."""
        node.tried[offer] += 1
        node.surprise += surprise
        if offer.startswith("link:"):
            self.links_tried[offer] += 1
            node.followed += 1
            node.found += found_new

    def untried(self, node: PageNode) -> list[str]:
        """Return what a page offers that was never tried; a link counts as tried on any page."""
        return sorted(
            offer for offer in node.offers if not node.tried[offer] and not self.links_tried[offer]
        )

    def priority(self, node: PageNode) -> float:
        """Return the promise of going there: forms count whole, links by their yield."""
        left = self.untried(node)
        forms = sum(weigh_form(offer) for offer in left if offer.startswith("form:"))
        links = sum(offer.startswith("link:") for offer in left)
        buttons = any(offer.startswith("button:") for offer in left)
        promise = 0.1 + forms + buttons + node.link_yield * min(links, 10) / 2
        return promise * (1 + node.mean_surprise) / (1 + node.visits) / (1 + 0.1 * len(node.way))

    def choose(self, count: int, rng: np.random.Generator) -> list[PageNode]:
        """Return the next pages to go to, best first; each counts as visited at once."""
        chosen = []
        for _ in range(count):
            if not self.nodes:
                break
            names = sorted(self.nodes)
            jitter = rng.random(len(names)) * 1e-3
            scores = [self.priority(self.nodes[name]) for name in names]
            best = int(np.argmax(np.asarray(scores) + jitter))
            node = self.nodes[names[best]]
            node.visits += 1
            chosen.append(node)
        return chosen


def weigh_form(offer: str) -> float:
    """Return how much to expect of a form: the more fields it has the more.

    Little of one that searches, and less of one without a button, which mostly is a filter.
    """
    _, _, rest = offer.partition("/")
    labels, _, button = rest.rpartition("/")
    if button == "Enter":
        return 0.2
    if _SEARCHES.search(offer):
        return 0.4
    return 1.0 + 0.5 * min(4, labels.count(","))


def _slot(segments: Sequence[str], place: int, shape: str) -> tuple[str, ...]:
    return (*segments[:place], "?", *segments[place + 1 :], shape)


_FILLED = (Fill, SelectOption, Check)
_FORM_WEIGHT = 2.0
"""Of a form against all fresh links together, where half of the links lead to new pages."""


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

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """Return the next thing to try; an empty answer when there is nothing left."""
        aim = self.aims.get(trajectory.task.seed, ExplorationAim())
        action: Action
        if "dialog is open" in observation.outcome:
            action = AnswerDialog("accept" if self.may_destroy else "dismiss")
        elif urlsplit(observation.url).netloc != urlsplit(trajectory.task.start_url).netloc:
            action = GoBack() if trajectory.steps else Answer()
        else:
            action = (
                self._on_the_way(trajectory, observation, aim)
                or self._in_a_form(trajectory, observation)
                or self._anywhere(trajectory, observation, aim)
                or Answer()
            )
        return Decision(action, source="explore", weights="explorer")

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """Return the one action to try next."""
        return propose_certain(await self.act(trajectory, observation), n)

    def _on_the_way(
        self, trajectory: Trajectory, page: Observation, aim: ExplorationAim
    ) -> Action | None:
        """Return the next click towards the aim; None when it is reached or was left."""
        clicked = []
        for step in trajectory.steps:
            node = step.observation.node(getattr(step.decision.action, "mark", 0))
            is_click = node is not None and isinstance(step.decision.action, Click)
            clicked.append(node.name if node is not None and is_click else None)
        done = len(clicked)
        if done >= len(aim.way) or clicked != [*aim.way[:done]]:
            return None
        link = next((n for n in page.nodes if n.mark and n.name == aim.way[done]), None)
        if link is not None:
            return Click(link.mark)
        return Goto(aim.url) if aim.url else None

    def _in_a_form(self, trajectory: Trajectory, page: Observation) -> Action | None:
        """Return the next field of the form being filled in, or its button; None in no form."""
        if not trajectory.steps:
            return None
        step = trajectory.steps[-1]
        action = step.decision.action
        target = getattr(action, "mark", 0)
        if isinstance(action, _FILLED):
            touched = page.node(target)
            forms = (f for f in find_forms(page) if touched in [x.node for x in f.fields])
            form = next(forms, None)
            return self._next_in(form, trajectory, page) if form else None
        pressed = step.observation.node(target)
        if isinstance(action, Click) and pressed is not None and is_preview(pressed.name):
            # A preview is followed by the button that stores, if the page has one now.
            old = {button.name for form in find_forms(step.observation) for button in form.buttons}
            for form in find_forms(page):
                for button in form.find_buttons(self.may_destroy):
                    if button.name not in old and not is_preview(button.name):
                        return Click(button.mark)
        return None

    def _anywhere(
        self, trajectory: Trajectory, page: Observation, aim: ExplorationAim
    ) -> Action | None:
        """Return a form field or a link, sampled by its promise and how rarely it was tried."""
        tried = Counter(aim.tried)
        for step in trajectory.steps:
            if offer := find_offer(step.observation, step.decision.action):
                tried[offer] += 1
        choices: list[tuple[float, Action]] = []
        forms = find_forms(page)
        alone = sum(not form.fields for form in forms)
        for form in forms:
            offer = form.main_offer(self.may_destroy)
            action = self._next_in(form, trajectory, page)
            if not offer or action is None:
                continue
            weight = weigh_form(offer) if form.fields else 1.0 / max(1, alone)
            choices.append((_FORM_WEIGHT * weight / (1 + tried[offer]) ** 2, action))
        links = find_links(page, self.may_destroy)
        fresh = [link for link in links if not tried[f"link:{link.name}"]]
        promise = [6.0 if is_form_promised(link.name) else 1.0 for link in fresh]
        share = 2.0 * aim.link_yield / max(1.0, sum(promise))
        choices += [(share * p, Click(link.mark)) for p, link in zip(promise, fresh, strict=True)]
        choices += [(0.2 / len(links), Click(link.mark)) for link in links if link not in fresh]
        if not choices:
            return None
        rng = np.random.default_rng([self.seed, trajectory.task.seed, len(trajectory.steps)])
        weights = np.asarray([weight for weight, _ in choices])
        return choices[int(rng.choice(len(choices), p=weights / weights.sum()))][1]

    def _next_in(self, form: PageForm, trajectory: Trajectory, page: Observation) -> Action | None:
        """Return a field of the form that was not touched on this visit, else its button.

        Which fields are filled in, and how, is the same at every step of one visit.
        """
        visit = sum(isinstance(step.decision.action, Click | Press) for step in trajectory.steps)
        name = zlib.crc32("/".join(sorted(form.labels)).encode())
        words = find_words([n.name for n in page.nodes if n.role in ("text", "link")])
        touched = set()
        for step in reversed(trajectory.steps):
            if not isinstance(step.decision.action, _FILLED) or step.observation.url != page.url:
                break
            entry = find_field(step.observation, step.decision.action.mark)
            touched |= {entry.label} if entry else set()
        typed = []
        for entry in form.fields:
            # All password fields get one value, as a form with a repetition asks for.
            kind = "password" if "password" in entry.node.kind else entry.label
            place = zlib.crc32(kind.encode())
            rng = np.random.default_rng([self.seed, trajectory.task.seed, visit, name, place])
            if entry.label and (action := _choose_entry(entry, words, rng, len(form.fields))):
                if entry.label not in touched:
                    return action
                typed += [entry] if is_typed(entry.node) else []
        if buttons := form.find_buttons(self.may_destroy):
            return Click(buttons[0].mark)
        return Press(typed[-1].node.mark, "Enter") if typed else None


def find_offer(page: Observation, action: Action) -> str:
    """Return what an action takes of a page's offers; empty where it only prepares one."""
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
    """Return how a field is filled in; None where it is left as it is."""
    node = entry.node
    if is_typed(node):
        if node.value.strip() and rng.random() < 0.6:
            return None
        wanted = fields <= 3 or rng.random() < 0.7
        kind = node.kind or node.role
        value = make_plausible_value(entry.label, kind, words, rng) if wanted else ""
        return Fill(node.mark, value) if value else None
    if node.role in ("checkbox", "switch", "radio"):
        chance = 0.4 if node.role == "radio" else 0.2
        return Check(node.mark) if "checked" not in node.states and rng.random() < chance else None
    options = [o for o in entry.options if o.strip(" -") and o != node.value]
    if not options or rng.random() < 0.45:
        return None
    return SelectOption(node.mark, options[int(rng.integers(len(options)))])


if TYPE_CHECKING:
    from worldmodel.prediction import WorldModel


@dataclass(frozen=True, slots=True)
class ObservedTransition:
    """What was seen, done and seen then; exploring does not say how the episode ended."""

    steps: tuple[Step, ...]
    before: Observation
    action: Action
    after: Observation
    episode: str = ""


Surprise: TypeAlias = Callable[[ObservedTransition], float]
"""From 0, foreseen, to 1."""


def by_novelty() -> Surprise:
    """Return the surprise of a world without a model, which counts as it is called.

    One over the root of how often the same was tried on the same kind of page with the same
    outcome.
    """
    counts: Counter[tuple[str, ...]] = Counter()

    def measure_surprise(moved: ObservedTransition) -> float:
        offer = find_offer(moved.before, moved.action)
        key = (mask_address(moved.before.url), offer, mask_address(moved.after.url))
        counts[key] += 1
        return 1.0 / sqrt(counts[key])

    return measure_surprise


def by_prediction(world: "WorldModel") -> Surprise:
    """Return the surprise of a world model: one less the F1 of the changes that it predicted.

    Where nothing changed or was predicted to, whether the page is as predicted.
    """
    from worldmodel.accuracy import measure
    from worldmodel.transitions import Transition

    def measure_surprise(m: ObservedTransition) -> float:
        transition = Transition(m.steps, m.before, m.action, m.after, False, "explore", m.episode)
        measured = measure(world, [transition])
        right = measured.changed_f1 if measured.changed_f1 is not None else measured.exact
        return 1.0 - (right if right is not None else 0.0)

    return measure_surprise
