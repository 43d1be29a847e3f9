"""`webagent world`: the map of a run's site is printed."""

from pathlib import Path

import pytest

from recipes import cli
from tests.fakes.orders import ORDERS, look_up
from webagent.records import Score
from webagent.store import Store


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with three demonstrations."""
    with Store.open(tmp_path / "run", create=True) as store:
        for i, order in enumerate(ORDERS):
            episode = look_up(f"e{i}", order, 10 * i + 1)
            store.add(episode)
            store.score(episode.id, Score("success", 1.0, "found", "rules"))
    return tmp_path / "run"


def test_a_map_is_built_and_printed(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["world", str(run)]) == 0
    told = capsys.readouterr().out
    assert "kinds of pages" in told and "transitions" in told


def test_words_that_stand_on_no_page_are_an_error(run, capsys):
    assert cli.main(["world", str(run), "--to", "zebra crossing"]) == 2
    assert "contains 'zebra crossing'" in capsys.readouterr().err


def test_a_run_without_steps_says_how_to_collect_some(tmp_path, capsys):
    Store.open(tmp_path / "run", create=True).close()
    assert cli.main(["world", str(tmp_path / "run")]) != 0
    assert "webagent collect" in capsys.readouterr().err
