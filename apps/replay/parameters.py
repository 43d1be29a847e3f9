"""What can be set anew in a recording: its typed and chosen texts, by the fields they went into."""

import re
from collections.abc import Mapping

from webagent.action import actions as act
from webagent.action import is_final
from webagent.errors import UsageError, unknown_name
from webagent.guard.secret import find_placeholders
from webagent.records import Trajectory


def parameters(recording: Trajectory) -> dict[str, str]:
    """Names to recorded texts, in order: by the field's name; a secret by its own."""
    found: dict[str, str] = {}
    for step in recording.steps:
        action = step.decision.action
        text = _text(action)
        if not text or text in found.values():
            continue
        node = step.observation.node(getattr(action, "mark", 0))
        secrets = find_placeholders(text)
        base = (
            secrets[0]
            if secrets
            else re.sub(r"[^a-z0-9]+", "-", (node.name if node else "").casefold()).strip("-")[:40]
            or "text"
        )
        name, number = base, 2
        while name in found:
            name, number = f"{base}-{number}", number + 1
        found[name] = text
    return found


def given(recording: Trajectory, values: Mapping[str, str]) -> dict[str, str]:
    """Recorded texts to new ones. Raises `UsageError` for a name that nothing goes by."""
    known, found = parameters(recording), dict[str, str]()
    words = {recording.goal, *known.values()}
    for name, value in values.items():
        if name in known:
            text = known[name]
            found[name if find_placeholders(text) else text] = value
        elif any(name in each for each in words) or any(
            name in node.name for step in recording.steps for node in step.observation.nodes
        ):
            found[name] = value
        else:
            raise unknown_name("value", name, [*known, *known.values()])
    return found


def told(recording: Trajectory) -> str:
    """The parameters on one line, for messages."""
    return ", ".join(f"{name}={text!r}" for name, text in parameters(recording).items())


def need_one(recordings: list[Trajectory], values: Mapping[str, str]) -> None:
    """Values are of one recording. Raises `UsageError` where there are several, and for a name that
    nothing goes by."""
    if values and len(recordings) > 1:
        raise UsageError(
            f"--values are for one episode and {len(recordings)} are chosen; name one, as"
            f" {recordings[0].id}, with {told(recordings[0]) or 'no values'}"
        )
    for each in recordings:
        given(each, values)


def _text(action: act.Action) -> str:
    if is_final(action):
        return ""
    match action:
        case act.SelectOption(option=option):
            return option
        case act.Fill(text=text) | act.KeyboardType(text=text) | act.KeyboardInsertText(text=text):
            return text
    return ""
