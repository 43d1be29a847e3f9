"""The prefix: goal, history and page laid out as tokens, then as arrays."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from webagent.action import Action
from webagent.models.builtin.layout import (
    LINE_WORDS,
    PLACES,
    PromptAction,
    PromptField,
    PromptLayout,
    PromptLine,
    PromptToken,
)
from webagent.models.builtin.relations import CELL, Matches, compute_relations, find_matches
from webagent.models.builtin.vocabulary import Vocabulary, Word, keys_of, op_of, split
from webagent.records import Node, Observation, Step

MAX_TOKENS = 320
"""Tokens a prompt may have before lines of the page are cut or left out."""
GOAL_WORDS = 64

_CUT_WORDS = 4
_CONTROL, _LINK, _TEXT = 0.3, 0.2, 0.05
"""What a line is worth by its kind; being the only one with a word of the goal is worth 1."""
_SHORT, _SHORT_LETTERS = 0.3, 3
"""What such a word is worth, and how long it is at most."""
_BY_CHANCE = 0.05
"""A line that is about the goal by no more than this is so by chance."""
_PAST_STEPS = 6
_PAST_NAME_WORDS = 4
_PAST_TEXT_WORDS = 8


class Feature(IntEnum):
    """The columns. Words have the first nine, lines (at their head) the others."""

    SHARED = 0
    """The word stands on the other side too: the goal's on the page, others in the goal."""
    SAME_SPELLING = 1
    """Shared, capitals included."""
    RARITY = 2
    """One over the number of lines that have the word."""
    TYPED_BEFORE = 3
    """The word was part of an earlier action."""
    DIGITS = 4
    PUNCTUATION = 5
    LENGTH = 6
    """Letters, in tens, at most one."""
    CAPITAL = 7
    SPACED = 8

    REPEATS_GOAL = 9
    """The whole name stands in the goal; set on the goal's words as well."""
    REPEATS_QUOTE = 10
    """The whole name stands in the goal between quotation marks."""
    GOAL_SHARE = 11
    """Share of the name's words that the goal has."""
    VALUE_REPEATS_GOAL = 12
    """The whole value stands in the goal; set on the goal's words as well."""
    TIMES_ACTED = 13
    """How often it was acted on, in threes, at most one."""
    ACTED_LAST = 14
    FOCUSED = 15
    APPEARED = 16
    """It was not there before the last action."""
    CHANGED = 17
    """Its value or states were others before the last action."""
    LEFT = 18
    """Boxes in parts of the farthest edge on the page."""
    TOP = 19
    WIDTH = 20
    HEIGHT = 21
    IS_ELEMENT = 22
    """It can be acted on."""
    NAME_ACTED = 23
    """Something of this name was acted on."""
    ROLE_PLACE = 24
    """Lines of the same role above it, in tens, at most one."""
    ROLE_COUNT = 25
    """Lines of the same role, in tens, at most one."""
    NAME_SHARED = 26
    """Another line has the same name."""

    STEPS_DONE = 27
    """On the first token: steps done, in tens, at most one."""
    QUOTED = 28
    """On the goal's words: between quotation marks."""
    QUOTE_STARTS = 29
    QUOTE_ENDS = 30

    ANCHOR_NEARNESS = 31
    """One over one more than the lines up to the one above that the goal speaks of."""
    FIRST_UNDER_ANCHOR = 32
    """The first element of this name since that line."""
    STARTS_WITH_QUOTE = 33
    ENDS_WITH_QUOTE = 34
    STARTS_AND_ENDS_WITH_QUOTES = 35

    KIND_NAMED = 36
    """The goal has a word for what kind of widget it is."""
    BESIDE_REPEAT = 37
    """On words of a cell: the cell before it stands in the goal."""
    ORDINAL_NAMED = 38
    """It is the n-th of its kind, and the goal says so: `3rd`."""
    LAST_WORD = 39
    """On the last word of a name, a value or a cell."""


FEATURES = len(Feature)
_WORD_FEATURES = 9


@dataclass(frozen=True, slots=True)
class Prefix:
    """One prompt of T tokens. `relations[i, j]` is a bit set over `Relation`."""

    ids: NDArray[np.int64]
    """(T,) vocabulary ids."""
    fields: NDArray[np.int64]
    """(T,) `PromptField`."""
    places: NDArray[np.int64]
    """(T,) position inside the field of the line."""
    lines: NDArray[np.int64]
    """(T,) number of the line from 1, 0 outside the page."""
    features: NDArray[np.float32]
    """(T, FEATURES) `Feature`."""
    relations: NDArray[np.int32]
    """(T, T)"""
    words: tuple[Word | None, ...]
    """The word a copy of each token would write; None where there is nothing to copy."""
    marks: NDArray[np.int64]
    """(T,) at the head of a line its mark (-1 for static text), 0 elsewhere."""
    options: NDArray[np.bool_]
    """(T,) whether the token heads an option of a list."""

    def __len__(self) -> int:
        return len(self.ids)


def encode(
    vocabulary: Vocabulary,
    role: str,
    observation: Observation,
    steps: Sequence[Step],
    action: Action | None = None,
) -> Prefix:
    """Return the prompt for `role` at `observation` after `steps`, and of `action` if given."""
    layout = lay_out_prompt(role, observation, steps, action)
    matches = find_matches(layout)
    keys, fields, places, lines, words = zip(*layout.tokens, strict=True)
    count = len(keys)
    marks, options = np.zeros(count, np.int64), np.zeros(count, np.bool_)
    for line in layout.lines:
        marks[line.head] = line.node.mark or -1
        options[line.head] = line.node.role == "option"
    return Prefix(
        ids=np.array([vocabulary.id(key) for key in keys]),
        fields=np.array(fields),
        places=np.array(places),
        lines=np.array(lines),
        features=compute_features(layout, matches),
        relations=compute_relations(layout, matches),
        words=words,
        marks=marks,
        options=options,
    )


def lay_out_prompt(
    role: str, observation: Observation, steps: Sequence[Step], action: Action | None
) -> PromptLayout:
    """Return the prompt for `role` at `observation` after `steps`, and of `action` if given."""
    goal = list(split(observation.goal, GOAL_WORDS))
    out = PromptLayout(
        observation=observation,
        past=[past_action_of(step.decision.action, step.observation) for step in steps],
        previous=steps[-1].observation if steps else None,
        tokens=[PromptToken(f"role:{role}", PromptField.ROLE, 0, 0)],
        goal=goal,
        goal_keys=[word.key for word in goal],
        lines=[],
        acted=[],
    )
    _add_words(out, goal, PromptField.GOAL, 0)
    for number, past in enumerate(out.past[-_PAST_STEPS:]):
        _add_past(out, past, PromptField.HISTORY, number)
    if action is not None:
        _add_past(out, past_action_of(action, observation), PromptField.ACTION, 0)
    if observation.outcome:
        out.tokens.append(PromptToken("outcome:problem", PromptField.HISTORY, 0, 0))
    for index, name_limit in _fit_lines(out):
        node = out.observation.nodes[index]
        kind, keys = kind_of(node), keys_of(node.name, LINE_WORDS)
        out.lines.append(PromptLine(len(out.tokens), node, kind, keys))
        line = len(out.lines)
        out.tokens.append(PromptToken(kind, PromptField.HEAD, _clamp(node.depth), line))
        for place, state in enumerate(node.states):
            out.tokens.append(PromptToken(f"state:{state}", PromptField.STATE, _clamp(place), line))
        name = split(node.name, LINE_WORDS)[:name_limit]
        _add_words(out, name, PromptField.NAME, line)
        _add_words(out, split(node.value, LINE_WORDS), PromptField.VALUE, line)
    return out


def past_action_of(action: Action, observation: Observation) -> PromptAction:
    """Return how an action done on a page is remembered."""
    mark = getattr(action, "mark", getattr(action, "source", 0))
    node = observation.node(mark)
    texts = [getattr(action, key, "") for key in ("text", "option", "key", "reason")]
    target = observation.node(getattr(action, "target", 0))
    if target is not None:
        texts.append(target.name)
    return PromptAction(
        op_of(action), mark, node.name if node else "", " ".join(t for t in texts if t)
    )


def kind_of(node: Node) -> str:
    """Return what a line is, as the vocabulary knows it: `button/button`, `text`."""
    return f"{node.role}/{node.kind}" if node.mark else "text"


def _add_words(out: PromptLayout, words: Sequence[Word], field: PromptField, line: int) -> None:
    for place, word in enumerate(words):
        out.tokens.append(PromptToken(word.key, field, _clamp(place), line, word))


def _add_past(out: PromptLayout, past: PromptAction, field: PromptField, number: int) -> None:
    out.acted.append((len(out.tokens), past.mark))
    out.tokens.append(PromptToken(f"op:{past.op}", field, _clamp(number), 0))
    _add_words(out, split(past.name, _PAST_NAME_WORDS), field, 0)
    _add_words(out, split(past.text, _PAST_TEXT_WORDS), field, 0)


def _clamp(number: int) -> int:
    """Return a position, as far as positions are distinguished."""
    return max(0, min(number, PLACES - 1))


def _fit_lines(out: PromptLayout) -> list[tuple[int, int]]:
    """Return the lines that fit the token limit, each with how many words of its name.

    Long names of lines that are not about the goal are cut first; then lines are left out, those
    first that are worth the least for the room they take.
    """
    nodes = out.observation.nodes
    room = MAX_TOKENS - len(out.tokens)
    if sum(_count_tokens(node, LINE_WORDS) for node in nodes) <= room:
        return [(i, LINE_WORDS) for i in range(len(nodes))]
    goal = {key for key in out.goal_keys if key.isalnum()}
    shared = [goal.intersection(keys_of(node.name)) for node in out.observation.nodes]
    lines = Counter(key for keys in shared for key in keys)
    weight = {
        key: (_SHORT if len(key) <= _SHORT_LETTERS and key.isalpha() else 1.0) / count
        for key, count in lines.items()
    }
    about = [sum(weight[key] for key in keys) for keys in shared]
    limits = [LINE_WORDS if each > _BY_CHANCE else _CUT_WORDS for each in about]
    sizes = [_count_tokens(node, limit) for node, limit in zip(nodes, limits, strict=True)]
    worth = []
    for i, node in enumerate(nodes):
        # Half of what lines beside it are about: what a control is for often stands only there.
        beside = max(about[max(0, i - 1) : i + 2]) / 2
        kind = _TEXT if not node.mark else _LINK if node.role == "link" else _CONTROL
        worth.append(((max(about[i], beside) + kind) / sizes[i] ** 0.5, -i))
    kept = []
    for i in sorted(range(len(nodes)), key=worth.__getitem__, reverse=True):
        if sizes[i] <= room:
            room -= sizes[i]
            kept.append((i, limits[i]))
    return sorted(kept)


def _count_tokens(node: Node, name_limit: int) -> int:
    """Return how many tokens a line takes."""
    words = len(split(node.name, LINE_WORDS)[:name_limit]) + len(split(node.value, LINE_WORDS))
    return 1 + len(node.states) + words


def compute_features(layout: PromptLayout, matches: Matches) -> NDArray[np.float32]:
    """Return (T, FEATURES): the features of each token."""
    out = np.zeros((len(layout.tokens), FEATURES), np.float32)
    out[0, Feature.STEPS_DONE] = _tenths(len(layout.past))
    words = [(i, token) for i, token in enumerate(layout.tokens) if token.word]
    if words:
        rows = list(_describe_words([token for _, token in words], layout))
        out[[i for i, _ in words], :_WORD_FEATURES] = rows
    for start, end in matches.quoted:
        out[start:end, Feature.QUOTED] = 1
        out[start, Feature.QUOTE_STARTS] = out[end - 1, Feature.QUOTE_ENDS] = 1
    for span in (span for spans in matches.spans for span in spans):
        column = Feature.VALUE_REPEATS_GOAL if span.is_value else Feature.REPEATS_GOAL
        out[span.start : span.end, column] = 1
    for start, end in matches.beside:
        out[start:end, Feature.BESIDE_REPEAT] = 1
    next_tokens = [*layout.tokens[1:], None]
    for position, (token, following) in enumerate(zip(layout.tokens, next_tokens, strict=True)):
        is_last = (
            following is None
            or following.key == CELL
            or (following.field, following.line) != (token.field, token.line)
        )
        if is_last and token.word is not None and token.line:
            out[position, Feature.LAST_WORD] = 1
    if layout.lines:
        out[[line.head for line in layout.lines]] = _describe_lines(layout, matches)
    return out


def _tenths(count: int) -> float:
    return min(count, 10) / 10


def _describe_words(
    tokens: Sequence[PromptToken], layout: PromptLayout
) -> Iterator[tuple[float, ...]]:
    """Yield the first nine features of each token."""
    goal, spellings = set(layout.goal_keys), {word.text for word in layout.goal}
    lines_with = Counter(key for key, _ in {(t.key, t.line) for t in tokens if t.line})
    typed = {key for past in layout.past for key in keys_of(f"{past.name} {past.text}")}
    for token in tokens:
        key, word, is_goal = token.key, token.word, token.field == PromptField.GOAL
        assert word is not None
        yield (
            key in (lines_with if is_goal else goal),
            not is_goal and word.text in spellings,
            1 / lines_with[key] if key in lines_with else 0,
            key in typed,
            key.isdigit(),
            not key.isalnum(),
            _tenths(len(key)),
            word.text[0].isupper(),
            word.spaced,
        )


def _describe_lines(layout: PromptLayout, matches: Matches) -> NDArray[np.float32]:
    """Return (lines, FEATURES): the features at the head of each line."""
    rows = np.zeros((len(layout.lines), FEATURES), np.float32)
    rows[:, Feature.KIND_NAMED] = matches.named_kinds
    for _, number in matches.places:
        rows[number, Feature.ORDINAL_NAMED] = layout.lines[number].node.mark > 0
    pieces = [" ".join(layout.goal_keys[start - 1 : end - 1]) for start, end in matches.quoted]
    since: set[str] = set()
    goal, quoted = set(layout.goal_keys), set(matches.quoted)
    acted = Counter(past.mark for past in layout.past if past.mark)
    acted_names = {past.name for past in layout.past if past.name}
    last = layout.past[-1].mark if layout.past else 0
    previous = layout.previous.nodes if layout.previous else ()
    before = {node.mark: node for node in previous}
    boxes = [node.box for node in layout.observation.nodes]
    side = max(1, *(max(left + width, top + height) for left, top, width, height in boxes))
    roles = Counter(line.node.role for line in layout.lines)
    names = Counter(line.node.name for line in layout.lines)
    above: Counter[str] = Counter()
    for number, (line, spans) in enumerate(zip(layout.lines, matches.spans, strict=True)):
        node, mark = line.node, line.node.mark
        repeated = [(span.start, span.end) for span in spans if not span.is_value]
        keys = [key for key in line.name if key.isalnum()]
        old = before.get(mark)
        rows[number, Feature.REPEATS_GOAL : Feature.NAME_SHARED + 1] = (
            bool(repeated),
            not quoted.isdisjoint(repeated),
            sum(key in goal for key in keys) / len(keys) if keys else 0,
            any(span.is_value for span in spans),
            min(acted[mark], 3) / 3,
            mark > 0 and mark == last,
            mark > 0 and mark == layout.observation.focus,
            mark > 0 and layout.previous is not None and old is None,
            mark > 0 and old is not None and (old.value, old.states) != (node.value, node.states),
            *(edge / side for edge in node.box),
            mark > 0,
            node.name in acted_names,
            _tenths(above[node.role]),
            _tenths(roles[node.role]),
            names[node.name] > 1,
        )
        anchor, text = matches.anchors[number], " ".join(line.name)
        starts, ends = any(map(text.startswith, pieces)), any(map(text.endswith, pieces))
        if anchor == number:
            since = set()
        rows[number, Feature.ANCHOR_NEARNESS : Feature.STARTS_AND_ENDS_WITH_QUOTES + 1] = (
            1 / (1 + number - anchor) if anchor >= 0 else 0,
            anchor >= 0 and mark > 0 and node.name not in since,
            starts,
            ends,
            starts and ends and len(pieces) > 1,
        )
        since.add(node.name)
        above[node.role] += 1
    return rows
