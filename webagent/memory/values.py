"""Values of goals that no marks show: found by what is known of the site and of like goals.

A goal is read as if its values stood in quotation marks. A value is what was typed, selected or
acted on where the goal was demonstrated; in a new goal what stands where a like goal has a value;
and any run of words that stood alone on a page.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TypeAlias

from webagent.memory.constants import (
    IN_VALUE,
    LEAST_ALIGNED,
    LEFT_OUT,
    LONGEST_ABBREVIATION,
    LONGEST_KNOWN,
    MOST_ALIGNED,
    SEVERAL_TASKS,
    UNMATCHED,
)
from webagent.memory.goals import (
    FOUND,
    FUNCTION_WORDS,
    QUOTED,
    Goal,
    clean,
    read_goal,
    shape,
    turn_name,
    words_of,
)
from webagent.memory.pages import Page, kind_of_page, read_page, stable_hash
from webagent.memory.scene import mark_of
from webagent.records import Trajectory

Span: TypeAlias = tuple[int, int]
"""Start and end of a value, in tokens or in letters."""
_SEVERAL = re.compile(r"(?:A\w*|\S*9\S*)(?: (?:A\w*|\S*9\S*))+")
"""Shape of a text in which every word has a capital or a digit."""
_TOKEN = re.compile(rf"{QUOTED}|(?P<number>[\w.,:/-]*\d[\w.,:/-]*(?<![.,:]))|\w+|[^\w\s]")

_BEGINS, _ENDS = "([“‘'", ".,:;?!)]”’'…"
"""Signs that stand right before and right after words of which they are no part."""


@dataclass(frozen=True, slots=True)
class _Token:
    start: int
    end: int
    word: str
    kind: str
    """`quoted` or `number` for what is a value as it stands, else empty."""
    shape: str


@dataclass(frozen=True, slots=True)
class _Example:
    """A remembered goal: its words, None for each value."""

    items: tuple[str | None, ...]
    words: frozenset[str]


@dataclass(slots=True)
class Reader:
    """Reads goals by what was seen and demonstrated."""

    texts: dict[str, set[int]] = field(default_factory=dict)
    """Texts that stood alone on a page, in lower case, each with the kinds of its places."""
    goals: dict[str, str] = field(default_factory=dict)
    """Remembered goals with all of their values in marks."""
    shapes: set[str] = field(default_factory=set)
    """Those of typed texts of several words, each with a capital or a digit."""
    _values: set[str] = field(default_factory=set)
    """Values of remembered goals, as words in lower case."""
    _examples: dict[tuple[str | None, ...], _Example] = field(default_factory=dict)
    _words: dict[str, dict[str, frozenset[str]]] = field(default_factory=dict)
    """Words of each goal of each task."""
    _constants: frozenset[str] | None = None
    _read: dict[str, str] = field(default_factory=dict)
    """New goals as they were read."""

    def note(self, task: str, text: str) -> None:
        """Take in a goal of a task, for the words that stay the same from one to the next."""
        goals = self._words.setdefault(task, {})
        if text not in goals:
            goals[text] = frozenset(each.word for each in _tokens(text) if not each.kind)
            self._constants = None

    def remember(self, trajectory: Trajectory) -> Goal:
        """Return the goal of an episode that shows what to do, with what was used in it as its
        values; later goals are read by it."""
        # As it was shown: it may have been restated.
        text = trajectory.steps[0].observation.goal
        self.note(trajectory.task.name, text)
        if text not in self.goals:
            pages = [read_page(step.observation) for step in trajectory.steps]
            for page in pages:
                for run, places in texts_of(page).items():
                    self.texts.setdefault(run, set()).update(places)
            tokens, constants = _tokens(text), self.constants
            entered, touched = _used(trajectory)
            self.learn_shapes(entered)
            keys = [key for key in map(_key, touched) if not constants.issuperset(key.split())]
            acted = [span for span in _occurrences(tokens, keys) if not _is_verb(tokens, *span)]
            spans = _occurrences(tokens, map(_key, entered))
            spans += [(a, b) for a, b in acted if all(b <= x or y <= a for x, y in spans)]
            self.goals[text] = _marked(text, tokens, self._found(tokens, spans))
            self.learn(self.goals[text])
        return read_goal(self.goals[text])

    def learn(self, marked: str) -> None:
        """Take a remembered goal, its values in marks, as an example for others."""
        tokens = _tokens(marked)
        self._values |= {_run([each]) for each in tokens if each.kind}
        items = tuple(None if each.kind else each.word for each in tokens)
        words = frozenset(each for each in items if each is not None)
        self._examples[items] = _Example(items, words)
        self._read.clear()

    def learn_shapes(self, entered: Iterable[str]) -> None:
        """Take in texts that were typed, for what others look like."""
        found = {shape(clean(text)) for text in entered}
        self.shapes |= {each for each in found if _SEVERAL.fullmatch(each)}

    @property
    def constants(self) -> frozenset[str]:
        """The words that goals consist of: another goal of a task that has one has it as well, more
        often than not; where no task has several goals, those of several tasks."""
        if self._constants is None:
            both, either, tasks = Counter[str](), Counter[str](), Counter[str]()
            for goals in self._words.values():
                having = Counter(word for words in goals.values() for word in words)
                for word, count in having.items():
                    both[word] += count * (count - 1)
                    either[word] += count * (len(goals) - 1)
                    tasks[word] += 1
            self._constants = FUNCTION_WORDS | {
                word
                for word in tasks
                if (
                    2 * both[word] >= either[word] if either[word] else tasks[word] >= SEVERAL_TASKS
                )
            }
        return self._constants

    def read(self, text: str, pages: Iterable[Page] = ()) -> Goal:
        """Return a goal with the values that it has by its marks, by like goals, and by what stood
        alone on pages seen before and on `pages`."""
        if text in self.goals:
            return read_goal(self.goals[text])
        tokens = _tokens(text)
        if text not in self._read:
            self._read[text] = _marked(text, tokens, self._found(tokens, []))
        marked = self._read[text]
        here = {run for page in pages for run in texts_of(page)}
        tokens = _tokens(marked)
        if (here := here - self.texts.keys()) and (new := self._known(tokens, here)):
            marked = _marked(marked, tokens, new)
        return read_goal(marked)

    def places_of(self, text: str, pages: Iterable[Page] = ()) -> set[int]:
        """Return the kinds of places at which a text stood alone, before and on these pages."""
        key = _key(text)
        return self.texts.get(key, set()).union(*(texts_of(page).get(key, ()) for page in pages))

    def _found(self, tokens: Sequence[_Token], spans: Sequence[Span]) -> list[Span]:
        """The values among these words: given ones, those of the best example, and known ones."""
        found = list(spans)
        words = {each.word for each in tokens if not each.kind}
        # Where the likest of the remembered goals have theirs.
        likest = sorted(
            self._examples.values(),
            key=lambda each: -_weigh(each.words & words) / (_weigh(each.words | words) + 1e-9),
        )
        best, aligned = LEAST_ALIGNED, list[Span]()
        for example in likest[:MOST_ALIGNED]:
            score, places = _align(example.items, tokens, self.texts, self.constants)
            if score > best:
                best, aligned = score, places
        known = self._known(tokens, self.texts)
        for span in [*aligned, *known, *self._known(tokens)]:
            if all(span[1] <= a or b <= span[0] for a, b in found):
                found.append(span)
        return found

    def _known(self, tokens: Sequence[_Token], texts: Collection[str] = ()) -> list[Span]:
        """The longest runs of words that are such a text, without texts those that look like
        something typed, but for those that goals consist of."""
        found: list[Span] = []
        at = 0
        while at < len(tokens):
            for end in range(min(len(tokens), at + LONGEST_KNOWN), at, -1):
                run = tokens[at:end]
                if any(each.kind == "quoted" for each in run):
                    continue
                words = {each.word for each in run if each.word[0].isalnum()}
                key = _run(run)
                if self.constants.issuperset(words) or (
                    _is_verb(tokens, at, end) and key not in self._values
                ):
                    continue
                is_known = key in texts and not _is_part(tokens, at, end)
                if is_known if texts else self._is_shaped(tokens, at, end):
                    found.append((at, end))
                    at = end - 1
                    break
            at += 1
        return found

    def _is_shaped(self, tokens: Sequence[_Token], start: int, end: int) -> bool:
        """Whether just these words look together like something that was typed."""
        return (
            " ".join(each.shape for each in tokens[start:end]) in self.shapes
            and not any(
                _SEVERAL.fullmatch(f"{each.shape} 9") and each.word not in self.constants
                for each in (*tokens[max(0, start - 1) : start], *tokens[end : end + 1])
            )
            and self.constants.isdisjoint(each.word for each in tokens[start:end])
        )


def texts_of(page: Page) -> Mapping[str, set[int]]:
    """Return what stands alone on a page, in lower case, with the kinds of its places: cells,
    names, options and values of fields."""
    if "texts" not in page.known:
        found: dict[str, set[int]] = {}
        kind = kind_of_page(page.observation)
        for unit, text in zip(page.units, page.keys, strict=True):
            both = (text, turn_name(text) if ", " in text else "")
            node = page.nodes[unit.line]
            place = f"{node.role} {node.kind} {unit.cell}"
            places = stable_hash(place), stable_hash(f"{kind} {place}")
            for key in (_key(each) for each in both if 1 < len(each) < 120):
                if any(c.isalpha() for c in key):
                    found.setdefault(key, set()).update(places)
        page.known["texts"] = found
    texts: Mapping[str, set[int]] = page.known["texts"]
    return texts


def _key(text: str) -> str:
    return " ".join(words_of(text.strip(" :.*")))


def readings_without_one(marked: str) -> list[str]:
    """Return a goal with each of the values found in it taken for words of the goal in turn."""
    return [
        f"{marked[: each.start()]}{each[1]}{marked[each.end() :]}"
        for each in re.finditer(f"{FOUND[0]}([^{FOUND[1]}]*){FOUND[1]}", marked)
    ]


def _run(tokens: Sequence[_Token]) -> str:
    return " ".join(words_of(" ".join(each.word for each in tokens)))


def _tokens(text: str) -> list[_Token]:
    return [
        _Token(*each.span(), found.lower(), each.lastgroup or "", shape(found))
        for each in _TOKEN.finditer(text)
        for found in (each[each.lastgroup or 0],)
    ]


def _used(trajectory: Trajectory) -> tuple[list[str], list[str]]:
    """What was typed or selected in an episode, and the names of what was acted on."""
    entered, touched = list[str](), list[str]()
    for step in trajectory.steps:
        action = step.decision.action
        entered += filter(None, (getattr(action, name, "") for name in ("text", "option")))
        page, mark = read_page(step.observation), mark_of(action, step.observation)
        if mark in page.line_of:
            touched.append(page.nodes[page.line_of[mark]].name)
    return entered, touched


def _is_verb(tokens: Sequence[_Token], start: int, end: int) -> bool:
    """Whether this is the one word that a sentence begins with: it says what to do."""
    return end - start == 1 and (not start or tokens[start - 1].word in ".?!:;")


def _is_part(tokens: Sequence[_Token], start: int, end: int) -> bool:
    """Whether letters or signs go on before or after these words without a space, as in a path."""
    before, after = tokens[max(0, start - 1) : start], tokens[end : end + 2]
    if before and before[0].end == tokens[start].start and before[0].word not in _BEGINS:
        return True
    if not after or after[0].start > tokens[end - 1].end:
        return False
    goes_on = len(after) == 2 and after[0].end == after[1].start and after[0].word in ".:"
    return after[0].word not in _ENDS or (goes_on and after[1].word.isalnum())


def _occurrences(tokens: Sequence[_Token], keys: Iterable[str]) -> list[Span]:
    """Where one of these stands among the words, the longest first."""
    wanted = sorted({key for key in keys if any(c.isalpha() for c in key)}, key=len, reverse=True)
    found: list[Span] = []
    for key in wanted:
        length = len(key.split())
        for at in range(len(tokens)):
            # A number is one token, and several words.
            for end in range(at + 1, min(len(tokens), at + length) + 1):
                run = tokens[at:end]
                if any(each.kind == "quoted" for each in run):
                    break
                if _run(run) == key and all(end <= a or b <= at for a, b in found):
                    found.append((at, end))
    return [
        span for span in found if not FUNCTION_WORDS.issuperset(_run(tokens[slice(*span)]).split())
    ]


def _marked(text: str, tokens: Sequence[_Token], spans: Iterable[Span]) -> str:
    """The text with these values in quotation marks."""
    for a, b in sorted(spans, reverse=True):
        if tokens[a].kind == "quoted" or (b - a == 1 and tokens[a].kind):
            continue
        start, end = tokens[a].start, tokens[b - 1].end
        text = f"{text[:start]}{FOUND[0]}{text[start:end]}{FOUND[1]}{text[end:]}"
    return text


def _weight(word: str) -> float:
    return 1.0 if word.isalnum() and word not in FUNCTION_WORDS else 0.25


def _weigh(words: Iterable[str]) -> float:
    return sum(map(_weight, words))


def _align(
    items: Sequence[str | None],
    tokens: Sequence[_Token],
    known: Collection[str],
    constants: Collection[str],
) -> tuple[float, list[Span]]:
    """Lay an example's words beside those of a goal, each value beside one or several: the share of
    the example's words that the goal has, and the goal's values. Needleman and Wunsch's dynamic
    programme (1970), with gaps that values fill."""
    count = len(tokens)
    skipped = [
        2 * UNMATCHED
        if t.kind == "quoted"
        else (UNMATCHED if t.kind or t.word in constants else LEFT_OUT) * _weight(t.word)
        for t in tokens
    ]
    best = [0.0, *accumulate(-cost for cost in skipped)]
    ways: list[list[tuple[int, str]]] = []
    for item in items:
        gap = UNMATCHED * (1.0 if item is None else _weight(item))
        now, way = list[float](), list[tuple[int, str]]()
        for end in range(count + 1):
            choices = [(best[end] - gap, end, "")]
            if end:
                choices.append((now[end - 1] - skipped[end - 1], -1, ""))
            if item is None:
                choices += (
                    (best[start] + _worth(tokens, start, end, known, constants), start, "value")
                    for start in _starts(tokens, end)
                )
            elif end and tokens[end - 1].word == item and not tokens[end - 1].kind:
                choices.append((best[end - 1] + _weight(item), end - 1, "word"))
            score, start, what = max(choices, key=lambda each: each[0])
            now.append(score)
            way.append((start, what))
        best = now
        ways.append(way)
    spans, shared, end = list[Span](), 0.0, count
    for item, way in zip(reversed(items), reversed(ways), strict=True):
        while way[end][0] < 0:
            end -= 1
        start, what = way[end]
        shared += _weight(item or "") if what == "word" else 0.0
        spans += [(start, end)] if what == "value" else []
        end = start
    return shared / (_weigh(each for each in items if each is not None) + 1e-9), spans


def _starts(tokens: Sequence[_Token], end: int) -> Iterator[int]:
    """Where a value that ends here may begin: what stands in marks is one by itself."""
    for start in range(end - 1, -1, -1):
        if tokens[start].kind == "quoted":
            if start == end - 1:
                yield start
            return
        if start < end - 1 and _ends_sentence(tokens, start):
            return
        if any(each.word[0].isalnum() for each in tokens[start:end]):
            yield start


def _ends_sentence(tokens: Sequence[_Token], at: int) -> bool:
    """Whether a sign ends a sentence before another: not after an abbreviation, as in `Dr. Lee`."""
    sign, after = tokens[at], tokens[at + 1]
    is_long = at > 0 and len(tokens[at - 1].word) > LONGEST_ABBREVIATION
    return sign.word in ".?!" and is_long and after.start > sign.end and after.shape[0] == "A"


def _worth(
    tokens: Sequence[_Token],
    start: int,
    end: int,
    known: Collection[str],
    constants: Collection[str],
) -> float:
    """How much these words look like a value, before any word of an example says so."""
    run = tokens[start:end]
    if run[0].kind == "quoted":
        return 2.0
    # "to" is a label of forms as well.
    is_wording = FUNCTION_WORDS.issuperset(each.word for each in run)
    if len(run) <= LONGEST_KNOWN and _run(run) in known and not is_wording:
        return 1.5
    return 0.5 - sum(IN_VALUE[t.word in constants] * _weight(t.word) for t in run)
