"""The command line finds recipes, says what went wrong in a sentence, and starts fast."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from loop.console.output import CommandResult, Status, Stopped, emit, is_for_program
from recipes import cli
from recipes.commands import REPLACED, Command, load
from recipes.help import SHORT, select_important
from recipes.settings import options_of
from tests.fakes.run import measure
from webagent.errors import SetupError, StoreError, unknown_name
from webagent.records import Provenance
from webagent.store import Store

LACKING, SAFE = "no browser; run scripts/setup", "finished steps are safe"
RESUME = "webagent stopped --resume runs/a"
HEAVY = ("torch", "playwright", "transformers", "tyro", "pydantic", "numpy")


def broken(argv: Sequence[str]) -> CommandResult:
    """Fails the way a recipe does."""
    raise StoreError(f"cannot read {argv[0]}")


def interrupted(argv: Sequence[str]) -> CommandResult:
    """Stops the way Ctrl-C stops a recipe."""
    raise KeyboardInterrupt


def misnamed(argv: Sequence[str]) -> CommandResult:
    """Is asked for what is not there."""
    raise unknown_name("word", argv[0], ["known"])


def lacking(argv: Sequence[str]) -> CommandResult:
    """Misses something that has to be set up."""
    raise SetupError(LACKING)


def stopped(argv: Sequence[str]) -> CommandResult:
    """Stops the way SIGTERM stops a recipe that can go on."""
    raise Stopped(15, SAFE, RESUME)


def echo(argv: Sequence[str]) -> CommandResult:
    """Hands back its arguments, and prints one through each way out there is."""
    sys.stdout.write("for people\n")
    os.system("echo from another program")
    return CommandResult({"argv": list(argv)}, Status.FAILED)


def streaming(argv: Sequence[str]) -> CommandResult:
    """Tells of two events before it ends."""
    emit({"event": 1})
    emit({"event": 2})
    sys.stdout.write(f"for a program: {is_for_program()}\n")
    return CommandResult({"events": 2})


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., CommandResult]], None]:
    """Puts a function of this file into the table of commands."""

    def add(function: Callable[..., int]) -> None:
        entry = f"{__name__}:{function.__name__}"
        name = function.__name__
        made = Command(name, "for a test", "around", "", "", (), entry)
        monkeypatch.setitem(cli.COMMANDS, name, made)

    return add


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(cli.COMMANDS))
def test_every_listed_command_can_be_loaded(name: str) -> None:
    assert callable(cli.COMMANDS[name].load())


def test_every_setting_of_every_command_is_explained() -> None:
    silent = [
        f"{name}: {option.name}"
        for name, command in cli.COMMANDS.items()
        for option in options_of(load(command.settings))
        if not option.doc
    ]
    assert silent == []


@pytest.mark.parametrize("name", sorted(cli.COMMANDS))
def test_the_flags_of_a_command_are_those_in_its_full_help(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert cli.main([name, "--help-all"]) == 0
    shown = set(re.findall(r"--[a-z][\w.-]+", capsys.readouterr().out))
    options = list(options_of(load(cli.COMMANDS[name].settings)))
    flags = {flag for option in options for flag in option.flags}
    mentioned = re.findall(r"--[a-z][\w.-]+", " ".join(option.doc for option in options))
    examples = re.findall(r"--[a-z][\w.-]+", " ".join(cli.COMMANDS[name].examples))
    assert all(shown & set(option.flags) for option in options if option.flags)
    assert shown <= {*flags, *mentioned, *examples, "--config", "--json"}


@pytest.mark.parametrize("name", sorted(cli.COMMANDS))
def test_help_shows_the_settings_that_matter_and_how_to_see_the_rest(name, capsys):
    options = list(options_of(load(cli.COMMANDS[name].settings)))
    assert cli.main([name, "--help"]) == 0
    text = capsys.readouterr().out
    shown = re.findall(r"^  (--[a-z]\S*)", text, re.MULTILINE)
    assert min(len(options), 3) <= len(select_important(options)) <= SHORT
    assert len(shown) <= SHORT
    assert text.endswith(f"webagent {name} --help-all\n") == (len(options) > SHORT)


def test_settings_and_commands_stay_few() -> None:
    counts = {
        name: len(list(options_of(load(command.settings))))
        for name, command in cli.COMMANDS.items()
    }
    assert counts.pop("improve") <= 80 and max(counts.values()) <= 55
    assert len(cli.COMMANDS) <= 22


def test_every_group_of_settings_has_a_title() -> None:
    titles = {
        option.group or f"{name}: {option.name} has no title"
        for name, command in cli.COMMANDS.items()
        for option in options_of(load(command.settings))
        if option.group or "." in option.name
    }
    assert [title for title in titles if len(title) > 70 or " " not in title] == []


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(name in text and command.summary in text for name, command in cli.COMMANDS.items())


def test_no_command_and_an_unknown_one_are_wrong_command_lines(capsys):
    assert cli.main([]) == Status.USAGE
    assert "usage" in capsys.readouterr().out
    assert cli.main(["docter"]) == Status.USAGE
    assert "did you mean doctor" in capsys.readouterr().err
    assert cli.main(["--json", "docter"]) == Status.USAGE
    found = json.loads(capsys.readouterr().out)
    assert found["kind"] == "UsageError" and found["next"].startswith("did you mean doctor")


@pytest.mark.parametrize("name", sorted(REPLACED))
def test_an_earlier_command_is_answered_with_the_call_that_replaced_it(name, capsys):
    assert cli.main([name, "runs/a", "--help"]) == Status.USAGE
    assert capsys.readouterr().err == f"webagent: webagent {name} is gone; use {REPLACED[name]}\n"
    assert REPLACED[name].split()[1] in cli.COMMANDS


def test_a_recipe_is_given_the_rest_of_the_line_and_json_is_all_that_stdout_gets(register, capfd):
    register(echo)
    assert cli.main(["echo", "a", "--b", "--json"]) == Status.FAILED
    assert json.loads(capfd.readouterr().out) == {"argv": ["a", "--b"]}


def test_our_errors_are_one_sentence_and_have_a_traceback_for_debugging_alone(
    register, capsys, monkeypatch
):
    register(broken)
    monkeypatch.delenv("WEBAGENT_DEBUG", raising=False)
    assert cli.main(["broken", "runs/a"]) == Status.SETUP
    assert capsys.readouterr().err == "webagent: cannot read runs/a\n"
    monkeypatch.setenv("WEBAGENT_DEBUG", "1")
    with pytest.raises(StoreError):
        cli.main(["broken", "runs/a"])


@pytest.mark.parametrize(
    ("function", "status", "facts"),
    [
        (broken, Status.SETUP, ("cannot read a", "StoreError", "webagent broken --help")),
        (misnamed, Status.USAGE, ("unknown word 'a'; known: known", "UsageError", "known: known")),
        (lacking, Status.SETUP, (LACKING, "SetupError", "run scripts/setup")),
        (stopped, 143, (f"stopped by SIGTERM; {SAFE}", "Stopped", RESUME)),
        (interrupted, 130, ("stopped by SIGINT", "Stopped", "webagent interrupted --help")),
    ],
)
def test_errors_are_json_too_with_a_status_by_their_kind_and_what_to_do_next(
    register, capsys, function, status, facts
):
    register(function)
    assert cli.main([function.__name__, "a", "--json"]) == status
    out, err = capsys.readouterr()
    assert json.loads(out) == dict(zip(("error", "kind", "next"), facts, strict=True))
    assert err.startswith(f"webagent: {facts[0]}\n")


def test_a_stream_is_json_lines_the_last_of_which_is_the_outcome(register, capsys):
    register(streaming)
    assert cli.main(["streaming", "--json"]) == 0
    out, err = capsys.readouterr()
    events = [json.loads(line) for line in out.splitlines()]
    assert events == [{"event": 1}, {"event": 2}, {"events": 2}]
    assert err == "for a program: True\n"

    assert cli.main(["streaming"]) == 0
    assert capsys.readouterr().out == "for a program: False\n"


@pytest.mark.slow
def test_a_terminal_that_lacks_a_sign_shows_another(tmp_path: Path) -> None:
    with Store.open(tmp_path, create=True) as store:
        measure(store, Provenance(phase="evaluate"), "größer → 5", 0, False)
    line = [sys.executable, "-m", "recipes.cli", "report", str(tmp_path), "--failures"]
    surroundings = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(line, env=surroundings, capture_output=True, check=False)
    assert done.returncode == 0
    # A slow machine shows that it is at work.
    assert all(b" s since the start" in each for each in done.stderr.splitlines())
    assert b"Fix " in done.stdout
    assert "a–b 5…größer →".encode("latin-1", "plain") == "a-b 5...größer ->".encode("latin-1")


def test_the_command_line_loads_nothing_heavy() -> None:
    code = (
        "import sys, recipes.cli; recipes.cli.main(['--help']);"
        f"print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\n[]\n")


@pytest.mark.slow
def test_what_trains_nothing_itself_loads_no_torch() -> None:
    apps = ("report.page", "view.server", "mcp.server", "live.live", "replay.recordings")
    names = ", ".join(f"apps.{name}" for name in (*apps, "export.files"))
    names += ", recipes.improve"  # its jobs train, while it shows how far they are
    code = f"import sys, {names}; print({{'torch', 'transformers'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_whoever_reads_the_output_may_leave(word: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "recipes.cli", word]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")
