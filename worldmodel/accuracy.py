"""Accuracy of a world model on real transitions, compared with copying the page."""

from collections import Counter, defaultdict
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
Shares: TypeAlias = dict[str, tuple[float, int]]
"""By figure the part and the whole, which are added up over transitions."""


FIGURES = (
    *("answered", "modelled"),
    *("exact", "exact_knowable", "invented", "wrong", "changed_f1", "no_change", "page_kind"),
    *("address", "ends", "brier", "brier_skill", "ece"),
    *("failure_called_success", "success_called_success", "confidence_ece"),
)
"""What is published of a model; docs/worldmodel.md defines each."""
Figures: TypeAlias = dict[str, float | None]
"""Figures by name, None where there was nothing to measure: those of `FIGURES`, `success` (outcomes
predicted on the right side of one half), `changed_precision`, `changed_recall`, and the numbers of
`transitions` and of those that `went_on` to a page to act on.

Pages are compared line by line, capitals, white space and focus aside, and only where there is a
page to act on afterwards. Changed lines are counted over all pages together (micro average); a line
that changed is one that went and one that came; a placeholder is no claim, but the lines it stands
for count as missed."""


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
        prediction, truth, source = self.prediction, self.truth, self.prediction.source
        chance, page = prediction.outcome.succeeds, prediction.page
        ends, ending = prediction.outcome.ends >= 0.5, prediction.ending
        is_end_right = ends == truth.ends and (not ends or truth.ending in (None, ending))
        side = "success" if truth.succeeded else "failure"
        shares: Shares = {
            "answered": (source is not Source.UNKNOWN, 1),
            "modelled": (source is Source.MODELLED, 1),
            "ends": (is_end_right, 1),
            "success": ((chance >= 0.5) == truth.succeeded, 1),
            f"{side}_called_success": (chance >= 0.5, 1),
            "brier": ((chance - truth.succeeded) ** 2, 1),
        }
        judged = chance, truth.succeeded
        if not self.goes_on:
            return Tally(truth.episode, shares, judged)
        happened, predicted = self.happened, self.predicted
        both, changed = (happened & predicted).total(), (happened.total(), predicted.total())
        known = [node for node in page.nodes if not is_unknown(node)]
        left, wrong = Counter(_line_keys(truth.after)), list[Node]()
        for node, key in zip(known, map(_line_key, known), strict=True):
            left[key] -= 1
            if left[key] < 0:
                wrong.append(node)
        words = {w for text in (self.sources() if wrong else ()) for w in keys_of(text, _WHOLE)}
        remembered = knowledge.lines if knowledge is not None else set()
        invented = sum(
            name_of(node) not in remembered and not words.issuperset(keys_of(node.name, _WHOLE))
            for node in wrong
        )
        is_right = self.is_right_as_known(knowledge)
        shares |= {
            "exact": (self.is_exact, 1),
            "exact_knowable": (is_right, 1),
            "invented": (invented, len(known)),
            "wrong": (len(wrong), len(known)),
            "changed_precision": (both, changed[1]),
            "changed_recall": (both, changed[0]),
            "changed_f1": (2 * both, sum(changed)),
            "page_kind": (mask_address(page.url) == mask_address(truth.after.url), 1),
            "address": (page.url == truth.after.url, 1),
        }
        if not happened:
            shares["no_change"] = not page.over and not changes(truth.before, page), 1
        return Tally(truth.episode, shares, judged, (prediction.confidence, is_right))


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


@dataclass(frozen=True, slots=True)
class Tally:
    """The counts of one transition with its prediction."""

    episode: str
    shares: Shares
    success: tuple[float, bool]
    """P(success), and whether it came."""
    page: tuple[float, bool] | None = None
    """The confidence in the page, and whether it is right; None without a page to act on."""


def summarize(tallies: Sequence[Tally]) -> Figures:
    """Return the figures over transitions with their predictions."""
    parts, wholes = defaultdict[str, float](float), Counter[str]()
    for one in tallies:
        for figure, (part, whole) in one.shares.items():
            parts[figure] += part
            wholes[figure] += whole
    found: Figures = dict.fromkeys((*FIGURES, "success", "changed_precision", "changed_recall"))
    found |= {figure: parts[figure] / whole for figure, whole in wholes.items() if whole}
    pairs = [one.success for one in tallies]
    pages = [one.page for one in tallies if one.page is not None]
    base = _mean([float(success) for _, success in pairs]) or 0.0
    if spread := base * (1 - base):
        found["brier_skill"] = 1 - parts["brier"] / len(tallies) / spread
    found["ece"] = calibration_error(pairs) if pairs else None
    found["confidence_ece"] = calibration_error(pages) if pages else None
    return {"transitions": len(tallies), "went_on": len(pages), **found}


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
        start, _, end = predicted[i].name.partition(GAP)
        end = end.rpartition(GAP)[2]
        hidden = hidden and inside
        for count in range(most + 1):
            if count >= least and agree_from(i + 1, j + count, True, hidden):
                return True
            if j + count >= len(seen):
                return False
            line = seen[j + count]
            is_named = line.name.startswith(start) and line.name.endswith(end)
            if (line.role, line.kind) not in kinds or (bounds is None and not is_named):
                return False
            hidden = hidden or is_hidden(line)
        return False

    return agree_from(0, 0, False, False)


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
