"""The output of the built-in world model as tokens: the outcome, then the changed lines."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webagent.models.builtin.prefix import Prefix
from webagent.models.builtin.targets import Codec
from webagent.models.builtin.vocabulary import EDITS, START, Vocabulary
from webagent.records import Node, Observation
from worldmodel.delta import Edit, difference
from worldmodel.transitions import Transition

MAX_DELTA = 96
"""Maximum tokens of a prediction; larger changes are truncated."""


@dataclass(frozen=True, slots=True)
class DecodedPrediction:
    """A prediction decoded from its tokens."""

    ends: bool
    succeeds: bool
    """Whether the episode will succeed."""
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class WorldGrammar:
    """Two outcome tokens; when the episode goes on, edits; then the end.

    is:ends | is:nothing-changes | is:goes-on
    is:succeeds | is:fails
    edit:remove LINE
    edit:name LINE word… end      edit:value LINE word… end
    edit:states LINE state… end   edit:add LINE kind (state | word)… end
    end
    """

    codec: Codec

    @property
    def vocabulary(self) -> Vocabulary:
        """The codec's vocabulary."""
        return self.codec.vocabulary

    @property
    def start(self) -> int:
        """The id fed in before the first token."""
        return self.vocabulary.id(START)

    # -- writing -------------------------------------------------------------------------

    def encode(self, transition: Transition, prefix: Prefix) -> list[int]:
        """Return the ids that describe the outcome of a transition."""
        edits = difference(transition.before, transition.after)
        how = "goes-on" if edits else "nothing-changes"
        ids = [self._id("is:ends" if transition.ends else f"is:{how}")]
        ids.append(self._id("is:succeeds" if transition.succeeded else "is:fails"))
        if transition.ends or not edits:
            return ids
        heads = {int(prefix.origins[i]): int(i) for i in np.flatnonzero(prefix.marks)}
        for edit in edits:
            part = self._write_edit(edit, heads, prefix)
            if len(ids) + len(part) >= MAX_DELTA:
                break
            ids.extend(part)
        return [*ids, self.codec.end]

    def _write_edit(self, edit: Edit, heads: dict[int, int], prefix: Prefix) -> list[int]:
        """Return an edit's ids; empty if the prompt left out the line."""
        position = 0 if edit.line < 0 else heads.get(edit.line)
        if position is None:
            return []
        ids, node = [self._id(f"edit:{edit.kind}"), self.codec.pointer(position)], edit.node
        if edit.kind in ("name", "value"):
            ids.extend(self.codec.copy_text(str(getattr(node, edit.kind)), prefix))
        elif edit.kind == "states":
            ids.extend([*self._write_states(node), self.codec.end])
        elif edit.kind == "add":
            ids.append(self._id(f"{node.role}/{node.kind}" if node.mark else "text"))
            ids.extend(self._write_states(node))
            ids.extend(self.codec.copy_text(node.name, prefix))
        return ids

    def _write_states(self, node: Node) -> list[int]:
        known = (self._id(f"state:{state}") for state in node.states if state != "focused")
        return [number for number in known if number]

    def _id(self, token: str) -> int:
        return self.vocabulary.id(token)

    # -- reading -------------------------------------------------------------------------

    def decode(self, ids: Sequence[int], prefix: Prefix, before: Observation) -> DecodedPrediction:
        """Return the prediction of a complete target."""
        starts = {self._id(edit) for edit in EDITS}
        parts: list[list[int]] = []
        for token in ids[2:]:
            if token in starts:
                parts.append([token])
            elif parts:
                parts[-1].append(token)
        edits = [self._read_edit(part, prefix, before) for part in parts]
        return DecodedPrediction(
            ends=ids[0] == self._id("is:ends"),
            succeeds=ids[1] == self._id("is:succeeds"),
            edits=tuple(edit for edit in edits if edit is not None),
        )

    def _read_edit(self, part: list[int], prefix: Prefix, before: Observation) -> Edit | None:
        """Return the edit of these ids; None if it has no line or a nonexistent one."""
        kind = self.vocabulary.word(part[0]).removeprefix("edit:")
        if len(part) < 2:
            return None
        line = int(prefix.origins[part[1] - self.vocabulary.capacity])
        is_line = 0 <= line < len(before.nodes)
        rest = [token for token in part[2:] if token != self.codec.end]
        if kind == "add":
            near = before.nodes[line] if is_line else None
            return Edit(kind, line, self._read_node(rest, prefix, near))
        if not is_line:
            return None
        states, text = self._read_words(rest, prefix)
        changed: dict[str, Any] = {"name": text, "value": text, "states": states}
        changed = {kind: changed[kind]} if kind in changed else {}
        return Edit(kind, line, replace(before.nodes[line], **changed))

    def _read_node(self, ids: Sequence[int], prefix: Prefix, near: Node | None) -> Node:
        """Return an added line, placed as the one that it comes after."""
        head = self.vocabulary.word(ids[0]) if ids else "text"
        role, _, kind = head.partition("/")
        states, text = self._read_words(ids[1:], prefix)
        return Node(
            mark=0 if head == "text" else 1,
            role=role,
            name=text,
            states=states,
            kind=kind,
            depth=near.depth if near else 0,
            box=near.box if near else (0, 0, 0, 0),
        )

    def _read_words(self, ids: Sequence[int], prefix: Prefix) -> tuple[tuple[str, ...], str]:
        words = [self.vocabulary.word(token) for token in ids]
        states = tuple(w.removeprefix("state:") for w in words if w.startswith("state:"))
        spoken = [t for t, w in zip(ids, words, strict=True) if not w.startswith("state:")]
        return states, self.codec.read_text(spoken, prefix)

    # -- the grammar ---------------------------------------------------------------------

    def slot(self, ids: Sequence[int]) -> str:
        """Return the kind of the next token, or `done`."""
        if len(ids) < 2:
            return "outcome"
        if ids[0] != self._id("is:goes-on"):
            return "done"
        edit, slot = "", "delta"
        for token in ids[2:]:
            if slot == "delta":
                if token == self.codec.end:
                    return "done"
                edit, slot = self.vocabulary.word(token), "mark"
            elif slot == "mark":
                slot = {"edit:remove": "delta", "edit:add": "op"}.get(edit, "text")
            elif slot == "op":
                slot = "text"
            elif token == self.codec.end:
                slot = "delta"
        return slot

    def allowed(self, ids: Sequence[int], prefix: Prefix) -> NDArray[np.bool_]:
        """Return (capacity + T,) which ids may come next."""
        capacity = self.vocabulary.capacity
        mask = np.zeros(capacity + len(prefix), np.bool_)
        match self.slot(ids):
            case "outcome":
                names = ("succeeds", "fails") if ids else ("ends", "goes-on", "nothing-changes")
                mask[[self._id(f"is:{name}") for name in names]] = True
            case "delta":
                mask[[self._id(edit) for edit in EDITS]] = True
                mask[self.codec.end] = True
            case "mark":
                mask[capacity:] = prefix.marks != 0
                mask[capacity] = True
            case "op":
                mask[[*self._learnt_kinds(states=False), self._id("text")]] = True
            case "text":
                mask[capacity:] = [word is not None for word in prefix.words]
                mask[self.vocabulary.text_ids] = True
                mask[self._learnt_kinds(states=True)] = True
                mask[[Vocabulary.UNKNOWN, self.codec.end]] = True
        return mask

    def _learnt_kinds(self, states: bool) -> list[int]:
        """Return the states or the kinds of lines in the vocabulary."""
        kinds, word = self.vocabulary.kind_ids, self.vocabulary.word
        return [i for i in kinds if word(i).startswith("state:") == states]
