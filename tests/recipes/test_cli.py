"""The command line finds recipes, says what went wrong in a sentence, and starts fast."""

import subprocess
import sys
from collections.abc import Callable, Sequence

import pytest

from recipes import cli
from webagent.errors import StoreError

HEAVY = ("torch", "playwright", "transformers", "tyro", "pydantic", "numpy")


def broken(argv: Sequence[str]) -> int:
    """Fails the way a recipe does."""
    raise StoreError(f"cannot read {argv[0]}")


def interrupted(argv: Sequence[str]) -> int:
    """Stops the way Ctrl-C stops a recipe."""
    raise KeyboardInterrupt


def echo(argv: Sequence[str]) -> int:
    """Returns how many arguments it was given."""
    return len(argv)


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., int]], None]:
    """Puts a function of this file into the table of recipes."""

    def add(function: Callable[..., int]) -> None:
        entry = f"{__name__}:{function.__name__}"
        monkeypatch.setitem(cli.RECIPES, function.__name__, cli.Recipe(entry, "for a test"))

    return add


@pytest.mark.parametrize("name", sorted(cli.RECIPES))
def test_every_listed_recipe_can_be_loaded(name: str) -> None:
    assert callable(cli.RECIPES[name].load())


def test_help_lists_every_recipe(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(name in text and recipe.summary in text for name, recipe in cli.RECIPES.items())


def test_no_recipe_at_all_is_a_wrong_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 2
    assert "usage" in capsys.readouterr().out


def test_an_unknown_recipe_is_answered_with_the_close_matches(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["docter"]) == 2
    assert "did you mean doctor" in capsys.readouterr().err


def test_a_recipe_is_given_the_rest_of_the_line(register: Callable[..., None]) -> None:
    register(echo)
    assert cli.main(["echo", "a", "--b"]) == 2


def test_our_errors_are_one_sentence_without_a_traceback(
    register: Callable[..., None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    register(broken)
    monkeypatch.delenv("WEBAGENT_DEBUG", raising=False)
    assert cli.main(["broken", "runs/a"]) == 1
    assert capsys.readouterr().err == "webagent: cannot read runs/a\n"


def test_our_errors_keep_their_traceback_for_debugging(
    register: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    register(broken)
    monkeypatch.setenv("WEBAGENT_DEBUG", "1")
    with pytest.raises(StoreError):
        cli.main(["broken", "runs/a"])


def test_control_c_ends_with_its_own_status(register: Callable[..., None]) -> None:
    register(interrupted)
    assert cli.main(["interrupted"]) == 130


def test_the_command_line_loads_nothing_heavy() -> None:
    code = (
        "import sys, recipes.cli; recipes.cli.main(['--help']);"
        f"print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\n[]\n")
