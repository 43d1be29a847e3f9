"""Published presets from end to end on a site, with models behind a server, killed and resumed."""

import json
import shutil

import pytest

from benchmarks.fossil.site import site
from perf.presets import PLAYED, play_preset
from tests.fakes.roles import play_roles

pytestmark = [
    pytest.mark.browser,
    pytest.mark.site,
    pytest.mark.very_slow,
    pytest.mark.timeout(2700),
    pytest.mark.skipif(bool(site().missing()), reason=site().missing()),
]


@pytest.mark.parametrize("name", PLAYED)
def test_a_preset_goes_on_after_a_kill_and_says_what_each_round_was_made_of(
    name, tmp_path, chat_server
):
    chat_server.will(play_roles())
    played = play_preset(name, tmp_path, chat_server.url)
    assert played.kept and played.killed_at > 0
    rows = [row for row in played.rows if row["arm"] == "self"]
    settings = json.loads((played.run / "run.json").read_text())["config"]
    assert [row["round"] for row in rows] == [*range(1, settings["rounds"] + 1)]
    proposes = settings["proposer"] != "none"
    assert proposes != name.startswith("early-experience")  # it learns from the given tasks alone
    assert all(bool(row["proposer"]) == proposes for row in rows)
    assert all(row["judge"].startswith(("pae", "agentreward")) for row in rows)
    assert all(row["collected"] and row["real_steps"] and row["model_tokens"] for row in rows)
    assert (sum(row["proposed"] for row in rows) > 0) == proposes
    assert all(row["proposed"] <= settings["propose"] for row in rows)
    imagined = [row["dreamt"] for row in played.rows if row["arm"] == "imagined"]
    assert all(imagined) and bool(imagined) == name.startswith("webevolver")
    shutil.rmtree(played.run)
