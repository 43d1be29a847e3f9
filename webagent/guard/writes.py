"""Whether a request that changes something carries what the goal asks for, and nothing else."""

import calendar
import difflib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from email import message_from_bytes
from itertools import takewhile
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tasks.task import Json
from webagent.action import Action
from webagent.action import actions as act
from webagent.guard.decide import quote_short
from webagent.guard.secret import find_placeholders
from webagent.records import Node, Observation, Trajectory

_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"(?<![\w.])\d[\d.,]*(?<![.,])")
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_CODE = re.compile(r"\b(?=[A-Za-z]*\d)(?=\d*[A-Za-z])\w+\b")
_QUOTED = re.compile(
    r"(?:(?<!\w)(?P<single>['‘‚‹])(?=\S)|[\"“«„])(?P<text>(?(single)[^\"“”«»]+?|[^\"“”»]+))"
    r"(?(single)(?<=\S)['’‘›](?!\w)|[\"”“»])"
)
"""What stands in quotation marks of any kind; single ones are no apostrophes."""
_NAME = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z]\w+")
"""A word with a capital inside a sentence."""
_MONTHS = {name.lower(): str(at) for at, name in enumerate(calendar.month_name) if name}
_STEM = 4
"""Letters that two forms of a word share, as in close and closed."""
_ENDING = 3
"""Letters by which they may differ at the end."""
_SHORT = 8
"""Words of a value; longer texts are composed, and their words need not be those of the goal."""
_LEAST_COPIED = 100
"""Numbers from here on are copied from a page; smaller ones stand on every page by chance."""


@dataclass(frozen=True, slots=True)
class FilledField:
    """What the agent put into a field."""

    field: str
    value: str
    before: str
    """What the field held until then."""
    is_typed: bool
    page: str
    """Address of its page, without query and fragment."""
    mark: int
    role: str
    doubt: str = ""
    """Why the goal does not ask for it, by what stood on pages until then."""
    wanted: str = ""
    """The words of the goal that ask for it; empty where it does not have all of it."""


@dataclass(frozen=True, slots=True)
class PendingWrite:
    """A request that may change something, before it is sent."""

    method: str
    url: str
    fields: tuple[tuple[str, str], ...] = ()
    """Names and values of its body, in order; empty for a body that is no form and no JSON."""


NOT_SENT = "not sent"
"""Beginning of the reason why a request was held back that may change something."""
SENT_ALREADY = "one action has sent it already"
"""The reason where the same was let through a moment before."""


@dataclass(slots=True)
class SentWrite:
    """A request that was sent and may have changed something."""

    step: int
    write: PendingWrite
    entries: tuple[FilledField, ...]
    """What the agent had entered of what it carries."""
    page: str
    """Address of the page that it was sent from."""
    landed: str = ""
    """Address of the page that the agent saw next."""
    status: int | None = None
    """What the site answered; None for no answer."""
    verified: bool | None = None
    """Whether pages, read anew, show all that was sent, or nothing of it; None for a part, as of
    a date that is written in another way, and where nothing could be compared."""
    shown: tuple[bool, ...] = ()
    """The same of each entry; empty where no page could be read."""
    pages: tuple[str, ...] = ()
    """Addresses of the pages that were read."""

    def to_json(self) -> dict[str, Json]:
        """Return it for the episode's evidence."""
        return {
            "step": self.step,
            "method": self.write.method,
            "url": self.write.url,
            "fields": [[each.field, each.value] for each in self.entries],
            "wanted": [each.wanted for each in self.entries],
            "status": self.status,
            "verified": self.verified,
            "shown": list(self.shown),
            "pages": list(self.pages),
        }


def describe_writes(sent: Sequence[SentWrite], unused: Sequence[str]) -> dict[str, Json]:
    """Return, for the evidence, what was sent, and whether all of it was read back and the goal has
    nothing else: null where nothing could be compared."""
    compared = [each.verified for each in sent if each.entries]
    verified = None
    if compared and (unused or False in compared or None not in compared):
        verified = not unused and False not in compared
    writes: list[Json] = [each.to_json() for each in sent]
    return {"writes": writes, "unused": list(unused), "verified": verified}


def read_verified(trajectory: Trajectory) -> bool | None:
    """Return what `describe_writes` found of an episode; None where changes are not confirmed."""
    guard = trajectory.evidence.get("guard")
    verified = guard.get("verified") if isinstance(guard, dict) else None
    return verified if isinstance(verified, bool) else None


def explain_unverified(trajectory: Trajectory) -> str:
    """Return why what an episode sent is not verified; empty where it is, or nothing is known."""
    guard = trajectory.evidence.get("guard")
    if read_verified(trajectory) is not False or not isinstance(guard, dict):
        return ""
    found: dict[str, Any] = dict(guard)
    reasons = [
        f"{each['method']} {each['url']} was answered with {each['status'] or 'nothing'}, and no"
        " page shows what it sent"
        for each in found["writes"]
        if each["verified"] is False
    ]
    reasons += [f"{each!r} of the goal was used nowhere" for each in found["unused"]]
    return "; ".join(reasons)


def write_question_about(write: PendingWrite, reason: str) -> str:
    """Return the question to a person about a change; words of the page are quoted and short."""
    fields = [f"  {quote_short(name)}: {quote_short(value)}" for name, value in write.fields[:20]]
    place = quote_short(write.url, 120)
    lines = [f"May the agent send {write.method} {place}?", *fields]
    return "\n".join([*lines, f"Why it is asked: {reason or 'every change is'}"])


def read_fields(body: bytes | None, content_type: str) -> tuple[tuple[str, str], ...]:
    """Return the names and values of a form's or a JSON body; files are left out."""
    if not body:
        return ()
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        message = message_from_bytes(f"Content-Type: {content_type}\r\n\r\n".encode() + body)
        parts: Any = message.get_payload() if message.is_multipart() else []
        return tuple(
            (
                str(part.get_param("name", "", "content-disposition")),
                (part.get_payload(decode=True) or b"").decode("utf-8", errors="replace"),
            )
            for part in parts
            if not isinstance(part, str) and part.get_filename() is None
        )
    text = body.decode("utf-8", errors="replace")
    if kind.endswith("json"):
        try:
            return tuple(_leaves("", json.loads(text)))
        except (ValueError, RecursionError):
            return ()
    if kind == "application/x-www-form-urlencoded":
        return tuple(parse_qsl(text, keep_blank_values=True))
    return ()


def _leaves(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the values inside JSON, each under the name nearest to it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(str(key), inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(name, inner)
    else:
        yield name, "" if value is None else str(value)


@dataclass(slots=True)
class WriteCheck:
    """Follows one episode, and compares what is about to be sent with the goal."""

    _entries: list[FilledField] = field(default_factory=list)
    _texts: dict[str, None] = field(default_factory=dict)
    """What stood on the pages seen, each line as words."""
    _seen: Observation | None = None
    _pressed: Node | None = None

    def note(self, action: Action, seen: Observation) -> None:
        """Take in an action that is about to be done on the page as the agent sees it."""
        self._seen = seen
        mark = getattr(action, "mark", 0) or (
            seen.focus
            if isinstance(action, act.KeyboardType | act.KeyboardInsertText | act.Press)
            else 0
        )
        self._pressed = node = seen.node(mark)
        for each in seen.nodes:
            for text in (each.name, each.value, each.description):
                if text:
                    self._texts[_joined(text)] = None
        value = getattr(action, "option", "") or getattr(action, "text", "")
        is_hidden = node is not None and node.kind.endswith("password")
        entering = act.Fill | act.SelectOption | act.KeyboardType | act.KeyboardInsertText
        if not isinstance(action, entering) or not value or is_hidden or find_placeholders(value):
            return
        label, page = _label_of(seen, mark), _page_of(seen.url)
        self._entries = [
            e for e in self._entries if (e.page, e.field) != (page, label) or not label
        ]
        is_typed = not isinstance(action, act.SelectOption)
        before, role = (node.value, node.role) if node else ("", "")
        entry = FilledField(label, value, before, is_typed, page, mark, role)
        wanted = _find_wanted(value, seen.goal)
        self._entries.append(replace(entry, doubt=self._doubt(entry, seen.goal), wanted=wanted))

    @property
    def page(self) -> str:
        """The address of the page that was acted on last."""
        return self._seen.url if self._seen else ""

    def list_unused(self) -> list[str]:
        """Return the quoted values, addresses, numbers and codes of the goal that were entered
        nowhere and stood on no page."""
        goal = self._seen.goal if self._seen else ""
        entered = [text for each in self._entries for text in (each.value, *_difference(each))]
        plain = [_joined(_without_commas(text)) for text in entered]
        known = " | ".join([*self._texts, *map(_joined, entered), *plain])
        found = [each for kind in (_ADDRESS, _NUMBER, _CODE) for each in kind.findall(goal)]
        values = [_joined(_without_commas(each)) for each in (*_quoted(goal), *found)]
        return [
            each
            for each in dict.fromkeys(values)
            if f" {each} " not in f" {known} " and len(each) > 1  # a digit, as in "3 out of 5"
        ]

    def sent_entries(self, write: PendingWrite) -> list[FilledField]:
        """Return what the agent entered and the request carries: by the values of its body, or by
        the page for what was selected, whose value the page chooses."""
        values = {_joined(value) for _, value in write.fields}
        here = _page_of(self._seen.url) if self._seen else ""
        return [
            each
            for each in self._entries
            if _joined(each.value) in values
            or (each.page == here and not (each.is_typed and write.fields))
        ]

    def object_to(self, write: PendingWrite) -> str:
        """Return why the request does not fit the goal; empty where nothing speaks against it."""
        if self._seen is None:
            return ""
        goal = self._seen.goal
        entries = self.sent_entries(write)
        if doubt := next((each.doubt for each in entries if each.doubt), ""):
            return doubt
        if left := self._number_left(goal, entries):
            return left
        marks = [each.mark for each in entries if self._seen.node(each.mark)]
        control = self._seen.node(marks[-1]) if marks else self._pressed
        if control is None or not control.box[3]:
            return ""
        # Of several rows one is the wrong one where another has all that the goal names, and more.
        wanted = set(_words(" ".join(_quoted(goal)))) | set(_NUMBER.findall(goal))
        wanted |= {word.lower() for word in _NAME.findall(goal)}
        mine, kind = _row_of(self._seen, control) & wanted, (control.role, control.name)
        for node in self._seen.nodes if mine else ():
            if (node.role, node.name) == kind and node.box[0] == control.box[0]:
                theirs = _row_of(self._seen, node) & wanted
                if mine < theirs:
                    more = " ".join(sorted(theirs - mine))
                    return f"another row also has {more!r}, as the goal does"
        return ""

    def _doubt(self, entry: FilledField, goal: str) -> str:
        """Return why the goal does not ask for an entry; empty where nothing speaks against it."""
        where = f" for {entry.field!r}" if entry.field else ""
        value = entry.value.strip().casefold()
        for whole in _ADDRESS.findall(goal):
            is_part = value and value in whole.casefold() and value != whole.casefold()
            if is_part and value not in set(_words(goal.replace(whole, " "))):
                what = f"{entry.value[:60]!r}{where}"
                return f"{what} is only a part of {whole!r}, which the goal has"
        if spoiled := self._spoiled(entry, goal):
            return f"the new text{where} {spoiled}"
        text = _joined(entry.value)
        # Small numbers stand on all pages by chance.
        may_be_copied = entry.is_typed and not (_is_small(text) and entry.role == "spinbutton")
        is_copied = may_be_copied and any(f" {text} " in f" {each} " for each in self._texts)
        # In whatever form; long texts may be composed.
        given, wanted = _words(entry.value), _words(goal)
        if is_copied or len(given) > _SHORT or all(_has_form(wanted, word) for word in given):
            return ""
        numbers = [float(n.replace(",", "")) for n in _NUMBER.findall(goal) if n.count(".") < 2]
        for number in (entry.value.replace(",", "").lstrip("£$€"), *_difference(entry)):
            with suppress(ValueError):
                if float(number) in numbers:
                    return ""
        return f"{entry.value[:60]!r}{where} is not what the goal asks for"

    def _number_left(self, goal: str, entries: Sequence[FilledField]) -> str:
        """Why a number of the goal is missing: nowhere, and a field for numbers is as it was."""
        seen = self._seen
        if seen is None:
            return ""
        numbers = {each.replace(",", "") for each in _NUMBER.findall(goal)}
        known = set(_WORD.findall(_without_commas(" ".join(e.value for e in entries))))
        for each in entries:
            known |= set(_difference(each))
        shown = {word for text in self._texts for word in text.split() if not _is_small(word)}
        left = [each for each in numbers if not set(_WORD.findall(each)) <= known | shown]
        filled = {each.field for each in entries}
        fields = [
            node
            for node in seen.nodes
            if node.role == "spinbutton" and _label_of(seen, node.mark) not in filled
        ]
        if len(left) == 1 and len(fields) == 1 and fields[0].value != left[0]:
            name = _label_of(seen, fields[0].mark)
            return f"the goal has {left[0]}, and the field {name!r} stays at {fields[0].value!r}"
        return ""

    def _spoiled(self, entry: FilledField, goal: str) -> str:
        """Return what an edit does to a longer text beyond what the goal asks for."""
        before, after = _words(entry.before), _words(entry.value)
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
        changes = [each[1:] for each in matcher.get_opcodes() if each[0] != "equal"]
        removed = sum(end - start for start, end, _, _ in changes)
        if len(before) < _SHORT:
            return ""
        wanted = _words(goal)
        if 2 * removed > len(before):
            is_given = all(_has_form(wanted, word) for word in after)
            return "" if is_given else "replaces all that was there, and the goal does not have it"
        shown = {word for text in self._texts for word in text.split() if not word.isalpha()}
        for start, end, begin, stop in changes:
            added = [w for w in after[begin:stop] if w not in shown and not _has_form(wanted, w)]
            if added:
                return f"adds {' '.join(added)[:60]!r}, which is not in the goal"
            lost = [word for word in before[start:end] if not _has_form(wanted, word)]
            if len(lost) > (begin < stop):  # one word gives way to what is wanted
                return f"removes {' '.join(lost)[:60]!r}, which is not in the goal"
        if not removed and entry.value.count("\n") < entry.before.count("\n"):
            return "loses line breaks"
        return ""


def find_shown(texts: Sequence[str], entries: Sequence[FilledField]) -> tuple[bool, ...]:
    """Return of each entry whether the texts of pages have it; empty without a text."""
    shown = " | ".join(map(_joined, texts))
    return tuple(
        all(f" {_joined(part)} " in f" {shown} " for part in each.value.split(","))
        for each in entries[: len(entries) * bool(texts)]
    )


def _quoted(goal: str) -> list[str]:
    return [found["text"] for found in _QUOTED.finditer(goal)]


def _find_wanted(value: str, goal: str) -> str:
    """Return the words of a goal that ask for all of a value, in its order; else nothing."""
    if (at := goal.casefold().find(value.casefold())) >= 0:
        return goal[at : at + len(value)]
    given, wanted = _words(value), _WORD.findall(goal)
    found = [word for word in wanted if any(_has_form(_words(word), each) for each in given)]
    return " ".join(found) if all(_has_form(_words(goal), each) for each in given) else ""


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def _is_small(word: str) -> bool:
    return word.isdecimal() and len(word.lstrip("0")) < len(str(_LEAST_COPIED))


def _without_commas(text: str) -> str:
    """Return the text with its numbers as a field for numbers holds them: 1,200 as 1200."""
    return re.sub(r"(?<=\d),(?=\d{3})", "", text)


def _joined(text: str) -> str:
    return " ".join(_words(text))


def _page_of(url: str) -> str:
    return urlsplit(url)._replace(query="", fragment="").geturl()


def _label_of(page: Observation, mark: int) -> str:
    """Return what a field is called: its name, or the text before it."""
    before = list(takewhile(lambda node: node.mark != mark or not mark, page.nodes))
    node = page.node(mark)
    if node is None or node.name:
        return node.name if node else ""
    return before[-1].name if before and not before[-1].mark else ""


def _row_of(page: Observation, control: Node) -> set[str]:
    """Return the words at the height of a control; what fields hold may be the agent's own."""
    middle = control.box[1] + control.box[3] / 2
    return {
        word
        for node in page.nodes
        if node.box[1] <= middle <= node.box[1] + node.box[3] < node.box[1] + 4 * control.box[3]
        for word in _words(node.name)
    }


def _difference(entry: FilledField) -> Iterable[str]:
    """Return by how much a number was changed, as a word."""
    try:
        change = abs(float(entry.value) - float(entry.before))
    except ValueError:
        return ()
    return (f"{change:g}",)


def _has_form(words: Iterable[str], word: str) -> bool:
    """Whether a word is there in some form: close for closed, open for reopen, 05 for May."""
    for other in words:
        if word == other or (word.isdigit() and word.lstrip("0") in (other, _MONTHS.get(other))):
            return True
        shorter, longer = sorted((word, other), key=len)
        if len(shorter) < _STEM or word.isdigit() or other.isdigit():
            continue
        alike = takewhile(lambda pair: pair[0] == pair[1], zip(word, other, strict=False))
        if longer.endswith(shorter) or len([*alike]) >= max(_STEM, len(longer) - _ENDING):
            return True
    return False
