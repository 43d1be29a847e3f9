"""What tests of several commands are given."""

from pathlib import Path

import pytest

from tests.fakes.orders import ORDERS, look_up
from webagent.records import Score
from webagent.store import Store


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with three demonstrations that its judge passed."""
    with Store.open(tmp_path / "run", create=True) as store:
        for i, order in enumerate(ORDERS):
            episode = look_up(f"e{i}", order, 10 * i + 1)
            store.add(episode)
            store.score(episode.id, Score("success", 1.0, "found", "rules"))
    return tmp_path / "run"


@pytest.fixture
def jobs_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The jobs of `improve` are done one after the other in this process, which has loaded what
    they need."""

    def run_here(jobs, work, workers, say):
        for job in jobs:
            work(lambda *progress: None, *job.arguments)

    monkeypatch.setattr("recipes.improve.run_jobs", run_here)
