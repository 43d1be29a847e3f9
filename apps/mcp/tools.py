"""The tools that assistants are offered: their arguments, schemas and replies."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, TypeVar

from mcp_types import CallToolResult, TextContent
from pydantic import Field, TypeAdapter, ValidationError

from apps.argument_schema import describe_arguments
from webagent.errors import CallError
from webagent.files import describe_invalid
from webagent.records import Observation

LEAST_TOKENS = 100
MOST_TOKENS = 20_000
"""What a call may ask for."""

Session: TypeAlias = Annotated[str, Field(description="As open_session gave it.")]
MaxTokens: TypeAlias = Annotated[
    int,
    Field(description=f"Of the reply, at most; {LEAST_TOKENS} to {MOST_TOKENS}, 0 as configured."),
]


@dataclass(frozen=True, slots=True)
class OpenSession:
    """Open a browser session of your own: fresh, isolated from all others."""

    url: Annotated[str, Field(description="Page to open at once.")] = ""
    goal: Annotated[str, Field(description="What you are about to do, in a sentence.")] = ""


@dataclass(frozen=True, slots=True)
class Observe:
    """See the page as it is now, cut to a bound; or read its lines in order from a number."""

    session: Session
    start: Annotated[
        int, Field(ge=0, description="Line to read on from; 0: what matters most.")
    ] = 0
    max_tokens: MaxTokens = 0


@dataclass(frozen=True, slots=True)
class Find:
    """Search the whole page, also what was left out, for the lines that hold a text."""

    session: Session
    text: Annotated[str, Field(min_length=1)]
    max_tokens: MaxTokens = 0


@dataclass(frozen=True, slots=True)
class Act:
    """Do several actions in one call, in order, until one cannot be done or leads elsewhere."""

    session: Session
    actions: Annotated[
        tuple[str, ...],
        Field(
            min_length=1,
            max_length=20,
            description='Calls by the names of other tools: ["fill(3, \\"Ada\\")", "click(5)"].',
        ),
    ]


@dataclass(frozen=True, slots=True)
class Screenshot:
    """See the part of the page in view as a picture."""

    session: Session


@dataclass(frozen=True, slots=True)
class CloseSession:
    """Close the session and its pages; say what came of it."""

    session: Session
    answer: Annotated[str, Field(description="What was found or done.")] = ""
    failed: Annotated[str, Field(description="Why it could not be done; empty if it was.")] = ""


@dataclass(frozen=True, slots=True)
class RunTask:
    """Have a whole task done by the web agent of this server, in a session of its own."""

    task: Annotated[str, Field(min_length=1, description="What to do or find out, in words.")]
    url: Annotated[str, Field(min_length=1, description="Page to begin on.")]
    max_steps: Annotated[int, Field(ge=0, description="Actions at most; 0 as configured.")] = 0
    schema: Annotated[
        dict[str, Any] | None, Field(description="JSON Schema that the answer is held to.")
    ] = None


Arguments = TypeVar("Arguments")
SESSION = {"type": "string", "description": "As open_session gave it."}


def schema_of(cls: type[Any], *, in_session: bool = False) -> dict[str, Any]:
    """Return the schema of a frozen dataclass; with `in_session` a session is asked for besides."""
    schema = describe_arguments(cls)
    if in_session:
        schema["properties"] = {"session": SESSION, **schema["properties"]}
        schema["required"] = ["session", *schema.get("required", ())]
    return {**schema, "additionalProperties": False}


def read_arguments(tool: str, cls: type[Arguments], given: Mapping[str, Any]) -> Arguments:
    """Return a call's arguments as a value of the class. Raises `CallError` with what is wrong."""
    if unknown := sorted(set(given) - set(TypeAdapter(cls).json_schema()["properties"])):
        raise CallError(f"{tool} has no argument {', '.join(unknown)}")
    try:
        return TypeAdapter(cls).validate_python(dict(given))
    except ValidationError as error:
        raise CallError(f"{tool}: {describe_invalid(error)}") from error


def reply(text: str) -> CallToolResult:
    """Return what a call came to."""
    return CallToolResult(content=[TextContent(text=text)])


def failure(text: str) -> CallToolResult:
    """Return why a call came to nothing, and what to do next."""
    return CallToolResult(content=[TextContent(text=text)], is_error=True)


def refused(page: Observation, text: str) -> CallToolResult:
    """Return that an action was not done: the page's outcome says why, and this what to do."""
    if page.outcome.startswith("refused:"):
        advice = (
            "The owner of this browser does not allow it. Do not look for a way around it; tell"
            " your user what was refused and why."
        )
    elif "no element" in page.outcome:
        advice = (
            "Elements that the page has replaced have new numbers: call observe and use one that"
            " it shows now."
        )
    else:
        advice = "The outcome says why. Call observe to see what can be done, or do something else."
    return failure(f"The action was not done. {advice}\n{text}")
