"""The command `webagent`: finds the recipe that was asked for and tells what came of it."""

import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from signal import SIGINT
from typing import TYPE_CHECKING

from loop.console.outcome import CommandResult, Status, Stopped, facts_as_json
from loop.console.output import conclude, keep_stdout_for_json
from recipes.command_line.registry import GROUPS, RECIPES, Recipe

if TYPE_CHECKING:
    from webagent.errors import WebAgentError

__all__ = ["RECIPES", "Recipe", "main", "usage"]

JSON = "--json"
_BROKEN_PIPE = 141
"""Exit status where whoever reads the output has gone, 128 + SIGPIPE."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `webagent <recipe> ...` and return the exit status, a `Status`."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    as_json = JSON in arguments
    rest = [word for word in arguments if word != JSON]
    try:
        status = _run(rest, as_json)
        sys.stdout.flush()  # else what is left in the buffer fails when Python exits
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return _BROKEN_PIPE
    return status


def _run(rest: Sequence[str], as_json: bool) -> int:
    """Print the help or the version, or run the recipe; return the exit status."""
    if not rest or rest[0] in ("-h", "--help", "help"):
        print(usage())
        return Status.DONE if rest else Status.USAGE
    if rest[0] == "--version":
        print(_version())
        return Status.DONE
    if as_json:
        os.environ.setdefault("TQDM_DISABLE", "1")  # libraries draw bars of their own
    with keep_stdout_for_json() if as_json and not _asks_for_help(rest) else nullcontext():
        return _answer(rest[0], rest[1:])


def usage() -> str:
    """The help text: one line for each recipe, under the headings of their groups."""
    width = max(map(len, RECIPES))
    lines = ["usage: webagent <recipe> [settings]", "", "Web agents that improve themselves."]
    for group, heading in GROUPS.items():
        lines += ["", f"{heading}:"]
        lines += [
            f"  {name:<{width}}  {recipe.summary}"
            for name, recipe in RECIPES.items()
            if recipe.group == group
        ]
    lines += [
        "",
        "`webagent <recipe> --help` lists its settings, with examples. `--json` prints one",
        "document of JSON, for programs. WEBAGENT_DEBUG=1 shows tracebacks. Exit status: 0 done,",
        "1 failed, 2 wrong command line, 3 something is missing, 4 a cap came before the end,",
        "130 interrupted.",
    ]
    return "\n".join(lines)


def _asks_for_help(words: Sequence[str]) -> bool:
    return any(word in ("-h", "--help") for word in words)


def _answer(name: str, arguments: Sequence[str]) -> int:
    """The status of a recipe that is named; what came of it is told."""
    try:
        outcome = _outcome(name, arguments)
    except _ours() as error:
        from loop.console.outcome import status_of

        if os.environ.get("WEBAGENT_DEBUG") == "1":
            raise
        return _told_error(error, name, status_of(error))
    except Stopped as stopped:
        return _told_error(stopped, name, stopped.status)
    except KeyboardInterrupt:
        return _told_error(Stopped(SIGINT), name, Status.INTERRUPTED)
    if outcome is not None:
        conclude(facts_as_json(outcome))
    return outcome.status if outcome else Status.DONE


def _outcome(name: str, arguments: Sequence[str]) -> CommandResult | None:
    """What the recipe hands back; None when it was asked for its help, which has examples then."""
    if name not in RECIPES:
        raise _unknown(name)
    recipe = RECIPES[name]
    try:
        return recipe.load()(recipe.line(arguments))
    except SystemExit:
        if not _asks_for_help(arguments):
            raise
    print("\n".join(["examples:", *(f"  {line}" for line in recipe.examples)]))
    return None


def _ours() -> "type[WebAgentError]":
    """The root of our errors; imported when something was raised, as it takes its time."""
    from webagent.errors import WebAgentError

    return WebAgentError


def _unknown(name: str) -> "WebAgentError":
    from webagent.errors import unknown_name

    return unknown_name("recipe", name, RECIPES)


def _told_error(error: Exception, recipe: str, status: int) -> int:
    """Say what went wrong, to people in a sentence and to programs as a document."""
    from loop.console.outcome import describe_error

    facts = describe_error(error, recipe if recipe in RECIPES else "")
    go_on = f"\nGo on with:\n  {error.next}" if isinstance(error, Stopped) and error.next else ""
    print(f"webagent: {error}{go_on}", file=sys.stderr)
    conclude(facts)
    return status


def _version() -> str:
    from importlib.metadata import version

    return version("webagent-loop")


if __name__ == "__main__":
    sys.exit(main())
