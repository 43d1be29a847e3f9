"""What an episode has changed: wanted, sent and read back beside each other."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.request import urlopen

from loop.folder import RunFolder
from tests.apps.view.conftest import Settings
from tests.fakes.lessons import episode, node, page
from webagent.action.actions import Click

SENT = {
    "step": 1,
    "method": "POST",
    "url": "http://desk.test/add",
    "status": 303,
    "verified": None,
    "fields": [["Title", "Rug"], ["Customer", "<Dan>"]],
}


def test_a_change_is_shown_as_wanted_sent_and_read_back(
    tmp_path: Path, view: Callable[[Path], str]
):
    new = {**SENT, "wanted": ["Rug", ""], "shown": [True, False], "pages": ["http://desk.test/"]}
    run = RunFolder.create(tmp_path / "do", Settings(), ["webagent", "do"])
    turns = (page("Add.", node(1, "button", "Save")), Click(1))
    with run.store() as store:
        for name, sent in (("new", new), ("old", SENT)):
            guard = {"writes": [sent], "unused": ["red"]}
            store.add(replace(episode(turns, id=name), evidence={"guard": guard}))
    noted = {"event": "ended", "episode": "new", "result": "unverified", "why": "not there"}
    (run.path / "journal.jsonl").write_text(f'{json.dumps(noted)}\n{{"ro')
    for name, shown in (("new", "Rug Rug ✓ shown Customer – &lt;Dan&gt; ✗ not shown"), ("old", "")):
        with urlopen(f"{view(tmp_path)}/run/do/episode/{name}") as response:
            html = response.read().decode()
        [section] = re.findall(r'(?s)<section id="writes".*?</section>', html)
        text = " ".join(re.sub(r"<[^>]+>", " ", section).split())
        assert (shown or "Rug not read") in text and "“red”" in text
        assert ("unverified not there" in text) == bool(shown)
