"""What a model was sent and said is kept with its step, shown by a command and in the viewer."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from loop.folder import RunFolder
from recipes import cli
from tests.apps.view.conftest import Settings, serving
from tests.apps.view.test_bad_input import get
from tests.evaluators.attribution.cases import all_cases
from tests.fakes import FakeWorld, fake_task
from tests.fakes.chat_server import Behave, ChatServer
from tests.fakes.run import measure
from webagent.errors import StoreError
from webagent.exchange import format_exchange
from webagent.models import Endpoint, EndpointModel, Ledger, MeteredModel
from webagent.policy.language import LanguagePolicy
from webagent.records import Ending, Provenance, Trajectory
from webagent.rollout import run_episode
from webagent.store import Store

GARBAGE = "I would rather not say."


@pytest.fixture
def play(chat_server: ChatServer, tmp_path: Path) -> Callable[[], object]:
    """An episode by a model at the server, kept in a run."""

    async def run() -> Trajectory:
        endpoint = Endpoint("big-1", chat_server.url, "key", first_pause=0.01, attempts=2)
        model = MeteredModel(EndpointModel(endpoint), Ledger())
        folder = RunFolder.create(tmp_path / "run", Settings(), ["webagent", "run"])
        with folder.store() as store:
            try:
                return await run_episode(
                    fake_task(), LanguagePolicy(model), FakeWorld(), recorder=store
                )
            finally:
                await model.close()

    return run


async def test_everything_sent_and_said_is_kept_with_its_step(chat_server, play, tmp_path):
    chat_server.will(
        Behave.status(500, message="CUDA out of memory"),
        Behave.reply(GARBAGE),
        Behave.reply('Thought: done\nAction: answer("42")'),
    )
    played = await play()
    with Store.look(tmp_path / "run") as store:
        kept = store.exchanges(played.id)
    assert list(kept) == [0]
    first, second = kept[0]
    sent = [message["content"] for message in chat_server.requests[-1]["messages"]]
    assert [message.text for message in second.messages] == sent
    assert first.replies[0].text == GARBAGE
    assert [each.problem for each in first.attempts] == ["status 500: as the test wished", ""] or (
        "CUDA out of memory" in first.attempts[0].problem
    )
    assert first.attempts[0].waited > 0
    assert json.loads(first.attempts[1].body)["choices"][0]["message"]["content"] == GARBAGE
    assert first.messages[0].text == second.messages[0].text  # kept once


@pytest.mark.parametrize(
    ("behaviour", "ending", "words"),
    [
        (Behave.reply(GARBAGE), Ending.POLICY_UNREADABLE, GARBAGE),
        (Behave.status(401, message="this key is void"), Ending.MODEL_FAILED, "this key is void"),
    ],
)
async def test_what_gave_no_step_is_shown_after_the_last(  # noqa: PLR0913 - fixtures and cases
    chat_server: ChatServer,
    play: Callable,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    behaviour: object,
    ending: Ending,
    words: str,
) -> None:
    chat_server.will(behaviour)
    played = await play()
    assert played.ending is ending
    assert cli.main(["show", str(tmp_path / "run")]) == 0
    short = capsys.readouterr().out
    assert "no action" in short and words in short
    assert cli.main(["show", str(tmp_path / "run"), played.id[:6], "--step", "1"]) == 0
    assert "-- system" in capsys.readouterr().out
    assert cli.main(["show", str(tmp_path / "run"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"][0]["exchanges"][0]["model"] == "big-1"
    with serving(tmp_path / "run") as address:
        page = f"{address}/run/run/episode/{played.id}"
        assert "What the model was sent and said" in get(page)[1]
        assert words in get(f"{page}/step/1/model")[1]


def test_an_exchange_reads_as_a_conversation() -> None:
    from webagent.exchange import Attempt, Exchange, GivenReply, SentMessage

    sent = (SentMessage("user", "Go.", ("a.png",)),)
    tried = (Attempt("{}", "status 429: slow down", 0.5, 2.0), Attempt("{}", seconds=1.0))
    said = (GivenReply("", "length", "hm"),)
    exchange = Exchange("policy", "m", sent, {"n": 1}, said, tried, {"input_tokens": 1200}, 3.5)
    assert format_exchange(exchange, raw=True) == (
        "== policy asked m (n 1)\n-- user with 1 images\nGo.\n"
        "-- request 1: status 429: slow down; 0.5 s, waited 2.0 s\n{}\n"
        "-- request 2: taken; 1.0 s\n{}\n-- reasoning\nhm\n-- reply (length)\n(empty)\n"
        "-- 3.5 s, input_tokens 1,200"
    )


def test_several_episodes_are_listed_and_failures_have_their_causes(tmp_path, capsys):
    Store.open(tmp_path / "empty", create=True).close()
    assert cli.main(["show", str(tmp_path / "empty")]) == 2
    assert "no episode of" in capsys.readouterr().err
    with pytest.raises(StoreError):
        Store.look(tmp_path / "none")
    with Store.open(tmp_path / "run", create=True) as store:
        for index in range(30):
            place = Provenance(arm="m", phase="evaluate", index=index)
            measure(store, place, "click-button", index, index > 0)
        [made] = [made for made in all_cases() if made.name == "twin in other letter case"]
        store.add(replace(made.trajectory, id="twins"))
        store.score("twins", *made.scores)
    assert cli.main(["show", str(tmp_path / "run")]) == 0
    listed = capsys.readouterr().out
    assert "31 episodes" in listed and "and 11 more" in listed and len(listed.splitlines()) < 30
    assert cli.main(["show", str(tmp_path / "run"), "--failed", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["episodes"]
    causes = {row["episode"]: row["cause"] for row in rows}
    assert len(causes) == 2 and causes["twins"].startswith("grounding, wrong element at step 1")
    assert cli.main(["show", str(tmp_path / "run"), "twins"]) == 0
    printed = capsys.readouterr().out
    assert 'click(1) on button "Yes"' in printed
    assert "\nfailed: " in printed and "cause: grounding, wrong element" in printed
