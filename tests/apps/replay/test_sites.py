"""An episode on a site of this machine is replayed on an instance of its own."""

import json

import pytest

from benchmarks.fossil.site import site
from recipes import cli

pytestmark = [pytest.mark.site, pytest.mark.browser, pytest.mark.very_slow]
TASK = "ticket-open"


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_ticket_is_filed_again(tmp_path, monkeypatch, capsys):
    if missing := site().missing():
        pytest.skip(missing)
    monkeypatch.setenv("WEBAGENT_SITES", str(tmp_path / "sites"))
    asked = ("--tasks", TASK, "--seeds", "1", "--no-baselines", "--concurrency", "1")
    place = ("--runs", str(tmp_path), "--name")
    assert cli.main(["benchmark", "fossil", *asked, *place, "run"]) == 0
    capsys.readouterr()
    assert cli.main(["replay", str(tmp_path / "run"), "--json", *place, "again"]) == 0
    assert json.loads(capsys.readouterr().out)["episodes"][0]["outcome"] == "completed, checks hold"
