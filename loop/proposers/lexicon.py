"""The words and patterns of `lexicon.toml`, by which goals and pages are read."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from re import Pattern

_LEXICON = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
LANGUAGES: Mapping[str, str] = _LEXICON["languages"]
"""Frequent words by language."""


def find_listed(name: str) -> frozenset[str]:
    """Return the words of a list, as `acts`."""
    return frozenset(_LEXICON["words"][name].split())


def find_pattern(name: str) -> Pattern[str]:
    """Return a pattern, as `change`."""
    return _compile(_LEXICON["patterns"][name])


def find_refused(where: str) -> dict[str, Pattern[str]]:
    """Return the kinds of goals that are refused `everywhere` or on a `live` site."""
    return {kind: _compile(text) for kind, text in _LEXICON["refused"][where].items()}


def _compile(text: str) -> Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.VERBOSE)
