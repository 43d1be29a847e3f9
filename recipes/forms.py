"""The viewer's forms for commands, with the settings, help texts and defaults of the command
line."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from apps.view.launcher import FormSetting, StartableCommand
from recipes.commands import COMMANDS, Command, load
from recipes.completion import FILES, values_of
from recipes.settings import Option, options_of, resolve

_STARTABLE = ("run", "benchmark", "improve")
_ELSEWHERE = frozenset(("name", "runs", "resume", "preview"))
"""Settings that identify the run; the page asks for the name and sets the others."""


def startable_commands() -> list[StartableCommand]:
    """Return the commands with their forms, filled in from the environment and TOML.

    Raises `SetupError` if those are invalid.
    """
    startable = []
    for command in (COMMANDS[name] for name in _STARTABLE):
        found = options_of(load(command.settings), base=_resolve(command, []))
        options = [each for each in found if each.name not in _ELSEWHERE]
        options.sort(key=lambda each: not each.is_important)
        settings = tuple(_describe(command, each) for each in options)
        start = partial(_resolve, command)
        startable.append(StartableCommand(command.name, command.summary, settings, start))
    return startable


def _resolve(command: Command, words: Sequence[str]) -> Any:
    presets = load(command.presets) if command.presets else {}
    return resolve(load(command.settings), command.name, words, presets)


def _describe(command: Command, option: Option) -> FormSetting:
    """Return the form field of a setting."""
    kind: Literal["text", "switch", "choice", "words"] = "text"
    if option.type is bool:
        kind = "switch"
    elif get_origin(option.type) is Literal:
        kind = "choice"
    elif get_origin(option.type) in (tuple, list):
        kind = "words"
    named = (
        map(str, get_args(option.type))
        if kind == "choice"
        else (word for word in values_of(command, option) if word != FILES)
    )
    return FormSetting(
        option.name,
        kind,
        option.doc,
        _write(option.default),
        tuple(named),
        option.is_positional,
        option.is_important,
    )


def _write(value: object) -> str:
    """Return a default as it would be typed."""
    if value is None or value is False:
        return ""
    if value is True:
        return "on"
    if isinstance(value, tuple | list):
        return " ".join(map(_write, value))
    return str(value) if not isinstance(value, Path) else value.as_posix()
