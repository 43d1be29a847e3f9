"""Goals of the inbox, recorded from the pages, and what they ask for."""

import pytest

from benchmarks.miniwob.oracles.games import EmailRequest, read_request
from webagent.errors import PolicyError

INBOX = ["Primary", "Ada", "Nisi.", "Lorem ipsum do..", "Bettye", "Quis. Sed"]


@pytest.mark.parametrize(
    ("goal", "request_"),
    [
        (
            "Find the email by Ada and click the trash icon to delete it.",
            EmailRequest("delete", "Ada"),
        ),
        (
            "Find the email by Ada and click the star icon to mark it as important.",
            EmailRequest("star", "Ada"),
        ),
        (
            'Find the email by Ada and reply to them with the text "Sed ut. Leo.".',
            EmailRequest("reply", "Ada", "Sed ut. Leo."),
        ),
        (
            "Find the email by Ada and forward that email to Zoe.",
            EmailRequest("forward", "Ada", "Zoe"),
        ),
        *(
            (goal, EmailRequest("forward", "Ada", "Bettye"))
            for goal in (
                "Forward Bettye Ada's latest email.",
                "Send to Bettye the email you got from Ada.",
                "Bettye is waiting for the email by Ada.",
                "Forward Bettye the message Ada sent you.",
                "Could you find Ada's email, then forward it to Bettye?",
                "Please find that email from Ada and forward to by email to Bettye.",
                "please forward Adas last email to Bettye",
            )
        ),
        ("Get rid of the email I got from Ada.", EmailRequest("delete", "Ada")),
        ("I don't want Ada's email in my inbox.", EmailRequest("delete", "Ada")),
        ("mark all emails in primary with Ada", EmailRequest("star", "Ada")),
        ('AnswerAda\'s email with "Sed."', EmailRequest("reply", "Ada", "Sed.")),
        ('please send a reply email to Ada with ""Sed." "', EmailRequest("reply", "Ada", "Sed.")),
        ('"Sed." is my reply to Ada\'s most recent email.', EmailRequest("reply", "Ada", "Sed.")),
    ],
)
def test_fixed_phrases_and_free_words_are_read(goal: str, request_: EmailRequest) -> None:
    assert read_request(goal, INBOX) == request_


def test_a_goal_without_a_known_sender_is_refused() -> None:
    with pytest.raises(PolicyError, match="sender of the inbox"):
        read_request("Delete the email from Zoe.", INBOX)
