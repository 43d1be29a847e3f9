"""Published figures: a page that says what the summaries beside it say."""

import json
from pathlib import Path

import pytest

from loop.folder import read_origin
from loop.summary import RunMeta, summarize, write_summary
from recipes.publish import main, page_of
from tests.fakes.run import TASKS, fill
from webagent.errors import StoreError
from webagent.store import Store

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def made_run(folder: Path) -> Path:
    """A run folder with a summary of three arms."""
    with Store.open(folder, create=True) as store:
        fill(store, {("none", 0): 0.2, ("control", 1): 0.3, ("self", 1): 0.95})
        meta = RunMeta("miniwob@1", TASKS, "webagent improve", (read_origin(),))
        write_summary(summarize(store, meta), folder)
    return folder


def test_the_page_is_what_the_published_summaries_say() -> None:
    assert (RESULTS / "README.md").read_text(encoding="utf-8") == page_of(RESULTS)


def test_a_run_is_published_under_a_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, results = made_run(tmp_path / "run"), tmp_path / "results"
    results.mkdir()
    main([str(run), "--name", "three", "--folder", str(results)])
    assert (results / "three.json").read_bytes() == (run / "summary.json").read_bytes()
    page = (results / "README.md").read_text(encoding="utf-8")
    assert "## three" in page and "`webagent improve` at commit" in page
    assert "| self | 1 |" in page and "| click-link |" in page
    assert str(results / "three.json") in capsys.readouterr().out


def test_one_arm_alone_shows_its_intervals(tmp_path: Path) -> None:
    with Store.open(tmp_path / "run", create=True) as store:
        fill(store, {("oracle", 0): 1.0}, repeats=1, seeds=2)
        meta = RunMeta("miniwob@1", TASKS, "webagent benchmark", (read_origin(),))
        write_summary(summarize(store, meta), tmp_path)
    (tmp_path / "summary.json").rename(tmp_path / "one.json")
    assert "| click-link | 100.0 | 34.2–100.0 | 100.0 | 2 |" in page_of(tmp_path)


def test_what_is_no_run_or_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no summary: `benchmark`"):
        main([str(tmp_path), "--folder", str(tmp_path)])
    with pytest.raises(StoreError, match="is not a folder"):
        main(["--folder", str(tmp_path / "nowhere")])
    assert not (tmp_path / "README.md").exists()


def test_figures_of_a_script_are_a_table_with_an_arm_a_line(tmp_path: Path) -> None:
    run = {
        "benchmark": "oscar",
        "told": "ten tasks",
        "command": "python x",
        "commit": "0123456789abc",
    }
    shared = {"benchmark": "oscar", "low": None, "high": None}
    rows = [
        {**shared, "figure": "search", "model": "success", "value": 0.5, "low": 0.2, "high": 0.8},
        {**shared, "figure": "search", "model": "calls", "value": 1570},
        {**shared, "figure": "alone", "model": "success", "value": 0.25},
    ]
    (tmp_path / "search.json").write_text(json.dumps({"runs": [run], "rows": rows}))

    page = page_of(tmp_path)

    assert "ten tasks; `python x` at commit 0123456789ab." in page
    assert "| search | 0.500 (0.200–0.800) | 1,570 |" in page
    assert "| alone | 0.250 | – |" in page
