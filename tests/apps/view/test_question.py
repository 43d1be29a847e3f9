"""The one-line filter chooses what it says, and refuses what means nothing in this run."""

from pathlib import Path

import pytest

from apps.view.contents import Archive, Contents, ContentsCache, EpisodeLine
from apps.view.episodes import read_filter
from evaluators.attribution import Attribution, Cause
from webagent.errors import SetupError


@pytest.fixture(scope="module")
def contents(made_runs: Path) -> Contents:
    return ContentsCache().contents(Archive(made_runs).run("one"))


def chosen(contents: Contents, text: str) -> list[EpisodeLine]:
    """The episodes, with every failure of click-link put down to a loop."""
    causes = {
        line.entry.id: Attribution(line.entry.id, "", "", Cause.PLANNING, "loop", None, "")
        for line in contents.lines
        if line.task == "click-link" and line.outcome == "failed"
    }
    return read_filter(text, contents).chosen(contents, causes)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("failed", lambda line: line.outcome == "failed"),
        ("-failed", lambda line: line.outcome != "failed"),
        ("arm:self", lambda line: line.entry.arm == "self"),
        ("arm:self,control", lambda line: line.entry.arm in ("self", "control")),
        ("arm:se*", lambda line: line.entry.arm == "self"),
        ("round:2", lambda line: line.entry.round == 2),
        ("round:>=1", lambda line: line.entry.round >= 1),
        ("round:<1,2", lambda line: line.entry.round in (0, 2)),
        ("round:1..", lambda line: line.entry.round >= 1),
        ("steps:..1", lambda line: line.entry.steps <= 1),
        ("phase:collect world:browser", lambda line: line.entry.phase == "collect"),
        ("world:imagined", lambda line: line.entry.world == "imagined"),
        ("task:click*", lambda line: line.task == "click-link"),
        ("task:miniwob/log*", lambda line: line.task == "login-user"),
        ('ending:"task over" repeat:1', lambda line: line.entry.repeat == 1),
        ("at:planning", lambda line: (line.task, line.outcome) == ("click-link", "failed")),
        ("kind:lo*", lambda line: (line.task, line.outcome) == ("click-link", "failed")),
        ("judge:lenient", lambda line: line.outcome == "failed"),
        ("judge:strict", lambda line: line.outcome == "succeeded"),
        ("disputed", lambda line: line.outcome in ("failed", "succeeded")),
        ('"press “Submit”" login', lambda line: line.task == "login-user"),
        (
            "Failed TASK:Click-Link round:2",
            lambda line: (line.task, line.outcome, line.entry.round) == ("click-link", "failed", 2),
        ),
    ],
)
def test_exactly_the_episodes_are_chosen_of_which_it_holds(contents, text, holds):
    expected = [line for line in contents.lines if holds(line)]
    assert chosen(contents, text) == expected
    assert expected or text.startswith(("steps", "Failed", "at", "kind"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("arm:slef", "did you mean self?"),
        ("arm:zzz", "there is control, none, self"),
        ("rond:3", "did you mean round:?"),
        ("qqqq:3", "there are at, kind, task"),
        ("at:grund", "did you mean grounding?"),
        ("round:three", "round:three is not a number"),
        ("round:..", "is not a number"),
        ("ending:lost", 'there is "task over"'),
        ("judge:odd", "there is wrong, lenient, strict"),
        ("task:", "task: needs a value"),
    ],
)
def test_a_word_that_means_nothing_says_what_there_is(contents, text, told):
    with pytest.raises(SetupError) as found:
        read_filter(text, contents)
    assert told in str(found.value)


def test_a_word_that_was_looked_for_in_vain_may_have_been_meant_otherwise(contents):
    question = read_filter("faild", contents)
    assert question.chosen(contents, {}) == []
    assert "did you mean failed?" in question.hint()
    assert read_filter("zebra", contents).hint() == ""
