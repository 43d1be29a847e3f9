"""Replies of models in every role of the loop, by the name that the model is asked for: `policy`,
`judge` or `proposer`. The same request always gets the same reply."""

import json
import re
import zlib
from collections.abc import Sequence
from typing import Any

from tests.fakes.chat_server import Behaviour, ChatHandler, completion, counted

_GOALS = (
    'On which page does "{word}" stand? Say "{word}" to answer.',
    'Who was the last one to write about "{word}"?',
    'How many links lead away from "{word}"?',
    'Open whatever the menu calls "{word}" and tell its heading.',
)
_UNTOLD = "Home"
"""What is asked about where no words of a page are shown."""


def play_roles(goals: Sequence[str] = ()) -> Behaviour:
    """Return a server's behaviour that proposes these goals first, and others from what it is
    shown."""

    def behave(handler: ChatHandler, body: dict[str, Any]) -> None:
        texts = [_read_text(message["content"]) for message in body["messages"]]
        match body["model"]:
            case "judge":
                said = _judge(*texts[:2])
            case "proposer":
                said = _propose(texts[0], texts[1], goals)
            case _:
                said = _act(texts[-1])
        handler.send(completion([said], prompt_tokens=counted(body)))

    return behave


def _read_text(content: str | list[dict[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) for part in content if part["type"] == "text")


def _act(text: str) -> str:
    """Read what is asked for off the page, where it stands there; else say what the goal quotes."""
    if "failed" in text and "ADD:" in text:
        return "ADD: What is asked for stands beside its name."
    goal, _, page = text.rpartition("The task:")[2].partition("The page now")
    wanted = re.search(r"Tell me the (.+?) of the ticket", goal)
    found = wanted and re.search(rf"(?i)\b{re.escape(wanted[1])}: \| ([^|\n]+)", page)
    quoted = re.search(r'"([^"]+)"', goal)
    answer = found[1].strip() if found else quoted[1] if quoted else ""
    return f"Thought: it is told by now.\nAction: answer({json.dumps(answer)})"


def _judge(system: str, text: str) -> str:
    """Pass three episodes of four, by what was done in them."""
    is_good = zlib.crc32(text.encode()) % 4 > 0
    if "<success>" not in system:
        return f"It was looked at.\n{'SUCCESS' if is_good else 'NOT SUCCESS'}"
    said = "Successful" if is_good else "Unsuccessful"
    return (
        f"<reasoning>It was looked at.</reasoning>\n<success>{said}</success>\n<side>No</side>\n"
        "<optimal>3. Somewhat Optimal</optimal>\n<loop>No</loop>"
    )


def _propose(system: str, text: str, goals: Sequence[str]) -> str:
    """Invent tasks of words on the page, or find all of them in order."""
    if '"verdicts"' in system:
        shown = re.findall(r"^(\d+)\. ", text, re.MULTILINE)
        verdict = {"valid": True, "safe": True, "reason": "it is one"}
        return json.dumps({"verdicts": [{"task": int(number), **verdict} for number in shown]})
    wanted = re.search(r"Invent (\d+) task", text)
    words = sorted(set(re.findall(r'link "([A-Z][a-z]+)"', text))) or [_UNTOLD]
    first = zlib.crc32(text.encode())
    made = [
        _GOALS[(first + place) % len(_GOALS)].format(word=words[(first + place) % len(words)])
        for place in range(int(wanted[1]) if wanted else 1)
    ]
    direction = re.search(r"direction: (\w+)", text)
    more = {"direction": direction[1]} if direction else {}
    told = [_describe_task(goal) | more for goal in [*goals, *made][: len(made)]]
    return json.dumps({"tasks": told})


def _describe_task(goal: str) -> dict[str, Any]:
    quoted = re.search(r'"([^"]+)"', goal)
    said = {"evidence": "episode.answer", "rule": "same_text", "expected": quoted and quoted[1]}
    return {"goal": goal, "why": "it is read off a page", "steps": 2, "from": 1} | (
        {"checks": [said]} if quoted else {}
    )
