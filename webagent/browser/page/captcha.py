"""Captchas: recognised, named and left to a person. They are never solved here."""

from dataclasses import dataclass
from typing import Protocol

from webagent.errors import CaptchaError


class Handover(Protocol):
    """A person who can be asked for help."""

    async def hand_over(self, reason: str) -> None:
        """Say why help is wanted, and return once the person says that the agent may go on."""


@dataclass(frozen=True, slots=True)
class Captcha:
    """A test for being human that can be seen on a page."""

    kind: str
    """Whose it is, as `reCAPTCHA`, or `picture` for a site's own."""
    blocks: bool
    """Whether there is no page besides: nothing can be done until it is passed."""

    def describe(self) -> str:
        """Return what the agent is told."""
        where = "instead of its content" if self.blocks else "on it"
        return f"the page shows a captcha ({self.kind}) {where}; only a person may pass it"

    def error(self, url: str) -> CaptchaError:
        """Return the error that ends an episode which cannot go on from this address."""
        return CaptchaError(
            f"{url} shows a captcha ({self.kind}) instead of its content; captchas are never "
            "solved: use a login or an address that the site trusts, or a window with a person"
        )
