"""Releases: an agent that got worse on one family is refused, and the one before comes back."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from loop.console.output import Status
from loop.flat import compose
from loop.folder import RunFolder
from loop.measurement.settings import BenchmarkConfig
from loop.notes import JUDGE
from loop.origin import read_origin
from loop.releases import Promotion
from loop.summary import RunMeta, summarize, write_summary
from recipes import cli
from recipes.promote import main
from tests.fakes.run import measure
from webagent.errors import UsageError
from webagent.records import Provenance

FAMILIES = {"click": ("click-link", "click-box"), "enter": ("enter-text", "enter-date")}
SEEDS = 10


def made_run(
    path: Path, right: Mapping[str, int], *, seeds: int = SEEDS, judge: str = "", weights: str = ""
) -> Path:
    """A run of so many successes of each family's tasks, with a policy of these words."""
    asked = compose(BenchmarkConfig, policy="oracle")
    folder = RunFolder.create(path, asked, ["webagent", "benchmark", "miniwob"])
    with folder.store() as store:
        index = 0
        for family, tasks in FAMILIES.items():
            for task in tasks if family in right else ():
                for seed in range(seeds):
                    place = Provenance(arm="self", round=1, phase="evaluate", index=index)
                    measure(store, place, task, seed, seed < right[family])
                    index += 1
        if judge:
            store.put_state(JUDGE, judge)
        meta = RunMeta("miniwob@1", (), "webagent benchmark miniwob", (read_origin(),))
        write_summary(summarize(store, meta), path)
    if weights:
        policy = folder.weights("self", 0, 1, "policy")
        policy.mkdir(parents=True)
        (policy / "words.txt").write_text(weights, encoding="utf-8")
    return path


@pytest.fixture
def releases(tmp_path: Path) -> Path:
    return tmp_path / "releases"


def promote(run: Path, releases: Path) -> tuple[Promotion, int]:
    done = main([str(run), "--releases", str(releases)])
    assert isinstance(done.facts, Promotion)
    return done.facts, done.status


def words(releases: Path) -> str:
    return (releases / "current" / "policy" / "words.txt").read_text(encoding="utf-8")


def test_a_candidate_that_was_made_worse_on_one_family_is_refused_however_good_it_is_else(
    tmp_path: Path, releases: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = made_run(tmp_path / "first", {"click": 5, "enter": 9}, weights="first")
    assert promote(first, releases)[0].promoted

    worse = made_run(tmp_path / "worse", {"click": 10, "enter": 6}, weights="worse")
    found, status = promote(worse, releases)
    assert (found.promoted, found.current, status) == (False, "1", Status.FAILED)
    assert "worse than release 1 on enter: 60.0%, was 90.0% (69.9% to 97.2%)" in found.reason
    assert "still in use is release 1" in capsys.readouterr().out
    assert words(releases) == "first"
    assert not (releases / "2").exists()


def test_one_that_is_as_good_in_every_family_is_released_with_its_card_and_can_be_taken_back(
    tmp_path: Path, releases: Path
) -> None:
    promote(made_run(tmp_path / "a", {"click": 5, "enter": 9}, weights="first"), releases)
    better = made_run(tmp_path / "b", {"click": 9, "enter": 8}, weights="second")
    found, status = promote(better, releases)
    assert (found.current, status, words(releases)) == ("2", Status.DONE, "second")

    card = json.loads((releases / "2" / "card.json").read_text(encoding="utf-8"))
    assert card["families"]["click"]["success"] == 0.9
    assert card["families"]["click"]["episodes"] == 2 * SEEDS
    assert {"command", "commit", "judge", "data", "spent", "split"} <= card.keys()

    done = main(["--back", "--releases", str(releases)])
    assert isinstance(done.facts, Promotion)
    assert (done.facts.current, words(releases)) == ("1", "first")
    with pytest.raises(UsageError, match="no release before 1"):
        main(["--back", "--releases", str(releases)])


def test_after_going_back_the_next_candidate_is_held_against_what_is_in_use(
    tmp_path: Path, releases: Path
) -> None:
    promote(made_run(tmp_path / "a", {"click": 4, "enter": 4}, weights="a"), releases)
    promote(made_run(tmp_path / "b", {"click": 10, "enter": 10}, weights="b"), releases)
    main(["--back", "--releases", str(releases)])
    found, _ = promote(made_run(tmp_path / "c", {"click": 5, "enter": 5}, weights="c"), releases)
    assert (found.current, found.promoted) == ("3", True)


def test_figures_that_cannot_be_compared_are_refused_with_how_to_measure(
    tmp_path: Path, releases: Path
) -> None:
    good = {"click": 9, "enter": 9}
    promote(made_run(tmp_path / "a", good, weights="a"), releases)
    fewer = made_run(tmp_path / "b", good, seeds=SEEDS - 1, weights="b")
    with pytest.raises(UsageError, match=r"lacks 4 of the 40 episodes.*webagent benchmark miniwob"):
        promote(fewer, releases)
    other = made_run(tmp_path / "c", good, judge="guess@1", weights="c")
    with pytest.raises(UsageError, match="has the judge guess@1, the releases checks_hold"):
        promote(other, releases)


def test_what_is_no_candidate_is_said(
    tmp_path: Path, releases: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    single = made_run(tmp_path / "s", {}, weights="s")
    with pytest.raises(UsageError, match="measured no arm"):
        promote(single, releases)
    nothing = made_run(tmp_path / "n", {"click": 9, "enter": 9})
    with pytest.raises(UsageError, match="played --policy oracle, of which there is nothing"):
        promote(nothing, releases)
    assert cli.main(["promote", "--releases", str(releases)]) == Status.USAGE
    assert "name the run that measured the candidate" in capsys.readouterr().err


def test_a_suite_of_one_task_is_refused(
    tmp_path: Path, releases: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FAMILIES, "click", ("click-link",))
    run = made_run(tmp_path / "one", {"click": 9}, weights="one")
    with pytest.raises(UsageError, match="measured one task or none"):
        promote(run, releases)
    assert not releases.exists()


def test_the_site_memory_of_a_served_model_is_released(tmp_path: Path, releases: Path) -> None:
    run = made_run(tmp_path / "h", {"click": 9, "enter": 9})
    memory = tmp_path / "memory"
    memory.mkdir()
    (memory / "shop.md").write_text("- Search first.", encoding="utf-8")
    settings = RunFolder.open(run).settings()
    settings["config"] |= {"policy": "endpoint", "site_memory": str(memory)}
    RunFolder.open(run).write_json("run.json", settings)
    assert promote(run, releases)[0].promoted
    assert (releases / "current" / "site-memory" / "shop.md").is_file()
