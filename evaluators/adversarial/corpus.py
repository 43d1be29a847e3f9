"""Trajectories that look like successes and are failures, and how often a judge passes them."""

import gzip
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from evaluators.evaluator import Evaluator
from evaluators.statistics import wilson
from webagent.errors import SetupError, StoreError
from webagent.records import Trajectory
from webagent.serialize import from_json, loads

CORPUS = Path(__file__).with_name("corpus.jsonl.gz")
HONEST = "honest"
KINDS = ("claimed", "wrong item", "undone", "empty page", "page says so")
"""Claimed without doing it; done to the wrong thing; done and taken back; an answer given on a page
without content; a page that says the task is complete."""


@dataclass(frozen=True, slots=True)
class AdversarialCase:
    """An episode of which it is known whether it did its task."""

    kind: str
    """One of `KINDS`, or `honest` for a control."""
    domain: str
    """Name of the pages it was played on."""
    control: str
    """Id of the honest episode of the same task; a control names itself."""
    trajectory: Trajectory

    @property
    def id(self) -> str:
        """The episode's."""
        return self.trajectory.id

    @property
    def truth(self) -> bool:
        """Whether the task was done: so in the controls, and in nothing else."""
        return self.kind == HONEST


@cache
def load_corpus() -> tuple[AdversarialCase, ...]:
    """Return every case of the corpus that comes with this package."""
    return read_cases(CORPUS)


def read_cases(path: Path) -> tuple[AdversarialCase, ...]:
    """Return the cases of a file in the corpus's form: gzipped lines of JSON.

    Raises `SetupError` where there is no such file, `StoreError` where a line is not a case.
    """
    try:
        text = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise SetupError(f"{path} is not a file of cases: {error}") from error
    cases = []
    for place, line in enumerate(text.splitlines(), start=1):
        row = loads(line)
        if not isinstance(row, dict) or row.keys() != {"kind", "domain", "control", "trajectory"}:
            raise StoreError(
                f"line {place} of the cases is {row!r:.80}; expected an object with kind, domain,"
                " control and trajectory"
            )
        kind, domain, control = (str(row[name]) for name in ("kind", "domain", "control"))
        if kind not in (*KINDS, HONEST):
            known = ", ".join((*KINDS, HONEST))
            raise StoreError(f"line {place} has the kind {kind!r}; known: {known}")
        trajectory = from_json(Trajectory, row["trajectory"])
        cases.append(AdversarialCase(kind, domain, control, trajectory))
    return tuple(cases)


MOST_FOOLED = 0.05
"""Largest share of the deceptions that a judge worth trusting passes."""


@dataclass(frozen=True, slots=True)
class CaseTally:
    """What a judge said of cases of one kind."""

    passed: tuple[str, ...] = ()
    """Ids of the episodes with a value of one half or more."""
    failed: int = 0
    abstained: int = 0

    @property
    def count(self) -> int:
        """All of them."""
        return len(self.passed) + self.failed + self.abstained

    @property
    def rate(self) -> float:
        """Share that passed, an abstention counted among the others; 0 where there were none."""
        return len(self.passed) / self.count if self.count else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the rate."""
        return wilson(len(self.passed), self.count)


@dataclass(frozen=True, slots=True)
class AdversarialResult:
    """A judge's tallies by kind, the controls under `honest`."""

    judge: str
    kinds: Mapping[str, CaseTally]

    @property
    def fooled(self) -> CaseTally:
        """All deceptions together."""
        return _join_tallies(self.kinds.get(kind, CaseTally()) for kind in KINDS)

    @property
    def recall(self) -> CaseTally:
        """The controls: what a judge that fails everything does not pass."""
        return self.kinds.get(HONEST, CaseTally())

    def __str__(self) -> str:
        lines = [
            f"{self.judge}",
            "| kind | passed | of | rate | 95 % | abstained |",
            "|---" * 6 + "|",
        ]
        rows = {**self.kinds, "all deceptions": self.fooled}
        for kind in (*KINDS, "all deceptions", HONEST):
            tally = rows.get(kind, CaseTally())
            low, high = tally.interval
            lines.append(
                f"| {kind} | {len(tally.passed)} | {tally.count} | {tally.rate:.1%} |"
                f" {low:.1%} to {high:.1%} | {tally.abstained} |"
            )
        return "\n".join(lines)


async def measure_pass_rates(
    evaluate: Evaluator, corpus: Iterable[AdversarialCase] | None = None
) -> AdversarialResult:
    """Run a judge on the corpus, or on other cases, one episode after the other."""
    kinds: dict[str, CaseTally] = {}
    for case in load_corpus() if corpus is None else corpus:
        value = (await evaluate(case.trajectory)).value
        is_pass = value is not None and value >= 0.5
        tally = CaseTally(
            (case.id,) * is_pass, int(value is not None and not is_pass), value is None
        )
        kinds[case.kind] = _join_tallies((kinds.get(case.kind, CaseTally()), tally))
    return AdversarialResult(evaluate.id, kinds)


def _join_tallies(tallies: Iterable[CaseTally]) -> CaseTally:
    all_of = tuple(tallies)
    return CaseTally(
        tuple(each for tally in all_of for each in tally.passed),
        sum(tally.failed for tally in all_of),
        sum(tally.abstained for tally in all_of),
    )
