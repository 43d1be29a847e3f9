"""Text as it is compared: without case, accents, trademarks or typographic variants."""

import json
import re
import unicodedata

from benchmarks.webarena.rules.verified.sites import Sites
from tasks.task import Json

_MARKS = dict.fromkeys(map(ord, "™®℠©"))
_HYPHEN = r"[-\u2010-\u2015\u2212\u00ad]"
_WORD_HYPHEN = re.compile(rf"(?<=[a-zA-Z]){_HYPHEN}|{_HYPHEN}(?=[a-zA-Z])")
_EDGES = "'\"`.,;:!?"

_ASCII = str.maketrans(
    {
        "ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O",
        "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th", "ł": "l", "Ł": "L",
        "ı": "i", "ħ": "h", "Ħ": "H", "ŋ": "ng", "Ŋ": "NG", "ŧ": "t", "Ŧ": "T", "ĸ": "k",
        "‘": "'", "’": "'", "‚": ",", "‛": "'", "“": '"', "”": '"', "„": ",,", "‟": '"',
        "′": "'", "‵": "`", "‹": "<", "›": ">", "«": "<<", "»": ">>", "‐": "-", "‑": "-",
        "‒": "-", "–": "-", "—": "--", "―": "--", "−": "-", "•": "*", "·": "*", "⁄": "/",
        "€": "EUR", "£": "PS", "¥": "Y=", "¢": "C/", "₹": "Rs", "¤": "$?", "§": "SS", "¶": "P",
        "°": "deg", "±": "+-", "×": "x", "÷": "/", "¬": "!", "¦": "|", "¡": "!", "¿": "?",
        "†": "+", "‡": "++", "‰": "%0", "←": "-", "↑": "|", "→": "-", "↓": "|",
    }
)  # fmt: skip


def is_pattern(value: object) -> bool:
    """Text that is meant as a regular expression: it begins with ^ and ends with $."""
    return isinstance(value, str) and len(value) >= 2 and value[0] == "^" and value[-1] == "$"


def plain(text: str, sites: Sites | None = None) -> str:
    """The text in ASCII where it can be, casefolded, runs of space as one.

    With sites, an address of one of them becomes its placeholder first. Letters of scripts that
    are not Latin are kept as they are; the published scorer romanises them, so that it also takes
    a romanised answer for them. Patterns are left alone.
    """
    if not text or is_pattern(text):
        return text
    if sites is not None and "http" in text:
        text = sites.templated(text, strict=False)
    text = unicodedata.normalize("NFKC", text.translate(_MARKS))
    text = _WORD_HYPHEN.sub(" ", text)
    text = "".join(map(_printable, text)).translate(_ASCII)
    text = "".join(map(_latin, unicodedata.normalize("NFKD", text)))
    return " ".join(unicodedata.normalize("NFC", text).split()).casefold()


def data_in(text: str) -> Json:
    """What a text says in JSON. Raises `ValueError`, also for nesting that nobody means."""
    try:
        data: Json = json.loads(text)
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply") from error
    return data


def trimmed(text: str) -> str:
    """The text without quotes and punctuation at its edges."""
    return text.strip(_EDGES)


def _printable(letter: str) -> str:
    if not unicodedata.category(letter).startswith("C"):
        return letter
    return " " if letter in "\t\n\r" else ""


def _latin(letter: str) -> str:
    """The letter, empty for an accent or a sign that has no ASCII form."""
    if letter.isascii() or unicodedata.category(letter)[0] in "LN":
        return letter
    return " " if letter.isspace() else ""
