"""Replies of the published judges, read as they are there, where that can be told from noise."""

import re

from evaluators.judge.examination import Outcome, Vote
from webagent.models.replies import UnusableError

_SUCCESS = re.compile(r"\bSUCCESS(FUL)?\b")
_NO_SUCCESS = re.compile(r"\bNOT\W+(A\W+)?SUCCESS")
_STATUS = re.compile(r"status\W*\b(success|failure)\b", re.IGNORECASE)
_TAGS = {"side": "side_effect", "optimal": "optimality", "loop": "looping"}
_CHOICES = {
    "side": ("Yes", "No"),
    "loop": ("Yes", "No"),
    "optimal": (
        "1. Complete Failure",
        "2. Suboptimal",
        "3. Somewhat Optimal",
        "4. Completely Optimal",
    ),
}


def read_verdict(text: str) -> Vote:
    """SUCCESS or NOT SUCCESS, in capitals and anywhere, as WebVoyager and PAE read it.

    `**NOT** SUCCESS` and `NOT A SUCCESS`, which they take for a success, are failures here, and
    `UNSUCCESSFUL` is nothing. Raises `UnusableError` where neither is said; WebVoyager leaves such
    an episode out, PAE counts it as failed.
    """
    if not _SUCCESS.search(text):
        raise UnusableError("the verdict is missing; expected SUCCESS or NOT SUCCESS")
    return Vote("failure" if _NO_SUCCESS.search(text) else "success", _brief(text))


def read_status(text: str) -> Vote:
    """The word behind the last `Status:`, WebJudge's form.

    Raises `UnusableError` where it is neither success nor failure. WebJudge looks for the letters
    `success` behind the first `Status:`, which `unsuccessful` has, too, and counts all else as
    failed.
    """
    found = _STATUS.findall(text)
    if not found:
        raise UnusableError(
            'the verdict is missing; expected a line Status: "success" or "failure"'
        )
    return Vote("success" if found[-1].lower() == "success" else "failure", _brief(text))


def read_questions(text: str) -> Vote:
    """AgentRewardBench's four answers, each in its tag; those beside success may be missing.

    Raises `UnusableError` where success is not said.
    """
    said = (_tagged(text, "success") or "").lower()
    if said not in ("successful", "unsuccessful"):
        raise UnusableError(
            f"the answer on success is {said!r}; expected <success>Successful</success> or"
            " <success>Unsuccessful</success>"
        )
    answers = {_TAGS[tag]: _choice(tag, _tagged(text, tag) or "") for tag in _TAGS}
    outcome: Outcome = "success" if said == "successful" else "failure"
    given = {name: choice for name, choice in answers.items() if choice}
    return Vote(outcome, _brief(_tagged(text, "reasoning") or ""), answers=given)


def _tagged(text: str, tag: str) -> str | None:
    found = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
    return found[1].strip() if found else None


def _choice(tag: str, said: str) -> str:
    """The choice that was meant: by its words or, for optimality, by its number."""
    return next(
        (
            choice
            for choice in _CHOICES[tag]
            if said.lower() in (choice.lower(), choice[:1] if tag == "optimal" else choice.lower())
        ),
        "",
    )


def _brief(text: str, longest: int = 600) -> str:
    said = " ".join(text.split())
    return said if len(said) <= longest else f"… {said[-longest:]}"
