"""The command line `webagent`: find the command, run it, report the outcome."""

import codecs
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from io import TextIOWrapper
from signal import SIG_IGN, SIGINT, default_int_handler, getsignal, signal

from loop.console.output import (
    CommandResult,
    Status,
    Stopped,
    conclude,
    describe_error,
    facts_as_json,
    is_for_program,
    keep_stdout_for_json,
    status_of,
)
from recipes.commands import COMMANDS, GROUPS, REPLACED
from webagent.errors import UsageError, WebAgentError, missing_package, unknown_name

__all__ = ["COMMANDS", "main", "usage"]

JSON = "--json"
HELP = ("-h", "--help", "--help-all")
_BROKEN_PIPE = 141
"""Exit status if the reader of the output has exited, 128 + SIGPIPE."""
_PLAIN = str.maketrans({"–": "-", "—": "-", "…": "...", "“": '"', "”": '"', "’": "'", "→": "->"})


def write_plainly(error: UnicodeError) -> tuple[str, int]:
    """Return what a terminal shows where it lacks characters: `-` for a dash, else `?`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end].translate(_PLAIN)
    return "".join(each if each.isascii() else "?" for each in lacking), error.end


codecs.register_error("plain", write_plainly)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `webagent <command> ...` and return the exit status, a `Status`."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if getsignal(SIGINT) is SIG_IGN and argv is None:  # so a shell starts what is to run behind it
        signal(SIGINT, default_int_handler)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # what a terminal cannot show is no reason to end
            stream.reconfigure(errors="plain")
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
    """Print the help or the version, or run the command and report its outcome or its error; return
    the exit status."""
    if not rest or rest[0] in (*HELP, "help"):
        print(usage())
        return Status.DONE if rest else Status.USAGE
    if rest[0] == "--version":
        from importlib.metadata import version

        print(version("webagent-loop"))
        return Status.DONE
    if as_json:
        os.environ.setdefault("TQDM_DISABLE", "1")  # libraries draw bars of their own
    with keep_stdout_for_json() if as_json and not _asks_for_help(rest) else nullcontext():
        name = rest[0]
        try:
            outcome = _outcome(name, rest[1:])
        except (WebAgentError, ModuleNotFoundError) as error:
            reported: Exception | None = error
            if isinstance(error, ModuleNotFoundError):
                reported = missing_package(error, f"webagent {name}")
            if os.environ.get("WEBAGENT_DEBUG") == "1" or not isinstance(reported, WebAgentError):
                raise
            return _report_error(reported, name, status_of(reported))
        except Stopped as stopped:
            return _report_error(stopped, name, stopped.status)
        except KeyboardInterrupt:
            return _report_error(Stopped(SIGINT), name, Status.INTERRUPTED)
        if outcome is not None:
            conclude(facts_as_json(outcome))
        return outcome.status if outcome else Status.DONE


def usage() -> str:
    """Return the help text: one line per command, grouped under headings."""
    width = max(map(len, COMMANDS))
    lines = ["usage: webagent <command> [settings]", "", "Web agents that improve themselves."]
    for group, heading in GROUPS.items():
        lines += ["", f"{heading}:"]
        lines += [
            f"  {name:<{width}}  {command.summary}"
            for name, command in COMMANDS.items()
            if command.group == group
        ]
    lines += [
        "",
        "`webagent <command> --help` shows the settings that matter most, with examples, and",
        "`--help-all` all of them. `--json` prints a single JSON document, for programs.",
        "WEBAGENT_DEBUG=1 shows tracebacks. Exit status: 0 done, 1 failed, 2 wrong command line,",
        "3 something is missing, 4 a cap was reached, 130 interrupted.",
    ]
    return "\n".join(lines)


def _asks_for_help(words: Sequence[str]) -> bool:
    return any(word in HELP for word in words)


def _outcome(name: str, arguments: Sequence[str]) -> CommandResult | None:
    """Run a command and return its outcome, or print its help and return None."""
    if name not in COMMANDS:
        if name in REPLACED:
            raise UsageError(f"webagent {name} is gone; use {REPLACED[name]}")
        raise unknown_name("command", name, COMMANDS)
    command = COMMANDS[name]
    words = command.line(arguments)
    if not _asks_for_help(arguments):
        if command.waits or is_for_program():
            return command.load()(words)
        from loop.console.pulse import show_life  # the help would wait for its import

        with show_life(f"webagent {name}"):
            return command.load()(words)
    from recipes.help import format_help  # what the command does would import more

    words = [word for word in words if word not in HELP]
    print(format_help(command, words, is_full="--help-all" in arguments))
    return None


def _report_error(error: Exception, command: str, status: int) -> int:
    """Report an error, as a sentence for people and as a document for programs."""
    facts = describe_error(error, command if command in COMMANDS else "")
    go_on = f"\nGo on with:\n  {error.next}" if isinstance(error, Stopped) and error.next else ""
    print(f"webagent: {error}{go_on}", file=sys.stderr)
    conclude(facts)
    return status


if __name__ == "__main__":
    sys.exit(main())
