"""Label files of several layouts are read, or refused with what is wrong and where."""

from pathlib import Path

import pytest

from evaluators.labels import SCORES, Label, add_label, format_csv, read_labels, select_score
from webagent.errors import SetupError, StoreError

ARB = (
    "annotator_name,benchmark,task_id,model_name,exp_name,trajectory_success,"
    "trajectory_side_effect,trajectory_optimality,trajectory_looping\n"
)


@pytest.fixture
def written(tmp_path: Path):
    """Writes a label file and gives its path."""

    def write(content: str | bytes, name: str = "labels.csv") -> Path:
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    return write


def test_a_plain_file_is_read_with_whatever_columns_it_has(written):
    text = "Success,episode,annotator,task,colour\nyes,e1,ada,t,red\nFAIL,e2,ada,t,red\n"
    text += '0.75,e3,ada,"a, b",red\n,e4,ada,,red\n'
    labels = read_labels(written(text))

    assert [label.value for label in labels] == [1.0, 0.0, 0.75, None]
    assert labels[2] == Label("e3", 0.75, annotator="ada", task="a, b")


@pytest.mark.parametrize(
    "content",
    [
        "\ufeffepisode,success\r\ne1,1\r\n",
        "episode;success\ne1;1\n",
        "episode\tsuccess\n\ne1\t1\n",
        " episode , success \n e1 , 1 \n",
        "episode,success\ne1,1\n".encode("utf-16"),
        '\n"episode","success"\n"e1","1"',
    ],
)
def test_what_spreadsheets_write_is_read(written, content):
    assert read_labels(written(content)) == (Label("e1", 1.0),)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "is empty"),
        ("episode,success\n", "holds no label"),
        ("id,success\ne1,1\n", "has no column 'episode'; found id, success"),
        ("id,won\ne1,1\n", "no column 'episode' and no 'success'"),
        ("episode,success\ne1,1\ne2,perhaps\n", "line 3: success is 'perhaps'; expected 1 or 0"),
        ("episode,success\ne1,2\n", "line 2: success is '2'"),
        ("episode,success\ne1,nan\n", "line 2: success is 'nan'"),
        ("episode,success\n,1\n", "line 2: the episode is missing"),
        ("episode,success\ne1,1\ne2,1\ne1,0\n", "lines 2 and 4 are both on e1 by one annotator"),
        ("episode,success\ne1,1,extra\n", "line 2: not the 2 fields of the header"),
        ("episode,success\ne1\n", "line 2: not the 2 fields of the header"),
        ("episode,success\ncafé,1\n".encode("latin-1"), "is not UTF-8: byte 0xe9 at 19"),
        ('episode,success\n"e1,1\n', "no CSV"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place(written, content, complaint):
    with pytest.raises(SetupError) as refused:
        read_labels(written(content))
    assert complaint in str(refused.value)


def test_two_annotators_may_label_one_episode(written):
    labels = read_labels(written("episode,annotator,success\ne1,ada,1\ne1,bob,0\n"))
    assert [label.annotator for label in labels] == ["ada", "bob"]


def test_the_layout_of_agent_reward_bench_gives_a_label_for_each_score(written):
    text = ARB + "A,webarena,webarena.7,agent,exp,Successful,No,3. Somewhat Optimal,Yes\n"
    text += " H,webarena,webarena.8,agent,exp,Unsure,No,1. Complete Failure,No\n"
    labels = read_labels(written(text))

    first = {label.score: label.value for label in labels[:4]}
    assert first == {"success": 1.0, "side_effect": 0.0, "optimality": 2 / 3, "looping": 1.0}
    assert tuple(first) == SCORES
    assert labels[4] == Label(
        "webarena/agent/webarena.8",
        None,
        annotator="H",
        benchmark="webarena",
        agent="agent",
        task="webarena.8",
    )
    assert len(select_score(labels, "looping")) == 2


def test_labels_given_in_a_run_are_appended_and_the_latest_counts(tmp_path):
    add_label(tmp_path, Label("e1", 1.0, annotator="ada", note="it sent the form"))
    add_label(tmp_path, Label("e1", 0.0, annotator="bob"))
    kept = add_label(tmp_path, Label("e1", None, annotator="ada", note="“not” so sure"))

    assert kept.time.endswith("+00:00")
    labels = read_labels(tmp_path)
    assert [(label.annotator, label.value) for label in labels] == [("bob", 0.0), ("ada", None)]
    assert labels[1] == kept
    assert len((tmp_path / "labels.jsonl").read_text().splitlines()) == 3


def test_a_line_that_a_kill_cut_short_is_not_a_label_and_does_not_spoil_the_next(tmp_path):
    add_label(tmp_path, Label("e1", 1.0))
    with (tmp_path / "labels.jsonl").open("a") as file:
        file.write('{"episode": "e2", "val')
    assert len(read_labels(tmp_path)) == 1

    add_label(tmp_path, Label("e3", 0.0))
    assert [label.episode for label in read_labels(tmp_path)] == ["e1", "e3"]


def test_a_label_that_cannot_be_kept_or_read_is_refused(tmp_path):
    with pytest.raises(SetupError, match="labels are read from CSV"):
        read_labels(tmp_path / "labels.json")
    with pytest.raises(SetupError, match="not between 0 and 1"):
        add_label(tmp_path, Label("e1", 1.5))
    with pytest.raises(SetupError, match="a label without an episode"):
        add_label(tmp_path, Label("", 1.0))
    with pytest.raises(StoreError, match="cannot be kept"):
        add_label(tmp_path / "nowhere", Label("e1", 1.0))
    with pytest.raises(SetupError, match="none have been given yet"):
        read_labels(tmp_path)
    (tmp_path / "labels.jsonl").write_text('{"episode": "e1", "colour": 1}\n')
    with pytest.raises(SetupError, match="line 1: "):
        read_labels(tmp_path)


def test_labels_come_back_from_their_csv_as_they_were(tmp_path):
    given = (
        Label("e1", 1.0, annotator="ada", note='a "b", c\nd', time="2026-01-01", first_error=0),
        Label("e2", None, annotator="bob", task="t@1", agent="self", benchmark="b"),
        Label("e3", 0.25),
    )
    file = tmp_path / "labels.csv"
    file.write_text(format_csv(given), newline="")
    assert read_labels(file) == given


def test_a_first_wrong_step_that_is_no_number_is_refused(written):
    with pytest.raises(SetupError, match="line 2: first_error is 'two'; expected the index"):
        read_labels(written("episode,success,first_error\ne1,0,two\n"))
