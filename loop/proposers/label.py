"""Labelling backwards: episodes told as deeds, prefix by prefix, and cut to what leads there."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from loop.proposers.backward import (
    Deed,
    Opened,
    Read,
    Submitted,
    is_brief,
    is_label,
    is_search,
    signature,
)
from loop.proposers.checks import is_clock
from loop.proposers.explore_pages import ENTER, facts_on, is_in_menu, is_telling_name, menu_of
from loop.proposers.label_deeds import Told, deeds_of, is_walk
from webagent.action.actions import Answer, Click, Fill, SelectOption
from webagent.policy.past_actions import find_detours
from webagent.records import Decision, Observation, Step, Trajectory


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
    """What was done, for telling: the last deed, and the forms sent before it. What only looks for
    something is told alone, and not told on the way to something else."""
    told = [each.deed for each in deeds_of(steps, last)]
    if not told or (isinstance(told[-1], Submitted) and is_search(told[-1])):
        return tuple(told[-1:])
    sent = [d for d in told[:-1] if isinstance(d, Submitted)]
    done = [d for d in sent if not is_search(d) and d.button != ENTER]
    return (*done, told[-1])


def cut(steps: Sequence[Step], last: Observation) -> tuple[Step, ...]:
    """The steps without detours: pages that were left and come back to with nothing entered."""
    left_out = set(find_detours(steps))
    kept = [step for index, step in enumerate(steps) if index not in left_out]
    index = 0
    while index < len(kept):
        again = [
            later
            for later in range(index + 1, len(kept))
            if kept[later].observation.url == kept[index].observation.url
            and all(is_walk(step) for step in kept[index:later])
        ]
        if again:
            del kept[index : again[-1]]
        index += 1
    return _by_menu(kept)


def _by_menu(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps with each walk that ends at a link of the menu begun there at once."""
    kept = list(steps)
    index = 0
    while index < len(kept):
        menu = menu_of(kept[index].observation)
        jump = index
        for later in range(index + 1, len(kept)):
            if not all(is_walk(step) for step in kept[index:later]):
                break
            step = kept[later]
            link = step.observation.node(getattr(step.decision.action, "mark", 0))
            if link is not None and link.role == "link" and is_in_menu(link, menu):
                jump = later
        if jump > index:
            kept[index : jump + 1] = [_clicked_on(kept[index].observation, kept[jump])]
        index += 1
    return tuple(kept)


def _clicked_on(page: Observation, step: Step) -> Step:
    """A click on a link of the menu, done on another page."""
    link = step.observation.node(getattr(step.decision.action, "mark", 0))
    name = link.name if link else ""
    there = next(n for n in page.nodes if n.mark and n.role == "link" and n.name == name)
    return replace(
        step, observation=page, decision=replace(step.decision, action=Click(there.mark))
    )


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
        if index == 0 or not is_walk(episode.steps[index - 1]):
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
    return len(deeds) <= 3 and all(is_brief(f.value) and is_label(f.label) for f in fields)


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
