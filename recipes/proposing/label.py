"""Labelling backwards: episodes told as deeds, prefix by prefix, and cut to what leads there."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from recipes.proposing.explore_pages import (
    ENTER,
    facts_on,
    field_of,
    forms_on,
    heading_above,
    is_telling_name,
    is_typed,
    subject_of,
)
from tasks.proposers.backward import (
    Deed,
    Filled,
    Opened,
    Read,
    Submitted,
    is_brief,
    is_search,
    is_title,
    signature,
)
from tasks.proposers.checks import is_clock
from tasks.proposers.exploration import is_preview
from tasks.proposers.frontier import pattern_of
from webagent.action import Action, is_final
from webagent.action.actions import (
    Answer,
    Check,
    Click,
    Fill,
    GoBack,
    Goto,
    Press,
    SelectOption,
    Uncheck,
)
from webagent.policy.deeds import detours, looks
from webagent.records import Decision, Node, Observation, Step, Trajectory


@dataclass(frozen=True, slots=True)
class Told:
    """A deed with the step that completed it, counted from 0."""

    step: int
    deed: Deed


@dataclass(frozen=True, slots=True)
class Candidate:
    """The beginning of an episode that may be the solution of a task."""

    episode: Trajectory
    steps: tuple[Step, ...]
    """Detours cut out."""
    last: Observation
    deeds: tuple[Deed, ...]
    surprise: float = 0.0
    """Of the step that completed the last deed."""
    whole: int = 0
    """Steps before the detours were cut out."""

    @property
    def length(self) -> int:
        """Steps it takes."""
        return len(self.steps)


@dataclass(slots=True)
class Pruning:
    """Which prefixes describe something new: how often each kind of deed was kept."""

    most: int = 2
    """Candidates of one signature."""
    most_read: int = 1
    """Questions of one signature."""
    kept: Counter[str] = field(default_factory=Counter)
    pruned: int = 0
    """Prefixes that described nothing new."""

    def takes(self, deed: Deed) -> bool:
        """Whether a deed is of a kind that there are not enough of; it is counted."""
        name = signature(deed)
        if self.kept[name] >= (self.most if isinstance(deed, Submitted) else self.most_read):
            self.pruned += 1
            return False
        self.kept[name] += 1
        return True


def candidates(
    episode: Trajectory,
    pruning: Pruning,
    rng: np.random.Generator,
    surprises: Sequence[float] = (),
) -> list[Candidate]:
    """What can be made of an episode's prefixes, in order, those that say nothing new pruned."""
    found = []
    told = deeds_of(episode.steps, episode.last)
    for each in told:
        last = step_after(episode, each.step)
        if last is None:
            continue
        steps = cut(episode.steps[: each.step + 1], last)
        deeds = _story(steps, last)
        if deeds and _is_worth(deeds) and pruning.takes(deeds[-1]):
            surprise = surprises[each.step] if each.step < len(surprises) else 0.0
            found.append(Candidate(episode, steps, last, deeds, surprise, each.step + 1))
    return [*found, *_questions(episode, told, pruning, rng)]


def uncut(candidate: Candidate) -> Candidate:
    """The candidate with its detours, for one that does not play again without them."""
    steps = candidate.episode.steps[: candidate.whole]
    deeds = _story(steps, candidate.last)
    return replace(candidate, steps=steps, deeds=deeds or candidate.deeds)


def _story(steps: Sequence[Step], last: Observation) -> tuple[Deed, ...]:
    """What was done, for telling: forms sent, and the last deed; searches on the way are none."""
    told = [each.deed for each in deeds_of(steps, last)]
    done = [d for d in told[:-1] if isinstance(d, Submitted) and not is_search(d)]
    return (*done, told[-1]) if told else ()


def deeds_of(steps: Sequence[Step], last: Observation | None) -> list[Told]:
    """What was done, step by step; what changed nothing on the page is left out."""
    found: list[Told] = []
    pending: dict[str, Filled] = {}
    subject, is_particular = "", False
    menu = (
        {node.name for node in steps[0].observation.nodes if node.role == "link"}
        if steps
        else set()
    )
    for index, step in enumerate(steps):
        page, action = step.observation, step.decision.action
        after = steps[index + 1].observation if index + 1 < len(steps) else last
        if after is None or is_final(action):
            continue
        if entered := _entered(page, action):
            pending[entered.label] = entered
            continue
        node = page.node(getattr(action, "mark", 0))
        if not _has_moved(page, after) or node is None:
            pending = pending if isinstance(action, Click | Press) else {}
            continue
        if node.role == "link" and isinstance(action, Click):
            subject, is_particular = _subject(node, page, after, menu)
            pending = {}
            opened = Opened(node.name, after.title, pattern_of(after.url))
            found.append(Told(index, opened))
        elif node.role == "button" or isinstance(action, Press):
            button = node.name if node.role == "button" else ENTER
            if not is_preview(button):
                fields = tuple(pending.values())
                heading = heading_above(page, _first_mark(page, node))
                sent = Submitted(button, heading, fields, subject, is_particular)
                found.append(Told(index, sent))
                titled = next((f.value for f in fields if is_title(f.label)), "")
                subject = subject_of(after) or titled or subject
                is_particular = bool(subject)
            pending = _still_there(pending, after)
    return found


def cut(steps: Sequence[Step], last: Observation) -> tuple[Step, ...]:
    """The steps without detours: pages that were left and come back to with nothing entered."""
    left_out = set(detours(steps))
    kept = [step for index, step in enumerate(steps) if index not in left_out]
    index = 0
    while index < len(kept):
        again = [
            later
            for later in range(index + 1, len(kept))
            if kept[later].observation.url == kept[index].observation.url
            and all(_is_walk(step) for step in kept[index:later])
        ]
        if again:
            del kept[index : again[-1]]
        index += 1
    return tuple(kept)


def recording(candidate: Candidate, answer: str = "", steps: Sequence[Step] = ()) -> Trajectory:
    """The candidate as an episode that ends with an answer, to be played again."""
    whole = tuple(steps or candidate.steps)
    final = Step(candidate.last, Decision(Answer(answer), source="demonstration"))
    return replace(candidate.episode, steps=(*whole, final), last=candidate.last)


def _questions(
    episode: Trajectory, told: Sequence[Told], pruning: Pruning, rng: np.random.Generator
) -> list[Candidate]:
    """A question for one fact of each page that was only walked to."""
    found = []
    for index, step in enumerate(episode.steps):
        if any(isinstance(t.deed, Submitted) and t.step < index for t in told):
            break
        if index == 0 or not _is_walk(episode.steps[index - 1]):
            continue
        facts = [fact for fact in facts_on(step.observation) if _is_askable(fact)]
        for place in rng.permutation(len(facts)):
            fact = facts[int(place)]
            if is_alone(fact, facts) and pruning.takes(fact):
                steps = cut(episode.steps[:index], step.observation)
                found.append(Candidate(episode, steps, step.observation, (fact,), whole=index))
                break
    return found


def is_alone(fact: Read, facts: Sequence[Read]) -> bool:
    """Whether the page gives one value only for what would be asked."""
    alike = {f.value for f in facts if (f.subject, f.label) == (fact.subject, fact.label)}
    return len(alike) == 1


def _is_askable(fact: Read) -> bool:
    texts = (fact.subject, fact.label, fact.value)
    return (
        all(is_brief(text) for text in texts)
        and not is_clock(fact.value)
        and fact.value not in fact.subject
        and any(c.isalnum() for c in fact.value)
    )


def _is_worth(deeds: Sequence[Deed]) -> bool:
    """Whether a task can be made of them: few deeds, texts that fit into a sentence."""
    last = deeds[-1]
    if isinstance(last, Opened):
        return len(deeds) == 1 and is_brief(last.title) and is_telling_name(last.link)
    fields = [f for deed in deeds if isinstance(deed, Submitted) for f in deed.fields]
    return len(deeds) <= 3 and all(is_brief(f.value) and is_brief(f.label) for f in fields)


def _entered(page: Observation, action: Action) -> Filled | None:
    """What an action put into a field."""
    entry = field_of(page, getattr(action, "mark", 0))
    if entry is None:
        return None
    match action:
        case Fill(text=text):
            return Filled(entry.label, "textbox", text)
        case SelectOption(option=option):
            return Filled(entry.label, "combobox", option)
        case Check() | Click() if entry.node.role == "radio":
            return Filled(entry.label, "radio", "chosen")
        case Check() | Click() if entry.node.role in ("checkbox", "switch"):
            was = "checked" in entry.node.states and isinstance(action, Click)
            return Filled(entry.label, "checkbox", "unchecked" if was else "checked")
        case Uncheck():
            return Filled(entry.label, "checkbox", "unchecked")
    return None


def _still_there(pending: dict[str, Filled], page: Observation) -> dict[str, Filled]:
    """What was entered and stands in the fields of the next page, as after a preview."""
    forms = forms_on(page)
    values = {f.label: f.node.value for form in forms for f in form.fields if is_typed(f.node)}
    values |= {f.label: f.node.value for form in forms for f in form.fields if f.options}
    return {label: each for label, each in pending.items() if values.get(label) == each.value}


def _subject(link: Node, page: Observation, after: Observation, menu: set[str]) -> tuple[str, bool]:
    """What a page is about, where it is one of many; and whether it is."""
    if link.name in menu:
        return "", False
    known = subject_of(after) or subject_of(page)
    rows = [f.subject for f in facts_on(page) if link.name in (f.value, f.subject)]
    if link.name in rows or (is_telling_name(link.name) and not known and link.kind == "a"):
        return link.name, True
    return known, True


def _has_moved(page: Observation, after: Observation) -> bool:
    return after.outcome != "no effect" and (page.url != after.url or looks(page) != looks(after))


def _is_walk(step: Step) -> bool:
    """Whether a step only went from page to page."""
    action = step.decision.action
    node = step.observation.node(getattr(action, "mark", 0))
    is_link = isinstance(action, Click) and node is not None and node.role == "link"
    return is_link or isinstance(action, GoBack | Goto)


def _first_mark(page: Observation, button: Node) -> int:
    """The mark of the first field of the button's form, above which its heading stands."""
    for form in forms_on(page):
        if button in form.buttons or button in [f.node for f in form.fields]:
            return form.fields[0].node.mark if form.fields else button.mark
    return button.mark


def fills(steps: Sequence[Step]) -> Iterator[tuple[int, str]]:
    """The steps that typed or chose something, with what."""
    for index, step in enumerate(steps):
        match step.decision.action:
            case Fill(text=text) if text:
                yield index, text
            case SelectOption(option=option):
                yield index, option


def step_after(episode: Trajectory, index: int) -> Observation | None:
    """The page that the action of step `index` led to."""
    if index + 1 < len(episode.steps):
        return episode.steps[index + 1].observation
    return episode.last
