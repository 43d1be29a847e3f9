"""Finding a Chromium: the order of places, and what is said when there is none."""

import logging
from pathlib import Path

import pytest

from webagent.browser import chromium
from webagent.browser.chromium import Chromium, find_chromium, has_sandbox, summarize_failure
from webagent.errors import SetupError


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any browser: an empty PATH and an empty Playwright folder."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "ms-playwright"))
    monkeypatch.delenv("WEBAGENT_CHROMIUM", raising=False)
    return tmp_path


def install(path: Path) -> Path:
    """Put an executable there that says it is a Chromium."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\necho Chromium 1.2.3\n")
    path.chmod(0o755)
    return path


def test_without_any_the_places_and_the_command_are_said(machine: Path) -> None:
    with pytest.raises(SetupError) as raised:
        find_chromium()
    message = str(raised.value)
    for part in ("WEBAGENT_CHROMIUM", "ms-playwright", "google-chrome", "playwright install"):
        assert part in message


def test_a_headless_shell_goes_first_where_no_window_is_needed(machine: Path) -> None:
    full = install(machine / "bin" / "chromium")
    shell = install(machine / "bin" / "chromium-headless-shell")
    assert find_chromium() == Chromium(shell, "headless shell", "PATH")
    assert find_chromium(headless=False) == Chromium(full, "chromium", "PATH")


def test_playwrights_own_goes_before_the_path_and_the_newest_first(machine: Path) -> None:
    install(machine / "bin" / "chromium-headless-shell")
    folder = machine / "ms-playwright"
    install(folder / "chromium_headless_shell-999" / "chrome-linux" / "headless_shell")
    newest = install(folder / "chromium_headless_shell-1200" / "chrome-linux" / "headless_shell")
    assert find_chromium() == Chromium(newest, "headless shell", "Playwright")


def test_the_environment_variable_goes_before_everything(machine, monkeypatch):
    install(machine / "bin" / "chromium-headless-shell")
    chosen = install(machine / "mine" / "chrome")
    monkeypatch.setenv("WEBAGENT_CHROMIUM", str(chosen))
    assert find_chromium() == Chromium(chosen, "chromium", "WEBAGENT_CHROMIUM")
    chosen.unlink()
    with pytest.raises(SetupError, match=r"WEBAGENT_CHROMIUM names .*, which does not run"):
        find_chromium()


def test_a_version_is_asked_of_the_binary(machine: Path) -> None:
    install(machine / "bin" / "chromium")
    assert find_chromium().version() == "Chromium 1.2.3"
    with pytest.raises(SetupError, match="does not run"):
        Chromium(machine / "nothing", "chromium", "PATH").version()


def test_running_without_a_sandbox_is_said_loudly_and_once(monkeypatch, caplog):
    monkeypatch.setattr(chromium.os, "geteuid", lambda: 0)
    chromium._warn_once.cache_clear()
    with caplog.at_level(logging.WARNING):
        assert not has_sandbox()
        assert not has_sandbox()
    assert len([line for line in caplog.messages if "WITHOUT ITS SANDBOX" in line]) == 1


def test_a_browser_that_did_not_start_says_why_without_what_it_says_anywhere() -> None:
    message = """BrowserType.launch: Target page, context or browser has been closed
Browser logs:

Call log:
  - <launching> /usr/bin/chromium --disable-quic
  - [pid=9][err] /usr/bin/chromium: 9: [: 25276514304: unexpected operator
  - [pid=9][err] [9:9:1122/194703.3:ERROR:ui/ozone/platform/x11/x11.cc:257] Missing X server
  - [pid=9][err] [9:9:1122/194703.3:ERROR:ui/aura/env.cc:253] The platform failed. Exiting.
  - [pid=9][err] [9:5:1122/194703.4:ERROR:dbus/bus.cc:405] Failed to connect to the bus
  - [pid=9] <gracefully close start>
  - [pid=9][err] [7:7:0100/000000.4:ERROR:content/zygote/zygote_linux.cc:662] write: Broken pipe
"""
    assert summarize_failure(message) == "Missing X server; The platform failed. Exiting."
    assert summarize_failure("Executable doesn't exist\n at x") == "Executable doesn't exist"
