"""Backward labelling, the words: a goal written for what was done, by rule or by a model."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from webagent.models.model import Message, Model, Reply
from webagent.models.prompt import fence, load_prompt
from webagent.models.replies import UnusableError, ask_and_read

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


def simplify_label(label: str) -> str:
    """A field's label within a sentence: `Enter a one-line summary of the ticket:` as `summary of
    the ticket`, `EMail:` as `email`."""
    text = label.strip().rstrip(":*? ").strip()
    text = re.sub(
        r"^(please )?(enter|type|give|select|choose)\s+(an?|the|your)?\s*", "", text, flags=re.I
    )
    text = re.sub(r"^one-line\s+", "", text, flags=re.I)
    return text if text.isupper() else text[:1].lower() + text[1:]


def add_article(noun: str) -> str:
    """The noun with `the`, unless it has one already."""
    return noun if re.match(r"(the|an?|your|its)\b", noun, re.IGNORECASE) else f"the {noun}"


def is_plural(noun: str) -> bool:
    """Whether a noun speaks of several things: `check-ins`, not `status` or `address`."""
    return bool(re.search(r"[^sui]s$", noun))


def lower_first(sentence: str) -> str:
    """A sentence as the middle of another."""
    return sentence[:1].lower() + sentence[1:]


def join_words(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def name_table_row(table: str) -> str:
    """What a row of a table is called: `order_order` as `order`, `wishlists_line` as `line`."""
    words = [word for word in table.lower().split("_") if word]
    last = words[-1] if words else ""
    return last[:-1] if last.endswith("s") and not last.endswith("ss") else last


def write_verb_phrase(heading: str, button: str, noun: str) -> str:
    """What a form does, from its page's heading, its button and the thing that it made.

    `Enter A New Ticket` with `Submit` is `Enter a new ticket`; `Write a review` stays.
    """
    words = _split_words(heading)
    if words and words[0] in _VERBS and len(words) <= 8:
        return _sentence_case(heading)
    if words and words[0] in _MAKING and len(words) <= 5:
        return f"Create a {' '.join(words)}"
    if not _STORING.match(button) and button.strip():
        on = f' on the page "{heading}"' if heading else ""
        return f'Press "{button}"{on}' if len(button.split()) > 6 else _describe_button(button, on)
    if noun:
        return f"Create {'an' if noun[0] in 'aeiou' else 'a'} {noun}"
    return f'Fill in the form "{heading}" and press "{button}"' if heading else ""


def _describe_button(button: str, on: str) -> str:
    words = _split_words(button)
    if words and words[0] in _VERBS and len(words) > 1:
        return _sentence_case(button)
    return f'Press "{button}"{on}'


def _split_words(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower())


def _sentence_case(text: str) -> str:
    """`Enter A New Ticket` as `Enter a new ticket`; names in the middle lose their capitals."""
    flat = " ".join(text.split()).rstrip(":.")
    return flat[:1].upper() + flat[1:].lower()


DatabaseChanges: TypeAlias = Mapping[str, Any]
"""The record `changes` of an episode: by table, the rows added, removed and changed."""

_TITLES = re.compile(r"^(title|name|subject|summary|headline)$|one-line summary", re.IGNORECASE)
_SEARCHES = re.compile(r"^(search|find|go|filter|look ?up)\b", re.IGNORECASE)
_LONGEST = 90


@dataclass(frozen=True, slots=True)
class FilledField:
    """A field that was given a value."""

    label: str
    kind: str
    """`textbox`, `combobox`, `checkbox`, `radio`, ..."""
    value: str


@dataclass(frozen=True, slots=True)
class FormSubmission:
    """A form that was sent, or a button that was pressed."""

    button: str
    heading: str
    """Of the page it was on."""
    fields: tuple[FilledField, ...] = ()
    subject: str = ""
    """What the page was about: what it calls itself, or the link that led to it."""
    is_particular: bool = False
    """Whether it was one of many pages of its kind, so that a task must say which."""


@dataclass(frozen=True, slots=True)
class PageVisit:
    """A page that was gone to."""

    link: str
    title: str
    kind: str = ""
    """Pattern of its address."""


@dataclass(frozen=True, slots=True)
class PageFact:
    """A value that stands on a page."""

    subject: str
    label: str
    value: str
    page: str
    """Title of the page."""


PageAction: TypeAlias = FormSubmission | PageVisit | PageFact


@dataclass(frozen=True, slots=True)
class CompletedActions:
    """What an episode came to."""

    page_actions: tuple[PageAction, ...]
    """In order; the last is what the task is about."""
    changes: DatabaseChanges | None = None
    """What it left in the site's database; None where nobody can tell."""
    url: str = ""
    """Address of the last page."""


@dataclass(frozen=True, slots=True)
class WrittenGoal:
    """A task in words."""

    goal: str
    answer: str = ""
    """What the goal asks for; empty where it asks for something to be done."""


class GoalWriter(Protocol):
    """Writes the task that a story is the solution of."""

    @property
    def name(self) -> str:
        """Which writer, as `grammar` or a model's name."""
        ...

    async def write(self, story: CompletedActions) -> WrittenGoal | None:
        """The task; None where the story is not worth one. Raises `ModelError`."""
        ...


class GrammarWriter:
    """The writer that needs no model: the words of the page, put together by rule."""

    name = "grammar"

    async def write(self, story: CompletedActions) -> WrittenGoal | None:
        """One sentence for each action that did something; a question for a value that was read."""
        last = story.page_actions[-1] if story.page_actions else None
        if isinstance(last, PageFact):
            return WrittenGoal(_write_question(last), last.value)
        if isinstance(last, PageVisit):
            return WrittenGoal(f'Go to the page "{last.title}".' if last.title else "")
        told = [
            page_action
            for page_action in story.page_actions
            if isinstance(page_action, FormSubmission)
        ]
        is_stored = story.changes is None or bool(story.changes)
        parts = [
            _describe_submission(page_action, story.changes or {})
            if is_stored
            else _describe_press(page_action)
            for page_action in told
        ]
        if not parts or not all(parts):
            return None
        goal = parts[0] + "".join(f", then {lower_first(part)}" for part in parts[1:])
        return WrittenGoal(f"{goal}.")


def name_template(page_action: PageAction) -> str:
    """Return the kind of an action, values aside: what makes tasks of one template."""
    if isinstance(page_action, FormSubmission):
        labels = ",".join(sorted(field.label for field in page_action.fields))
        return f"submit {page_action.heading}/{page_action.button}: {labels}"
    if isinstance(page_action, PageFact):
        return f"read {page_action.page.rpartition(':')[0]}: {page_action.label}"
    return f"open {page_action.kind or page_action.title}"


def is_search(page_action: FormSubmission) -> bool:
    """Whether a form only looks something up."""
    return bool(_SEARCHES.search(page_action.button)) or "search" in page_action.heading.lower()


def is_title(label: str) -> bool:
    """Whether a field names the thing that its form makes."""
    return bool(_TITLES.search(label))


def is_mentioned(value: str, goal: str) -> bool:
    """Whether a goal says a value."""
    return value.casefold() in goal.casefold()


def _describe_submission(page_action: FormSubmission, changes: DatabaseChanges) -> str:
    """A action as an order; empty where it cannot be told which of many things it was done to."""
    if page_action.is_particular and not page_action.subject:
        return ""
    if is_search(page_action):
        return _describe_search(page_action)
    titled = next((field for field in page_action.fields if is_title(field.label)), None)
    rest = [field for field in page_action.fields if field is not titled]
    if (
        rest
        and titled is None
        and any(table.get("changed") for table in changes.values())
        and (page_action.is_particular or not any(table.get("added") for table in changes.values()))
    ):
        settings = join_words(
            [f"{add_article(simplify_label(f.label))} to {_quote_value(f)}" for f in rest]
        )
        where = (
            f'for "{page_action.subject}"'
            if page_action.subject
            else f'on the page "{page_action.heading}"'
        )
        return f"Change {settings} {where}"
    what = write_verb_phrase(
        page_action.heading, page_action.button, _find_table(page_action, changes)
    )
    named = f' titled "{titled.value}"' if titled else ""
    about = f' for "{page_action.subject}"' if page_action.subject else ""
    with_ = f" with {join_words([_describe_field(field) for field in rest])}" if rest else ""
    if not page_action.fields and not about and f'"{page_action.heading}"' not in what:
        about = f' on the page "{page_action.heading}"'
    return f"{what}{named}{about}{with_}" if what else ""


def _describe_press(page_action: FormSubmission) -> str:
    """A action that left nothing behind: what was looked for, else what was pressed and no more."""
    if is_search(page_action):
        return _describe_search(page_action)
    fields = join_words([f'"{f.value}" as {simplify_label(f.label)}' for f in page_action.fields])
    entered = f"enter {fields} and " if page_action.fields else ""
    if page_action.is_particular and not page_action.subject:
        return ""
    about = f' for "{page_action.subject}"' if page_action.subject else ""
    return f'On the page "{page_action.heading}"{about} {entered}press "{page_action.button}"'


def _describe_search(page_action: FormSubmission) -> str:
    texts = [field for field in page_action.fields if field.kind in ("textbox", "searchbox")]
    if not texts:
        return ""
    others = [field for field in page_action.fields if field not in texts[:1]]
    with_ = f" with {join_words([_describe_field(field) for field in others])}" if others else ""
    if _SEARCHES.search(page_action.button) and len(page_action.button.split()) > 1:
        return f'{page_action.button} for "{texts[0].value}"{with_}'
    return f'Search for "{texts[0].value}"{with_} on the page "{page_action.heading}"'


def _describe_field(field: FilledField) -> str:
    """A field with its value: `type Code_Defect`, `Public checked`."""
    if field.kind in ("checkbox", "switch"):
        return f"{simplify_label(field.label)} {field.value}"
    if field.kind == "radio":
        return f"{simplify_label(field.label)} chosen"
    return f"{simplify_label(field.label)} {_quote_value(field)}"


def _quote_value(field: FilledField) -> str:
    return (
        field.value if field.kind == "combobox" and " " not in field.value else f'"{field.value}"'
    )


def _write_question(read: PageFact) -> str:
    """`What is the status of "Broken link" on the page "Tickets"?`"""
    label = simplify_label(read.label)
    if read.subject and is_plural(label):
        about = f'does "{read.subject}" have on the page "{read.page}"?'
        return f"How many {label} {about}" if read.value.isdigit() else f"Which {label} {about}"
    of = f' of "{read.subject}"' if read.subject else ""
    return f'What is {add_article(simplify_label(read.label))}{of} on the page "{read.page}"?'


def _find_table(page_action: FormSubmission, changes: DatabaseChanges) -> str:
    """The thing that was made or changed: the table whose rows hold most of what was typed."""
    values = {field.value for field in page_action.fields}

    def shared(table: str) -> int:
        rows = [row for row in _rows(changes[table]) if isinstance(row, Mapping)]
        return max((len(values & {str(v) for v in row.values()}) for row in rows), default=0)

    best = max(sorted(changes), key=shared, default="")
    return name_table_row(best) if best and shared(best) else ""


def _rows(difference: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    altered = [pair.get("after", {}) for pair in difference.get("changed", [])]
    return [*difference.get("added", []), *altered]


def is_label(text: str) -> bool:
    """Whether a label can stand in a goal: words, not too many."""
    return bool(re.fullmatch(r"[\w \-'’()/?.,:*]{2,70}", text)) and len(text.split()) <= 10


def is_brief(text: str) -> bool:
    """Whether a text can stand in a goal: one line, not too long."""
    return bool(text.strip()) and len(text) <= _LONGEST and "\n" not in text


PROMPT = load_prompt(Path(__file__).parent / "prompts" / "label.md")
_LONGEST_GOAL = 400
_MAX_TOKENS = 1024


@dataclass(frozen=True, slots=True)
class ModelWriter:
    """Has a model write the task that a story is the solution of."""

    model: Model

    @property
    def name(self) -> str:
        """The model's, with the hash of what it is asked."""
        return f"{self.model.name}, label#{PROMPT.hash}"

    async def write(self, story: CompletedActions) -> WrittenGoal | None:
        """The task in the model's words, asked once more where its reply cannot be read; None where
        it finds none or cannot be read again. Raises `ModelError`.

        What was typed or read has to stand in what it writes: a task without it would be another.
        """
        user = PROMPT.fill("user", story=fence("story", _describe_actions(story)))
        messages = [Message("system", PROMPT.fill("system")), Message("user", user)]

        async def ask(asked: tuple[Message, ...]) -> Reply:
            return (await self.model.complete(asked, max_tokens=_MAX_TOKENS)).replies[0]

        try:
            return await ask_and_read(
                ask,
                messages,
                lambda text: parse_reply(text, story),
                lambda problem: PROMPT.fill("again", problem=problem),
            )
        except UnusableError:
            return None


def parse_reply(text: str, story: CompletedActions) -> WrittenGoal | None:
    """Return the task in a reply, None where it says that there is none. Raises `UnusableError`."""
    try:
        said = json.loads(re.sub(r"^```(?:json)?\s*|\s*```$", "", text))
    except json.JSONDecodeError:
        raise UnusableError("it is not one JSON object") from None
    if not isinstance(said, dict) or said.keys() != {"task"}:
        raise UnusableError("expected an object with the key task and no other")
    goal = said["task"]
    if goal is None:
        return None
    if not isinstance(goal, str) or not 0 < len(goal.strip()) <= _LONGEST_GOAL:
        raise UnusableError(
            f"the task has to be a text of 1 to {_LONGEST_GOAL} characters, or null"
        )
    last = story.page_actions[-1]
    answer = last.value if isinstance(last, PageFact) else ""
    if answer and answer.casefold() in goal.casefold():
        raise UnusableError("the question gives its answer away")
    missing = [value for value in _list_required(story) if value.casefold() not in goal.casefold()]
    if missing:
        raise UnusableError(f"the task does not say {missing[0]!r}")
    return WrittenGoal(" ".join(goal.split()), answer)


def _list_required(story: CompletedActions) -> list[str]:
    """What a task has to name for it to be this one."""
    last = story.page_actions[-1]
    if isinstance(last, PageFact):
        return [last.subject] if last.subject else []
    told = [
        page_action for page_action in story.page_actions if isinstance(page_action, FormSubmission)
    ]
    values = [
        f.value
        for page_action in told
        for f in page_action.fields
        if f.kind in ("textbox", "combobox")
    ]
    return [*values, *(page_action.subject for page_action in told if page_action.subject)]


def _describe_actions(story: CompletedActions) -> str:
    lines = [_describe_action(page_action) for page_action in story.page_actions]
    if story.changes:
        lines.append(f"In the site's database changed: {', '.join(sorted(story.changes))}")
    return "\n".join(lines)


def _describe_action(page_action: PageAction) -> str:
    match page_action:
        case PageFact(subject, label, value, page):
            of = f" of {subject!r}" if subject else ""
            return f"Read on the page {page!r}: the {label!r}{of} is {value!r}"
        case PageVisit(link, title):
            return f"Followed {link!r} to the page {title!r}"
        case FormSubmission(button, heading, fields, subject):
            entered = "; ".join(f"{f.label!r} ({f.kind}): {f.value!r}" for f in fields)
            about = f", for {subject!r}" if subject else ""
            return f"On {heading!r}{about} pressed {button!r} with {entered or 'nothing entered'}"


TIMESTAMP = re.compile(r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?.*)?$")


_AGO = re.compile(
    r"\bago\b|\b(year|month|week|day|hour|minute|second)s?\b|\bnow\b|\btoday\b|yesterday|\d\d:\d\d",
    re.IGNORECASE,
)


def is_time_text(text: str) -> bool:
    """Whether a text is a date or a time, or speaks of one from now."""
    return bool(TIMESTAMP.match(text) or _AGO.search(text))
