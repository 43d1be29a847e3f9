"""A memory of sites is written from a run, through the real entry point."""

from pathlib import Path

import pytest

from loop.measurement.scoring import HEADLINE
from recipes import cli
from tasks.suite import seed_of
from tests.fakes.run import episode
from webagent.policy.knowledge import SiteMemory, read_file
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


@pytest.fixture
def learn(tmp_path, chat_server, behave):
    """Learns of a run from a model with this reply; returns the folder of the memory."""

    def learn_from(reply: str, *more: str) -> Path:
        chat_server.will(behave.reply(reply))
        memory = tmp_path / "memory"
        words = ["--site-memory", str(memory), "--model", "m", *more]
        assert cli.main(["memory", str(a_run(tmp_path)), *words]) == 0
        return memory

    return learn_from


def test_a_run_becomes_entries_that_a_benchmark_shows(learn, capsys) -> None:
    memory = learn("ADD: Submit sends the form, Cancel does not.")
    told = capsys.readouterr().out
    assert (
        "2 episodes, 1 failures compared with a success" in told and ": 1 rule, 1 example\n" in told
    )
    [file] = memory.glob("*.md")
    rule, example = read_file(memory, file.stem).entries
    assert rule.text == "Submit sends the form, Cancel does not." and rule.learnt
    assert example.kind == "examples" and "Action:" in " ".join(example.lines)
    assert SiteMemory.read(memory)


def test_no_file_is_announced_where_nothing_was_learnt(learn, capsys) -> None:
    memory = learn("There is nothing to learn here.", "--entries", "rules")
    told = capsys.readouterr().out
    assert "nothing was learnt" in told and ".md" not in told
    assert (
        "0 failures compared with a success; 1 more got a reply from the model that names" in told
    )
    assert not list(memory.glob("*.md"))


def test_examples_alone_need_no_model(tmp_path: Path, capsys) -> None:
    words = ["--site-memory", str(tmp_path / "m"), "--entries", "examples"]
    assert cli.main(["memory", str(a_run(tmp_path)), *words]) == 0
    assert "0 failures compared with a success" in (told := capsys.readouterr().out)
    assert ": 1 example\n" in told


def test_the_verdicts_of_a_judge_that_is_named_are_believed_in_place_of_the_checks(
    tmp_path, chat_server, behave, capsys
):
    chat_server.will(behave.reply("There is nothing to learn here."))
    run = a_run(tmp_path)
    with Store.open(run) as store:
        for each in store.trajectories():
            store.score(each.id, Score("believed", 1.0, "so it looks", "pae[judge; votes=1]@1#a"))
    words = ["memory", str(run), "--site-memory", str(tmp_path / "h"), "--model", "m", "--judge"]
    assert cli.main([*words, "judge:pae"]) == 0
    assert "2 episodes, 0 failures compared with a success" in capsys.readouterr().out
    assert cli.main([*words, "judge:webvoyager"]) != 0
    said = " ".join(capsys.readouterr().err.split())
    assert "no episode that webvoyager has scored" in said and ": checks_hold, pae" in said


@pytest.mark.parametrize(
    ("split", "flags", "complaint"),
    [
        ("test", ("--model", "m"), "on a seed that is not for measuring"),
        ("train", (), "is no language model"),
        ("train", ("--policy", "oracle"), "--policy oracle is no language model"),
    ],
)
def test_what_cannot_be_learnt_from_is_named(tmp_path, split, flags, complaint, capsys):
    run = a_run(tmp_path, split)
    assert cli.main(["memory", str(run), "--site-memory", str(tmp_path / "h"), *flags]) != 0
    assert complaint in " ".join(capsys.readouterr().err.split())
