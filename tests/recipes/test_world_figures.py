"""`webagent world --measure`: figures of memory on test seeds, and how they are published."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from loop.world_models import remember_run
from recipes import cli
from tests.fakes.chat_server import ChatHandler, completion, counted
from tests.fakes.orders import ORDERS, look_up
from webagent.models.local import LocalModel
from webagent.models.model import Message
from webagent.records import Score
from webagent.store import Store
from worldmodel.layers import LayeredWorld

DEVELOPMENT_SEED, TEST_SEED = 1_000_000, 2_000_000


def keep(folder: Path, *seeds: int) -> Path:
    """A run with an episode on each seed, the first of which failed."""
    with Store.open(folder, create=True) as store:
        for i, seed in enumerate(seeds):
            episode = look_up(f"e{i}", list(ORDERS)[i % len(ORDERS)], 10 * i + 1)
            store.add(replace(episode, task=replace(episode.task, seed=seed)))
            store.score(episode.id, Score("success", float(i > 0), "", "rules"))
    return folder


def test_figures_are_rows_and_a_second_run_replaces_them(tmp_path, capsys):
    run = keep(tmp_path / "run", 0, 1, TEST_SEED, TEST_SEED + 1)
    folder = tmp_path / "published"
    folder.mkdir()
    words = ["world", str(run), "--measure", str(folder / "world.json"), "--benchmark", "orders"]
    assert cli.main(words) == cli.main([*words, "--most", "1"]) == 0
    told = json.loads((folder / "world.json").read_text())
    [facts] = told["runs"]  # the second replaces the first
    assert (facts["benchmark"], facts["transitions"]) == ("orders", 1)
    rows = {(row["model"], row["figure"]): row for row in told["rows"]}
    ends = rows["remembered", "ends"]
    assert ends["low"] <= ends["value"] <= ends["high"]
    assert rows["copying", "changed_f1"]["value"] == 0.0
    assert "remembered" in capsys.readouterr().out


def says_it_is_over(handler: ChatHandler, body: dict[str, Any]) -> None:
    handler.send(completion(["the task is over"], prompt_tokens=counted(body)))


def test_a_language_model_is_measured_alone_and_behind_memory(tmp_path, chat_server, capsys):
    chat_server.will(says_it_is_over)
    run, file = keep(tmp_path / "run", 0, 1, TEST_SEED), tmp_path / "world.json"
    model = ["--world", "endpoint:worldly"]
    assert cli.main(["world", str(run), "--measure", str(file), *model]) == 0
    rows = {(row["model"], row["figure"]): row for row in json.loads(file.read_text())["rows"]}
    alone, behind = rows["worldly", "ends"], rows["map, then worldly", "ends"]
    assert alone["value"] < behind["value"] == rows["remembered", "ends"]["value"]
    assert rows["worldly", "modelled"]["value"] > 0 == rows["remembered", "modelled"]["value"]
    said = capsys.readouterr().out
    assert f"worldly: {len(chat_server.requests)} requests" in said and "without a reply" in said


def recall_without_confidence(world, situations):
    return world.memory.predict(situations), list(range(len(situations)))


def test_a_question_is_paid_once_though_it_is_asked_alone_and_behind_memory(
    tmp_path, chat_server, monkeypatch
):
    monkeypatch.setattr(LayeredWorld, "_recall", recall_without_confidence)
    chat_server.will(says_it_is_over)
    run, file = keep(tmp_path / "run", 0, 1, TEST_SEED), tmp_path / "world.json"
    model = ["--world", "endpoint:worldly"]
    assert cli.main(["world", str(run), "--measure", str(file), *model]) == 0
    asked = [json.dumps(body) for body in chat_server.requests]
    assert asked and len(set(asked)) == len(asked)


def test_rows_of_models_stay_beside_each_other_on_the_same_steps(tmp_path, chat_server):
    chat_server.will(says_it_is_over)
    run, file = keep(tmp_path / "run", 0, 1, TEST_SEED, TEST_SEED + 1), tmp_path / "world.json"
    words = ["world", str(run), "--measure", str(file), "--world"]

    def measured() -> tuple[list[str], str]:
        told = json.loads(file.read_text())
        [facts] = told["runs"]
        names = {row["model"] for row in told["rows"] if row["benchmark"] == "run"}
        return sorted(names & {"one", "other"}), facts["command"]

    assert cli.main([*words, "endpoint:one"]) == cli.main([*words, "endpoint:other"]) == 0
    assert measured() == (
        ["one", "other"],
        "; ".join(
            f"webagent {' '.join([*words, f'endpoint:{name}'])}" for name in ("other", "one")
        ),
    )
    assert (
        cli.main([*words, "endpoint:other", "--most", "1"]) == 0
    )  # other steps: nothing to compare with
    assert measured()[0] == ["other"]


def test_a_memory_that_was_read_does_not_make_the_first_prediction_wait(tmp_path, monkeypatch):
    memory = remember_run(keep(tmp_path / "run", 0, 1, 2))
    monkeypatch.setattr("worldmodel.confidence._try_out", None)
    assert memory.predict([memory.cases[0].situation])[0].confidence > 0.0


def test_development_seeds_are_measured_without_having_been_learned(tmp_path: Path) -> None:
    run, file = keep(tmp_path / "run", 0, 1, DEVELOPMENT_SEED, TEST_SEED), tmp_path / "world.json"
    words = ["world", str(run), "--measure", str(file), "--benchmark"]
    assert cli.main([*words, "dev", "--split", "development"]) == cli.main([*words, "test"]) == 0
    dev, test = json.loads(file.read_text())["runs"]
    assert (dev["split"], test["split"]) == ("development", "test")
    assert test["learnt_from"] == dev["learnt_from"] + dev["transitions"]


def trained(folder: Path, run: Path) -> Path:
    """Weights trained on the steps of a run."""
    shape = ["--shape.width", "64", "--shape.layers", "2", "--shape.vocabulary", "700"]
    train = ["--learning-rate", "3e-3", "--epochs", "10", "--batch", "4"]
    asked = ["train", "--runs", str(run), "--role", "world", "--out", str(folder), *shape, *train]
    assert cli.main(asked) == 0
    return folder / "model"


@pytest.mark.very_slow
def test_trained_weights_predict_in_process_and_behind_a_server(tmp_path, chat_server):
    run, file = keep(tmp_path / "run", 0, 1, 2, 3, TEST_SEED), tmp_path / "world.json"
    weights = trained(tmp_path / "tiny", run)
    model = LocalModel.load(str(weights))

    def writes(handler: ChatHandler, body: dict[str, Any]) -> None:
        messages = [Message(each["role"], each["content"]) for each in body["messages"]]
        reply = asyncio.run(model.complete(messages, max_tokens=body["max_tokens"])).replies[0]
        handler.send(completion([reply.text], reply.finish_reason, counted(body)))

    chat_server.will(writes)
    words = ["world", str(run), "--measure", str(file)]
    assert cli.main([*words, "--world", f"local:{weights}"]) == 0
    assert cli.main([*words, "--world", "endpoint:served"]) == 0
    asyncio.run(model.close())
    rows = {
        (row["model"], row["figure"]): row["value"] for row in json.loads(file.read_text())["rows"]
    }
    for figure in ("answered", "modelled", "exact", "changed_f1", "page_kind", "ends"):
        assert rows["tiny", figure] == rows["served", figure]
    assert chat_server.requests
    shown = ["What changed:" in str(body["messages"]) for body in chat_server.requests]
    assert any(shown)  # a model at an endpoint is shown examples, as nobody knows if it was trained


def test_seeds_that_are_played_are_not_remembered(tmp_path: Path) -> None:
    run, counts = keep(tmp_path / "run", 0, DEVELOPMENT_SEED, TEST_SEED), []
    for split in ("test", "development", "train"):
        world = remember_run(run, split)
        counts.append(len({case.transition.episode for case in world.cases}))
    assert counts == [2, 1, 2]
