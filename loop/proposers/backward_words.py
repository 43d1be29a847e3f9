"""The words of the built-in writer: labels, headings and tables as parts of a sentence."""

import re
from collections.abc import Sequence

_VERBS_SAID = (
    "add change choose create delete edit enter file leave make move open order place post put"
    " remove rename reply save send set sign start submit subscribe update upload write"
)
_VERBS = frozenset(_VERBS_SAID.split())
_MAKING = ("new",)
_STORING = re.compile(
    r"^(submit|save|ok|apply|apply changes|create|update|post|send|go|confirm|continue)\b",
    re.IGNORECASE,
)


def plain_label(label: str) -> str:
    """A field's label within a sentence: `Enter a one-line summary of the ticket:` as `summary of
    the ticket`, `EMail:` as `email`."""
    text = label.strip().rstrip(":*? ").strip()
    text = re.sub(
        r"^(please )?(enter|type|give|select|choose)\s+(an?|the|your)?\s*", "", text, flags=re.I
    )
    text = re.sub(r"^one-line\s+", "", text, flags=re.I)
    return text if text.isupper() else text[:1].lower() + text[1:]


def article(noun: str) -> str:
    """The noun with `the`, unless it has one already."""
    return noun if re.match(r"(the|an?|your|its)\b", noun, re.IGNORECASE) else f"the {noun}"


def is_plural(noun: str) -> bool:
    """Whether a noun speaks of several things: `check-ins`, not `status` or `address`."""
    return bool(re.search(r"[^sui]s$", noun))


def lowered(sentence: str) -> str:
    """A sentence as the middle of another."""
    return sentence[:1].lower() + sentence[1:]


def joined(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def noun_of_table(table: str) -> str:
    """What a row of a table is called: `order_order` as `order`, `wishlists_line` as `line`."""
    words = [word for word in table.lower().split("_") if word]
    last = words[-1] if words else ""
    return last[:-1] if last.endswith("s") and not last.endswith("ss") else last


def verb_phrase(heading: str, button: str, noun: str) -> str:
    """What a form does, from its page's heading, its button and the thing that it made.

    `Enter A New Ticket` with `Submit` is `Enter a new ticket`; `Write a review` stays.
    """
    words = _words_of(heading)
    if words and words[0] in _VERBS and len(words) <= 8:
        return _sentence_case(heading)
    if words and words[0] in _MAKING and len(words) <= 5:
        return f"Create a {' '.join(words)}"
    if not _STORING.match(button) and button.strip():
        on = f' on the page "{heading}"' if heading else ""
        return f'Press "{button}"{on}' if len(button.split()) > 6 else _pressed(button, on)
    if noun:
        return f"Create {'an' if noun[0] in 'aeiou' else 'a'} {noun}"
    return f'Fill in the form "{heading}" and press "{button}"' if heading else ""


def _pressed(button: str, on: str) -> str:
    words = _words_of(button)
    if words and words[0] in _VERBS and len(words) > 1:
        return _sentence_case(button)
    return f'Press "{button}"{on}'


def _words_of(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower())


def _sentence_case(text: str) -> str:
    """`Enter A New Ticket` as `Enter a new ticket`; names in the middle lose their capitals."""
    flat = " ".join(text.split()).rstrip(":.")
    return flat[:1].upper() + flat[1:].lower()
