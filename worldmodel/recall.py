"""Recall: outcomes of similar steps, composed for the current page."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import exp

from webagent.records import Ending, Observation
from worldmodel.cases import Occasion, TransitionCase
from worldmodel.compose import Composed, compose_page, compose_url, edit_page, fill_from
from worldmodel.confidence import Confidence, Traits
from worldmodel.kinds import hide_things
from worldmodel.lines import PageLines, is_unknown, mask, name_of
from worldmodel.prediction import Effect, Outcome, Prediction, Source
from worldmodel.rules import RULED, apply_rules, limit_steps, touch
from worldmodel.success import SuccessMemory
from worldmodel.transitions import Situation, Transition

_MOST_SCORED = 120
_KEPT = 12
_SHARP = 4.0
_SEVERAL = 3
"""Number of episodes from which a line counts as recurring."""
_LINKS = 3
"""Number of other links that must lead to a kind of page for one never clicked to do so."""
_TRIED = 5
"""Number of other cases on which a text is tested."""
_NEAR = 3
"""Levels up to this one are of the same kind of page and name."""
_LEVELS = (
    "the same element at this address",
    "the same element on this kind of page",
    "an element of this name elsewhere",
    "an element of a like name on this kind of page",
    "another element of its role on this kind of page",
    "an element of its role elsewhere",
)
Key = tuple[str, ...]
Recalled = tuple[float, int, TransitionCase]
"""Similarity, level, and case."""


class RememberedWorld:
    """All real transitions, recalled by similarity."""

    def __init__(self) -> None:
        self.cases: list[TransitionCase] = []
        self._index: defaultdict[Key, list[TransitionCase]] = defaultdict(list)
        self._visits: dict[str, Visits] = {}
        self._common: dict[str, CommonLines] = {}
        self._success = SuccessMemory()
        self._confidence = Confidence()

    def learn(self, transitions: Iterable[Transition]) -> None:
        """Remember transitions."""
        for transition in transitions:
            case = TransitionCase(transition.situation, transition, len(self.cases))
            self.cases.append(case)
            for key in levels(case):
                self._index[key].append(case)
            self._visits.setdefault(case.url, Visits()).add(case)
            self._success.add(case)
            self._common.setdefault(case.kind, CommonLines()).add(case)

    def predict(self, situations: Sequence[Situation]) -> list[Prediction]:
        """Return the outcomes of similar steps."""
        return [self.predict_one(situation) for situation in situations]

    def page_at(self, url: str) -> Observation | None:
        """Return the page last seen at a URL; None if there is none."""
        visits = self._visits.get(url)
        return visits.cases[-1].transition.after if visits else None

    def recall(self, there: Occasion, without: str = "") -> list[Recalled]:
        """Return the most similar cases with their similarity and level, 0 the closest. The episode
        `without` is left out."""
        found: list[Recalled] = []
        seen: set[int] = set()
        common = self._common.get(there.kind)
        for level, key in enumerate(levels(there)):
            for case in self._index.get(key, ())[-_MOST_SCORED:]:
                if id(case) not in seen and case.transition.episode != without:
                    seen.add(id(case))
                    found.append((likeness(case, there, common) - level, level, case))
            if len(found) >= _KEPT:
                break
        found.sort(key=lambda each: (-each[0], -each[2].number))
        return found[:_KEPT]

    def predict_one(self, situation: Situation) -> Prediction:
        """Return the prediction for one situation."""
        if (ruled := apply_rules(situation)) is not None:
            return self._judged(ruled, Occasion(situation))
        there = Occasion(situation)
        prediction, traits = self._predict_page(there)
        if traits is not None:
            self._confidence.study(self.cases, self._predict_page)
            prediction = replace(prediction, confidence=self._confidence.of(traits))
        return limit_steps(situation, self._judged(prediction, there))

    def study(self) -> None:
        """Fit the confidence and P(success) now, so that no prediction has to wait for it."""
        if self.cases:
            self._confidence.study(self.cases, self._predict_page)
            self.chance(self.cases[-1])

    def _predict_page(self, there: Occasion, without: str = "") -> tuple[Prediction, Traits | None]:
        """Return a prediction without confidence and P(success), as if the episode `without` had
        not been seen, and how its page was put together; None where its confidence is given."""
        found, page = self.recall(there, without), there.situation.observation
        if isinstance(there.situation.action, RULED) and (not found or found[0][1] > _NEAR):
            prediction = Prediction(
                touch(page, there.situation),
                *(Outcome(0.0, 0.0, 0.5), Effect.STAYS, None, 0.0, Source.RULED, there.op),
            )
            return prediction, Traits(is_ruled=True)
        if found:
            return self._recalled(found, there, without)
        outcome = Outcome(0.0, 0.5, 0.5)
        return Prediction(page, outcome, Effect.STAYS, None, 0.0, Source.UNKNOWN), None

    def _judged(self, prediction: Prediction, there: Occasion) -> Prediction:
        """Return the prediction with the P(success) of similar steps."""
        return replace(prediction, outcome=replace(prediction.outcome, succeeds=self.chance(there)))

    def chance(self, there: Occasion) -> float:
        """Return the P(success) of similar steps."""
        return self._success.chance(there)

    def _recalled(
        self, found: list[Recalled], there: Occasion, without: str = ""
    ) -> tuple[Prediction, Traits]:
        votes: defaultdict[tuple[str, ...], float] = defaultdict(float)
        for each in found:
            votes[each[2].effect] += exp(_SHARP * (each[0] - found[0][0]))
        total = sum(votes.values())
        effect = max(votes, key=lambda each: votes[each])
        _, level, lead = next(each for each in found if each[2].effect == effect)
        group = [each[2] for each in found if each[2].effect == effect and each[2] is not lead]
        composed = self._compose(lead, group, there, without)
        page = touch(composed.page, there.situation)
        if any(is_unknown(node) for node in page.nodes):
            page = fill_from(page, [s.observation for s in there.situation.steps]) or page
        over = sum(n for each, n in votes.items() if each[0] == "over") / total
        idle = sum(n for each, n in votes.items() if each[0] == "nothing") / total
        kinds = {"over": Effect.ENDS, "goes": Effect.GOES}
        # Another element of a role, in another place, says little about this one, and where one
        # or two others lead says little of where this one does.
        alike = {case.node.name for case in (lead, *group) if case.node is not None}
        is_lone = lead.op == "click" and effect[0] == "goes" and len(alike) < _LINKS
        is_guess = level > _NEAR and (is_lone or lead.place != there.place)
        prediction = Prediction(
            page,
            Outcome(over, idle, 0.5),
            kinds.get(effect[0], Effect.STAYS),
            Ending.TASK_OVER if effect[0] == "over" else None,
            0.0,
            Source.UNKNOWN if is_guess else Source.REMEMBERED,
            f"by {_LEVELS[level]}, seen {len(group) + 1} times",
        )
        known = [node for node in page.nodes if not is_unknown(node)]
        traits = Traits(
            agreement=votes[effect] / total,
            supported=composed.certainty,
            has_unknown=len(known) < len(page.nodes),
            level=level,
            is_same_page=lead.before.bag == there.before.bag,
            likeness=lead.before.likeness(there.before),
            came=sum(name_of(node) not in there.before.names for node in known),
            others=len(group),
            is_guess=is_guess,
        )
        return prediction, traits

    def _compose(
        self, lead: TransitionCase, group: list[TransitionCase], there: Occasion, without: str
    ) -> Composed:
        """Return the next page according to a case, tested on others with a similar outcome."""
        page = there.situation.observation
        match lead.effect[0]:
            case "over":
                return Composed(replace(page, over=True), 1.0)
            case "nothing":
                return Composed(replace(page, outcome=lead.transition.after.outcome), 1.0)
            case "stays":
                return edit_page(lead, there, group[:_TRIED])
        named = [case for case in group if _is_called(case, there)]
        url = compose_url(lead, there, (named if _is_called(lead, there) else group)[:_TRIED])
        visits = self._visits.get(url)
        near = [case for case in (lead, *group) if case.url == url]
        recent = visits.cases[-_MOST_SCORED:] if visits is not None and visits.is_stable else []
        rest = [c for c in recent if c not in near and c.transition.episode != without]
        rest.sort(key=lambda case: -case.before.likeness(there.before))
        if recent and (pool := [*near, *rest]):
            return compose_page(pool[0], there, pool[1 : 1 + _TRIED], url, is_same_page=True)
        others = [case for case in group if case.url != lead.url] or group
        url = url or hide_things(lead.url)
        return compose_page(lead, there, others[:_TRIED], url, is_same_page=False)


@dataclass(slots=True)
class Visits:
    """Transitions that led to one URL."""

    cases: list[TransitionCase] = field(default_factory=list)
    compared: int = 0
    alike: float = 0.0

    def add(self, case: TransitionCase) -> None:
        """Add a transition, compared with the last one of another episode."""
        for other in self.cases[-3:]:
            if other.transition.episode != case.transition.episode:
                self.compared += 1
                self.alike += case.after.likeness(other.after)
                break
        self.cases.append(case)

    @property
    def is_stable(self) -> bool:
        """Return whether the page is nearly the same in other episodes."""
        return self.alike >= 0.5 * self.compared


def _is_called(case: TransitionCase, there: Occasion) -> bool:
    """Return whether both act on an element with the same name."""
    ours, theirs = there.node, case.node
    return ours is not None and theirs is not None and ours.name == theirs.name


def levels(there: Occasion) -> list[Key]:
    """Return the keys under which an occasion is found, the most specific first."""
    node, op = there.node, there.op
    role, name, kind = (node.role, node.name, node.kind) if node else ("", "", "")
    url = there.situation.observation.url
    return [
        ("0", url, op, role, name),
        ("1", there.kind, op, role, name),
        ("2", op, name) if name else ("1", there.kind, op, role, name),
        ("3", there.kind, op, role, mask(name)),
        ("4", there.kind, op, role, kind),
        ("5", op, role, kind),
    ]


class CommonLines:
    """Lines that recur on the pages of a kind."""

    def __init__(self) -> None:
        self._last: dict[int, str] = {}
        self._counts: Counter[int] = Counter()
        self._kept: dict[int, frozenset[int]] = {}

    def add(self, case: TransitionCase) -> None:
        """Count the lines of a page, once per episode."""
        episode = case.transition.episode
        for line in case.before.bag:
            if self._last.get(line) != episode:
                self._last[line] = episode
                self._counts[line] += 1
        self._kept.clear()

    def of(self, lines: PageLines) -> frozenset[int]:
        """Return the lines of a page that occurred in several episodes."""
        kept = self._kept.get(id(lines))
        if kept is None:
            kept = frozenset(line for line in lines.bag if self._counts[line] >= _SEVERAL)
            self._kept[id(lines)] = kept
        return kept

    def likeness(self, one: PageLines, other: PageLines) -> float:
        """Return the share of recurring lines common to both pages, in [0, 1]."""
        a, b = self.of(one), self.of(other)
        both = len(a & b)
        return both / (len(a) + len(b) - both) if both else 0.0


def likeness(case: TransitionCase, there: Occasion, common: CommonLines | None = None) -> float:
    """Return the similarity of two occasions, about 0 to 7."""
    if case.goal is there.goal:
        goal = 1.2
    elif case.goal.template == there.goal.template:
        goal = 1.0
    else:
        a, b = set(case.goal.template), set(there.goal.template)
        goal = 0.5 * len(a & b) / max(1, len(a | b))
    past = 0.0
    for ours, theirs in zip(there.past, case.past, strict=False):
        if ours != theirs:
            break
        past += 0.3
    return (
        1.5 * case.before.likeness(there.before)
        + (1.5 * common.likeness(case.before, there.before) if common else 0.0)
        + goal
        + past
        + 0.5 * (case.filled == there.filled)
        + 0.5 * (case.place == there.place)
        + 0.4 * (case.line == there.line)
        + 0.5 * (case.kind.split("/", 2)[1:2] == there.kind.split("/", 2)[1:2])
        + (0.3 if case.written == there.written else 0.0)
    )
