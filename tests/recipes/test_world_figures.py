"""`webagent dream --measure`: figures of memory on test seeds, and how they are published."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from perf.fakes.chat_server import ChatHandler, ChatServer, completion, counted
from recipes import cli
from tests.fakes.orders import ORDERS, look_up
from webagent.records import Score
from webagent.store import Store

TEST_SEED = 2_000_000


def keep(folder: Path, *seeds: int) -> Path:
    """A run with an episode on each seed, the first of which failed."""
    with Store.open(folder, create=True) as store:
        for i, seed in enumerate(seeds):
            episode = look_up(f"e{i}", list(ORDERS)[i % len(ORDERS)], 10 * i + 1)
            store.add(replace(episode, task=replace(episode.task, seed=seed)))
            store.score(episode.id, Score("success", float(i > 0), "", "rules"))
    return folder


def test_figures_are_rows_and_are_published_as_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = keep(tmp_path / "run", 0, 1, TEST_SEED, TEST_SEED + 1)
    folder = tmp_path / "published"
    folder.mkdir()
    words = ["dream", str(run), "--measure", str(folder / "world.json"), "--benchmark", "orders"]
    assert cli.main(words) == cli.main([*words, "--most", "1"]) == 0
    told = json.loads((folder / "world.json").read_text())
    [facts] = told["runs"]  # the second replaces the first
    assert (facts["benchmark"], facts["transitions"]) == ("orders", 1)
    rows = {(row["model"], row["figure"]): row for row in told["rows"]}
    ends = rows["remembered", "ends"]
    assert ends["low"] <= ends["value"] <= ends["high"]
    assert rows["copying", "changed_f1"]["value"] == 0.0
    said = capsys.readouterr().out
    assert "remembered" in said and "mislabelled button" in said
    assert rows["remembered", "all"]["benchmark"] == "honesty"
    assert cli.main(["publish", "--folder", str(folder)]) == 0
    assert "| figure | remembered | nearest | most frequent | copying |" in (
        folder / "README.md"
    ).read_text(encoding="utf-8")


def says_it_is_over(handler: ChatHandler, body: dict[str, Any]) -> None:
    handler.send(completion(["the task is over"], prompt_tokens=counted(body)))


def test_a_language_model_is_measured_alone_and_behind_memory(
    tmp_path: Path, chat_server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", chat_server.url)
    chat_server.will(says_it_is_over)
    run, file = keep(tmp_path / "run", 0, 1, TEST_SEED), tmp_path / "world.json"
    model = ["--world", "endpoint", "--world-model", "worldly"]
    assert cli.main(["dream", str(run), "--measure", str(file), *model]) == 0
    rows = {(row["model"], row["figure"]): row for row in json.loads(file.read_text())["rows"]}
    alone, behind = rows["endpoint", "ends"], rows["map, then endpoint", "ends"]
    assert alone["value"] < behind["value"] == rows["remembered", "ends"]["value"]


def test_a_run_without_test_seeds_says_what_is_needed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = keep(tmp_path / "run", 0, 1)
    assert cli.main(["dream", str(run), "--measure", str(tmp_path / "x.json")]) != 0
    assert "0 on test seeds to measure on" in capsys.readouterr().err
