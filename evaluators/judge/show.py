"""What is shown of a page: its text, its screenshot or both."""

from collections.abc import Sequence
from dataclasses import replace

from evaluators.judge.court import Court
from evaluators.judge.exhibits import Exhibit
from evaluators.judge.settings import Show


def form_of(court: Court, published: Show) -> Show:
    """The form that is shown: the one set, else the published one where the model can look."""
    asked = court.settings.show
    if asked != "auto":
        return asked
    return published if court.can_look else "texts"


def as_shown(court: Court, exhibits: Sequence[Exhibit], published: Show) -> tuple[Exhibit, ...]:
    """The pages with only that of them that is shown."""
    form = form_of(court, published)
    if form == "texts":
        return tuple(replace(each, image=None) for each in exhibits)
    if form == "screenshots":
        return tuple(replace(each, text="") for each in exhibits)
    return tuple(exhibits)
