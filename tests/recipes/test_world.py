"""`webagent world`: the map of a run's site is printed."""

import re
from pathlib import Path
from socket import socket

import pytest

from apps import predicted_site
from apps.predicted_site import PredictedSite
from loop.console.pulse import current
from recipes import cli
from tests.fakes.orders import episode, link
from webagent.action.actions import Click, GiveUp
from webagent.records import Score
from webagent.store import Store


def test_a_map_is_built_and_printed(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["world", str(run)]) == 0
    told = capsys.readouterr().out
    assert "kinds of pages" in told and "transitions" in told


def test_words_that_stand_on_no_page_are_an_error(run, capsys):
    assert cli.main(["world", str(run), "--to", "zebra crossing"]) == 2
    assert "contains 'zebra crossing'" in capsys.readouterr().err


def test_a_run_without_steps_says_how_to_collect_some(tmp_path, capsys):
    Store.open(tmp_path / "run", create=True).close()
    assert cli.main(["world", str(tmp_path / "run")]) != 0
    assert "webagent collect" in capsys.readouterr().err


class NoServer:
    """Answers nobody, while the command says nothing of still being at work."""

    def run(self, sockets: list[socket]) -> None:
        pulse = current()
        assert pulse is not None and pulse.displays == 1


def chances(run: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What `world --serve` says of P(success) after the right click and after the wrong one."""
    sites: list[PredictedSite] = []

    def server_of(site: PredictedSite) -> NoServer:
        sites.append(site)
        return NoServer()

    monkeypatch.setattr(predicted_site, "server_of", server_of)
    assert cli.main(["world", str(run), "--serve", "--port", "0"]) == 0
    [site] = sites
    shown = []
    for mark in ("1", "2"):
        site.submit({"token": site.token, "op": "click", "mark": mark})
        shown += re.findall(r"P\(success\) (\w+)", site.render())
        site.submit({"token": site.token, "op": "back"})
    return shown


def test_the_served_site_says_what_leads_to_success_where_that_is_known(run, monkeypatch):
    assert chances(run, monkeypatch) == ["unknown", "unknown"]  # no failure was ever seen
    for i in range(3):
        goal = 'What did my order "10056" come to?'
        start = (link(1, "Account"), link(2, "Help"))
        wrong = episode(f"w{i}", goal, (start, Click(2)), ((link(1, "Home"),), GiveUp()))
        with Store.open(run) as store:
            store.add(wrong)
            store.score(wrong.id, Score("success", 0.0, "gave up", "rules"))
    right, other = map(int, chances(run, monkeypatch))
    assert right > 60 > 40 > other
