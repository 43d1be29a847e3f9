"""Backward labelling, the words: a goal written for what was done, by rule or by a model."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from loop.proposers.lexicon import find_listed
from webagent.models.model import Message, Model, Reply
from webagent.models.prompt import fence, load_prompt
from webagent.models.replies import UnusableError, ask_and_read

_VERBS = find_listed("verbs")
_STORING = re.compile(
    r"^(submit|save|ok|apply|apply changes|create|update|post|send|go|confirm|continue)\b",
    re.IGNORECASE,
)


def simplify_label(label: str) -> str:
    """Return a field's label as it reads within a sentence.

    `Enter a one-line summary of the ticket:` becomes `summary of the ticket`, `EMail:` `email`.
    """
    text = label.strip().rstrip(":*? ").strip()
    text = re.sub(
        r"^(please )?(enter|type|give|select|choose)\s+(an?|the|your)?\s*", "", text, flags=re.I
    )
    text = re.sub(r"^one-line\s+", "", text, flags=re.I)
    return text if text.isupper() else _lower_first(text)


def _add_article(noun: str) -> str:
    return noun if re.match(r"(the|an?|your|its)\b", noun, re.IGNORECASE) else f"the {noun}"


def _lower_first(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _join_words(parts: Sequence[str]) -> str:
    """Return `a`, `a and b` or `a, b and c`."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def _write_verb_phrase(heading: str, button: str, noun: str) -> str:
    """Return what a form does, from its page's heading, its button and the thing that it made.

    `Enter A New Ticket` with `Submit` becomes `Enter a new ticket`; `Write a review` stays.
    """
    words = re.findall(r"[a-z]+", heading.lower())
    if words and words[0] in _VERBS and len(words) <= 8:
        return _sentence_case(heading)
    if words and words[0] == "new" and len(words) <= 5:
        return f"Create a {' '.join(words)}"
    if not _STORING.match(button) and button.strip():
        named = re.findall(r"[a-z]+", button.lower())
        if len(named) > 1 and named[0] in _VERBS and len(button.split()) <= 6:
            return _sentence_case(button)
        return f'Press "{button}"' + (f' on the page "{heading}"' if heading else "")
    if noun:
        return f"Create {'an' if noun[0] in 'aeiou' else 'a'} {noun}"
    return f'Fill in the form "{heading}" and press "{button}"' if heading else ""


def _sentence_case(text: str) -> str:
    """Return `Enter a new ticket` for `Enter A New Ticket`; names lose their capitals, too."""
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
    """What an episode came to: its actions on pages and the changes that they left."""

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
    """Writes the task that completed actions are the solution of."""

    @property
    def name(self) -> str:
        """Which writer, as `grammar` or a model's name."""
        ...

    async def write(self, story: CompletedActions) -> WrittenGoal | None:
        """Return the task, or None where the story is not worth one. Raises `ModelError`."""
        ...


class GrammarWriter:
    """The writer that needs no model: it puts the words of the page together by rule."""

    name = "grammar"

    async def write(self, story: CompletedActions) -> WrittenGoal | None:
        """Return a sentence for each form that did something, or a question for a value."""
        last = story.page_actions[-1] if story.page_actions else None
        if isinstance(last, PageFact):
            return WrittenGoal(_write_question(last), last.value)
        if isinstance(last, PageVisit):
            return WrittenGoal(f'Go to the page "{last.title}".' if last.title else "")
        forms = [each for each in story.page_actions if isinstance(each, FormSubmission)]
        if story.changes is None or story.changes:
            parts = [_describe_submission(form, story.changes or {}) for form in forms]
        else:
            parts = [_describe_press(form) for form in forms]
        if not parts or not all(parts):
            return None
        goal = parts[0] + "".join(f", then {_lower_first(part)}" for part in parts[1:])
        return WrittenGoal(f"{goal}.")


def name_template(page_action: PageAction) -> str:
    """Return the kind of an action, values aside: what makes tasks of one template."""
    match page_action:
        case FormSubmission(button, heading, fields):
            return f"submit {heading}/{button}: {','.join(sorted(f.label for f in fields))}"
        case PageFact(label=label, page=page):
            return f"read {page.rpartition(':')[0]}: {label}"
        case PageVisit(title=title, kind=kind):
            return f"open {kind or title}"


def is_search(form: FormSubmission) -> bool:
    """Return whether a form only looks something up."""
    return bool(_SEARCHES.search(form.button)) or "search" in form.heading.lower()


def is_title(label: str) -> bool:
    """Return whether a field names the thing that its form makes."""
    return bool(_TITLES.search(label))


def is_mentioned(value: str, goal: str) -> bool:
    """Return whether a goal contains a value, whatever its case."""
    return value.casefold() in goal.casefold()


def _describe_submission(form: FormSubmission, changes: DatabaseChanges) -> str:
    """Return the form as an order; empty where nobody can tell which of many things it was for."""
    if form.is_particular and not form.subject:
        return ""
    if is_search(form):
        return _describe_search(form)
    titled = next((field for field in form.fields if is_title(field.label)), None)
    rest = [field for field in form.fields if field is not titled]
    about = f' for "{form.subject}"' if form.subject else ""
    has_changed = any(table.get("changed") for table in changes.values())
    has_added = any(table.get("added") for table in changes.values())
    if rest and titled is None and has_changed and (form.is_particular or not has_added):
        settings = _join_words(
            [f"{_add_article(simplify_label(f.label))} to {_quote_value(f)}" for f in rest]
        )
        return f"Change {settings}" + (about or f' on the page "{form.heading}"')
    what = _write_verb_phrase(form.heading, form.button, _find_table(form, changes))
    named = f' titled "{titled.value}"' if titled else ""
    values = f" with {_join_words([_describe_field(field) for field in rest])}" if rest else ""
    if not form.fields and not about and f'"{form.heading}"' not in what:
        about = f' on the page "{form.heading}"'
    return f"{what}{named}{about}{values}" if what else ""


def _describe_press(form: FormSubmission) -> str:
    """Return what was looked for or pressed, for a form that left nothing behind."""
    if is_search(form):
        return _describe_search(form)
    if form.is_particular and not form.subject:
        return ""
    fields = _join_words([f'"{f.value}" as {simplify_label(f.label)}' for f in form.fields])
    entered = f"enter {fields} and " if form.fields else ""
    about = f' for "{form.subject}"' if form.subject else ""
    return f'On the page "{form.heading}"{about} {entered}press "{form.button}"'


def _describe_search(form: FormSubmission) -> str:
    text = next((f for f in form.fields if f.kind in ("textbox", "searchbox")), None)
    if text is None:
        return ""
    others = [_describe_field(field) for field in form.fields if field != text]
    values = f" with {_join_words(others)}" if others else ""
    if _SEARCHES.search(form.button) and len(form.button.split()) > 1:
        return f'{form.button} for "{text.value}"{values}'
    return f'Search for "{text.value}"{values} on the page "{form.heading}"'


def _describe_field(field: FilledField) -> str:
    """Return a field with its value: `type Code_Defect`, `Public checked`."""
    value = _quote_value(field)
    if field.kind in ("checkbox", "switch"):
        value = field.value
    elif field.kind == "radio":
        value = "chosen"
    return f"{simplify_label(field.label)} {value}"


def _quote_value(field: FilledField) -> str:
    is_word = field.kind == "combobox" and " " not in field.value
    return field.value if is_word else f'"{field.value}"'


def _write_question(fact: PageFact) -> str:
    """Return `What is the status of "Broken link" on the page "Tickets"?`"""
    label = simplify_label(fact.label)
    # A plural label: `check-ins`, not `status` or `address`.
    if fact.subject and re.search(r"[^sui]s$", label):
        asked = "How many" if fact.value.isdigit() else "Which"
        return f'{asked} {label} does "{fact.subject}" have on the page "{fact.page}"?'
    of = f' of "{fact.subject}"' if fact.subject else ""
    return f'What is {_add_article(label)}{of} on the page "{fact.page}"?'


def _find_table(form: FormSubmission, changes: DatabaseChanges) -> str:
    """Return what was made or changed: a row of the table that holds most of what was typed."""
    values = {field.value for field in form.fields}

    def count_shared(table: str) -> int:
        altered = [pair.get("after", {}) for pair in changes[table].get("changed", [])]
        rows = [*changes[table].get("added", []), *altered]
        return max(
            (len(values & {str(v) for v in r.values()}) for r in rows if isinstance(r, Mapping)),
            default=0,
        )

    best = max(sorted(changes), key=count_shared, default="")
    if not best or not count_shared(best):
        return ""
    # `order_order` holds orders, `wishlists_line` lines.
    noun = best.lower().rstrip("_").rpartition("_")[2]
    return noun[:-1] if noun.endswith("s") and not noun.endswith("ss") else noun


def is_label(text: str) -> bool:
    """Return whether a label can stand in a goal: words, not too many."""
    return bool(re.fullmatch(r"[\w \-'’()/?.,:*]{2,70}", text)) and len(text.split()) <= 10


def is_brief(text: str) -> bool:
    """Return whether a text can stand in a goal: one line, not too long."""
    return bool(text.strip()) and len(text) <= _LONGEST and "\n" not in text


PROMPT = load_prompt(Path(__file__).parent / "prompts" / "label.md")
_LONGEST_GOAL = 400


@dataclass(frozen=True, slots=True)
class ModelWriter:
    """The writer that asks a model for the task that completed actions are the solution of."""

    model: Model

    @property
    def name(self) -> str:
        """The model's name, with the hash of its prompt."""
        return f"{self.model.name}, label#{PROMPT.hash}"

    async def write(self, story: CompletedActions) -> WrittenGoal | None:
        """Return the task in the model's words, asked once more where its reply cannot be read.

        Returns None where it finds none or cannot be read again. What was typed or read has to
        stand in what it writes: a task without it would be another. Raises `ModelError`.
        """
        lines = [_describe_action(page_action) for page_action in story.page_actions]
        if story.changes:
            lines.append(f"In the site's database changed: {', '.join(sorted(story.changes))}")
        user = PROMPT.fill("user", story=fence("story", "\n".join(lines)))

        async def ask(messages: tuple[Message, ...]) -> Reply:
            return (await self.model.complete(messages, max_tokens=1024)).replies[0]

        try:
            return await ask_and_read(
                ask,
                [Message("system", PROMPT.fill("system")), Message("user", user)],
                lambda text: _parse_reply(text, story),
                lambda problem: PROMPT.fill("again", problem=problem),
            )
        except UnusableError:
            return None


def _parse_reply(text: str, story: CompletedActions) -> WrittenGoal | None:
    """Return the task in a reply, None where it says that there is none. Raises `UnusableError`."""
    try:
        entry = json.loads(re.sub(r"^```(?:json)?\s*|\s*```$", "", text))
    except json.JSONDecodeError:
        raise UnusableError("it is not a single JSON object") from None
    if not isinstance(entry, dict) or entry.keys() != {"task"}:
        raise UnusableError("expected an object with the key task and no other")
    goal = entry["task"]
    if goal is None:
        return None
    if not isinstance(goal, str) or not 0 < len(goal.strip()) <= _LONGEST_GOAL:
        raise UnusableError(f"the task must be a text of 1 to {_LONGEST_GOAL} characters, or null")
    last = story.page_actions[-1]
    if isinstance(last, PageFact):
        answer, required = last.value, [last.subject]
    else:
        forms = [each for each in story.page_actions if isinstance(each, FormSubmission)]
        fields = [field for form in forms for field in form.fields]
        typed = [field.value for field in fields if field.kind in ("textbox", "combobox")]
        answer, required = "", [*typed, *(form.subject for form in forms)]
    if answer and is_mentioned(answer, goal):
        raise UnusableError("the question contains its answer")
    # An empty text is in every goal.
    missing = [value for value in required if not is_mentioned(value, goal)]
    if missing:
        raise UnusableError(f"the task does not say {missing[0]!r}")
    return WrittenGoal(" ".join(goal.split()), answer)


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
    """Return whether a text is a date or a time, or speaks of one from now."""
    return bool(TIMESTAMP.match(text) or _AGO.search(text))
