"""What a resumed run takes over of a new command line."""

from functools import cache

import pytest

from loop.measurement.settings import BenchmarkConfig
from loop.settings import ImproveConfig
from recipes.resuming import PLACES, PRECISION, resume_settings
from recipes.settings import resolve
from webagent.errors import UsageError

pytestmark = pytest.mark.slow  # seconds together

BEGUN = ("--rounds", "2", "--tasks", "click-test", "--max-cost", "1", "--workers", "2", "--images")


@cache
def begun_run() -> ImproveConfig:
    """The settings that the run was begun with."""
    return resolve(ImproveConfig, "improve", BEGUN)


def resumed(*more: str) -> ImproveConfig:
    argv = ["--resume", "runs/a", *more]
    given = resolve(ImproveConfig, "improve", argv)
    return resume_settings(given, begun_run(), argv, (*PLACES, *PRECISION))


def test_what_is_not_named_stays_as_it_was_begun():
    config = resumed()
    assert (config.rounds, config.run.workers, config.run.caps.max_cost) == (2, 2, 1)
    assert str(config.run.resume) == "runs/a" and config.prompting.images


@pytest.mark.parametrize(
    ("flags", "found"),
    [
        (("--workers=3", "--concurrency", "9"), {"run.workers": 3, "run.concurrency": 9}),
        (("--bf16=on", "--micro_batch_tokens", "512"), {"fit.bf16": "on"}),
        (("--gradient-checkpointing", "off"), {"fit.gradient_checkpointing": "off"}),
        (("--server", "http://there:8000"), {"server": "http://there:8000"}),
        (("--max-minutes", "5", "--max-cost", "2"), {"run.caps.max_cost": 2.0}),
        (("--max-cost", "None"), {"run.caps.max_cost": None}),
        (("--rounds", "2", "--tasks", "click-test"), {"rounds": 2}),
    ],
)
def test_memory_places_and_caps_may_change_and_the_same_may_be_said_again(flags, found):
    for path, expected in found.items():
        value: object = resumed(*flags)
        for name in path.split("."):
            value = getattr(value, name)
        assert value == expected


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (("--rounds", "3"), "--rounds cannot change in a run that was begun with 2"),
        (("--tasks", "all", "--steps=5"), "--tasks, --steps cannot .* with click-test, 1600;"),
        (("--no-images",), "--images cannot change"),
        (("--policy", "endpoint"), "--policy cannot change .* with builtin"),
        (("--learning-rate", "1e-3"), "--learning-rate cannot change .* with none"),
    ],
)
def test_every_other_flag_is_refused_by_name(flags: tuple[str, ...], complaint: str):
    with pytest.raises(UsageError, match=complaint):
        resumed(*flags)


def test_caps_in_a_file_are_taken_and_its_other_settings_are_not(folder):
    begun = resolve(BenchmarkConfig, "benchmark", ())
    (folder / "webagent.toml").write_text("[benchmark]\nmax_cost = 4\nseeds = 7\n")
    argv = ["--resume", "runs/a"]
    config = resume_settings(resolve(BenchmarkConfig, "benchmark", argv), begun, argv)
    assert (config.run.caps.max_cost, config.seeds) == (4, begun.seeds)
