"""A command line read by the recipe's own settings, and nothing done."""

import argparse
import contextlib
import io
import os
import re
import runpy
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
import tyro

from perf.documentation import ROOT, Command
from recipes import cli


class Parsed(BaseException):
    """The settings were read; raised so that nothing more is done."""


def is_ours(command: Command) -> bool:
    """Whether it is a program of this repository."""
    return command.argv[0] in ("webagent", "python") or command.argv[0].startswith("scripts/")


def read(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read a command as far as its settings. Raises `ValueError` with what is wrong."""
    first, *rest = (re.sub(r"\$[A-Z_]+", "3", word) for word in command.argv)
    if first == "webagent":
        _read_recipe(rest, monkeypatch)
    elif first == "python":
        _read_python(rest, monkeypatch)
    elif first.startswith("scripts/"):
        _read_script(first, rest, monkeypatch)
    elif first == "pip":
        _read_extras(rest)


def _read_recipe(argv: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(tyro, "cli", _stopping(tyro.cli))
        if not argv or argv[0].startswith("-"):
            return
        _expect(lambda: cli.main(argv))


def _read_python(argv: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A script of ours, or a module with `-m`, by its own parser where it has one."""
    is_module = argv[0] == "-m"
    name, rest = (argv[1], argv[2:]) if is_module else (argv[0], argv[1:])
    parse = argparse.ArgumentParser.parse_args
    with monkeypatch.context() as patch:
        patch.setattr(argparse.ArgumentParser, "parse_args", _stopping(parse))
        patch.setattr(tyro, "cli", _stopping(tyro.cli))
        patch.setattr(sys, "argv", [name, *rest])
        if is_module:
            _expect(lambda: runpy.run_module(name, run_name="__main__"))
        elif not (ROOT / name).is_file():
            raise ValueError(f"there is no {name}")
        elif "ArgumentParser" in (ROOT / name).read_text(encoding="utf-8"):
            _expect(lambda: runpy.run_path(str(ROOT / name), run_name="__main__"))


def _read_script(name: str, rest: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    if not os.access(ROOT / name, os.X_OK):
        raise ValueError(f"{name} is not there to be run")
    if name == "scripts/demo":
        _read_recipe(["improve", "--preset", "demo", *rest], monkeypatch)


def _read_extras(argv: Sequence[str]) -> None:
    """What is asked for in brackets is declared."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = argv[-1].partition("[")[2].rstrip("]")
    if unknown := set(filter(None, asked.split(","))) - set(project["optional-dependencies"]):
        raise ValueError(f"pyproject.toml has no extra {sorted(unknown)}")


def _stopping(function: Callable[..., Any]) -> Callable[..., Any]:
    def stop(*arguments: Any, **named: Any) -> Any:
        function(*arguments, **named)
        raise Parsed

    return stop


def _expect(call: Callable[[], object]) -> None:
    """The call has to come to settings that can be read, or do without any."""
    with _heard() as said:
        try:
            status: object = call()
        except Parsed:
            return
        except SystemExit as left:
            status = left.code
    if status != 0:
        raise ValueError(f"status {status}: {said.getvalue().decode().strip()[-600:]}")


@contextlib.contextmanager
def _heard() -> Iterator[io.BytesIO]:
    """What is printed, as a terminal that knows UTF-8 would have it."""
    kept = io.BytesIO()
    said = io.TextIOWrapper(kept, encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        yield kept
    said.detach()
