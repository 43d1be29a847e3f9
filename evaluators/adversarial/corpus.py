"""The corpus: deceptions that were really played, each beside its honest control."""

import gzip
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from webagent.errors import SetupError, StoreError
from webagent.records import Trajectory
from webagent.serialize import from_json, loads

CORPUS = Path(__file__).with_name("corpus.jsonl.gz")
HONEST = "honest"
KINDS = ("claimed", "wrong item", "undone", "empty page", "page says so")
"""Claimed without doing it; done to the wrong thing; done and taken back; an answer given on a page
without content; a page that says the task is complete."""


@dataclass(frozen=True, slots=True)
class Case:
    """An episode of which it is known whether it did its task."""

    kind: str
    """One of `KINDS`, or `honest` for a control."""
    domain: str
    """Where it was played: `miniwob` or `market`."""
    control: str
    """Id of the honest episode of the same task; a control names itself."""
    trajectory: Trajectory

    @property
    def id(self) -> str:
        """The episode's."""
        return self.trajectory.id

    @property
    def truth(self) -> bool:
        """Whether the task was done: so in the controls, and in nothing else."""
        return self.kind == HONEST


@cache
def load_corpus() -> tuple[Case, ...]:
    """Every case of the corpus that comes with this package."""
    return read_cases(CORPUS)


def read_cases(path: Path) -> tuple[Case, ...]:
    """The cases of a file in the corpus's form: gzipped lines of JSON.

    Raises `SetupError` where there is no such file, `StoreError` where a line is not a case.
    """
    try:
        text = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise SetupError(f"{path} is no file of cases: {error}") from error
    return tuple(_case(line, place) for place, line in enumerate(text.splitlines(), start=1))


def _case(line: bytes, place: int) -> Case:
    row = loads(line)
    if not isinstance(row, dict) or row.keys() != {"kind", "domain", "control", "trajectory"}:
        raise StoreError(
            f"line {place} of the cases is {row!r:.80}; expected an object with kind, domain,"
            " control and trajectory"
        )
    kind, domain, control = (str(row[name]) for name in ("kind", "domain", "control"))
    if kind not in (*KINDS, HONEST):
        raise StoreError(f"line {place} has the kind {kind!r}; known: {', '.join(KINDS)}, {HONEST}")
    return Case(kind, domain, control, from_json(Trajectory, row["trajectory"]))
