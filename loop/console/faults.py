"""What an error says to a program, and which exit status stands for it."""

from collections.abc import Mapping

from loop.console.outcome import Status
from webagent.errors import SetupError, StoreError, UsageError, WebAgentError


def status_of(error: WebAgentError) -> Status:
    """The exit status that stands for an error."""
    match error:
        case UsageError():
            return Status.USAGE
        case SetupError() | StoreError():
            return Status.SETUP
        case _:
            return Status.FAILED


def facts_of_error(error: Exception, recipe: str) -> Mapping[str, str]:
    """An error as a document: what was found, of which kind it is, and what to do next.

    Messages end with what to do next, behind a semicolon; an error can also carry it by itself.
    """
    said = str(error)
    found, _, last = said.rpartition("; ")
    explicit = str(getattr(error, "next", ""))
    help_of = f"webagent {recipe} --help" if recipe else "webagent --help"
    return {
        "error": said,
        "kind": type(error).__name__,
        "next": explicit or (last if found else help_of),
    }
