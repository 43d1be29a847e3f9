"""The help of a command: the settings that matter, or all of them under their titles."""

import argparse
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from recipes.commands import Command, load
from recipes.settings import Option, lay_out, options_of, variable

SHORT = 15
"""Maximum number of settings that the help shows unless all are requested."""


def format_help(command: Command, argv: Sequence[str], *, is_full: bool) -> str:
    """Return a command's help, with the defaults of the environment, TOML and a preset named.

    Raises `SetupError` and `UsageError` for places that hold wrong settings.
    """
    config: type[Any] = load(command.settings)
    presets = load(command.presets) if command.presets else {}
    options = list(options_of(config, base=lay_out(config, command.name, argv, presets)[0]))
    shown = options if is_full else select_important(options)
    parser = argparse.ArgumentParser(
        usage=f"webagent {command.name} [settings]",
        description=" ".join((config.__doc__ or "").split()),
        add_help=False,
        formatter_class=lambda prog: argparse.HelpFormatter(prog, max_help_position=30),
    )
    own = f"settings of webagent {command.name}"
    if is_full:
        shown = sorted(shown, key=lambda each: bool(each.group))  # the command's own come first
    for title, group in groupby(shown, lambda each: each.group if is_full else ""):
        section = parser.add_argument_group(title or own)
        for option in group:
            _add(section, option)
    lines = [
        parser.format_help(),
        f"Settings can also come from the environment ({variable(command.name, '')}<NAME>) or",
        f"from a table [{command.name}] in webagent.toml or in the file named by --config FILE.",
        "With --json a single JSON document is printed, for programs.\n",
        "examples:",
        *(f"  {line}" for line in command.examples),
    ]
    if len(shown) < len(options):
        lines.append(f"\nAll {len(options)} settings: webagent {command.name} --help-all")
    return "\n".join(lines)


def select_important(options: Sequence[Option]) -> list[Option]:
    """Return the settings of the short help: all where they are few, else the important ones."""
    if len(options) <= SHORT:
        return list(options)
    return [option for option in options if option.is_important]


def _add(section: "argparse._ArgumentGroup", option: Option) -> None:
    default = option.default
    words = default if isinstance(default, tuple | list) else (default,)
    typed = "" if default is None else " ".join(map(str, words))
    says_default = option.type is bool or not typed or "efault" in option.doc
    text = option.doc if says_default else f"{option.doc} (default: {typed})"
    text = text.replace("%", "%%")
    if option.is_positional:
        section.add_argument(option.name, help=text)
    elif option.type is bool:
        on = default is True
        section.add_argument(option.flags[on], action="store_true", help="Turn off: " * on + text)
    else:
        section.add_argument(*option.flags, metavar=_metavar(option.type), help=text)


def _metavar(kind: Any) -> str:
    """Return what stands for the value of a setting of this type."""
    if get_origin(kind) in (tuple, list):
        return f"{_metavar(get_args(kind)[0])} ..."
    if get_origin(kind) is Literal:
        return "|".join(map(str, get_args(kind)))
    kinds = {*get_args(kind), kind}
    names = ((int, "N"), (float, "X"), (Path, "PATH"))
    return next((name for each, name in names if each in kinds), "TEXT")
