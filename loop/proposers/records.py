"""Records of proposals in proposals.jsonl, and what became of them, counted by source."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, TypedDict

from evaluators.statistics import wilson
from tasks.task import Refusal, TaskProposal
from webagent.errors import StoreError
from webagent.files import write_whole
from webagent.serialize import from_json, to_json

FILE = "proposals.jsonl"


@dataclass(frozen=True, slots=True)
class SolveResult:
    """What came of solving a task."""

    is_solved: bool
    tries: int = 0
    solution: str = ""
    """Id of the episode that solves it."""
    by: str = ""
    """Who solved it, or who tried: `oracle`, a policy's name."""
    is_checked: bool = False
    """Whether its own checks decided: they hold for the solution and fail where nothing is done.
    Where not, a judge did, and checks a model wrote beside it are not to be trusted."""
    reason: str = ""
    """In a sentence, as whoever judged it gave it."""
    fooled_by: str = ""
    """What the task's checks hold for although it is no solution, as `doing nothing`."""


@dataclass(frozen=True, slots=True)
class ProposalRecord:
    """A proposal, and what else is known of it."""

    proposal: TaskProposal
    model: str = ""
    """The weights that wrote it; empty where no model did."""
    prompt: str = ""
    """Hash of the prompt's file."""
    request: str = ""
    """Key of the exchange it was read from."""
    steps: int = 0
    """How many actions its author expects; 0 for unknown."""
    proof: SolveResult | None = None
    """None while nobody has tried to solve it."""

    @property
    def is_taken(self) -> bool:
        """Whether no filter refused it."""
        return not self.proposal.refusals

    @property
    def filters(self) -> set[str]:
        """The filters that refused it."""
        return {refusal.filter for refusal in self.proposal.refusals}

    def refused(self, *refusals: Refusal | None) -> "ProposalRecord":
        """Return the record with what filters say against it."""
        added = tuple(refusal for refusal in refusals if refusal is not None)
        proposal = self.proposal
        return replace(self, proposal=replace(proposal, refusals=(*proposal.refusals, *added)))


@dataclass(frozen=True, slots=True)
class SourceResult:
    """What a source gave: proposals, and why a reply, or a task in it, could not be read."""

    lines: tuple[ProposalRecord, ...]
    unreadable: tuple[str, ...] = ()
    requests: int = 0


def write_records(path: Path, lines: Sequence[ProposalRecord]) -> None:
    """Write all of them, whole or not at all. Raises `StoreError`."""
    text = ""
    for line in lines:
        made = {name: getattr(line, name) for name in ("model", "prompt", "request", "steps")}
        proof = {"proof": asdict(line.proof)} if line.proof else {}
        text += json.dumps({**to_json(line.proposal), "made": {**made, **proof}}) + "\n"
    write_whole(path, text)


def read_records(path: Path) -> list[ProposalRecord]:
    """Return what `write_records` wrote; nothing where there is no file. Raises `StoreError`."""
    if not path.is_file():
        return []
    records = []
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            entry = json.loads(text)
            made: dict[str, Any] = entry.pop("made", {})
            proof = SolveResult(**made.pop("proof")) if "proof" in made else None
            records.append(ProposalRecord(from_json(TaskProposal, entry), **made, proof=proof))
        except (ValueError, TypeError, AttributeError, StoreError) as error:
            raise StoreError(f"{path}, line {number}: no proposal: {error}") from error
    return records


FILTERS = ("validity", "novelty", "safety", "feasibility")


@dataclass(frozen=True, slots=True)
class PassRate:
    """So many of so many, with the Wilson interval of the share."""

    count: int
    of: int
    low: float
    high: float

    @classmethod
    def of_counts(cls, count: int, of: int) -> "PassRate":
        """Return the share with its interval."""
        return cls(count, of, *wilson(count, of))

    def __str__(self) -> str:
        """Return `12/20 60 % [39, 78]`, or `-` of nothing."""
        if not self.of:
            return "-"
        rate = f"{self.count}/{self.of} {100 * self.count / self.of:.0f} %"
        return f"{rate} [{100 * self.low:.0f}, {100 * self.high:.0f}]"


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One source's proposals."""

    source: str
    requests: int
    unreadable: int
    """Replies, or tasks in them, that could not be read."""
    made: int
    valid: PassRate
    novel: PassRate
    safe: PassRate
    feasible: PassRate
    """Of those that passed the other filters and were tried."""
    untried: int
    taken: int


class ProposeSummary(TypedDict, total=False):
    """What `summary.json` holds; with `--preview` only `preview` is there."""

    preview: dict[str, object]
    """What would be done."""
    run: str
    """The run folder; proposals.jsonl in it holds what was made."""
    site: str
    sources: list[dict[str, Any]]
    """A row for each source: what was made, and the shares that each filter let pass."""
    refused_for: dict[str, int]
    """Reasons for refusals with their counts."""
    unreadable: list[str]
    """What could not be read, with its source."""
    spent: str
    """What models have cost, in words."""
    stopped: str
    """Why it stopped before its end; empty where it did not."""


def count_by_source(
    lines: Sequence[ProposalRecord],
    requests: Mapping[str, int] | None = None,
    unreadable: Mapping[str, int] | None = None,
) -> list[SourceRow]:
    """Return a row for each source, and one for all where there are several."""
    sent, lost = Counter(requests or {}), Counter(unreadable or {})
    groups: dict[str, list[ProposalRecord]] = {source: [] for source in sent}
    for line in lines:
        groups.setdefault(line.proposal.source, []).append(line)
    groups = dict(sorted(groups.items()))
    if len(groups) > 1:
        groups["all"] = list(lines)
        sent["all"], lost["all"] = sent.total(), lost.total()
    rows = []
    for source, group in groups.items():
        passed = [sum(name not in line.filters for line in group) for name in FILTERS[:3]]
        valid, novel, safe = (PassRate.of_counts(count, len(group)) for count in passed)
        proofs = [line.proof for line in group if line.proof is not None]
        rows.append(
            SourceRow(
                source,
                sent[source],
                lost[source],
                len(group),
                valid,
                novel,
                safe,
                PassRate.of_counts(sum(proof.is_solved for proof in proofs), len(proofs)),
                untried=sum(x.filters <= {"feasibility"} and x.proof is None for x in group),
                taken=sum(line.is_taken for line in group),
            )
        )
    return rows


def format_table(rows: Sequence[SourceRow]) -> str:
    """Return the rows as aligned text."""
    names = [field.name for field in fields(SourceRow)]
    table = [names, *([str(getattr(row, name)) for name in names] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in table
    )


def count_reasons(lines: Sequence[ProposalRecord]) -> list[tuple[str, int]]:
    """Return the eight commonest refusals, as filter and first words, with their counts."""
    counts: Counter[str] = Counter()
    for line in lines:
        for refusal in line.proposal.refusals:
            # What follows a colon is quoted from the task.
            reason = " ".join(refusal.reason.split(":", maxsplit=1)[0].split()[:8])
            counts[f"{refusal.filter}: {reason}"] += 1
    return counts.most_common(8)
