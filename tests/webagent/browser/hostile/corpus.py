"""Pages that mean trouble, each of another kind, with what may come of an episode on them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SECONDS = 20.0
"""Real seconds an episode of several actions may take, unless its page says otherwise."""
_HEADING = re.compile(r"=== ([^(]+?)(?: \((.*)\))?$")


@dataclass(frozen=True, slots=True)
class Hostile:
    """One page; its script runs at load, and its `go` when the button is clicked."""

    name: str
    html: str = ""
    path: str = ""
    """Address on the server that misbehaves by itself; empty for a page made of `html`."""
    may_fail: bool = False
    """Whether the world may give the page up; everywhere else the episode must be played out.

    Of `alerts without end`, too: to a dialog that opens in the moment between two pages Chromium
    takes no answer ("Not attached to an active page"), neither Playwright's nor ours."""
    seconds: float = SECONDS

    def __str__(self) -> str:
        return self.name


def read(text: str) -> Iterator[Hostile]:
    """The pages of one file: `=== name (at /path, may fail, 40 s)`, then lines of HTML."""
    for part in re.split(r"^(?==== )", text, flags=re.MULTILINE)[1:]:
        heading, _, html = part.partition("\n")
        found = _HEADING.match(heading)
        assert found, heading
        notes = found[2].split(", ") if found[2] else []
        yield Hostile(
            name=found[1],
            html=html,
            path=next((note[3:] for note in notes if note.startswith("at ")), ""),
            may_fail="may fail" in notes,
            seconds=next((float(note[:-2]) for note in notes if note.endswith(" s")), SECONDS),
        )


CORPUS = tuple(
    page
    for file in sorted((Path(__file__).parent / "pages").glob("*.txt"))
    for page in read(file.read_text(encoding="utf-8"))
)
