"""A line of proposals.jsonl: a proposal with who made it, and how it was proven."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from loop.proposers.filters import Solving
from tasks.proposal import Proposal, Refusal
from webagent.errors import StoreError
from webagent.serialize import from_json, to_json

FILE = "proposals.jsonl"


@dataclass(frozen=True, slots=True)
class Line:
    """A proposal, and what else is known of it."""

    proposal: Proposal
    model: str = ""
    """The weights that wrote it; empty where no model did."""
    prompt: str = ""
    """Hash of the prompt's file."""
    request: str = ""
    """Key of the exchange it was read from."""
    steps: int = 0
    """How many actions it is said to take; 0 where nobody said."""
    proof: Solving | None = None
    """None while nobody has tried to solve it."""

    @property
    def is_taken(self) -> bool:
        """Whether no filter refused it."""
        return not self.proposal.refusals

    def refused(self, *refusals: Refusal | None) -> "Line":
        """With what filters say against it."""
        said = tuple(refusal for refusal in refusals if refusal is not None)
        proposal = self.proposal
        return replace(self, proposal=replace(proposal, refusals=(*proposal.refusals, *said)))


def write_lines(path: Path, lines: Sequence[Line]) -> None:
    """All of them, whole or not at all. Raises `StoreError`."""
    draft = path.with_name(f".{path.name}")
    text = "".join(json.dumps(_as_json(line)) + "\n" for line in lines)
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error}") from error


def read_lines(path: Path) -> list[Line]:
    """What `write_lines` wrote; nothing where there is no file. Raises `StoreError`."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [_line(text, f"{path}, line {number}") for number, text in enumerate(lines, 1)]


def _as_json(line: Line) -> dict[str, Any]:
    made = {name: getattr(line, name) for name in ("model", "prompt", "request", "steps")}
    proof = {"proof": asdict(line.proof)} if line.proof else {}
    return {**to_json(line.proposal), "made": {**made, **proof}}


def _line(text: str, where: str) -> Line:
    try:
        found = json.loads(text)
        made: Mapping[str, Any] = found.pop("made", {})
        proof = Solving(**made["proof"]) if "proof" in made else None
        told = {name: value for name, value in made.items() if name != "proof"}
        return Line(from_json(Proposal, found), **told, proof=proof)
    except (ValueError, TypeError, AttributeError, StoreError) as error:
        raise StoreError(f"{where}: no proposal: {error}") from error
