"""The settings of a command: from its flag, the environment, TOML, a preset, or the default."""

import argparse
import ast
import inspect
import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import MISSING, dataclass, fields, is_dataclass
from itertools import pairwise, takewhile
from pathlib import Path
from textwrap import dedent
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from loop.flat import IMPORTANT, hints_of, laid_upon
from webagent.errors import SetupError, UsageError, unknown_name
from webagent.files import read_toml

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Config = TypeVar("Config", bound="DataclassInstance")

DEFAULT_FILE = Path("webagent.toml")
REPLACED = {
    "replay seed": "webagent do --learn RUN ... learns a task, webagent do plays it for others",
    "replay values": "webagent do --learn RUN ... learns a task, webagent do plays it for others",
    "to-script": "leave it out: webagent replay RUN EPISODE does it again; for scripts of what a"
    " person does there is `playwright codegen`",
    "gif": "leave it out: webagent view RUN shows each page with what was done on it",
    "control": "leave it out, and start the run on the command line: the viewer follows it",
    "png": "webagent report RUN --html FILE has the charts, which a browser can print or save",
    "publish": "copy the run's summary.json and write its row by hand",
    "results": "copy the run's summary.json and write its row by hand",
    "belief": "leave it out: the judge of --judge decides about imagined episodes",
    "trusted": "leave it out: the judge of --judge decides about imagined episodes",
    "manual": "leave it out: proposals are made from pages and failures",
    "way": "leave it out: proposals are made from pages and failures",
    "steps": "leave it out: webagent improve and collect count steps, and training leaves out by"
    " itself those without effect",
    "pointing": "webagent report RUN --failures counts the episodes that chose a wrong element",
    "onto": "webagent memory RUN --rebuild builds a memory of the run's own successes",
    "skills": "train one adapter for all episodes",
    "reword": "give --restate MODEL to webagent benchmark, run or collect",
    "search": "run examples/tree_search.py, which searches with any policy on one task",
    "entropy": "leave it out: raise --temperature for more diverse replies",
    "violations": "give max_refusals in the file of --guard, which ends episodes that exceed it",
    "student-sure": "give --student-confidence",
    "judge-policy": "give --judge-model local:FOLDER",
    "judge-endpoint": "give the file to --judge-model, with the model's name in it",
    "proposer-policy": "give --proposer-model local:FOLDER",
    "proposer-endpoint": "give the file to --proposer-model, with the model's name in it",
    "restate-endpoint": "give the file to --restate, with the model's name in it",
    "world-model": "give --world endpoint:NAME",
    "world-endpoint": "give --world endpoint:FILE.toml, with the model's name in it",
    "prices": "put the file beside webagent.toml, as prices.toml",
    "random-share": "leave it out: where the policy explores, one action in ten is random",
    "judge-images": "give --judge-model a file whose [endpoint] has images = false",
    "no-judge-images": "give --judge-model a file whose [endpoint] has images = false",
    "prompting": "name its parts with --prompt, as in --prompt constrained",
    "importance-cap": "weights are truncated at 2",
    "perplexity": "leave it out: name earlier runs with --runs to learn from them again",
    "replay": "name earlier runs with --runs to learn from them again",
    "train": "its settings are those of the command: learning_rate, batch, epochs, updates, …",
    **dict.fromkeys(
        [
            *("train.schedule", "train.warmup", "train.final", "train.weight-decay", "train.betas"),
            *("train.clip", "train.lane-tokens", "train.tree", "train.no-tree", "train.keep"),
            *("train.most-skipped", "train.withdraw-hints"),
        ],
        "leave it out: nothing that was measured needed another value",
    ),
    "train.units-per-step": "give --batch",
    "train.steps": "give --updates",
    "train.imagined": "give --imagined-share",
    "expert": "leave it out, and name the stronger model as the policy",
    "expert-endpoint": "leave it out, and describe the stronger model with --endpoint",
    "vision": "give --images",
    "no-bf16": "give --bf16 off",
    "no-gradient-checkpointing": "give --gradient-checkpointing off",
    "curriculum": "leave it out: tasks that are not mastered are sampled uniformly",
    "explore": "leave it out: --temperature and --random-share hold for all rounds",
    "hide-checks": "name a judge for these tasks' episodes with --judge",
    "labels": "name a judge with --judge, such as reward:FOLDER of webagent train --role reward",
    "judge-tokens": "name a judge with --judge; its own training is webagent train --role reward",
    "objective=kto": "give --objective dpo, which learns from pairs",
    "objective=webrl": "give --objective grpo",
    "objective=gspo": "give --objective grpo",
    "induce": "compare evaluators with labels: webagent judge RUN --with ... --against labels.csv",
}
"""Settings that another one or another command has replaced, and how."""


def resolve(
    config: type[Config],
    command: str,
    argv: Sequence[str],
    presets: Mapping[str, Config] | None = None,
) -> Config:
    """Return the settings of a command as an instance of its dataclass `config`.

    A value is taken from the first place that has it: a flag in `argv`; the environment
    (`WEBAGENT_<COMMAND>_<FIELD>`); the table `[<command>]` of the file named by `--config`, else of
    `./webagent.toml`; the preset, where the command has presets and a field `preset` to name one
    (by any of the three ways above); the field's default.

    Raises `UsageError` for a wrong flag, an unknown name or a value of the wrong type, and
    `SetupError` for an unreadable file.
    """
    import tyro

    base, flags = lay_out(config, command, argv, presets or {})
    complaint = io.StringIO()
    try:
        with redirect_stderr(complaint):
            return tyro.cli(config, args=flags, default=base, config=(tyro.conf.AvoidSubcommands,))
    except SystemExit:
        raise _wrong(config, command, flags, complaint.getvalue()) from None


def lay_out(
    config: type[Config], command: str, argv: Sequence[str], presets: Mapping[str, Config]
) -> tuple[Config, list[str]]:
    """Return the settings of all places but the command line, and the flags to lay upon them.

    Raises `SetupError` and `UsageError` as `resolve`.
    """
    file, flags = _take_option(argv, "--config")
    prefix = variable(command, "")
    found = {
        name.removeprefix(prefix).lower(): text
        for name, text in os.environ.items()
        if name.startswith(prefix)
    }
    hints = hints_of(config)
    values = {
        name: re.findall(r"[^\s,]+", text)
        if (get_origin(hints.get(name)) in (tuple, list))
        else text
        for name, text in found.items()
    }
    path = Path(file) if file else DEFAULT_FILE
    if file and not path.is_file():
        raise SetupError(f"--config {file}: there is no such file")
    table = read_toml(path).get(command, {}) if path.is_file() else {}
    if not isinstance(table, dict):
        raise SetupError(f"{path}: `{command}` should be a table, as [{command}]")
    written = {key.replace("-", "_"): value for key, value in table.items()}
    layers = _checked(config, written, f"{path} [{command}]")
    layers |= _checked(config, values, f"the environment ({prefix}...)")
    base = config()
    if presets:
        name = _take_option(flags, "--preset")[0] or layers.get("preset") or base.preset  # type: ignore[attr-defined]
        if name and name not in presets:
            raise unknown_name("preset", name, presets)
        base = presets[name] if name else base
    return laid_upon(base, layers), flags


_MORE = ("For full helptext", "Got errors", "Argument helptext")
"""How lines begin that come after what tyro complains of."""


_NUMBER = r"-[\d.]+(e[-+]?\d+)?"


def _wrong(config: type[Config], command: str, flags: Sequence[str], complaint: str) -> UsageError:
    """Return the error for an invalid command line: the unknown flag, or the choice that is missing
    or gone, else tyro's first message."""
    # A title first; boxes and rules around it only where the terminal can show them.
    lines = [line.strip("│| ") for line in complaint.splitlines()]
    text = [line for line in lines if line.strip("╭╮╰╯─+- ")][1:]
    message = " ".join(takewhile(lambda line: not line.startswith(_MORE), text))
    message = message.rstrip(".") or "the command line cannot be read"
    known = {flag: option for option in options_of(config) for flag in option.flags}
    for word, following in pairwise((*flags, "")):
        flag, _, value = word.partition("=")
        option = known.get(flag.replace("_", "-"))
        if option is None and flag.startswith("-") and not re.fullmatch(_NUMBER, flag):
            name = flag.lstrip("-")
            if gone := _replaced(f"{command} {name}", flag) or _replaced(name, flag):
                return gone
            found = str(unknown_name(f"flag of webagent {command}", flag, known))
            return UsageError(f"{found}; webagent {command} --help-all lists all")
        if option is not None and get_origin(option.type) is Literal:
            value = value or following
            if not value or value.startswith("-"):
                return UsageError(f"{flag} needs one of {', '.join(get_args(option.type))}")
            if gone := _replaced(f"{option.name}={value}", f"{flag} {value}"):
                return gone
    return UsageError(f"{message}; see webagent {command} --help")


def _replaced(name: str, source: str) -> UsageError | None:
    """Return the error that says what has replaced a setting; None for one that never was."""
    name = name.replace("_", "-")
    instead = REPLACED.get(name)
    group, _, last = name.partition(".")
    if instead is None and last:
        instead = f"give --{last}" if group == "train" else REPLACED.get(group)
    return UsageError(f"{source} is gone; {instead}") if instead else None


@dataclass(frozen=True, slots=True)
class Option:
    """One setting of a command, as it is typed."""

    name: str
    """Without leading dashes: `max-cost`, `prompting.form`."""
    type: Any
    default: Any
    doc: str
    is_positional: bool = False
    is_important: bool = False
    """Whether the short help shows it."""
    group: str = ""
    """Title of the settings that it belongs to; empty for the command's own."""

    @property
    def flags(self) -> tuple[str, ...]:
        """Return the flags that set it; a switch also has one to turn it off."""
        prefix, dot, last = self.name.rpartition(".")
        off = (f"--{prefix}{dot}no-{last}",) if self.type is bool else ()
        return () if self.is_positional else (f"--{self.name}", *off)


def options_of(
    config: type[Any], prefix: str = "", *, base: object | None = None, group: str = ""
) -> Iterator[Option]:
    """Yield every setting of a dataclass, including those of nested dataclasses, whose title is
    the first sentence of their field's docstring.

    The defaults are taken from `base`, where given.
    """
    from tyro.conf import OmitArgPrefixes, Positional

    hints = get_type_hints(config, include_extras=True)
    docs: dict[str, str] = {}
    for each in reversed([cls for cls in config.__mro__ if is_dataclass(cls)]):
        [node] = ast.parse(dedent(inspect.getsource(each))).body
        assert isinstance(node, ast.ClassDef)
        for assigned, text in pairwise(node.body):
            match assigned, text:
                case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(doc))):
                    docs[name] = " ".join(doc.split())
    for field in fields(config):
        hint = hints[field.name]
        kind, *marks = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        named = [mark.name for mark in marks if getattr(mark, "name", None)]
        name = f"{prefix}{[*named, field.name][0]}".replace("_", "-")
        doc = docs.get(field.name, "")
        if is_dataclass(kind):
            assert isinstance(kind, type)
            inside = getattr(base, field.name) if base is not None else None
            below = prefix if OmitArgPrefixes in marks else f"{name}."
            title = re.split(r"[.:;](?:\s|$)", doc)[0]
            yield from options_of(kind, below, base=inside, group=title)
        elif not any(is_dataclass(each) for each in get_args(kind)):  # no line can make one
            make = field.default_factory
            default = field.default if make is MISSING else make()
            if base is not None:
                default = getattr(base, field.name)
            is_positional = get_args(Positional[str])[1] in marks
            yield Option(name, kind, default, doc, is_positional, IMPORTANT in marks, group)


def _take_option(argv: Sequence[str], option: str) -> tuple[str, list[str]]:
    """Return the value of one option, empty if not given, and the other arguments."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument(option, dest="value", default="")
    known, rest = parser.parse_known_args(list(argv))
    return known.value, rest


def variable(command: str, field: str) -> str:
    return f"WEBAGENT_{command}_{field}".upper().replace("-", "_")


def _checked(config: type[Config], values: Mapping[str, object], source: str) -> dict[str, Any]:
    """Return the values as their fields' types. Raises `SetupError` with the source."""
    from pydantic import TypeAdapter, ValidationError

    hints = hints_of(config)
    checked: dict[str, Any] = {}
    for name, value in values.items():
        if name not in hints:
            gone = _replaced(name, f"{source}: {name}")
            raise gone or unknown_name(f"setting in {source}", name, hints)
        try:
            checked[name] = TypeAdapter(hints[name]).validate_python(value)
        except ValidationError as error:
            if gone := _replaced(f"{name}={value}", f"{source}: {name} {value}"):
                raise gone from error
            expected = error.errors()[0]["msg"]
            raise UsageError(f"{source}: {name} is {value!r}; {expected}") from error
    return checked
