"""Records of proposals in proposals.jsonl, and what became of them, counted by source."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypedDict

from evaluators.statistics import wilson
from tasks.proposal import Proposal, Refusal
from webagent.errors import StoreError
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
    """Who solved it, or who tried: `oracle`, `demonstration`, `exploration`, a policy's name."""
    is_checked: bool = False
    """Whether its own checks said so: they hold for the solution and fail where nothing is done.
    Where not, a judge did, and checks a model wrote beside it are not to be trusted."""
    reason: str = ""
    """In a sentence, as whoever judged it gave it."""
    fooled_by: str = ""
    """What the task's checks hold for although it is no solution, as `doing nothing`."""


@dataclass(frozen=True, slots=True)
class ProposalRecord:
    """A proposal, and what else is known of it."""

    proposal: Proposal
    model: str = ""
    """The weights that wrote it; empty where no model did."""
    prompt: str = ""
    """Hash of the prompt's file."""
    request: str = ""
    """Key of the exchange it was read from."""
    steps: int = 0
    """How many actions it is said to take; 0 where nobody said."""
    proof: SolveResult | None = None
    """None while nobody has tried to solve it."""

    @property
    def is_taken(self) -> bool:
        """Whether no filter refused it."""
        return not self.proposal.refusals

    def refused(self, *refusals: Refusal | None) -> "ProposalRecord":
        """With what filters say against it."""
        said = tuple(refusal for refusal in refusals if refusal is not None)
        proposal = self.proposal
        return replace(self, proposal=replace(proposal, refusals=(*proposal.refusals, *said)))


def write_records(path: Path, lines: Sequence[ProposalRecord]) -> None:
    """All of them, whole or not at all. Raises `StoreError`."""
    draft = path.with_name(f".{path.name}")
    text = "".join(json.dumps(_as_json(line)) + "\n" for line in lines)
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error}") from error


def read_records(path: Path) -> list[ProposalRecord]:
    """What `write_records` wrote; nothing where there is no file. Raises `StoreError`."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [_parse_record(text, f"{path}, line {number}") for number, text in enumerate(lines, 1)]


def _as_json(line: ProposalRecord) -> dict[str, Any]:
    made = {name: getattr(line, name) for name in ("model", "prompt", "request", "steps")}
    proof = {"proof": asdict(line.proof)} if line.proof else {}
    return {**to_json(line.proposal), "made": {**made, **proof}}


def _parse_record(text: str, where: str) -> ProposalRecord:
    try:
        found = json.loads(text)
        made: Mapping[str, Any] = found.pop("made", {})
        proof = SolveResult(**made["proof"]) if "proof" in made else None
        told = {name: value for name, value in made.items() if name != "proof"}
        return ProposalRecord(from_json(Proposal, found), **told, proof=proof)
    except (ValueError, TypeError, AttributeError, StoreError) as error:
        raise StoreError(f"{where}: no proposal: {error}") from error


FILTERS = ("validity", "novelty", "safety", "feasibility")
_TITLES = ("valid", "novel", "safe", "feasible")


@dataclass(frozen=True, slots=True)
class PassRate:
    """So many of so many, with the Wilson interval of the share."""

    count: int
    of: int
    low: float
    high: float

    @classmethod
    def of_counts(cls, count: int, of: int) -> "PassRate":
        """The share with its interval."""
        return cls(count, of, *wilson(count, of))


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
    by_solving: dict[str, dict[str, Any]]
    """How many tried proposals were solved, and which filter refused what can be solved."""
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
    """A row for each source, and one for all."""
    asked, lost = Counter(requests or {}), Counter(unreadable or {})
    sources = sorted({*(line.proposal.source for line in lines), *asked})
    rows = [
        _row(source, [each for each in lines if each.proposal.source == source], asked, lost)
        for source in sources
    ]
    if len(sources) > 1:
        asked["all"], lost["all"] = asked.total(), lost.total()
        rows.append(_row("all", lines, asked, lost))
    return rows


def format_table(rows: Sequence[SourceRow]) -> str:
    """The rows as aligned text."""
    header = ("source", "requests", "unreadable", "made", *_TITLES, "untried", "taken")
    body = [
        (
            row.source,
            str(row.requests),
            str(row.unreadable),
            str(row.made),
            *(_format_rate(getattr(row, title)) for title in _TITLES),
            str(row.untried),
            str(row.taken),
        )
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(header, *body, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in (header, *body)
    ]
    return "\n".join(lines)


def count_reasons(lines: Sequence[ProposalRecord], most: int = 8) -> list[tuple[str, int]]:
    """What most proposals were refused for, as filter and first words of the reason."""
    counts = Counter(
        f"{refusal.filter}: {_shorten_reason(refusal.reason)}"
        for line in lines
        for refusal in line.proposal.refusals
    )
    return counts.most_common(most)


def compare_with_solving(lines: Sequence[ProposalRecord]) -> dict[str, PassRate]:
    """What solving says of the other filters: by filter, how many of the proposals that were solved
    it refused, and as `passed` how many of those it let through and somebody tried were solved."""
    tried = [line for line in lines if line.proof is not None]
    solved = [line for line in tried if line.proof is not None and line.proof.is_solved]
    found = {
        name: PassRate.of_counts(sum(name in _filters(line) for line in solved), len(solved))
        for name in FILTERS[:3]
    }
    passed = [line for line in tried if not _filters(line) & set(FILTERS[:3])]
    return {
        **found,
        "passed": PassRate.of_counts(sum(each in solved for each in passed), len(passed)),
    }


def _filters(line: ProposalRecord) -> set[str]:
    return {refusal.filter for refusal in line.proposal.refusals}


def rows_as_json(rows: Sequence[SourceRow]) -> list[dict[str, Any]]:
    """The rows as plain values."""
    return [asdict(row) for row in rows]


def _row(
    source: str, lines: Sequence[ProposalRecord], asked: Counter[str], lost: Counter[str]
) -> SourceRow:
    refused = [{each.filter for each in line.proposal.refusals} for line in lines]
    passed = {name: sum(name not in said for said in refused) for name in FILTERS}
    tried = [line for line in lines if line.proof is not None]
    solved = sum(line.proof.is_solved for line in tried if line.proof is not None)
    shares = [PassRate.of_counts(passed[name], len(lines)) for name in FILTERS[:3]]
    taken = sum(line.is_taken for line in lines)
    untried = sum(
        said <= {"feasibility"} and line.proof is None
        for line, said in zip(lines, refused, strict=True)
    )
    feasible = PassRate.of_counts(solved, len(tried))
    return SourceRow(
        source,
        asked[source],
        lost[source],
        len(lines),
        *(shares[0], shares[1], shares[2], feasible),
        untried,
        taken,
    )


def _format_rate(share: PassRate) -> str:
    """`12/20 60 % [39, 78]`."""
    if not share.of:
        return "-"
    rate = share.count / share.of
    return (
        f"{share.count}/{share.of} {100 * rate:.0f} %"
        f" [{100 * share.low:.0f}, {100 * share.high:.0f}]"
    )


def _shorten_reason(reason: str) -> str:
    """The reason without what it quotes."""
    return " ".join(reason.split(":", maxsplit=1)[0].split()[:8])
