"""Settings come from the first place that has them, and a wrong one is named with its place."""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

import pytest
from tyro.conf import OmitArgPrefixes

from loop.flat import flat, nested
from recipes import cli
from recipes.commands import COMMANDS, Command
from recipes.settings import resolve
from webagent.errors import SetupError, UsageError

pytestmark = pytest.mark.usefixtures("folder")


@dataclass(frozen=True)
class Settings:
    """Settings of a recipe made up for these tests."""

    preset: str = ""
    """Which preset to start from."""
    rounds: int = 3
    """How often to go round."""
    rate: float = 0.5
    """How fast to learn."""
    tasks: tuple[str, ...] = ("click-link",)
    """What to play."""
    resume: Path | None = None
    """Run folder to go on with."""
    quick: bool = False
    """Whether to hurry."""
    speed: Literal["auto", "on", "off"] = "auto"
    """How to hurry."""
    objective: Literal["sft", "dpo"] = "sft"
    """What for."""


PRESETS = {"demo": Settings(rounds=7, rate=0.1)}


def read(*argv: str) -> Settings:
    return resolve(Settings, "loop", argv, PRESETS)


def test_each_place_overrides_the_ones_below_it(folder, monkeypatch):
    assert read("--preset", "demo").rounds == 7
    (folder / "webagent.toml").write_text("[loop]\nrounds = 11\n")
    assert read("--preset", "demo").rounds == 11
    monkeypatch.setenv("WEBAGENT_LOOP_ROUNDS", "12")
    assert read("--preset", "demo").rounds == 12
    assert read("--preset", "demo", "--rounds", "13").rounds == 13
    assert read("--preset", "demo", "--rounds", "13").rate == 0.1


def test_a_preset_can_be_named_in_every_place(folder, monkeypatch):
    assert read("--preset=demo") == Settings(preset="demo", rounds=7, rate=0.1)
    (folder / "webagent.toml").write_text('[loop]\npreset = "demo"\n')
    assert read() == Settings(preset="demo", rounds=7, rate=0.1)
    (folder / "webagent.toml").unlink()
    monkeypatch.setenv("WEBAGENT_LOOP_PRESET", "demo")
    assert read() == Settings(preset="demo", rounds=7, rate=0.1)


def test_the_named_file_is_read_instead_of_the_default_one(folder: Path) -> None:
    (folder / "webagent.toml").write_text("[loop]\nrounds = 11\nquick = true\n")
    (folder / "other.toml").write_text("[loop]\nrounds = 21\n[else]\nx = 1\n")
    settings = read("--config", "other.toml")
    assert (settings.rounds, settings.quick) == (21, False)


def test_environment_text_becomes_the_type_of_its_field(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBAGENT_LOOP_TASKS", "click-link, login-user use-slider")
    monkeypatch.setenv("WEBAGENT_LOOP_QUICK", "true")
    monkeypatch.setenv("WEBAGENT_LOOP_RATE", "1e-3")
    monkeypatch.setenv("WEBAGENT_LOOP_RESUME", "runs/a")
    settings = read()
    assert settings.tasks == ("click-link", "login-user", "use-slider")
    assert settings == Settings(tasks=settings.tasks, quick=True, rate=0.001, resume=Path("runs/a"))


def test_other_recipes_settings_are_left_alone_and_the_defaults_hold(folder, monkeypatch):
    (folder / "webagent.toml").write_text("[doctor]\nanything = 1\n")
    monkeypatch.setenv("WEBAGENT_DOCTOR_ANYTHING", "1")
    assert read() == Settings()


@pytest.mark.parametrize(
    ("toml", "expected"),
    [
        ("[loop]\nround = 3\n", r"webagent\.toml \[loop\] 'round'.*did you mean rounds"),
        ("[loop]\nrounds = 'many'\n", r"webagent\.toml \[loop\]: rounds is 'many'.*integer"),
        (
            "[loop]\nexpert = 'x'\n",
            r"\[loop\]: expert is gone; leave it out, and name the stronger model",
        ),
        ("[loop]\nobjective = 'kto'\n", r"\[loop\]: objective kto is gone; give --objective dpo"),
        ("[loop\n", "not TOML"),
        ("loop = 3\n", "should be a table"),
    ],
)
def test_a_wrong_file_is_named_with_what_is_wrong(folder: Path, toml: str, expected: str) -> None:
    (folder / "webagent.toml").write_text(toml)
    with pytest.raises(SetupError, match=expected):
        read()


def test_what_is_named_and_not_there_is_answered_with_the_close_names(monkeypatch):
    with pytest.raises(SetupError, match=r"absent\.toml"):
        read("--config", "absent.toml")
    with pytest.raises(SetupError, match="unknown preset 'dmo'; did you mean demo"):
        read("--preset", "dmo")
    monkeypatch.setenv("WEBAGENT_LOOP_ROUND", "3")
    with pytest.raises(SetupError, match="did you mean rounds"):
        read()


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (("--rounds", "many"), r"--rounds: invalid literal.*see webagent loop --help"),
        (("--rouns", "3"), "unknown flag of webagent loop '--rouns'; did you mean --rounds"),
        (("--random_share", "2"), "--random_share is gone; leave it out"),
        (("--publish", "a"), "--publish is gone; copy the run's summary.json"),
        (("--no-bf16",), "--no-bf16 is gone; give --bf16 off"),
        (("--no-quik",), "did you mean --no-quick"),
        (("-1", "--rate", "-1e-3"), "see webagent loop --help"),
        (("--speed",), "^--speed needs one of auto, on, off$"),
        (("--speed", "--quick"), "^--speed needs one of auto, on, off$"),
        (("--speed", "fast"), "invalid choice 'fast'.* Expected one of"),
        (("--objective", "kto"), "^--objective kto is gone; give --objective dpo"),
        (("--objective=webrl",), "^--objective webrl is gone; give --objective grpo"),
        (("--objective", "gspo"), "^--objective gspo is gone; give --objective grpo"),
    ],
)
def test_a_wrong_flag_is_a_wrong_command_line_and_named(argv: tuple[str], expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        read(*argv)


def test_help_shows_the_field_docs_and_what_the_other_places_hold(folder, capsys, monkeypatch):
    made = Command(
        "loop", "", "around", f"{__name__}:Settings", "", (), presets=f"{__name__}:PRESETS"
    )
    monkeypatch.setitem(COMMANDS, "loop", made)
    (folder / "webagent.toml").write_text("[loop]\nrounds = 11\n")
    assert cli.main(["loop", "--preset", "demo", "--help"]) == 0
    text = capsys.readouterr().out
    assert "How often to go round. (default: 11)" in text
    assert "How fast to learn. (default: 0.1)" in text
    assert "WEBAGENT_LOOP_" in text
    assert "--config" in text


@dataclass(frozen=True)
class Speed:
    """Settings that several recipes share, made up for these tests."""

    gear: int = 1
    """Which gear."""
    limit: Path | None = None
    """File with limits."""


@dataclass(frozen=True)
class Driving:
    """Settings of a recipe that shares some."""

    speed: OmitArgPrefixes[Speed] = field(default_factory=partial(Speed, 4))
    """How fast."""
    place: str = "here"
    """Where."""


@dataclass(frozen=True)
class Journey:
    """Settings of a recipe whose group holds another."""

    driving: OmitArgPrefixes[Driving] = field(default_factory=Driving)
    """The way there."""
    days: int = 1
    """How long."""


def drive(*argv: str) -> Driving:
    return resolve(Driving, "drive", argv)


def test_shared_settings_are_named_as_a_recipe_s_own_in_every_place(folder, monkeypatch):
    assert drive() == Driving(Speed(4))
    (folder / "webagent.toml").write_text('[drive]\ngear = 2\nlimit = "l.toml"\n')
    assert drive() == Driving(Speed(2, Path("l.toml")))
    monkeypatch.setenv("WEBAGENT_DRIVE_GEAR", "3")
    assert drive("--place", "there") == Driving(Speed(3, Path("l.toml")), "there")
    assert drive("--gear", "5").speed == Speed(5, Path("l.toml"))


def test_groups_within_groups_are_read_and_written_by_their_names(folder: Path) -> None:
    (folder / "webagent.toml").write_text("[travel]\ngear = 2\ndays = 3\n")
    found = resolve(Journey, "travel", ["--place", "there"])
    assert found == Journey(Driving(Speed(2), "there"), 3)
    assert flat(found) == {"gear": 2, "limit": None, "place": "there", "days": 3}
    speed = {"gear": 2, "limit": None}
    assert nested(Journey, flat(found)) == {
        "driving": {"speed": speed, "place": "there"},
        "days": 3,
    }


def test_the_field_that_holds_shared_settings_is_no_name_of_a_setting(folder: Path) -> None:
    (folder / "webagent.toml").write_text("[drive]\nspeed = 2\n")
    with pytest.raises(SetupError, match="speed"):
        drive()
