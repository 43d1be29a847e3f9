"""An export that is sent to a hub arrives there whole, and `datasets` reads what arrived."""

import base64
import json
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import datasets
import pytest

from loop.console.output import Status
from recipes import cli
from tests.fakes.listening import Handler, listening
from tests.fakes.played import play, run_folder
from webagent.store import Store

pytestmark = pytest.mark.slow  # waits for a hub


class Hub(Handler):
    """As much of a hub as an upload asks for; files land in a folder."""

    content_type = "application/json"
    folder: Path
    asked: dict[str, Any]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers["Authorization"] != "Bearer good":
            return self.reply(401, {"error": "the hub does not know this key"})
        if self.path == "/api/repos/create":
            self.asked.update(json.loads(body))
            address = f"http://{self.headers['Host']}/datasets/me/runs"
            return self.reply(200, {"url": address, "name": "me/runs"})
        if self.path.endswith("/preupload/main"):
            files = json.loads(body)["files"]
            modes = [{"path": each["path"], "uploadMode": "regular"} for each in files]
            return self.reply(200, {"files": [{**m, "shouldIgnore": False} for m in modes]})
        if self.path.endswith("/commit/main"):
            for line in map(json.loads, body.splitlines()):
                if line["key"] == "file":
                    path = self.folder / line["value"]["path"]
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(base64.b64decode(line["value"]["content"]))
            address = f"http://{self.headers['Host']}/datasets/me/runs"
            told = {"commitUrl": f"{address}/commit/{'0' * 40}", "commitOid": "0" * 40}
            return self.reply(200, {"success": True, **told})
        return self.reply(200, {"errors": [], "warnings": []})  # the card's header is in order

    def do_GET(self) -> None:
        self.reply(200, {"id": "me/runs", "sha": "0" * 40, "siblings": []})

    def reply(self, status: int, told: dict[str, Any]) -> None:
        self.send(json.dumps(told), status)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Hub]]:
    """A hub on this machine that takes the key `good`."""
    kind = type("OneHub", (Hub,), {"folder": tmp_path / "hub", "asked": {}})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    address = f"http://127.0.0.1:{server.server_port}"
    for place in ("huggingface_hub.constants", "huggingface_hub.hf_api.constants"):
        monkeypatch.setattr(f"{place}.ENDPOINT", address)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HF_TOKEN", "good")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    with listening(server):
        yield kind


def export(tmp_path: Path, *asked: str) -> int:
    """Export a run of one episode; return the exit status."""
    run = run_folder(tmp_path / "run").path
    with Store.open(run) as store:
        play(store, 0, index=0)
    return cli.main(["export", str(run), "--out", str(tmp_path / "out"), *asked])


@pytest.mark.parametrize(("flags", "private"), [((), True), (("--public",), False)])
def test_what_arrives_is_what_was_written_and_datasets_reads_it(
    tmp_path, hub, flags, private, capsys
):
    assert export(tmp_path, "--push", "me/runs", *flags) == 0

    assert hub.asked["visibility"] == ("private" if private else "public")
    assert hub.asked["type"] == "dataset"
    assert capsys.readouterr().out.rstrip().endswith("/datasets/me/runs")
    sent = {path.relative_to(hub.folder) for path in hub.folder.rglob("*") if path.is_file()}
    out = tmp_path / "out"
    assert sent == {path.relative_to(out) for path in out.rglob("*") if path.is_file()}
    steps = datasets.load_dataset(str(hub.folder), "steps", split="train")
    assert len(steps) > 0 and steps[0]["action"]
    card = (hub.folder / "README.md").read_text()
    assert "| run | run |" in card and "- web-agents" in card and "imagined" in card


def test_a_hub_that_refuses_says_so_and_the_files_stay(tmp_path, hub, monkeypatch, capsys):
    monkeypatch.setenv("HF_TOKEN", "bad")
    assert export(tmp_path, "--push", "me/runs") == Status.SETUP
    said = capsys.readouterr().err
    assert "is written, but the hub did not accept it as me/runs: " in said and "401" in said
    assert (tmp_path / "out" / "README.md").exists()
