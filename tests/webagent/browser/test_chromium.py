"""Finding a Chromium: the order of places, and what is said when there is none."""

import logging
from pathlib import Path

import pytest

from webagent.browser import chromium
from webagent.browser.chromium import Chromium, can_sandbox, find_chromium
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


def test_the_environment_variable_goes_before_everything(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_running_without_a_sandbox_is_said_loudly_and_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(chromium.os, "geteuid", lambda: 0)
    chromium._warn_once.cache_clear()
    with caplog.at_level(logging.WARNING):
        assert not can_sandbox()
        assert not can_sandbox()
    assert len([line for line in caplog.messages if "WITHOUT ITS SANDBOX" in line]) == 1
