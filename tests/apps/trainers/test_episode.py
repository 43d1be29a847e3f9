"""An episode of a trainer: as in process, and an error wherever the world fails."""

from typing import Any

import pytest

from apps.trainers.episode import EpisodeChoice, EpisodeReward, TrainerEpisode, read_reply_action
from apps.trainers.tools import check_names, shape_tool
from evaluators.evaluator import FunctionEvaluator
from tests.apps.trainers.foreign_server import BUSY, ForeignServer, turn
from webagent.action import ACTIONS, ESSENTIAL
from webagent.errors import CallError, ModelError, SetupError, UsageError, WorldError

BUTTON = EpisodeChoice("click-test-2", 1)


@pytest.mark.browser
def test_an_episode_that_a_model_leaves_is_answered_with_nothing_and_judged(served):
    episode = TrainerEpisode(served.url)
    episode.begin(BUTTON)
    assert "clik" in episode.act("clik(1)")
    assert not episode.is_over
    assert episode.verdict().reward == 0.0
    assert episode.verdict().ending == "answered"
    assert episode.act("click(1)") == "The episode is over."
    with pytest.raises(CallError, match="no-such"):
        episode.begin(EpisodeChoice("no-such", 1))
    episode.begin(BUTTON)
    episode.act("click", {"mark": 1})
    assert episode.verdict().reward == 1.0
    episode.close()


@pytest.mark.browser
@pytest.mark.slow
def test_a_killed_browser_and_a_dead_judge_leave_no_verdict(serve, monkeypatch):
    with serve(tasks=("click-test-2",)) as server:
        episode = TrainerEpisode(server.url)
        episode.begin(BUTTON)
        server.kill_browser()
        with pytest.raises(WorldError, match="EXECUTION_ERROR"):
            episode.act("click(1)")
        expect_nothing_more(episode)
        episode.begin(BUTTON)

        async def fail(_: Any) -> None:
            raise ModelError("the judge's server is gone")

        monkeypatch.setattr(server.stage, "evaluate", FunctionEvaluator("judge@1", "success", fail))
        with pytest.raises(WorldError, match="EXECUTION_ERROR"):
            episode.act("click(1)")
        expect_nothing_more(episode)
        monkeypatch.undo()
        episode.begin(BUTTON)
        episode.act("click(1)")
        assert episode.verdict().reward == 1.0
        episode.begin(BUTTON)
    with pytest.raises(WorldError, match="is gone"):  # what is asked first says why
        episode.verdict()
    expect_nothing_more(episode)
    with pytest.raises(WorldError, match="is gone"):
        TrainerEpisode(server.url, patience=0).begin(BUTTON)


def expect_nothing_more(episode: TrainerEpisode) -> None:
    """A lost episode has no verdict however it is asked."""
    assert episode.is_over
    for ask in (episode.verdict, lambda: episode.act("click(1)")):
        with pytest.raises(WorldError, match="the episode is lost"):
            ask()


@pytest.mark.parametrize("reward", [None, float("nan"), float("inf"), "1.0"])
def test_an_end_without_a_number_is_lost(foreign: ForeignServer, reward: Any) -> None:
    foreign.answers = [turn(None, False), turn(reward, True)]
    episode = TrainerEpisode(foreign.url)
    episode.begin(BUTTON)
    with pytest.raises(WorldError, match="ended it with the reward"):
        episode.act("click(1)")
    expect_nothing_more(episode)
    episode.close()


def test_a_cut_network_is_lost_and_the_next_episode_begins(foreign: ForeignServer) -> None:
    foreign.answers = [turn(None, False), None, BUSY, turn(None, False), turn(0.5, True)]
    episode = TrainerEpisode(foreign.url, patience=5)
    episode.begin(BUTTON)
    with pytest.raises(WorldError, match="is gone"):
        episode.act("click(1)")
    expect_nothing_more(episode)
    episode.begin(BUTTON)  # the server is full at first
    assert episode.verdict() == EpisodeReward(0.5, "", "")
    episode.close()


def test_a_full_server_is_told_when_patience_ends(foreign: ForeignServer) -> None:
    foreign.answers = [BUSY]
    episode = TrainerEpisode(foreign.url, patience=0)
    with pytest.raises(WorldError, match="CAPACITY_REACHED"):
        episode.begin(BUTTON)
    expect_nothing_more(episode)
    episode.close()


def test_a_server_that_never_ends_an_episode_gives_no_verdict(foreign: ForeignServer) -> None:
    foreign.answers = [turn(None, False), turn(0.0, False)]
    episode = TrainerEpisode(foreign.url)
    episode.begin(BUTTON)
    with pytest.raises(WorldError, match="goes on after it was ended"):
        episode.verdict()
    expect_nothing_more(episode)
    episode.close()


def test_an_episode_that_was_not_begun_and_an_address_that_is_none_are_told() -> None:
    with pytest.raises(WorldError, match="no episode was begun"):
        TrainerEpisode("http://127.0.0.1:1").verdict()
    with pytest.raises(SetupError, match="is not a server's address"):
        TrainerEpisode("ftp://here")


def test_a_reply_is_read_as_our_own_models_are() -> None:
    assert read_reply_action("I see.\nAction: click(3)") == "click(3)"
    assert read_reply_action("click it") == "click it"


@pytest.mark.parametrize("name", ACTIONS)
def test_an_action_is_a_function_that_transformers_reads(name: str) -> None:
    from transformers.utils import get_json_schema

    def call(**arguments: Any) -> str:
        return name

    schema = get_json_schema(shape_tool(name, call, is_method=False))["function"]
    assert schema["name"] == name
    assert schema["description"].splitlines()[0] in (ACTIONS[name].__doc__ or "")
    assert all(each["description"] for each in schema["parameters"]["properties"].values())


def test_an_unknown_action_is_told_and_none_means_the_usual_ones() -> None:
    assert check_names(()) == ESSENTIAL
    with pytest.raises(UsageError, match="unknown action 'clik'; did you mean"):
        check_names(["clik"])
