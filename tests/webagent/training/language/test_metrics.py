"""What is reported: means over an update, one line each, no line twice."""

from tests.webagent.training.language.test_course import lines
from webagent.training.language.run import FILE, Metrics
from webagent.training.language.trainer import FigureSums


def test_means_are_over_the_whole_update():
    tally = FigureSums()
    tally.add({"kl": (1.0, 1.0), "padded_tokens": (10.0, 0.0)})
    tally.add({"kl": (2.0, 5.0), "padded_tokens": (20.0, 0.0)})
    assert tally.means() == {"kl": 0.5, "padded_tokens": 30.0}


def test_lines_of_updates_that_are_done_again_and_half_a_line_are_taken_out(tmp_path):
    metrics = Metrics(tmp_path)
    for step in (1, 2, 3):
        metrics.write(step, {"loss": step / 2})
    with (tmp_path / FILE).open("a") as file:
        file.write('{"step": 4, "lo')
    Metrics(tmp_path, after=2).write(3, {"loss": 9.0})
    assert lines(tmp_path) == [
        {"step": 1, "loss": 0.5},
        {"step": 2, "loss": 1.0},
        {"step": 3, "loss": 9.0},
    ]


def test_what_is_no_number_is_written_as_a_word_that_json_has(tmp_path):
    Metrics(tmp_path).write(1, {"loss": float("nan"), "norm": float("inf")})
    assert lines(tmp_path) == [{"step": 1, "loss": "nan", "norm": "inf"}]
