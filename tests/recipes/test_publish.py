"""Published figures: one table whose rows say what the summaries beside it say."""

import json
import re
from pathlib import Path

import pytest

from loop.origin import read_origin
from loop.summary import RunMeta, summarize, write_summary
from recipes.report import main
from tests.fakes.run import TASKS, fill
from webagent.errors import StoreError
from webagent.store import Store

RESULTS = Path(__file__).parents[2] / "docs" / "results"
TABLE = [line for line in (RESULTS / "README.md").read_text().splitlines() if line[:1] == "|"]
LINK = re.compile(r"\]\(((?:student/)?[\w-]+\.json)\)")


def made_run(folder: Path) -> Path:
    """A run folder with a summary of three arms."""
    with Store.open(folder, create=True) as store:
        fill(store, {("none", 0): 0.2, ("control", 1): 0.3, ("self", 1): 0.95})
        meta = RunMeta("miniwob@1", TASKS, "webagent improve", (read_origin(),))
        write_summary(summarize(store, meta), folder)
    return folder


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


def test_a_run_is_published_under_a_name_with_a_row_to_complete(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, results = made_run(tmp_path / "run"), tmp_path / "results"
    results.mkdir()
    (results / "README.md").write_text("# Figures\n\n| claim |\n| --- |\n")
    command = [str(run), "--publish", "three", "--results", str(results)]
    main(command)
    assert (results / "three.json").read_bytes() == (run / "summary.json").read_bytes()
    page = (results / "README.md").read_text(encoding="utf-8")
    assert "| `webagent improve` |" in page and "| ? | ? |" in page and "(three.json)" in page
    assert "self − control +" in page
    assert len(page.splitlines()[-1].split(" | ")) == len(TABLE[0].split(" | "))
    assert str(results / "three.json") in capsys.readouterr().out
    main(command)
    assert (results / "README.md").read_text(encoding="utf-8") == page
    assert "has a row for it" in capsys.readouterr().out


def test_what_is_no_run_or_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"has no README\.md"):
        main([str(tmp_path), "--publish", "x", "--results", str(tmp_path / "nowhere")])
    (tmp_path / "README.md").write_text("")
    with pytest.raises(StoreError, match="holds no summary: `benchmark`"):
        main([str(tmp_path), "--publish", "x", "--results", str(tmp_path)])
