"""Holding a reply to a constraint, id by id, while it is sampled and when it is trained on."""

import json
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from webagent.errors import ModelError, SetupError
from webagent.models.model import Constraint, Matcher

__all__ = ["Masks", "compile_constraint", "replay_masks"]

_MAX_BYTES = 32
"""Bytes of an id beyond which text within n tokens would have no bound in characters."""
_TEXT_BYTES = (*b"\t\n\r", *range(0x20, 0x7F), *range(0x80, 0xC0), *range(0xC2, 0xF1), 0xF3, 0xF4)
"""Every byte that occurs in text: no control characters, no planes of Unicode that hold nothing;
SmolLM2's tokenizer cannot spell some of those."""
_MANY = ("{1,10}", "{1,30}", "+")
_PLAIN, _TEXT = r"[ !#-;=-\[\]-~]", r'[^"\\<\x00-\x1F\x7F]'
_SLICES = [r"[ \n\r\t]+", *(kind + many for kind in (_PLAIN, _TEXT) for many in _MANY)]
"""Kinds of tokens that are allowed or refused together, in a third of the time of the usual kinds:
those take `<` along, which free text may not hold before a slash, and ASCII with all the rest."""
_Key: TypeAlias = tuple[int, int, tuple[int, ...]]
_MOST_TOKENIZERS = 4
_MOST_CONSTRAINTS = 64
"""Kept for each tokenizer: those of the pages that are looked at, and some of before."""
_KNOWN_LOCK = Lock()


@dataclass(frozen=True)
class TokenizerVocabulary:
    """A tokenizer's ids, apart from those that mark something and are no text."""

    tokenizer: Any
    ends: tuple[int, ...]
    """The ids of which each ends a reply."""

    @cached_property
    def size(self) -> int:
        """One more than the highest id."""
        return max(len(self.tokenizer), *(id + 1 for id in (*self._added, *self.ends)))

    @cached_property
    def _added(self) -> dict[int, Any]:
        return dict(getattr(self.tokenizer, "added_tokens_decoder", {}))

    @cached_property
    def marks(self) -> frozenset[int]:
        """Ids that stand for no text of a reply: `<image>`, turns of the chat, tool calls.

        Whatever was added to the vocabulary by name counts, but for runs of white space.
        """
        named = {id for id, token in self._added.items() if str(token).replace("▁", " ").strip()}
        return frozenset(named | set(self.tokenizer.all_special_ids) | set(self.ends))

    def spell(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the canonical ids of each text, none of them a mark, as if it were typed.

        Raises `SetupError` for a text that the ids do not give back.
        """
        spelled = self._encode(texts)
        for place, ids in enumerate(spelled):
            if not self.marks.isdisjoint(ids):
                pieces = self._encode(self._split_at_marks(texts[place]))
                spelled[place] = [id for piece in pieces for id in piece]
        written = self.tokenizer.batch_decode(
            spelled, skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        for text, ids, back in zip(texts, spelled, written, strict=True):
            if back != text or not self.marks.isdisjoint(ids):
                raise SetupError(
                    f"the tokenizer of {self.name} cannot encode {text!r}: its ids read {back!r};"
                    " constrained replies need a model whose tokenizer knows every text, one that"
                    " is byte-level or falls back to bytes"
                )
        return spelled

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        encoded = self.tokenizer(list(texts), add_special_tokens=False, split_special_tokens=True)
        return [list(ids) for ids in encoded["input_ids"]]

    def _split_at_marks(self, text: str) -> list[str]:
        """Return the text in pieces of which none holds the name of a mark."""
        names = sorted((str(self._added[id]) for id in self.marks & set(self._added)), key=len)
        found = re.search("|".join(map(re.escape, reversed(names))), text) if names else None
        if found is None or len(found[0]) < 2:
            return [text]
        middle = found.start() + 1
        return [text[:middle], *self._split_at_marks(text[middle:])]

    @property
    def name(self) -> str:
        """What to call the tokenizer in a message."""
        return getattr(self.tokenizer, "name_or_path", "") or type(self.tokenizer).__name__

    @cached_property
    def guidance(self) -> Any:
        """The tokenizer as llguidance knows it.

        Raises `SetupError` when that is not installed, or the tokenizer cannot spell every text.
        """
        try:
            from llguidance import LLTokenizer
        except ImportError as error:
            raise SetupError(
                "a grammar needs llguidance; install it with: pip install 'webagent-loop[llm]'"
            ) from error
        try:
            # The tokenizer's own file, with every mark declared as one.
            described = json.loads(self.tokenizer.backend_tokenizer.to_str())
            described |= {"padding": None, "truncation": None}
            for token in described["added_tokens"]:
                token["special"] = token["id"] in self.marks
            text = json.dumps(described)
            known = LLTokenizer(text, n_vocab=self.size, eos_token=list(self.ends), slices=_SLICES)
        except (ValueError, AttributeError) as error:
            raise SetupError(self._explain_unfit(str(error))) from error
        missing = [
            repr(chr(byte)) if byte < 0x80 else f"0x{byte:02x}"
            for byte in _TEXT_BYTES
            if known.decode_bytes(known.tokenize_bytes(bytes([byte]))) != bytes([byte])
        ]
        if missing:
            more = f" and {len(missing) - 6} more bytes" if len(missing) > 6 else ""
            raise SetupError(self._explain_unfit(f"no token for {', '.join(missing[:6])}{more}"))
        return known

    @cached_property
    def oversized(self) -> NDArray[np.int64]:
        """The ids that a grammar leaves to shorter ones: they spell more than 32 bytes, mostly of
        white space, so that text within n tokens would have no bound in characters."""
        spelled = (self.guidance.decode_bytes([id]) for id in range(self.guidance.vocab_size))
        lengths = np.fromiter((len(each) for each in spelled), dtype=np.int64)
        return np.flatnonzero(lengths > _MAX_BYTES)

    def _explain_unfit(self, why: str) -> str:
        return (
            f"the tokenizer of {self.name} cannot be held to a grammar ({why}); use a model whose"
            " tokenizer is a fast one, byte-level or with a fallback to bytes"
        )


@dataclass(slots=True)
class TrieNode:
    """What may follow one beginning."""

    children: dict[int, "TrieNode"] = field(default_factory=dict)
    is_whole: bool = False
    """Whether the beginning is itself one of the choices."""


def build_trie(choices: Sequence[str], vocabulary: TokenizerVocabulary) -> TrieNode:
    """Return the tree of the choices. Raises `ModelError` for an empty one, `SetupError` for one
    that the tokenizer cannot spell."""
    if not all(choices):
        raise ModelError("a choice is empty; omit it, as an empty reply cannot be chosen")
    root = TrieNode()
    for ids in vocabulary.spell(choices):
        node = root
        for token in ids:
            node = node.children.setdefault(token, TrieNode())
        node.is_whole = True
    return root


class TrieMatcher:
    """Follows one reply down the tree."""

    def __init__(self, root: TrieNode, ends: tuple[int, ...], width: int) -> None:
        self._node: TrieNode | None = root
        self._ends = ends
        self._width = width

    def mask(self) -> NDArray[np.bool_]:
        """Return which ids may come next, (width,); none once the reply has ended."""
        allowed = np.zeros(self._width, dtype=np.bool_)
        if self._node is not None:
            allowed[list(self._node.children)] = True
            if self._node.is_whole:
                allowed[list(self._ends)] = True
        return allowed

    def accept(self, token: int) -> None:
        """Take the id that came. Raises `ModelError` for one that may not."""
        node = self._node
        if node is not None and token in node.children:
            self._node = node.children[token]
        elif node is not None and node.is_whole and token in self._ends:
            self._node = None
        else:
            raise ModelError(explain_refusal(token, self.is_complete))

    @property
    def is_complete(self) -> bool:
        """Whether the reply has ended."""
        return self._node is None


def explain_refusal(token: int, is_complete: bool) -> str:
    """Return what is wrong with an id that the constraint does not allow."""
    if is_complete:
        return f"id {token} came after the reply had ended"
    return (
        f"id {token} is not allowed here by the constraint; sample under its masks, and replay ids"
        " with the constraint and the tokenizer they were sampled with"
    )


def parse_grammar(text: str, vocabulary: TokenizerVocabulary) -> Any:
    """Return llguidance's own matcher at the beginning of a reply, to be copied for each.

    Raises `ModelError` with the reason for a grammar it refuses, `SetupError` where it is not
    installed or the tokenizer does not suit it.
    """
    known = vocabulary.guidance
    from llguidance import LLMatcher

    start = LLMatcher(known, LLMatcher.grammar_from_lark(text), log_level=0)
    if start.is_error():
        raise ModelError(f"llguidance rejects the grammar: {_read_error(start)}")
    return start


class GrammarMatcher:
    """Follows one reply through a grammar."""

    def __init__(self, start: Any, vocabulary: TokenizerVocabulary, width: int) -> None:
        self._matcher = start.deep_copy()
        self._vocabulary = vocabulary
        self._width = width
        self._mask: NDArray[np.bool_] | None = None
        self._is_complete = False

    def mask(self) -> NDArray[np.bool_]:
        """Return which ids may come next, (width,); none once the reply has ended.

        Raises `ModelError` where the grammar demands what the tokenizer cannot spell.
        """
        return self._compute_mask().copy()

    def _compute_mask(self) -> NDArray[np.bool_]:
        if self._mask is not None:
            return self._mask
        allowed = np.zeros(self._width, dtype=np.bool_)
        if self._is_complete:
            return allowed
        packed = np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8)
        if self._matcher.is_error():
            raise ModelError(f"llguidance gave up: {_read_error(self._matcher)}")
        bits = np.unpackbits(packed, count=self._vocabulary.size, bitorder="little")
        fitting = bits.copy()
        fitting[self._vocabulary.oversized] = 0
        bits = fitting if fitting.any() else bits
        shared = min(self._width, len(bits))
        allowed[:shared] = bits[:shared]
        if not allowed.any():
            raise ModelError(
                "the grammar demands what no id spells: the tokenizer of"
                f" {self._vocabulary.name} stands before a dead end"
            )
        self._mask = allowed
        return allowed

    def accept(self, token: int) -> None:
        """Take the id that came. Raises `ModelError` for one that may not."""
        if not 0 <= token < self._width or not self._compute_mask()[token]:
            raise ModelError(explain_refusal(token, self._is_complete))
        self._mask = None
        if token in self._vocabulary.ends:
            self._is_complete = True
        elif not self._matcher.consume_token(token):
            raise ModelError(f"llguidance gave up: {_read_error(self._matcher)}")

    @property
    def is_complete(self) -> bool:
        """Whether the reply has ended."""
        return self._is_complete


def _read_error(matcher: Any) -> str:
    return " ".join(matcher.get_error().split())


@dataclass(frozen=True, slots=True)
class _KnownTokenizer:
    """A tokenizer with what was made ready for it."""

    vocabulary: TokenizerVocabulary
    starts: OrderedDict[Constraint, Any] = field(default_factory=OrderedDict)
    """Where a reply under each constraint begins: the root of a tree, or llguidance's matcher."""
    lock: Lock = field(default_factory=Lock)


_KNOWN: OrderedDict[_Key, _KnownTokenizer] = OrderedDict()


def compile_constraint(
    constraint: Constraint, tokenizer: Any, *, width: int | None = None, ends: Sequence[int] = ()
) -> Callable[[], Matcher]:
    """Return what makes matchers of the constraint, one for each reply.

    `width` is that of the masks where the model's logits are wider or narrower than the
    vocabulary; `ends` are the ids of which each ends a reply, the tokenizer's `eos_token_id` unless
    named. Matchers of one constraint may be followed in different threads.

    Raises `ModelError` for a grammar that llguidance refuses or an empty choice, `SetupError` for
    a tokenizer that cannot spell what is demanded, or where llguidance is missing.
    """
    if not ends and tokenizer.eos_token_id is None:
        raise SetupError(
            "the tokenizer has no eos_token, so no constrained reply could end; name the ids that"
            " end a reply, or set the tokenizer's eos_token"
        )
    # What is known of a tokenizer keeps it alive, so that its address is its own.
    all_ends = tuple(sorted(set(ends))) or (tokenizer.eos_token_id,)
    key = (id(tokenizer), len(tokenizer), all_ends)
    with _KNOWN_LOCK:
        known = _KNOWN.pop(key, None) or _KnownTokenizer(TokenizerVocabulary(tokenizer, all_ends))
        _KNOWN[key] = known
        if len(_KNOWN) > _MOST_TOKENIZERS:
            _KNOWN.popitem(last=False)
    vocabulary = known.vocabulary
    with known.lock:
        start = known.starts.pop(constraint, None) or (
            build_trie(constraint.choices, vocabulary)
            if constraint.choices
            else parse_grammar(constraint.grammar, vocabulary)
        )
        known.starts[constraint] = start
        if len(known.starts) > _MOST_CONSTRAINTS:
            known.starts.popitem(last=False)
    wide = vocabulary.size if width is None else width
    if max(vocabulary.ends) >= wide:
        raise SetupError(
            f"masks of {wide} ids leave out id {max(vocabulary.ends)}, which ends a reply of"
            f" {vocabulary.name}; the width is that of the model's logits"
        )
    if isinstance(start, TrieNode):
        return lambda: TrieMatcher(start, vocabulary.ends, wide)
    return lambda: GrammarMatcher(start, vocabulary, wide)


@dataclass(frozen=True, slots=True)
class Masks:
    """Which ids were allowed at each place of a reply, eight to a byte."""

    packed: NDArray[np.uint8]
    """(T, ceil(width / 8)), the lowest bit first."""
    width: int

    def __len__(self) -> int:
        return len(self.packed)

    def unpacked(self) -> NDArray[np.bool_]:
        """Return the masks of all places, (places, width)."""
        bits = np.unpackbits(self.packed, axis=1, count=self.width, bitorder="little")
        return bits.view(np.bool_)


def replay_masks(
    allowed: str,
    sampled_ids: Sequence[int],
    tokenizer: Any,
    *,
    width: int | None = None,
    ends: Sequence[int] = (),
) -> Masks:
    """Return the mask of each sampled id, the one that ended the reply included.

    `allowed` is the constraint as it was stored with them (`Decision.allowed`); `width` and `ends`
    are what it was compiled with. A reply that was cut short has masks as far as it goes.

    Raises `ModelError` for text that is no constraint, and for ids that break it.
    """
    matcher = compile_constraint(Constraint.loads(allowed), tokenizer, width=width, ends=ends)()
    wide = len(matcher.mask())
    packed = np.zeros((len(sampled_ids), (wide + 7) // 8), dtype=np.uint8)
    for place, token in enumerate(sampled_ids):
        packed[place] = np.packbits(matcher.mask(), bitorder="little")
        matcher.accept(token)
    return Masks(packed, wide)
