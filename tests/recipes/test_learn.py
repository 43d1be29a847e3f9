"""Hints are written from a run, through the real entry point."""

from pathlib import Path

import pytest

from loop.measurement.scoring import HEADLINE
from perf.fakes.run import episode
from recipes import cli
from tasks.suite import seed_of
from webagent.policy.knowledge import Hints, read_book
from webagent.records import Provenance, Score
from webagent.store import Store


def a_run(folder: Path, split: str = "train") -> Path:
    """One failure and one success on a task and seed."""
    with Store.open(folder / "run", create=True) as store:
        for index, success in enumerate((False, True)):
            whole = episode(Provenance(index=index), "enter-text", seed_of(split, 0), success)
            store.add(whole)
            store.score(whole.id, Score("success", float(success), "seen", HEADLINE.id))
    return folder / "run"


def test_a_run_becomes_hints_that_a_benchmark_shows(
    tmp_path: Path,
    chat_server,
    behave,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", chat_server.url)
    chat_server.will(behave.reply("ADD: Submit sends the form, Cancel does not."))
    run, hints = a_run(tmp_path), tmp_path / "hints"
    asked = ["learn", str(run), "--hints", str(hints), "--model", "m"]
    assert cli.main(asked) == 0
    assert "2 episodes, 1 failures beside a success" in capsys.readouterr().out
    [file] = hints.glob("*.md")
    assert [rule.text for rule in read_book(hints, file.stem).rules] == [
        "Submit sends the form, Cancel does not."
    ]
    assert Hints.read(hints)


def test_no_file_is_announced_where_no_hint_was_learnt(
    tmp_path: Path,
    chat_server,
    behave,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", chat_server.url)
    chat_server.will(behave.reply("There is nothing to learn here."))
    run, hints = a_run(tmp_path), tmp_path / "hints"
    assert cli.main(["learn", str(run), "--hints", str(hints), "--model", "m"]) == 0
    told = capsys.readouterr().out
    assert "no hint was learnt" in told and ".md" not in told
    assert not list(hints.glob("*.md"))


@pytest.mark.parametrize(
    ("split", "flags", "complaint"),
    [
        ("test", ("--model", "m"), "on a seed that is not for measuring"),
        ("train", (), "is no language model"),
        ("train", ("--policy", "oracle"), "--policy oracle is no language model"),
    ],
)
def test_what_cannot_be_learnt_from_is_named(
    tmp_path: Path,
    split: str,
    flags: tuple[str, ...],
    complaint: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = a_run(tmp_path, split)
    assert cli.main(["learn", str(run), "--hints", str(tmp_path / "h"), *flags]) != 0
    assert complaint in " ".join(capsys.readouterr().err.split())
