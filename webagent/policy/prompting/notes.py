"""Notes a model keeps for itself, in place of the turns before them."""

import re
from pathlib import Path

from webagent.models.prompt import load_prompt
from webagent.policy.prompting.wording import line
from webagent.records import Trajectory

PROMPT = load_prompt(Path(__file__).parents[1] / "prompts" / "notes.md")
_LABEL = r"[ \t>#*_-]{0,8}"
_NOTES = re.compile(
    rf"(?:^{_LABEL}(?i:notes)|[*_]{{0,4}}\bNotes)[*_]{{0,4}}:[*_]{{0,4}}(.*?)"
    rf"(?=^{_LABEL}(?i:thought|plan|notes|action)[*_]{{0,4}}:"
    r"|[*_]{0,4}\b(?:Plan|Notes)[*_]{0,4}:|\Z)",
    re.MULTILINE | re.DOTALL,
)
_LONGEST = 2000


def notes_in(thought: str) -> str:
    """The notes in a thought, on one line; empty where there are none."""
    found = _NOTES.findall(thought)
    return line(found[-1], _LONGEST) if found else ""


def without_notes(thought: str) -> str:
    """The thought without its notes."""
    return _NOTES.sub("", thought).strip()


def last_notes(trajectory: Trajectory) -> tuple[str, int]:
    """The latest notes and how many turns came before they were written."""
    for place in range(len(trajectory.steps) - 1, -1, -1):
        if notes := notes_in(trajectory.steps[place].decision.thought):
            return notes, place
    return "", 0
