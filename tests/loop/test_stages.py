"""What the loop says of its own stages."""

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from loop.arms import ARMS
from loop.flat import compose
from loop.folder import RunFolder
from loop.learners import ArmState
from loop.learners.builtin import BuiltinLearner
from loop.notes import read_judge_id, read_warnings
from loop.session import SHARED, Session
from loop.settings import ImproveConfig
from loop.stages import demonstrate, practise, track_round
from tasks.task import Task
from tests.fakes.networks import untrained
from tests.fakes.run import episode
from webagent.records import Ending, Provenance, Score, Trajectory
from webagent.store import Store
from webagent.training.fit import FitReport
from webagent.training.tracking import Trackers


async def demonstrated(config: ImproveConfig, run: Path) -> ArmState:
    """What a new run of these settings begins with."""
    folder = RunFolder.create(run, config, ["webagent", "improve"])
    nothing = cast(Any, SimpleNamespace())
    state = ArmState(nothing)
    with folder.store() as store:
        session = Session(config, folder, store, ARMS[SHARED], 1, lambda *progress: None, nothing)
        await demonstrate(session, state)
    return state


@pytest.mark.parametrize(
    ("tokens", "passes", "unsaid", "told"),
    [
        (500_000, 1.7, {}, ["1.7 times, too seldom", "15 times are --base-tokens 4500000"]),
        (500_000, 16.0, {}, []),
        (0, 0.0, {}, []),
        (500_000, 16.0, {"check": 2, "goto": 1}, ["3 demonstrated steps", "(check 2, goto 1)"]),
    ],
)
def test_what_a_first_training_lacks_is_told_and_kept(tmp_path, tokens, passes, unsaid, told):
    config = compose(ImproveConfig, tasks=("click-test-2",))
    folder = RunFolder.create(tmp_path / "run", config, ["webagent", "improve"])
    nothing, said = cast(Any, SimpleNamespace()), list[str]()
    with folder.store() as store:
        session = Session(
            *(config, folder, store, ARMS[SHARED], 1),
            lambda stage, done, text: said.append(text),
            nothing,
        )
        learner = BuiltinLearner(session, untrained())
        learner.unsaid = Counter(unsaid)
        learner.report_first_training(FitReport(tokens, 10, 1.0, 1.0, passes, 1.0))
        kept = read_warnings(store)
    assert len(said) == len(kept) == bool(told)
    assert all(words in line for words in told for line in (*said, *kept))
    assert all(line.startswith("none, repeat 1: ") for line in kept)


async def test_spare_demonstrations_are_played_only_of_tasks_that_fell_short(tmp_path, monkeypatch):
    """Of three tasks one always succeeds, one fails at first, and one's page never loads."""
    values = {"click-test-2": [1.0] * 4, "click-link": [0.0, *[1.0] * 3], "click-tab": [None] * 4}
    waves: list[tuple[str, list[tuple[str, int, int]]]] = []

    async def play(player, plan, policy, stage):
        wave = [(one.task.name, one.task.seed, one.provenance.index) for one in plan]
        waves.append((stage, wave))
        return [
            Trajectory(f"{one.provenance.index}", one.task, ending=Ending.TASK_OVER) for one in plan
        ]

    async def scored(player: object, episodes: Sequence[Trajectory]) -> list[float | None]:
        return [values[episode.task.name].pop(0) for episode in episodes]

    monkeypatch.setattr("loop.stages.play_episodes", play)
    monkeypatch.setattr("loop.stages.score_episodes", scored)
    config = compose(ImproveConfig, tasks=tuple(values), demonstrations=2)
    state = await demonstrated(config, tmp_path / "run")
    (first, played), (second, again) = waves
    assert (first, second) == ("demonstrations", "more demonstrations")
    assert [(name, index) for name, _, index in played] == [
        *(("click-test-2", 0), ("click-test-2", 1), ("click-link", 4), ("click-link", 5)),
        *(("click-tab", 8), ("click-tab", 9)),
    ]
    assert [(name, index) for name, _, index in again] == [
        *(("click-link", 6), ("click-link", 7), ("click-tab", 10), ("click-tab", 11))
    ]
    seeds = [seed for name, seed, _ in played + again if name == "click-link"]
    assert len(set(seeds)) == 4, "every try is another task"
    assert state.shown == {"click-test-2": (2, 2), "click-link": (4, 3), "click-tab": (0, 0)}
    assert [shown.task.name for shown in state.demonstrations] == [
        *("click-test-2", "click-test-2", "click-link", "click-link")
    ]


@pytest.mark.parametrize(("most", "shown"), [(0, 3), (2, 2)])
async def test_another_runs_successes_are_demonstrations_up_to_the_number_given(
    tmp_path, most, shown
):
    """Presets without demonstrations give 0, with which all of them are taken."""
    other = tmp_path / "other"
    with Store.open(other, create=True) as store:
        for index, value in enumerate((1.0, 0.0, 1.0, 1.0)):
            place = Provenance(arm="self", round=1, phase="collect", index=index)
            one = episode(place, "click-link", index, bool(value))
            store.add(one)
            store.score(one.id, Score("success", value, "", "checks_hold@2"))
    config = compose(ImproveConfig, tasks=("click-link",), demonstrations=most, demonstrated=other)
    state = await demonstrated(config, tmp_path / "run")
    assert state.shown == {"click-link": (shown, shown)}
    assert [one.provenance.phase for one in state.demonstrations] == ["demonstrate"] * shown


class CountingLearner:
    """A learner that keeps how many episodes it was shown, and with which verdicts."""

    def __init__(self) -> None:
        self.shown: list[list[float | None]] = []

    def policy(self, purpose: str) -> None:
        return None

    def remember(self, state: ArmState, episodes: Sequence[Trajectory]) -> None:
        self.shown.append([state.success[each.id] for each in episodes])


@pytest.mark.parametrize(("wave", "shown"), [(2, [2, 2, 1]), (8, [5])])
async def test_what_a_wave_showed_is_remembered_before_the_next_is_played(
    tmp_path, monkeypatch, wave, shown
):
    known: list[int] = []
    learner = cast(Any, CountingLearner())

    async def play(player, plan, policy, stage, budget, earlier):
        known.append(sum(map(len, learner.shown)))
        assert earlier == known[-1]
        return [Trajectory(f"{one.task.seed}", one.task, ending=Ending.ANSWERED) for one in plan]

    async def scored(player: object, episodes: Sequence[Trajectory]) -> list[float | None]:
        return [float(each.task.seed % 2) for each in episodes]

    monkeypatch.setattr("loop.stages.play_episodes", play)
    monkeypatch.setattr("loop.stages.score_episodes", scored)
    monkeypatch.setattr("loop.stages.WAVE", wave)
    config = compose(ImproveConfig, tasks=("click-link",))
    folder = RunFolder.create(tmp_path / "run", config, ["webagent", "improve"])
    with folder.store() as store:
        session = Session(
            *(config, folder, store, ARMS["self"], 0), lambda *said: None, cast(Any, None)
        )
        tasks = [session.suite.task("click-link", seed) for seed in range(5)]
        state = ArmState(learner)
        episodes, truth = await practise(session, state, tasks, 1)
    assert [len(each) for each in learner.shown] == shown
    assert known == [sum(shown[:i]) for i in range(len(shown))]
    assert truth == [0.0, 1.0, 0.0, 1.0, 0.0]
    assert state.experience == episodes


@pytest.mark.slow
def test_a_round_s_figures_are_sent_to_the_tracker_once(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    config = compose(ImproveConfig, tasks=("click-test-2",), track=("tensorboard",))
    folder = RunFolder.create(tmp_path / "run", config, ["webagent", "improve"])
    nothing = cast(Any, SimpleNamespace())
    tracking = folder.path / "tracking" / "self-0"
    with folder.store() as store, closing(Trackers(("tensorboard",), tracking, "run")) as trackers:
        parts = (config, folder, store, ARMS["self"], 0)
        session = Session(*parts, lambda stage, done, text: None, nothing, trackers=trackers)
        judge = read_judge_id(store)
        for index, success in enumerate((1.0, 0.0)):
            played = Trajectory(
                f"episode-{index}",
                Task("t@1", "about:blank"),
                ending=Ending.ANSWERED,
                provenance=session.provenance("evaluate", 1),
            )
            store.add(replace(played, provenance=replace(played.provenance, index=index)))
            store.score(played.id, Score("success", success, "", judge))
        session.charge(1, FitReport(500, 10, 2.0, 1.0, 1.0, 0.25))
        track_round(session, 1)
        track_round(session, 1)  # as a resumed run does

    (events,) = tracking.glob("**/events*")
    read = EventAccumulator(str(events)).Reload()
    figures = {name: [each.value for each in read.Scalars(name)] for name in read.Tags()["scalars"]}
    assert figures["round/success"] == [0.5] and figures["round/loss"] == [0.25]
    assert figures["round/episodes"] == [2] and figures["round/train_tokens"] == [500]
