"""Markdown as it is compared: one spelling of headings, lists, links and blank lines."""

import re

_SPELLINGS = (
    (re.compile(r"[ \t]+$", re.MULTILINE), ""),
    (re.compile(r"\n{3,}"), "\n\n"),
    (re.compile(r"^(\s*)(#{1,6})[ \t]+", re.MULTILINE), r"\1\2 "),
    (re.compile(r"^(\s*)[*+][ \t]+", re.MULTILINE), r"\1- "),
    (re.compile(r"^[ \t]+(-)", re.MULTILINE), r"  \1"),
    (re.compile(r"\[([^\]]*?)\n\s*([^\]]*?)\](\([^)]+\))"), r"[\1 \2]\3"),
)
_BRACKETED = re.compile(r"\[([^\]]+)\]")
_PARENTHESISED = re.compile(r"\(\s*([^)]+?)\s*\)")


def markdown(value: object) -> str:
    """The text in one spelling; letters and their case stay. Raises `ValueError`."""
    text = value.strip() if isinstance(value, str) else ""
    if not text:
        raise ValueError(f"{value!r} is not a text in Markdown")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for pattern, spelling in _SPELLINGS:
        text = pattern.sub(spelling, text)
    text = _BRACKETED.sub(lambda found: f"[{' '.join(found.group(1).split())}]", text)
    return _PARENTHESISED.sub(r"(\1)", text).strip()
