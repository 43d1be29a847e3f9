"""The reference and llms.txt are what the code says, and the code is read rightly."""

import re
from pathlib import Path

import pytest

from recipes import cli
from recipes.reference import pages as reference
from recipes.reference.commands import settings_of
from recipes.reference.source import ROOT, fields_of, find
from recipes.reference.surface import PACKAGES


def test_the_pages_are_in_step_with_the_code() -> None:
    assert [str(path) for path in reference.outdated()] == [], "python -m recipes.reference"


def test_the_pages_are_the_same_however_often_they_are_written() -> None:
    assert reference.pages() == reference.pages()


@pytest.mark.parametrize("name", sorted(cli.RECIPES))
def test_the_flags_of_a_page_are_those_of_the_command(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit):
        cli.RECIPES[name].load()(["--help"])
    told = set(re.findall(r"--[a-z][\w.-]+", capsys.readouterr().out)) - {
        "--help",
        "--config",
        "--json",
    }
    page = (ROOT / "docs/reference/commands" / f"{name}.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`--[^|]+)", page, re.M)
    written = {flag for row in rows for flag in re.findall(r"`(--[\w.-]+)`", row)}
    assert written <= told
    assert told - spoken_of(name) <= written


def spoken_of(name: str) -> set[str]:
    """Flags that the help of a command names in its sentences: its own and other commands'."""
    said = " ".join(field.doc for field in fields_of(settings_of(name)))
    return set(re.findall(r"--[a-z][\w.-]+", said))


def test_a_setting_is_written_with_its_type_its_default_and_its_help() -> None:
    page = reference.pages()[Path("docs/reference/commands/improve.md")]
    assert "| `--rounds` | whole number | `3` | Passes around the loop. |" in page
    assert "| `--curriculum` | `on` or `uniform` | `on` |" in page
    assert "Presets, by `--preset`: `demo`." in page
    assert (
        "`--prompting.plan`, `--prompting.no-plan`"
        in (reference.pages()[Path("docs/reference/commands/benchmark.md")])
    )


def test_every_setting_of_every_command_is_explained() -> None:
    silent = [
        f"{name}: {field.name}"
        for name in cli.RECIPES
        for field in fields_of(settings_of(name))
        if not field.doc and not field.annotation.endswith("Config")
    ]
    assert silent == []


def test_a_name_is_found_where_it_is_defined() -> None:
    assert find("webagent", "Trajectory").module == "webagent.records"
    assert find("webagent.store", "Store").doc


@pytest.mark.parametrize("package", PACKAGES)
def test_what_a_package_exports_stands_in_its_page(package: str) -> None:
    page = reference.pages()[Path(f"docs/reference/python/{package}.md")]
    module = __import__(package)
    assert all(f"### {name}\n" in page for name in getattr(module, "__all__", ()))


def test_a_page_that_is_out_of_step_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = reference.pages()
    monkeypatch.setattr(reference, "pages", lambda: wanted)
    monkeypatch.setattr(reference, "ROOT", tmp_path)
    assert reference.main(["--check"]) == 1
    assert "out of step: llms.txt" in capsys.readouterr().out
    assert not (tmp_path / "llms.txt").exists()
    assert reference.main([]) == 0 and reference.main(["--check"]) == 0
    (tmp_path / "docs/reference/old.md").write_text("gone")
    assert reference.main([]) == 0
    assert not (tmp_path / "docs/reference/old.md").exists()


def test_llms_txt_begins_as_llmstxt_org_says_and_links_from_the_root() -> None:
    lines = (ROOT / "llms.txt").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ") and lines[2].startswith("> ")
    assert [line for line in lines if line.startswith("## ")]
    links = re.findall(r"^- \[[^\]]+\]\(([^)]+)\): .+", "\n".join(lines), re.M)
    assert len(links) > 30 and all((ROOT / link).exists() for link in links)
