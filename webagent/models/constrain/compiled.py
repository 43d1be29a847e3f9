"""Constraints made ready for a tokenizer, kept for the next reply under the same one."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeAlias

from webagent.errors import SetupError
from webagent.models.constrain.grammar import GrammarMatcher, parse_grammar
from webagent.models.constrain.trie import Node, TrieMatcher, plant
from webagent.models.constrain.vocabulary import Vocabulary
from webagent.models.model import Constraint, Matcher

_Key: TypeAlias = tuple[int, int, tuple[int, ...]]
_MOST_TOKENIZERS = 4
_MOST_CONSTRAINTS = 64
"""Kept for each tokenizer: those of the pages that are looked at, and some of before."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """A tokenizer with what was made ready for it."""

    vocabulary: Vocabulary
    starts: OrderedDict[Constraint, Any] = field(default_factory=OrderedDict)
    lock: Lock = field(default_factory=Lock)


_kept: OrderedDict[_Key, _Kept] = OrderedDict()
_lock = Lock()


def compile_constraint(
    constraint: Constraint,
    tokenizer: Any,
    *,
    width: int | None = None,
    ends: Sequence[int] = (),
) -> Callable[[], Matcher]:
    """Makes matchers of the constraint, one for each reply.

    `width` is that of the masks where the model's logits are wider or narrower than the
    vocabulary; `ends` are the ids of which each ends a reply, the tokenizer's `eos_token_id` unless
    named. Matchers of one constraint may be followed in different threads.

    Raises `ModelError` for a grammar that llguidance refuses or an empty choice, `SetupError` for
    a tokenizer that cannot spell what is demanded, or where llguidance is missing.
    """
    kept = _of(tokenizer, _ends(tokenizer, ends))
    vocabulary = kept.vocabulary
    with kept.lock:
        start = _start(kept, constraint)
    wide = vocabulary.size if width is None else width
    if max(vocabulary.ends) >= wide:
        raise SetupError(
            f"masks of {wide} ids leave out id {max(vocabulary.ends)}, which ends a reply of"
            f" {vocabulary.name}; the width is that of the model's logits"
        )
    if isinstance(start, Node):
        return lambda: TrieMatcher(start, vocabulary.ends, wide)
    return lambda: GrammarMatcher(start, vocabulary, wide)


def _ends(tokenizer: Any, ends: Sequence[int]) -> tuple[int, ...]:
    if ends:
        return tuple(sorted(set(ends)))
    if tokenizer.eos_token_id is None:
        raise SetupError(
            "the tokenizer has no eos_token, so no constrained reply could end; name the ids that"
            " end a reply, or set the tokenizer's eos_token"
        )
    return (tokenizer.eos_token_id,)


def _of(tokenizer: Any, ends: tuple[int, ...]) -> _Kept:
    """What is kept of the tokenizer, which stays alive with it, so that its address is its own."""
    key = (id(tokenizer), len(tokenizer), ends)
    with _lock:
        kept = _kept.pop(key, None) or _Kept(Vocabulary(tokenizer, ends))
        _kept[key] = kept
        if len(_kept) > _MOST_TOKENIZERS:
            _kept.popitem(last=False)
    return kept


def _start(kept: _Kept, constraint: Constraint) -> Any:
    """Where a reply under the constraint begins: the root of a tree, or llguidance's matcher."""
    start = kept.starts.pop(constraint, None) or (
        plant(constraint.choices, kept.vocabulary)
        if constraint.choices
        else parse_grammar(constraint.grammar, kept.vocabulary)
    )
    kept.starts[constraint] = start
    if len(kept.starts) > _MOST_CONSTRAINTS:
        kept.starts.popitem(last=False)
    return start
