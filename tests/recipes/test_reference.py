"""The page of commands is that of the code."""

from pathlib import Path

from recipes import reference

ROOT = Path(__file__).parents[2]


def test_the_page_of_commands_is_up_to_date() -> None:
    written = (ROOT / reference.PAGE).read_text(encoding="utf-8")
    assert written == reference.page(), "write it again: python -m recipes.reference"
