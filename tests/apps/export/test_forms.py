"""Each reader's documented form, checked without the reader."""

import base64
import json
from pathlib import Path

import pytest

from apps.export import CONSUMERS
from tests.fakes.played import SEEN_BY_MODEL, export, play, rows, run_folder
from webagent.store import Store


def exported(tmp_path: Path, to: str, what: str, variant: str = "text") -> Path:
    """An export of a success and a failure on one seed."""
    run = run_folder(tmp_path / "run", observation=variant).path
    with Store.open(run) as store:
        play(store, 0, variant=variant)
        play(store, 0, index=1, right=False, variant=variant)
    return export(run, "--to", to, "--what", what)


@pytest.mark.slow
def test_every_reader_is_written_every_form_it_has(tmp_path: Path) -> None:
    for name, consumer in CONSUMERS.items():
        for what in consumer.forms:
            place = tmp_path / f"{name}-{what}"
            place.mkdir()
            found = rows(exported(place, name, what) / consumer.data(what))
            assert found, (name, what)
            assert all(value is not None for row in found for value in row.values()), (name, what)


@pytest.mark.parametrize("what", ["sft", "preference", "kto"])
def test_llamafactory_finds_columns_and_roles_by_its_own_file(tmp_path: Path, what: str) -> None:
    out = exported(tmp_path, "llamafactory", what, "screenshot")
    info = json.loads((out / "dataset_info.json").read_text())[f"webagent_{what}"]
    assert info["formatting"] == "sharegpt"
    assert info.get("ranking", False) == (what == "preference")
    assert ("kto_tag" in info["columns"]) == (what == "kto")
    for row in rows(out / info["file_name"]):
        assert set(info["columns"].values()) <= row.keys()
        roles = [message[info["tags"]["role_tag"]] for message in row[info["columns"]["messages"]]]
        end = [] if what == "preference" else ["assistant"]
        assert roles == ["system", "user", *end]
        texts = [message[info["tags"]["content_tag"]] for message in row["messages"]]
        assert sum(text.count("<image>") for text in texts) == len(row["images"]) == 1


def test_verls_conversations_hold_a_mark_for_each_picture(tmp_path: Path) -> None:
    for row in rows(exported(tmp_path, "verl", "sft", "screenshot") / "data"):
        assert [m["role"] for m in row["messages"]] == ["system", "user", "assistant"]
        assert row["messages"][1]["content"].endswith("<image>")
        assert row["images"][0]["bytes"].startswith(b"\x89PNG")


def test_verls_tables_have_no_pictures_where_there_are_none(tmp_path: Path) -> None:
    assert "images" not in rows(exported(tmp_path, "verl", "sft") / "data")[0]


def test_axolotl_trains_the_last_message_alone(tmp_path: Path) -> None:
    out = exported(tmp_path, "axolotl", "sft")
    for row in rows(out / "data"):
        assert [m["training"] for m in row["messages"]] == [False, False, True]
    settings = (out / "axolotl.yml").read_text()
    assert "message_field_training: training" in settings
    assert "path: data" in settings


def test_axolotls_pictures_stand_where_they_are_shown(tmp_path: Path) -> None:
    found = rows(exported(tmp_path, "axolotl", "sft", "screenshot") / "data")
    for row in found:
        origin = json.loads(row["origin"])
        asked = SEEN_BY_MODEL[origin["episode"], origin["position"]]
        shown = [block for m in row["messages"] for block in m["content"] if block["base64"]]
        assert [base64.b64decode(block["base64"]) for block in shown] == list(asked[1].images)


def test_axolotls_labelled_replies_have_no_pictures_to_go_with_them(tmp_path: Path) -> None:
    (first, *_) = rows(exported(tmp_path, "axolotl", "kto", "screenshot") / "data")
    assert set(first) == {"completion", "label", "origin"}
    assert "attached screenshot" not in first["completion"][1]["content"]


def test_the_folder_of_an_export_says_what_is_in_it(tmp_path: Path) -> None:
    out = exported(tmp_path, "trl", "sft")
    info = json.loads((out / "meta" / "info.json").read_text())
    assert (info["run"], info["to"], info["what"], info["rows"]) == ("run", "trl", "sft", 3)
    assert info["command"] == ["webagent", "benchmark"]
    assert info["origins"][0].keys() == {"commit", "modified", "versions"}
    assert json.loads((out / "meta" / "stats.json").read_text())["reply characters"]["count"] == 3
    tasks = [json.loads(line) for line in (out / "meta" / "tasks.jsonl").read_text().splitlines()]
    assert tasks == [{"task": "fake/tick-and-type@1", "rows": 3, "imagined rows": 0}]
