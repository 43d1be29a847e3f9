"""Goals read for their slots: the values that another goal of the same kind has different."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from webagent.memory.constants import LIKE_GOAL, STEM

_TOKEN = re.compile(r"\w+|[^\w\s]")
QUOTED = (
    r"(?:(?<!\w)(?P<single>['‘])(?=\S)|[\"“])(?P<quoted>(?(single)[^\"“”]+?|[^\"”]+))"
    r"(?(single)(?<=\S)['’](?!\w)|[\"”])"
)
"""What stands in quotation marks; single ones are no apostrophes, which have a letter before."""
FOUND = "“”"
"""Marks around values that memory found, as others are written around what people quote."""
_ADDRESS = r"(?P<address>https?://\S+[\w/]|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?<!\w)@\w+)"
_NUMBER = r"(?P<number>[£$€]?(?<!\w)[\w-]*\d(?:[\w.,:/-]*\w)?%?)"
_COUNT = r"(?<![\w.,])(?P<count>\d+)(?=[x×]\b)"
_PROSE = (
    r"(?<=: )(?P<prose>[A-Z][a-z]*(?: (?:I(?:['’][a-z]+)?|[a-z][^\sA-Z\d]*)){3,}"
    r"(?:(?<=[.!?]) [A-Z][^A-Z\d]*)*[.!])$"
)
"""Sentences after a colon, to the end; capitals inside them would be values of their own."""
_CAPITAL = r"(?!I\b)(?![\w-]*\d)[A-Z](?:[^\W_]|['’-](?!s\b)(?=\w))*"
_FURTHER = rf"(?: (?:{_CAPITAL}|of|the(?= [A-Z])))"
_NAME = rf"(?P<name>(?<=[a-z0-9,;:>=+-] ){_CAPITAL}{_FURTHER}*(?<! of))"
_FULL = rf"{_CAPITAL} {_CAPITAL}{_FURTHER}*(?<! of)"
_FIRST = (
    rf"(?:^|(?<=[.?!] ))(?P<first>(?:{_FULL}|{_CAPITAL})"
    r"""(?=:(?! ["“])| =| [-–—][ >])"""
    rf"|{_FULL}(?= (?:is|was|has|had|does|did|can|will|would)\b)|{_CAPITAL}(?=['’]s\b))"
)
"""A name with which a sentence begins: one that is set off from the rest, that is its subject, or
that owns something. Of other words with capitals the first may be a verb, and a single one before a
quoted value is its label."""
_SLOT = re.compile("|".join((QUOTED, _PROSE, _ADDRESS, _COUNT, _NUMBER, _NAME, _FIRST)))
_KINDS = {"prose": "quoted", "count": "number", "first": "name"}
"""What values are that are distinguished by their place from others of a kind."""
_MASKS = {"quoted": '"q"', "address": "@a", "number": "#n", "name": "Nn"}
"""What stands for a slot in a template; names are kept as words, since many are constants."""

_PLAIN = re.compile(f"{_ADDRESS}|{_NUMBER}")
"""Values that are the same in quotation marks and without."""

_TEXTS = {"quoted", "name"}
"""Kinds of what may be put in quotation marks or not."""
FUNCTION_WORDS = frozenset(
    {
        *("a", "an", "and", "any", "are", "as", "at", "be", "but", "by", "can", "could", "did"),
        *("do", "does", "for", "from", "had", "has", "have", "here", "how", "i", "if", "in", "is"),
        *("it", "its", "me", "my", "no", "not", "of", "on", "or", "our", "should", "so", "than"),
        *("that", "the", "then", "there", "this", "to", "was", "we", "were", "what", "which"),
        *("who", "will", "with", "would", "you", "your"),
    }
)


@dataclass(frozen=True, slots=True)
class Slot:
    """A value in a goal."""

    text: str
    kind: str
    """`quoted`, `address`, `number` or `name` (capitalised words inside a sentence)."""
    left: tuple[str, ...]
    """The three words before it, nearest first, other slots masked."""
    right: tuple[str, ...]
    """The two words after it."""


@dataclass(frozen=True, slots=True, eq=False)
class Goal:
    """A goal, its slots, and what is left when they are masked. Compared by identity, as
    `read_goal` gives one object for one text."""

    text: str
    slots: tuple[Slot, ...]
    template: tuple[str, ...]
    """Lower-case words with the slots masked: equal for goals that differ in their values alone."""
    words: tuple[str, ...]
    """Lower-case words of the whole text, for contexts of values that no slot was seen in."""
    compared: tuple[str, ...] = ()
    """The template with the words of values that memory found: another task may be about these."""


@lru_cache(16384)
def weigh_keys(goal: Goal) -> Mapping[str, float]:
    """Return what a goal is compared by, each with what it counts: words of its template, their
    stems and pairs of words.

    Pairs and words that any sentence may have count less: they say how something is put, not what
    is wanted.
    """
    words = goal.compared
    found = {f"{a} {b}": 0.2 for a, b in pairwise(words)}
    for word in words:
        found |= _weigh_word(word)
    return found


def compare_goals(a: Goal, b: Goal) -> float:
    """Return how alike two goals are put, from 0 to 1: what they share against what either has. 1
    where only their values differ."""
    if a.template == b.template:
        return 1.0
    ours, theirs = weigh_keys(a), weigh_keys(b)
    either = {**ours, **theirs}
    shared = sum(either[key] for key in ours.keys() & theirs.keys())
    return shared / sum(either.values())


@lru_cache(16384)
def weigh_words(text: str) -> Mapping[str, float]:
    """Return what a name is compared with goals by, each with what it counts."""
    return {key: counts for word in words_of(text) for key, counts in _weigh_word(word).items()}


def _weigh_word(word: str) -> dict[str, float]:
    """A word and its stem."""
    found = {word: 0.1 if word in FUNCTION_WORDS else 1.0}
    if len(word) >= STEM:
        found[f"{word[:STEM]}~"] = 1.0
    return found


@lru_cache(4096)
def read_goal(text: str) -> Goal:
    """Return the goal with its slots found."""
    found, at = [], 0
    while match := _SLOT.search(text, at):
        at = match.end()
        if match["first"]:
            word = re.split(r"[\s'’-]", match["first"])[0].lower()
            if word in FUNCTION_WORDS:  # no name begins with one, but one may follow
                at = match.start() + len(word)
                continue
        if match.group().strip():
            found.append(match)
    template: list[str] = []
    compared: list[str] = []
    places: list[tuple[int, str, str]] = []
    end = 0
    for match in found:
        between = words_of(text[end : match.start()])
        template += between
        group = match.lastgroup or "quoted"
        value = clean(match.group(group))
        kind = _KINDS.get(group, group)
        if kind == "quoted" and (plain := _PLAIN.fullmatch(value)):
            kind = plain.lastgroup or kind
        places.append((len(template), kind, value))
        template.append(_MASKS[kind])
        is_found = match.group().startswith(FOUND[0])
        compared += [*between, *(words_of(match.group(group)) if is_found else template[-1:])]
        end = match.end()
    template += words_of(text[end:])
    compared += words_of(text[end:])
    slots = tuple(
        Slot(
            value,
            kind,
            tuple(reversed(template[max(0, at - 3) : at])),
            tuple(template[at + 1 : at + 3]),
        )
        for at, kind, value in places
    )
    return Goal(text, slots, tuple(template), tuple(words_of(text)), tuple(compared))


@lru_cache(65536)
def align(theirs: Goal, ours: Goal) -> tuple[int, ...]:
    """Return for each slot of one goal its counterpart in the other, -1 for none.

    Goals of one template have the same slots in the same order. Otherwise slots of one kind are
    matched by the words around them, the best fitting first, and by their order where the words
    say nothing; texts of which a single one is left on either side are matched, too. A name that
    stands in both goals is the same in either.
    """
    if theirs.template == ours.template:
        return tuple(range(len(theirs.slots)))
    order = _orders(theirs), _orders(ours)
    words = f" {' '.join(ours.words)} "
    shared = {
        slot.text
        for slot in theirs.slots
        if slot.kind in _TEXTS
        and slot.text.lower() not in FUNCTION_WORDS
        and f" {' '.join(words_of(slot.text))} " in words
    }
    pairs = sorted(
        (
            (-_fit(a, b), order[0][i] != order[1][j], i, j)
            for i, a in enumerate(theirs.slots)
            for j, b in enumerate(ours.slots)
            if (a.kind == b.kind or {a.kind, b.kind} == _TEXTS)
            and (a.text == b.text or a.text not in shared)
        )
    )
    found = [-1] * len(theirs.slots)
    taken: set[int] = set()
    for _, _, i, j in pairs:
        if found[i] < 0 and j not in taken:
            found[i] = j
            taken.add(j)
    left = [
        i
        for i, slot in enumerate(theirs.slots)
        if found[i] < 0 and slot.kind != "number" and slot.text not in shared
    ]
    free = [j for j, slot in enumerate(ours.slots) if j not in taken and slot.kind != "number"]
    if len(left) == len(free) == 1:
        found[left[0]] = free[0]
    return tuple(found)


@lru_cache(65536)
def stems_of(text: str) -> frozenset[str]:
    """Return the beginnings of the words of a text that mean something."""
    return frozenset(w[:STEM] for w in words_of(text) if w.isalnum() and w not in FUNCTION_WORDS)


@lru_cache(65536)
def exchanged_stems(theirs: Goal, ours: Goal) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """Return what one goal has in place of what the other has, as stems of words that only the one
    and only the other has; of goals that are put otherwise those of values alone."""
    before, after = (list(filter(str.isalnum, goal.words)) for goal in (theirs, ours))
    counts = stems_of(theirs.text) - stems_of(ours.text)
    if compare_goals(theirs, ours) < LIKE_GOAL:
        counts &= frozenset[str]().union(*(stems_of(slot.text) for slot in theirs.slots))
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    pairs = (
        (
            stems_of(" ".join(before[a:b])) & counts,
            stems_of(" ".join(after[c:d])) - stems_of(theirs.text),
        )
        for way, a, b, c, d in matcher.get_opcodes()
        if way == "replace"
    )
    return tuple(pair for pair in pairs if all(pair))


def _orders(goal: Goal) -> list[tuple[int, int]]:
    """Of each slot its number among those of its kind, and how many there are."""
    kinds = [slot.kind for slot in goal.slots]
    return [(kinds[:i].count(kind), kinds.count(kind)) for i, kind in enumerate(kinds)]


def _fit(a: Slot, b: Slot) -> float:
    """How well two slots fit: by shared words before and after, the nearest counting most, by their
    kinds and by how they are written."""
    score = float(a.text.lower() == b.text.lower())
    for place, word in enumerate(a.left):
        if word in b.left:
            score += 1 / (1 + abs(place - b.left.index(word)) + place)
    score += sum(word in b.right[:1] and word.isalpha() for word in a.right[:1])
    return score + (a.kind == b.kind) + (shape(a.text) == shape(b.text))


@lru_cache(16384)
def shape(text: str) -> str:
    """Return what kind of value a text is: digits as 9, capitals as A, other letters as a."""
    text = re.sub(r"\d+", "9", text)
    return re.sub(r"[^\W\d_A-Z]+", "a", re.sub(r"[A-Z]", "A", text))


def extend_value(text: str, goal: str, typed: Sequence[str]) -> str:
    """Return a value as long as it is in a goal where only sentences or parts of them were `typed`
    for it: one word with the rest of its clause, and the sign behind it where all had one."""
    plain = re.sub(f"[{FOUND}]", "", goal)
    at = plain.find(text)
    is_prose = typed and all(re.search(r"\S \S", t) and re.search(r"\b[a-z]", t) for t in typed)
    if not is_prose or at < 0 or f'"{text}"' in plain:
        return text
    is_signed = all(each[-1] in ".!?" for each in typed)
    if " " in text:
        after = plain[at + len(text) : at + len(text) + 1]
        return text + after if is_signed and after in (".", "!", "?") else text
    stops = '";:()' + "," * all("," not in each for each in typed)
    rest = re.split(f"[{stops}]", plain[at:])[0]
    signs = [match.end() for match in re.finditer(r"[.!?](?= |$)", rest)]
    several = any(re.search(r"[.!?] ", each) for each in typed)
    rest = rest[: signs[-several]] if signs else rest
    return rest.strip() if is_signed else rest.rstrip(" .!?")


@lru_cache(65536)
def clean(text: str) -> str:
    """Return the text with single spaces."""
    return " ".join(text.split())


@lru_cache(65536)
def turn_name(text: str) -> str:
    """Return a name in the other order in which people are listed, `Ann Lee` as `Lee, Ann` and the
    other way round; empty for what is no two or three words."""
    last, comma, given = text.partition(", ")
    if not comma:
        *first, last = text.split() or [""]
        given = " ".join(first)
    words = [*given.split(), *last.split()]
    if not given or len(words) > 3 or not all(word.replace(".", "").isalpha() for word in words):
        return ""
    return f"{given} {last}" if comma else f"{last}, {given}"


def words_of(text: str) -> list[str]:
    """Return the words and signs of a text, in lower case."""
    return [word.lower() for word in _TOKEN.findall(text)]


def locate(text: str, goal: Goal) -> tuple[tuple[str, ...], str, int] | None:
    """Return the context of a text that stands in the goal outside its slots.

    The two words before it, the one after it and its length in words; None where it is absent.
    """
    words = words_of(text)
    if not words:
        return None
    for start in range(len(goal.words) - len(words) + 1):
        if list(goal.words[start : start + len(words)]) == words:
            end = start + len(words)
            right = goal.words[end] if end < len(goal.words) else ""
            return tuple(goal.words[max(0, start - 2) : start]), right, len(words)
    return None


@lru_cache(16384)
def extract(left: tuple[str, ...], right: str, length: int, goal: Goal) -> str | None:
    """Return the stretch of the goal that stands in such a context; None where there is none."""
    spans = [match.span() for match in _TOKEN.finditer(goal.text)]
    words = goal.words
    best: tuple[float, str] | None = None
    for start in range(len(words)):
        near = 0
        while near < len(left) and start > near and words[start - 1 - near] == left[-1 - near]:
            near += 1
        if (left and not near) or (not left and start):
            continue
        stops = [
            end
            for end in range(start + 1, min(start + 9, len(words)) + 1)
            if (words[end] if end < len(words) else "") == right
        ]
        end = next((stop for stop in stops if stop - start == length), stops[0] if stops else 0)
        score = near + (1 if end else 0) + (0.5 if end - start == length else 0)
        end = end or min(len(words), start + length)
        if best is None or score > best[0]:
            best = score, goal.text[spans[start][0] : spans[end - 1][1]]
    return clean(best[1]) if best else None
