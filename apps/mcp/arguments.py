"""What the tools of a session take, a class for each; its docstring is the tool's description."""

from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from pydantic import Field

from apps.mcp.page import LEAST_TOKENS, MOST_TOKENS

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
