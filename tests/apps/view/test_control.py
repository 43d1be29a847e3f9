"""Runs are started and steered from the page by who has the token, and by nobody else."""

import re
import shutil
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest
from playwright.async_api import Page, expect

from apps.listening import listen
from apps.live.settings import RunConfig
from apps.view.contents import Archive
from apps.view.launcher import FormSetting, Launcher
from apps.view.server import server_of
from loop.console.output import Status
from recipes import cli
from recipes.forms import startable_commands
from recipes.settings import options_of
from tests.apps.record.conftest import site
from tests.apps.view.test_accessibility import findings
from tests.apps.view.test_outcomes import measured_run
from tests.fakes.chat_server import Behave
from webagent.errors import UsageError

__all__ = ["site"]

FORM = """<title>Shop</title><h1>Kayaks</h1><label>Name <input id=name></label>
<button onclick="document.title = 'Hello'">Send</button>"""


class Visitor:
    """A browser as far as cookies go."""

    def __init__(self) -> None:
        self.cookies = CookieJar()
        self._opener = build_opener(HTTPCookieProcessor(self.cookies))

    def ask(
        self, address: str, form: Mapping[str, str] | None = None, **headers: str
    ) -> tuple[int, str]:
        """The status and the text of a page, or of what a form is answered with."""
        body = urlencode(form).encode() if form is not None else None
        try:
            with self._opener.open(Request(address, body, headers)) as response:
                return response.status, response.read().decode()
        except HTTPError as refused:
            return refused.code, refused.read().decode()


@contextmanager
def steering(runs: Path) -> Iterator[tuple[str, Launcher]]:
    """The address of a viewer that may start runs, without its token, and what starts them."""
    launcher = Launcher(runs, startable_commands())
    with TemporaryDirectory() as cache, listen("127.0.0.1", 0) as listening:
        server = server_of(Archive(runs), cache=Path(cache), launcher=launcher)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", launcher
        finally:
            server.should_exit = True
            thread.join()
            for each in launcher.at_work():
                each.process.send_signal(signal.SIGINT)
                each.process.wait(timeout=60)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of runs, in a working folder of its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    return tmp_path / "runs"


def form_token(page: str) -> str:
    """The token in a page's form."""
    found = re.search(r'name="token" value="([^"]+)"', page)
    assert found
    return found[1]


def test_only_what_was_changed_becomes_a_word_of_the_line() -> None:
    assert FormSetting("max-steps", "text", "", "30").words("30") == []
    assert FormSetting("max-steps", "text", "", "30").words(" 5 ") == ["--max-steps=5"]
    assert FormSetting("x.plan", "switch", "", "").words("on") == ["--x.plan"]
    assert FormSetting("x.plan", "switch", "", "on").words("") == ["--x.no-plan"]
    tasks = FormSetting("tasks", "words", "", "a b")
    assert tasks.words("a  b") == [] and tasks.words("c 'd e'") == ["--tasks", "c", "d e"]
    with pytest.raises(UsageError, match="cannot be read"):
        tasks.words("'c")
    task = FormSetting("task", "text", "", "", is_positional=True)
    assert task.words("Buy --all of it") == ["Buy --all of it"]
    with pytest.raises(UsageError, match="expected words"):
        task.words("--help")


def test_forms_are_made_of_the_settings_and_filled_in_as_the_file_says(runs: Path) -> None:
    Path("webagent.toml").write_text("[run]\nmax_steps = 7\nheaded = true\n")
    run, benchmark, improve = startable_commands()
    asked = {each.name for each in options_of(RunConfig)} - {"name", "runs"}
    by_name = {each.name: each for each in run.settings}
    assert set(by_name) == asked and all(each.doc for each in run.settings)
    assert (by_name["max-steps"].default, by_name["headed"].default) == ("7", "on")
    assert by_name["policy"].kind == "text" and by_name["task"].is_positional
    assert "miniwob" in {each.name: each for each in benchmark.settings}["benchmark"].choices
    assert "demo" in {each.name: each for each in improve.settings}["preset"].choices
    defaults = {each.name: each.default for each in run.settings}
    assert run.words(defaults) == []
    words = run.words({**defaults, "task": "Look", "headed": ""})
    assert words == ["Look", "--no-headed"]
    with pytest.raises(UsageError, match="max-steps"):
        run.words({**defaults, "max-steps": "many"})


def test_without_the_token_nothing_can_be_started(runs: Path) -> None:
    with steering(runs) as (address, launcher):
        stranger, own = Visitor(), {"Origin": address}
        assert "Start …" not in stranger.ask(address)[1]
        assert stranger.ask(f"{address}/start")[0] == 403
        assert stranger.ask(f"{address}/?token=wrong")[0] == 403
        assert stranger.ask(f"{address}/start/run", {"task": "x"}, **own)[0] == 403

        owner = Visitor()
        status, text = owner.ask(f"{address}/?token={launcher.token}")
        assert status == 200 and "Start …" in text and launcher.token not in text
        (cookie,) = owner.cookies
        assert cookie.has_nonstandard_attr("HttpOnly")
        assert cookie.get_nonstandard_attr("SameSite") == "strict"
        form = {"token": form_token(owner.ask(f"{address}/start/run")[1]), "task": "Look"}
        for origin in ({}, {"Origin": "http://evil.example"}, {"Origin": "http://127.0.0.1:1"}):
            assert owner.ask(f"{address}/start/run", form, **origin)[0] == 403
        wrong = {**form, "token": launcher.token}
        assert owner.ask(f"{address}/start/run", wrong, **own)[0] == 403
        there = f"{address}/?token={launcher.token}"
        assert owner.ask(there, Host="evil.example")[0] == 403
        assert owner.ask(f"{address}/start/site")[0] == 404
        for name in ("../out", ".hidden", "a/b"):
            status, text = owner.ask(f"{address}/start/run", {**form, "run-name": name}, **own)
            assert status == 400 and "not a folder name" in text
        status, text = owner.ask(f"{address}/start/run", {**form, "max-steps": "x"}, **own)
        assert status == 400 and "max-steps" in text and ">Look</textarea>" in text
    assert launcher.at_work() == [] and list(runs.iterdir()) == []


def test_a_run_that_nobody_started_here_cannot_be_stopped_from_here(runs: Path) -> None:
    measured_run(runs, "whole", is_over=True)
    with steering(runs) as (address, launcher):
        owner = Visitor()
        owner.ask(f"{address}/?token={launcher.token}")
        token = form_token(owner.ask(f"{address}/start/run")[1])
        for action in ("stop", "resume", "pause", "delete"):
            form = {"token": token, "action": action}
            status, text = owner.ask(f"{address}/run/whole/steer", form, Origin=address)
            assert status == 404 and "is not possible" in text


def test_control_is_for_this_machine_and_a_folder_of_runs(runs, capsys):
    assert cli.main(["view", "runs", "--control", "--host", "0.0.0.0"]) == Status.USAGE
    assert "only works on this machine" in capsys.readouterr().err
    measured_run(runs, "one", is_over=True)
    assert cli.main(["view", "runs/one", "--control"]) == Status.USAGE
    assert "the folder above it" in " ".join(capsys.readouterr().err.split())


@pytest.mark.browser
@pytest.mark.very_slow
async def test_a_task_is_typed_watched_paused_and_ended_from_the_page(
    runs, page, site, chat_server, monkeypatch
):
    monkeypatch.setenv("OPENAI_BASE_URL", chat_server.url)
    site.pages["/"] = FORM
    waits = [Behave.reply("Thought: so be it\nAction: wait(700)")] * 40
    chat_server.will(*waits)
    with steering(runs) as (address, launcher):
        await page.goto(f"{address}/?token={launcher.token}")
        await page.keyboard.press("s")
        await page.wait_for_url("**/start")
        await page.keyboard.press("1")
        await page.wait_for_url("**/start/run")
        await page.get_by_label("task", exact=True).fill("Greet Ada")
        await page.get_by_label("url", exact=True).fill(f"{site.address}/")
        await page.get_by_label("model", exact=True).fill("big-1")
        await page.get_by_label("name of the run").fill("typed")
        await page.get_by_label("name of the run").press("Enter")
        await page.wait_for_url("**/run/typed", timeout=60_000)
        await expect(page.locator(".answer")).to_contain_text("Greet Ada")
        await expect(page.locator(".shots.now img").first).to_be_visible(timeout=30_000)
        told = page.locator(".steering [role=status]")
        await expect(told).to_have_text("The agent is at work.", timeout=30_000)
        await expect(page.get_by_role("button", name="Take over")).to_have_count(0)
        await page.keyboard.press("p")
        await expect(told).to_have_text("Paused.", timeout=30_000)
        assert await page.locator(".answer .pill").inner_text() == "live"
        assert await findings(page) == []
        await page.get_by_role("button", name="Go on").click()
        await expect(told).to_have_text("The agent is at work.", timeout=30_000)
        await page.get_by_role("button", name="Stop").click()
        await expect(page.locator(".answer .pill")).to_have_text("stopped", timeout=60_000)
        await expect(page.locator(".steering")).to_have_count(0)
    assert "webagent run" in (launcher.find("typed") or pytest.fail("not started")).line


@pytest.mark.browser
@pytest.mark.very_slow
def test_an_interrupted_run_goes_on_from_its_page(runs: Path, real_runs: Path) -> None:
    shutil.copytree(real_runs / "real", runs / "real")
    (runs / "real" / "summary.json").unlink()
    with steering(runs) as (address, launcher):
        owner = Visitor()
        _, text = owner.ask(f"{address}/run/real?token={launcher.token}")
        form = {"token": form_token(text), "action": "resume"}
        assert owner.ask(f"{address}/run/real/steer", form, Origin=address)[0] == 200
        started = launcher.find("real")
        assert started is not None and "webagent benchmark --resume=" in started.line
        assert started.process.wait(timeout=120) == 0, started.output()
        assert ">Resume" not in owner.ask(f"{address}/run/real")[1]
    assert (runs / "real" / "summary.json").is_file()


@pytest.mark.browser
@pytest.mark.very_slow
async def test_a_start_that_fails_says_why(runs: Path, page: Page) -> None:
    with steering(runs) as (address, launcher):
        await page.goto(f"{address}/start?token={launcher.token}")
        await page.get_by_role("link", name="run", exact=True).click()
        await page.get_by_label("task", exact=True).fill("Greet Ada")
        await page.get_by_role("button", name="Start").click()
        await expect(page.get_by_role("alert")).to_contain_text("exit status 2", timeout=60_000)
        await expect(page.locator("pre")).to_contain_text("where does the task begin?")
    assert [each.name for each in runs.iterdir()] == [".started"]


@pytest.mark.browser
@pytest.mark.sample(2)
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
async def test_the_forms_have_no_serious_finding(runs, chromium, theme, width):
    with steering(runs) as (address, launcher):
        size = {"width": width, "height": 800}
        context = await chromium.new_context(viewport=size, color_scheme=theme, bypass_csp=True)
        page = await context.new_page()
        await page.goto(f"{address}/?token={launcher.token}")
        serious = await findings(page)
        for path in ("/start", "/start/run", "/start/improve"):
            await page.goto(address + path)
            for unfold in await page.locator("summary").all():
                await unfold.click()
            serious += await findings(page)
            assert await page.evaluate("document.documentElement.scrollWidth") <= width
        await context.close()
    assert serious == []
