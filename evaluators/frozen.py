"""The judge that measures the loop is fixed by its content, and the loop may not train it."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from evaluators.evaluator import Evaluator
from webagent.errors import SetupError
from webagent.files import write_whole


@dataclass(frozen=True, slots=True)
class FrozenJudge:
    """Which judge was frozen, by content rather than by place."""

    evaluator: str
    """The evaluator's id, with its version and the hash of its prompt where it has one."""
    weights: str = ""
    """SHA-256 over the names and bytes of its weights; empty for a judge without files."""
    spec: str = ""
    """How `webagent judge` is asked for it; no part of its content."""

    @property
    def hash(self) -> str:
        """One hash for the whole judge."""
        return hashlib.sha256(f"{self.evaluator}\n{self.weights}".encode()).hexdigest()


def freeze(evaluator: Evaluator, folder: Path | None = None) -> FrozenJudge:
    """Return the record that fixes a judge. `folder` holds its weights, where it has any."""
    return FrozenJudge(evaluator.id, hash_folder(folder) if folder else "")


def verify(frozen: FrozenJudge, evaluator: Evaluator, folder: Path | None = None) -> None:
    """Check, when a judge is loaded to measure, that it is the frozen one.

    Raises `SetupError` saying what differs.
    """
    now = freeze(evaluator, folder)
    if now.evaluator != frozen.evaluator:
        raise SetupError(
            f"the frozen judge is {frozen.evaluator!r}, found {now.evaluator!r}; scores of the two"
            " cannot be compared: use the frozen one or start a new run"
        )
    if now.weights != frozen.weights:
        raise SetupError(
            f"the weights of the frozen judge in {folder} have changed: expected"
            f" {frozen.weights[:12] or 'none'}, found {now.weights[:12] or 'none'};"
            " restore them or start a new run"
        )


def refuse_frozen(folder: Path, frozen: Iterable[FrozenJudge]) -> None:
    """Check the weights that training is about to change, before it does.

    Raises `SetupError` when they are those of a frozen judge, wherever they lie.
    """
    if not folder.exists():
        return
    found = hash_folder(folder)
    for judge in frozen:
        if judge.weights == found:
            raise SetupError(
                f"{folder} holds the weights of the frozen judge {judge.evaluator!r}, which"
                " measures this run and is never trained; train another judge, from other weights"
            )


def hash_folder(folder: Path) -> str:
    """Return the SHA-256 of relative names and bytes. Raises `SetupError` for no files.

    Hidden files are left out: they are the file system's, not the judge's.
    """
    files = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and not any(p.startswith(".") for p in path.relative_to(folder).parts)
    )
    if not files:
        raise SetupError(f"no weights in {folder}; expected the folder a judge was saved to")
    digest = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        digest.update(f"{path.relative_to(folder).as_posix()}\n{content}\n".encode())
    return digest.hexdigest()


def add_frozen(path: Path, judges: Iterable[FrozenJudge]) -> tuple[FrozenJudge, ...]:
    """Add the records to those that a run folder has already, and return all of them.

    What is there stays as it is: an evaluator that was frozen with other weights is refused.
    Raises `SetupError`.
    """
    kept = list(read_frozen(path)) if path.exists() else []
    for judge in judges:
        same = [each for each in kept if each.evaluator == judge.evaluator]
        if any(each.weights != judge.weights for each in same):
            raise SetupError(
                f"{path} has {judge.evaluator!r} frozen with other weights; a run keeps the judge"
                " it began with, start a new run for another"
            )
        if not same:
            kept.append(judge)
    text = json.dumps([asdict(judge) for judge in kept], indent=2) + "\n"
    write_whole(path, text)
    return tuple(kept)


def read_frozen(path: Path) -> tuple[FrozenJudge, ...]:
    """Return the records of a run folder. Raises `SetupError` for a file of another kind."""
    try:
        return tuple(FrozenJudge(**judge) for judge in json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise SetupError(f"{path} is not a list of frozen judges: {error}") from error
