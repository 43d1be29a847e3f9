"""What became of proposals, by source: a table, and the same as numbers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypedDict

from evaluators.statistics import wilson
from loop.proposers.line import Line

FILTERS = ("validity", "novelty", "safety", "feasibility")
_TITLES = ("valid", "novel", "safe", "feasible")


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many, with the Wilson interval of the share."""

    count: int
    of: int
    low: float
    high: float

    @classmethod
    def of_counts(cls, count: int, of: int) -> "Share":
        """The share with its interval."""
        return cls(count, of, *wilson(count, of))


@dataclass(frozen=True, slots=True)
class Row:
    """One source's proposals."""

    source: str
    requests: int
    unreadable: int
    """Replies, or tasks in them, that could not be read."""
    made: int
    valid: Share
    novel: Share
    safe: Share
    feasible: Share
    """Of those that passed the other filters and were tried."""
    untried: int
    taken: int


class Proposed(TypedDict, total=False):
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


def rows_of(
    lines: Sequence[Line],
    requests: Mapping[str, int] | None = None,
    unreadable: Mapping[str, int] | None = None,
) -> list[Row]:
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


def table_of(rows: Sequence[Row]) -> str:
    """The rows as aligned text."""
    header = ("source", "requests", "unreadable", "made", *_TITLES, "untried", "taken")
    body = [
        (
            row.source,
            str(row.requests),
            str(row.unreadable),
            str(row.made),
            *(_told(getattr(row, title)) for title in _TITLES),
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


def reasons_of(lines: Sequence[Line], most: int = 8) -> list[tuple[str, int]]:
    """What most proposals were refused for, as filter and first words of the reason."""
    counts = Counter(
        f"{refusal.filter}: {_kind(refusal.reason)}"
        for line in lines
        for refusal in line.proposal.refusals
    )
    return counts.most_common(most)


def errors_by_solving(lines: Sequence[Line]) -> dict[str, Share]:
    """What solving says of the other filters: by filter, how many of the proposals that were solved
    it refused, and as `passed` how many of those it let through and somebody tried were solved."""
    tried = [line for line in lines if line.proof is not None]
    solved = [line for line in tried if line.proof is not None and line.proof.is_solved]
    found = {
        name: Share.of_counts(sum(name in _filters(line) for line in solved), len(solved))
        for name in FILTERS[:3]
    }
    passed = [line for line in tried if not _filters(line) & set(FILTERS[:3])]
    return {**found, "passed": Share.of_counts(sum(each in solved for each in passed), len(passed))}


def _filters(line: Line) -> set[str]:
    return {refusal.filter for refusal in line.proposal.refusals}


def as_json(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows as plain values."""
    return [asdict(row) for row in rows]


def _row(source: str, lines: Sequence[Line], asked: Counter[str], lost: Counter[str]) -> Row:
    refused = [{each.filter for each in line.proposal.refusals} for line in lines]
    passed = {name: sum(name not in said for said in refused) for name in FILTERS}
    tried = [line for line in lines if line.proof is not None]
    solved = sum(line.proof.is_solved for line in tried if line.proof is not None)
    shares = [Share.of_counts(passed[name], len(lines)) for name in FILTERS[:3]]
    taken = sum(line.is_taken for line in lines)
    untried = sum(
        said <= {"feasibility"} and line.proof is None
        for line, said in zip(lines, refused, strict=True)
    )
    feasible = Share.of_counts(solved, len(tried))
    return Row(
        source,
        asked[source],
        lost[source],
        len(lines),
        *(shares[0], shares[1], shares[2], feasible),
        untried,
        taken,
    )


def _told(share: Share) -> str:
    """`12/20 60 % [39, 78]`."""
    if not share.of:
        return "-"
    rate = share.count / share.of
    return (
        f"{share.count}/{share.of} {100 * rate:.0f} %"
        f" [{100 * share.low:.0f}, {100 * share.high:.0f}]"
    )


def _kind(reason: str) -> str:
    """The reason without what it quotes."""
    return " ".join(reason.split(":", maxsplit=1)[0].split()[:8])
