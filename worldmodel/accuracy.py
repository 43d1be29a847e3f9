"""Accuracy of a world model on real transitions, compared with copying the page."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeAlias

from evaluators.statistics import calibration_error
from webagent.models.builtin.vocabulary import keys_of
from webagent.records import Ending, Node, Observation
from worldmodel.kinds import GAP, mask_address
from worldmodel.knowable import KnowableLines
from worldmodel.lines import is_unknown, name_of, read_range
from worldmodel.prediction import Effect, Outcome, Prediction, Source, WorldModel, expect
from worldmodel.transitions import Situation, Transition

_BATCH = 32
_WHOLE = 10_000
_LineKey: TypeAlias = tuple[str, str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]
Changes: TypeAlias = Counter[tuple[str, _LineKey]]


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Figures in [0, 1], None where there was nothing to measure; `asdict` makes JSON of it.

    Pages are compared line by line, capitals, white space and focus aside, and only where there
    is a page to act on afterwards. Changed lines are counted over all pages together (micro
    average); a line that changed is one that went and one that came; a placeholder is no claim,
    but the lines it stands for count as missed.
    """

    transitions: int
    went_on: int
    """Number of transitions followed by a page to act on."""
    answered: float | None = None
    """Share of transitions whose outcome was not called unknown as a whole."""
    modelled: float | None = None
    """Share of transitions predicted by a trained or prompted model, not by memory or a rule."""
    exact: float | None = None
    """Share of pages predicted line for line."""
    exact_knowable: float | None = None
    """The same where a block of lines of which one stands in no source may be predicted as
    placeholders of their kinds: sources are the goal, this page, earlier pages, and what came in at
    least half of the remembered transitions of the same element on the same kind of page."""
    invented: float | None = None
    """Share of the lines predicted as known whose words are in no source and not on the real
    page."""
    wrong: float | None = None
    """Share of the lines predicted as known that are not on the real page."""
    changed_precision: float | None = None
    """Share of predicted changes that occurred."""
    changed_recall: float | None = None
    """Share of actual changes that were predicted."""
    changed_f1: float | None = None
    no_change: float | None = None
    """Share of unchanged pages that were predicted to be unchanged."""
    page_kind: float | None = None
    """Share of pages whose kind of URL was predicted."""
    address: float | None = None
    """Share of pages whose complete URL was predicted."""
    ends: float | None = None
    """Share of transitions for which it was predicted correctly whether and how the episode
    ends."""
    success: float | None = None
    """Share of transitions whose episode's outcome was predicted correctly."""
    brier: float | None = None
    """Brier score: mean squared error of P(success); lower is better, 0.25 for a constant 0.5."""
    brier_skill: float | None = None
    """1 minus the ratio of the Brier score to that of always predicting the base rate of
    success."""
    ece: float | None = None
    """Expected calibration error of P(success) over ten bins of equal width."""
    failure_called_success: float | None = None
    """Share of failures predicted as successes: the error that misleads a search."""
    success_called_success: float | None = None
    confidence_ece: float | None = None
    """Expected calibration error of the confidence, as the probability that a page is right as in
    `exact_knowable`."""


@dataclass(slots=True)
class CopyPage:
    """Baseline: every page stays unchanged, and every action has the same outcome."""

    outcome: Outcome

    @classmethod
    def most_frequent(cls, transitions: Sequence[Transition]) -> "CopyPage":
        """Return a baseline whose outcome has the frequencies of these (training) transitions."""
        ends = [float(t.ends) for t in transitions]
        same = [float(not t.ends and not changes(t.before, t.after)) for t in transitions]
        succeeds = [float(t.succeeded) for t in transitions]
        return cls(Outcome(*(_mean(values) or 0.0 for values in (ends, same, succeeds))))

    def learn(self, transitions: Iterable[Transition]) -> None:
        """Set the outcome to the frequencies of these transitions."""
        self.outcome = self.most_frequent(list(transitions)).outcome

    def predict(self, situations: Sequence[Situation]) -> list[Prediction]:
        """Return the current pages, with the same outcome for all."""
        ends = self.outcome.ends >= 0.5
        effect, ending = (Effect.ENDS, Ending.TASK_OVER) if ends else (Effect.STAYS, None)
        confidence, source = self.outcome.nothing, Source.MODELLED
        return [
            Prediction(
                replace(s.observation, over=ends), self.outcome, effect, ending, confidence, source
            )
            for s in situations
        ]


@dataclass(frozen=True, slots=True)
class MeasuredTransition:
    """One transition with its prediction."""

    truth: Transition
    prediction: Prediction

    @property
    def goes_on(self) -> bool:
        """Return whether there is a page to act on afterwards."""
        return not self.truth.after.over and self.truth.ending in (None, Ending.STEP_LIMIT)

    @property
    def happened(self) -> Changes:
        """Return the actual changes."""
        return changes(self.truth.before, self.truth.after)

    @property
    def predicted(self) -> Changes:
        """Return the predicted changes, without placeholders."""
        page = self.prediction.page
        known = replace(page, nodes=tuple(node for node in page.nodes if not is_unknown(node)))
        return changes(self.truth.before, known)

    @property
    def is_exact(self) -> bool:
        """Return whether the page is right line for line."""
        page = self.prediction.page
        return not page.over and _line_keys(page) == _line_keys(self.truth.after)

    @property
    def is_told_unchanged(self) -> bool:
        """Return whether the page was predicted to stay unchanged."""
        page = self.prediction.page
        return not page.over and not changes(self.truth.before, page)

    @property
    def is_end_right(self) -> bool:
        """Return whether the end of the episode, or that there is none, was predicted correctly."""
        ends = self.prediction.outcome.ends >= 0.5
        expected, truth = self.prediction.ending, self.truth.ending
        return ends == self.truth.ends and (not ends or truth is None or expected == truth)

    def sources(self) -> list[str]:
        """Return the available texts, in lower case: goal, page, earlier pages, typed text."""
        pages = [self.truth.before, *(step.observation for step in self.truth.steps)]
        texts = [text for page in pages for node in page.nodes for text in (node.name, node.value)]
        typed = [
            str(getattr(action, name, ""))
            for action in (self.truth.action, *(s.decision.action for s in self.truth.steps))
            for name in ("text", "option")
        ]
        return [
            text.lower() for text in dict.fromkeys((self.truth.before.goal, *typed, *texts)) if text
        ]

    def is_right_as_known(self, knowledge: KnowableLines | None) -> bool:
        """Return whether the page is right if lines that could not be known may be placeholders.

        Without knowledge, any line may be one.
        """
        page, truth = self.prediction.page, self.truth.after
        if page.over:
            return False
        said = self.sources()

        def may_be_unknown(node: Node) -> bool:
            return knowledge is None or not knowledge.holds(node, self.truth, said)

        return _agree(page.nodes, truth.nodes, may_be_unknown)

    def tally(self, knowledge: KnowableLines | None) -> "Tally":
        """Return the counts of this transition."""
        outcome, truth = self.prediction.outcome, self.truth
        confidence = self.prediction.confidence
        tally = Tally(
            truth.episode,
            self.goes_on,
            self.is_end_right,
            outcome.succeeds,
            truth.succeeded,
            confidence,
            self.prediction.source,
        )
        if not self.goes_on:
            return tally
        happened, predicted = self.happened, self.predicted
        wrong, known_lines = self.wrong_lines()
        sources = self.sources() if wrong else ()
        words = {word for text in sources for word in keys_of(text, _WHOLE)}
        remembered = knowledge.lines if knowledge is not None else set()
        invented = sum(
            name_of(node) not in remembered and not words.issuperset(keys_of(node.name, _WHOLE))
            for node in wrong
        )
        address = self.prediction.page.url
        return replace(
            tally,
            exact=self.is_exact,
            right=self.is_right_as_known(knowledge),
            invented=invented,
            wrong=len(wrong),
            known_lines=known_lines,
            happened=happened.total(),
            predicted=predicted.total(),
            both=(happened & predicted).total(),
            unchanged=self.is_told_unchanged,
            page_kind=mask_address(address) == mask_address(truth.after.url),
            address=address == truth.after.url,
        )

    def wrong_lines(self) -> tuple[list[Node], int]:
        """Return the lines predicted as known that are not on the real page, and how many were
        predicted."""
        truth = Counter(_line_keys(self.truth.after))
        known = [node for node in self.prediction.page.nodes if not is_unknown(node)]
        wrong = []
        for node, key in zip(known, map(_line_key, known), strict=True):
            truth[key] -= 1
            if truth[key] < 0:
                wrong.append(node)
        return wrong, len(known)


async def expect_all(
    world: WorldModel,
    transitions: Iterable[Transition],
    at_once: int = _BATCH,
    on_done: Callable[[], None] = lambda: None,
) -> list[MeasuredTransition]:
    """Return the same inside an event loop, with so many predictions at once; `on_done` is called
    after each. Raises `ModelError` if a model that is asked fails."""
    seen, measured = list(transitions), []
    for first in range(0, len(seen), at_once):
        batch = seen[first : first + at_once]
        predictions = await expect(world, [t.situation for t in batch])
        for t, prediction in zip(batch, predictions, strict=True):
            measured.append(MeasuredTransition(t, prediction))
            on_done()
    return measured


def measure(
    world: WorldModel, transitions: Iterable[Transition], knowledge: KnowableLines | None = None
) -> Accuracy:
    """Return the accuracy of predictions, on transitions that `world` has not seen.

    `knowledge` is what the model learned from; without it, any line may be predicted as unknown.
    """
    seen, measured = list(transitions), list[MeasuredTransition]()
    for first in range(0, len(seen), _BATCH):
        batch = seen[first : first + _BATCH]
        predictions = world.predict([t.situation for t in batch])
        measured += map(MeasuredTransition, batch, predictions)
    return summarize([one.tally(knowledge) for one in measured])


@dataclass(frozen=True, slots=True)
class Tally:
    """The counts of one transition with its prediction; pages only if the episode continued."""

    episode: str
    goes_on: bool
    ends: bool
    """Whether the end of the episode, or that there is none, was predicted correctly."""
    chance: float
    succeeded: bool
    confidence: float
    source: Source
    exact: bool = False
    right: bool = False
    invented: int = 0
    wrong: int = 0
    known_lines: int = 0
    """Number of lines predicted as known."""
    happened: int = 0
    predicted: int = 0
    both: int = 0
    unchanged: bool = False
    page_kind: bool = False
    address: bool = False


def summarize(tallies: Sequence[Tally]) -> Accuracy:
    """Return the figures over transitions with their predictions."""
    going = [one for one in tallies if one.goes_on]
    happened = sum(one.happened for one in going)
    predicted = sum(one.predicted for one in going)
    both, known_lines = sum(one.both for one in going), sum(one.known_lines for one in going)
    pairs = [(one.chance, one.succeeded) for one in tallies]
    confidences = [(one.confidence, one.right) for one in going]
    brier = _mean([(chance - success) ** 2 for chance, success in pairs])
    base = _mean([float(success) for _, success in pairs]) or 0.0
    spread = base * (1 - base)
    return Accuracy(
        transitions=len(tallies),
        went_on=len(going),
        answered=_mean([one.source is not Source.UNKNOWN for one in tallies]),
        modelled=_mean([one.source is Source.MODELLED for one in tallies]),
        exact=_mean([one.exact for one in going]),
        exact_knowable=_mean([one.right for one in going]),
        invented=sum(one.invented for one in going) / known_lines if known_lines else None,
        wrong=sum(one.wrong for one in going) / known_lines if known_lines else None,
        changed_precision=both / predicted if predicted else None,
        changed_recall=both / happened if happened else None,
        changed_f1=2 * both / (happened + predicted) if happened + predicted else None,
        no_change=_mean([one.unchanged for one in going if not one.happened]),
        page_kind=_mean([one.page_kind for one in going]),
        address=_mean([one.address for one in going]),
        ends=_mean([one.ends for one in tallies]),
        success=_mean([(chance >= 0.5) == success for chance, success in pairs]),
        brier=brier,
        brier_skill=1 - brier / spread if brier is not None and spread else None,
        ece=calibration_error(pairs) if pairs else None,
        failure_called_success=_mean([chance >= 0.5 for chance, success in pairs if not success]),
        success_called_success=_mean([chance >= 0.5 for chance, success in pairs if success]),
        confidence_ece=calibration_error(confidences) if confidences else None,
    )


def changes(before: Observation, after: Observation) -> Changes:
    """Return the removed and the added lines, with their counts."""
    old, new = Counter(_line_keys(before)), Counter(_line_keys(after))
    gone = Counter({("gone", line): count for line, count in (old - new).items()})
    come = Counter({("come", line): count for line, count in (new - old).items()})
    return gone + come


def _agree(
    predicted: Sequence[Node], seen: Sequence[Node], is_hidden: Callable[[Node], bool]
) -> bool:
    """Return whether predicted lines agree with those that are there.

    A block of lines in one place may be predicted as unknown where one of them could not be known:
    of new text some words stand somewhere by chance.
    """

    @cache
    def agree_from(i: int, j: int, inside: bool, hidden: bool) -> bool:
        """Of the lines from these places on; `inside` a block predicted as unknown, of which a line
        was `hidden`."""
        while i < len(predicted) and not is_unknown(predicted[i]):
            if inside and not hidden:
                return False
            inside = False
            if j >= len(seen) or _line_key(predicted[i]) != _line_key(seen[j]):
                return False
            i, j = i + 1, j + 1
        if i == len(predicted):
            return j == len(seen) and (hidden or not inside)
        bounds = read_range(predicted[i])
        least, most, kinds = bounds or (1, 1, frozenset({(predicted[i].role, predicted[i].kind)}))
        hidden = hidden and inside
        for count in range(most + 1):
            if count >= least and agree_from(i + 1, j + count, True, hidden):
                return True
            if j + count >= len(seen):
                return False
            line = seen[j + count]
            if (line.role, line.kind) not in kinds or (
                bounds is None and not _fits(predicted[i], line)
            ):
                return False
            hidden = hidden or is_hidden(line)
        return False

    return agree_from(0, 0, False, False)


def _fits(predicted: Node, line: Node) -> bool:
    """Return whether the predicted part of a line is right."""
    start, _, end = predicted.name.partition(GAP)
    return line.name.startswith(start) and line.name.endswith(end.rpartition(GAP)[2])


def _line_key(node: Node) -> _LineKey:
    return (
        node.role,
        node.kind,
        keys_of(node.name, _WHOLE),
        keys_of(node.value, _WHOLE),
        tuple(sorted(state for state in node.states if state != "focused")),
    )


def _line_keys(page: Observation) -> list[_LineKey]:
    """Return the lines of a page, ignoring capitals, white space and focus."""
    return [_line_key(node) for node in page.nodes]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
