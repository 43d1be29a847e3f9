"""Replies to calls, and what to do next where a call came to nothing."""

from mcp_types import CallToolResult, TextContent

from webagent.records import Observation


def reply(text: str) -> CallToolResult:
    """What a call came to."""
    return CallToolResult(content=[TextContent(text=text)])


def failure(text: str) -> CallToolResult:
    """Why a call came to nothing, and what to do next."""
    return CallToolResult(content=[TextContent(text=text)], is_error=True)


def refused(page: Observation, text: str) -> CallToolResult:
    """An action that was not done: the page's outcome says why, and this what to do about it."""
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
