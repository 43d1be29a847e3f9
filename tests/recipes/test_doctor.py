"""The doctor finds what is there, says how to get what is not, and shows no secret."""

import json
import os
import stat
from pathlib import Path

import pytest

from recipes import cli, doctor
from recipes.doctor import Finding


def only(findings: list[Finding], name: str) -> Finding:
    """The one finding of this name."""
    (found,) = [finding for finding in findings if finding.name == name]
    return found


@pytest.mark.browser
def test_a_ready_machine_is_found_ready(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    assert cli.main(["doctor", "--json", "--runs", str(tmp_path / "runs")]) == 0
    text = capsys.readouterr().out
    report = json.loads(text)
    assert report["ready"]
    names = [finding["name"] for finding in report["findings"]]
    assert {"Python", "torch", "MiniWoB++", "Chromium", "Chromium starts", "endpoint"} <= set(names)
    assert "very-secret" not in text


@pytest.mark.browser
def test_the_table_says_that_the_demo_can_run(tmp_path, capsys):
    assert cli.main(["doctor", "--runs", str(tmp_path)]) == 0
    assert capsys.readouterr().out.endswith("The demo can run.\n")


@pytest.mark.slow
def test_a_chromium_that_is_not_there_is_missing(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("WEBAGENT_CHROMIUM", str(tmp_path / "no-such-chromium"))
    assert cli.main(["doctor", "--runs", str(tmp_path)]) == 3
    text = capsys.readouterr().out
    assert "MISSING  Chromium" in text
    assert "no-such-chromium" in text
    assert text.endswith("see MISSING above.\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        ("libnss3.so: cannot open shared object file", "install-deps"),
        ("No usable sandbox! If this is a Debian system, see its manual", "user namespaces"),
    ],
)
def test_a_chromium_that_does_not_start_is_told_in_its_own_words(words, remedy, tmp_path):
    broken = tmp_path / "chromium"
    broken.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 127\n")
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    finding = doctor.browser_start(str(broken))
    assert not finding.ok
    assert finding.found == words
    assert remedy in finding.remedy


def test_a_package_that_is_not_installed_is_missing() -> None:
    finding = doctor.installed("no-such-package-anywhere")
    assert (finding.ok, finding.needed, finding.remedy) == (False, True, "run scripts/setup")


def test_without_what_learning_needs_agents_can_still_run(capsys, monkeypatch):
    lacking = [doctor.python(), doctor.installed("no-such-package", learning=True)]
    monkeypatch.setattr(doctor, "examine", lambda runs: lacking)
    assert cli.main(["doctor", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["ready"], report["can_act"]) == (False, True)
    assert cli.main(["doctor"]) == 0
    text = capsys.readouterr().out
    assert "MISSING" not in text
    assert "Agents can run with a model behind a server" in text


def test_a_driver_that_lacks_a_library_is_told_in_its_own_words(tmp_path, monkeypatch):
    assert doctor.playwright_driver().ok
    node = tmp_path / "node"
    node.write_text("#!/bin/sh\necho 'node: libatomic.so.1: cannot open' >&2\nexit 127\n")
    node.chmod(0o755)
    monkeypatch.setattr(
        "playwright._impl._driver.compute_driver_executable", lambda: (str(node), "")
    )
    finding = doctor.playwright_driver()
    assert (finding.ok, finding.found) == (False, "node: libatomic.so.1: cannot open")
    assert "libatomic1" in finding.remedy


def test_a_window_that_cannot_be_shown_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    finding = doctor.window()
    assert not finding.ok and not finding.needed
    monkeypatch.setenv("WEBAGENT_CHROMIUM", "/no/such/chromium")
    assert "playwright install" in doctor.window().remedy


def test_all_the_pages_of_miniwob_are_counted() -> None:
    finding = doctor.miniwob_pages()
    assert finding.ok
    assert int(finding.found.split()[0]) >= 125


def test_a_run_folder_need_not_exist_yet(tmp_path: Path) -> None:
    assert "can be written" in doctor.run_folder(tmp_path / "not" / "yet" / "there").found
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0 or not Path("/proc/self").exists(), reason="needs /proc")
def test_a_run_folder_that_refuses_files_is_missing() -> None:
    assert not doctor.run_folder(Path("/proc/runs")).ok


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("", "not set"),
        ("http://localhost:8000/v1", "http://localhost:8000/v1"),
        ("https://user:secret@host:9/v1?key=secret", "https://host:9/v1"),
    ],
)
def test_the_endpoint_is_shown_without_its_secrets(url: str, shown: str) -> None:
    assert doctor.without_secrets(url) == shown


def test_no_endpoint_does_not_stop_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    finding = doctor.endpoint()
    assert not finding.ok and not finding.needed
