"""Published figures: one table whose rows say what the summaries beside it say."""

import json
import re
from pathlib import Path

import pytest

RESULTS = Path(__file__).parents[2] / "docs" / "results"
TABLE = [line for line in (RESULTS / "README.md").read_text().splitlines() if line[:1] == "|"]
LINK = re.compile(r"\]\(((?:student/)?[\w-]+\.json)\)")


def test_every_published_file_has_a_row_and_every_row_is_complete() -> None:
    files = {path.relative_to(RESULTS).as_posix() for path in RESULTS.rglob("*.json")}
    assert set(LINK.findall("\n".join(TABLE))) == files
    head, _, *rows = [line.strip("| ").split(" | ") for line in TABLE]
    assert {len(row) for row in rows} == {len(head)}
    assert [row for row in rows if "?" in row or "" in row] == []
    seen = head.index("seen while developing")
    assert {re.split(r"[:;]", row[seen])[0].strip("*") for row in rows} == {"no", "partly", "yes"}


def test_the_page_is_short() -> None:
    assert len((RESULTS / "README.md").read_text(encoding="utf-8").split()) <= 3000


@pytest.mark.parametrize("row", TABLE[2:])
def test_a_row_of_one_run_has_its_commit_its_count_and_its_gain(row: str) -> None:
    found = LINK.findall(row)
    if len(found) != 1:
        return
    summary = json.loads((RESULTS / found[0]).read_text(encoding="utf-8"))
    if "arms" not in summary:
        return
    assert summary["commit"][:8] in row
    assert f"{summary['arms'][-1]['rounds'][-1]['episodes']:,}" in row
    for comparison in summary["comparisons"]:
        if (comparison["a"], comparison["b"]) == ("self", "control") and "−" not in found[0]:
            points = f"{100 * comparison['difference']:+.1f}".replace("-", "−")
            assert points in row or "arms" in found[0]
