"""Backward labelling: what was done told as deeds, and a task written from them.

After NNetNav (arXiv 2410.02907) and Learn-by-Interact (arXiv 2501.10893): first the trajectory,
then the instruction it would be the answer to. Whoever writes is behind one seam.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from loop.proposers.backward_words import (
    article,
    is_plural,
    joined,
    lowered,
    noun_of_table,
    plain_label,
    verb_phrase,
)

Changes: TypeAlias = Mapping[str, Any]
"""The record `changes` of an episode: by table, the rows added, removed and changed."""

_TITLES = re.compile(r"^(title|name|subject|summary|headline)$|one-line summary", re.IGNORECASE)
_SEARCHES = re.compile(r"^(search|find|go|filter|look ?up)\b", re.IGNORECASE)
_LONGEST = 90


@dataclass(frozen=True, slots=True)
class Filled:
    """A field that was given a value."""

    label: str
    kind: str
    """`textbox`, `combobox`, `checkbox`, `radio`, ..."""
    value: str


@dataclass(frozen=True, slots=True)
class Submitted:
    """A form that was sent, or a button that was pressed."""

    button: str
    heading: str
    """Of the page it was on."""
    fields: tuple[Filled, ...] = ()
    subject: str = ""
    """What the page was about: what it calls itself, or the link that led to it."""
    is_particular: bool = False
    """Whether it was one of many pages of its kind, so that a task must say which."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A page that was gone to."""

    link: str
    title: str
    kind: str = ""
    """Pattern of its address."""


@dataclass(frozen=True, slots=True)
class Read:
    """A value that stands on a page."""

    subject: str
    label: str
    value: str
    page: str
    """Title of the page."""


Deed: TypeAlias = Submitted | Opened | Read


@dataclass(frozen=True, slots=True)
class Story:
    """What an episode came to."""

    deeds: tuple[Deed, ...]
    """In order; the last is what the task is about."""
    changes: Changes | None = None
    """What it left in the site's database; None where nobody can tell."""
    url: str = ""
    """Address of the last page."""


@dataclass(frozen=True, slots=True)
class Written:
    """A task in words."""

    goal: str
    answer: str = ""
    """What the goal asks for; empty where it asks for something to be done."""


class Writer(Protocol):
    """Writes the task that a story is the solution of."""

    @property
    def name(self) -> str:
        """Which writer, as `grammar` or a model's name."""
        ...

    async def write(self, story: Story) -> Written | None:
        """The task; None where the story is not worth one. Raises `ModelError`."""
        ...


class Grammar:
    """The writer that needs no model: the words of the page, put together by rule."""

    name = "grammar"

    async def write(self, story: Story) -> Written | None:
        """One sentence for each deed that did something; a question for a value that was read."""
        last = story.deeds[-1] if story.deeds else None
        if isinstance(last, Read):
            return Written(_question(last), last.value)
        if isinstance(last, Opened):
            return Written(f'Go to the page "{last.title}".' if last.title else "")
        told = [deed for deed in story.deeds if isinstance(deed, Submitted)]
        is_stored = story.changes is None or bool(story.changes)
        parts = [
            _sentence(deed, story.changes or {}) if is_stored else _pressed(deed) for deed in told
        ]
        if not parts or not all(parts):
            return None
        goal = parts[0] + "".join(f", then {lowered(part)}" for part in parts[1:])
        return Written(f"{goal}.")


def signature(deed: Deed) -> str:
    """What kind of deed it is, values aside: deeds of one signature make tasks of one template."""
    if isinstance(deed, Submitted):
        labels = ",".join(sorted(field.label for field in deed.fields))
        return f"submit {deed.heading}/{deed.button}: {labels}"
    if isinstance(deed, Read):
        return f"read {deed.page.rpartition(':')[0]}: {deed.label}"
    return f"open {deed.kind or deed.title}"


def is_search(deed: Submitted) -> bool:
    """Whether a form only looks something up."""
    return bool(_SEARCHES.search(deed.button)) or "search" in deed.heading.lower()


def is_title(label: str) -> bool:
    """Whether a field names the thing that its form makes."""
    return bool(_TITLES.search(label))


def is_told(value: str, goal: str) -> bool:
    """Whether a goal says a value."""
    return value.casefold() in goal.casefold()


def _sentence(deed: Submitted, changes: Changes) -> str:
    """A deed as an order; empty where it cannot be told which of many things it was done to."""
    if deed.is_particular and not deed.subject:
        return ""
    if is_search(deed):
        return _search(deed)
    titled = next((field for field in deed.fields if is_title(field.label)), None)
    rest = [field for field in deed.fields if field is not titled]
    if (
        rest
        and titled is None
        and any(table.get("changed") for table in changes.values())
        and (deed.is_particular or not any(table.get("added") for table in changes.values()))
    ):
        settings = joined([f"{article(plain_label(f.label))} to {_value(f)}" for f in rest])
        where = f'for "{deed.subject}"' if deed.subject else f'on the page "{deed.heading}"'
        return f"Change {settings} {where}"
    what = verb_phrase(deed.heading, deed.button, _table(deed, changes))
    named = f' titled "{titled.value}"' if titled else ""
    about = f' for "{deed.subject}"' if deed.subject else ""
    with_ = f" with {joined([_said(field) for field in rest])}" if rest else ""
    if not deed.fields and not about and f'"{deed.heading}"' not in what:
        about = f' on the page "{deed.heading}"'
    return f"{what}{named}{about}{with_}" if what else ""


def _pressed(deed: Submitted) -> str:
    """A deed that left nothing behind: what was looked for, else what was pressed and no more."""
    if is_search(deed):
        return _search(deed)
    fields = joined([f'"{f.value}" as {plain_label(f.label)}' for f in deed.fields])
    entered = f"enter {fields} and " if deed.fields else ""
    if deed.is_particular and not deed.subject:
        return ""
    about = f' for "{deed.subject}"' if deed.subject else ""
    return f'On the page "{deed.heading}"{about} {entered}press "{deed.button}"'


def _search(deed: Submitted) -> str:
    texts = [field for field in deed.fields if field.kind in ("textbox", "searchbox")]
    if not texts:
        return ""
    others = [field for field in deed.fields if field not in texts[:1]]
    with_ = f" with {joined([_said(field) for field in others])}" if others else ""
    if _SEARCHES.search(deed.button) and len(deed.button.split()) > 1:
        return f'{deed.button} for "{texts[0].value}"{with_}'
    return f'Search for "{texts[0].value}"{with_} on the page "{deed.heading}"'


def _said(field: Filled) -> str:
    """A field with its value: `type Code_Defect`, `Public checked`."""
    if field.kind in ("checkbox", "switch"):
        return f"{plain_label(field.label)} {field.value}"
    if field.kind == "radio":
        return f"{plain_label(field.label)} chosen"
    return f"{plain_label(field.label)} {_value(field)}"


def _value(field: Filled) -> str:
    return (
        field.value if field.kind == "combobox" and " " not in field.value else f'"{field.value}"'
    )


def _question(read: Read) -> str:
    """`What is the status of "Broken link" on the page "Tickets"?`"""
    label = plain_label(read.label)
    if read.subject and is_plural(label):
        about = f'does "{read.subject}" have on the page "{read.page}"?'
        return f"How many {label} {about}" if read.value.isdigit() else f"Which {label} {about}"
    of = f' of "{read.subject}"' if read.subject else ""
    return f'What is {article(plain_label(read.label))}{of} on the page "{read.page}"?'


def _table(deed: Submitted, changes: Changes) -> str:
    """The thing that was made or changed: the table whose rows hold most of what was typed."""
    values = {field.value for field in deed.fields}

    def shared(table: str) -> int:
        rows = [row for row in _rows(changes[table]) if isinstance(row, Mapping)]
        return max((len(values & {str(v) for v in row.values()}) for row in rows), default=0)

    best = max(sorted(changes), key=shared, default="")
    return noun_of_table(best) if best and shared(best) else ""


def _rows(difference: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    altered = [pair.get("after", {}) for pair in difference.get("changed", [])]
    return [*difference.get("added", []), *altered]


def is_label(text: str) -> bool:
    """Whether a label can stand in a goal: words, not too many."""
    return bool(re.fullmatch(r"[\w \-'’()/?.,:*]{2,70}", text)) and len(text.split()) <= 10


def is_brief(text: str) -> bool:
    """Whether a text can stand in a goal: one line, not too long."""
    return bool(text.strip()) and len(text) <= _LONGEST and "\n" not in text
