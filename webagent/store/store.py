"""The run's memory: what is written is committed before the call returns."""

import hashlib
import sqlite3
import time
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict, Unpack

from tasks.task import Json
from webagent.errors import StoreError, UsageError
from webagent.exchange import Exchange
from webagent.records import (
    SET_APART,
    Decision,
    Ending,
    Observation,
    Score,
    Step,
    Trajectory,
    is_of_policy,
)
from webagent.serialize import dumps, from_json, loads, to_json
from webagent.store import database
from webagent.store.database import ImageFolder


@dataclass(frozen=True, slots=True)
class EpisodeSummary:
    """An episode as the store lists it; `Store.load` gives the whole of it."""

    ending: Ending | None
    """None while it is under way."""
    id: str
    arm: str
    repeat: int
    round: int
    phase: str
    index: int
    world: str
    task: str
    """The task's full id."""
    seed: int
    attempt: int
    error: str
    steps: int
    """How many were taken; 0 while it is under way."""
    started: float
    """Seconds since 1970."""
    seconds: float
    goal: str
    """What was asked for, as the episode began."""

    @property
    def is_of_policy(self) -> bool:
        """Whether it counts in a policy's figures."""
        return is_of_policy(self.phase, self.world)


Kind: TypeAlias = Literal["played", "finished", "any"]
"""`played`: ended for a reason that says something about the agent. `finished`: ended at all,
infrastructure failures included. `any`: under way, too."""


class Where(TypedDict, total=False):
    """Conditions that must all hold; a collection means any one of its members."""

    id: str | Collection[str]
    task: str | Collection[str]
    seed: int | Collection[int]
    parent: str | Collection[str]
    world: str | Collection[str]
    run: str | Collection[str]
    arm: str | Collection[str]
    repeat: int | Collection[int]
    round: int | Collection[int]
    phase: str | Collection[str]
    index: int | Collection[int]
    attempt: int | Collection[int]
    ending: Ending | Collection[Ending]


_KINDS: dict[Kind, str] = {
    "played": "ending NOT IN ({})".format(
        ", ".join(f"'{ending}'" for ending in Ending if ending.is_infrastructure)
    ),
    "finished": "ending IS NOT NULL",
    "any": "1",
}


def conditions(where: Mapping[str, Any], kind: Kind) -> tuple[str, list[str | int]]:
    """Return the SQL condition on the table `episodes` with the values for its question marks.

    The phases `SET_APART` are left out unless `kind` is `any`, or phase or id are named.
    """
    parts, values = [_KINDS[kind]], list[str | int]()
    if kind != "any" and not {"phase", "id"} & where.keys():
        parts.append(f"phase NOT IN ({', '.join('?' * len(SET_APART))})")
        values.extend(SET_APART)
    for name, wanted in where.items():
        if name not in Where.__annotations__:
            known = ", ".join(Where.__annotations__)
            raise StoreError(f"episodes have no {name!r} to choose by; known: {known}")
        column = "idx" if name == "index" else name
        members = [wanted] if isinstance(wanted, str | int) else list(wanted)
        parts.append(f"episodes.{column} IN ({', '.join('?' * len(members))})")
        values.extend(members)
    return " AND ".join(parts), values


_BY_PLAN = "ORDER BY run, arm, repeat, round, phase, idx, task, seed, attempt"


class Store:
    """One run folder, open. Several processes may hold the same folder open at once.

    Every write is a transaction of its own: a kill at any moment loses at most the step in
    flight. Every method raises `StoreError`, and nothing else, when the folder cannot be used.
    """

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self.folder = folder
        self.images = ImageFolder(folder / "images")
        self._database = connection

    @classmethod
    def open(cls, folder: Path | str, *, create: bool = False) -> "Store":
        """Open the run in this folder, or with `create` begin a new one where there is none.

        Raises `StoreError` for a folder without a run, of another version, damaged or cut short,
        and with `create` for one that holds a run; nothing is overwritten.
        """
        folder = Path(folder)
        if create:
            database.create(folder)
        return cls(folder, database.connect(folder))

    @classmethod
    def look(cls, folder: Path | str) -> "Store":
        """Open the run for reading alone, at once however large it is, whoever else is writing.

        Damage is reported where it is met. Raises `StoreError` for a folder without a run or of
        another version, and wherever something is to be written.
        """
        folder = Path(folder)
        return cls(folder, database.open_read_only(folder))

    def close(self) -> None:
        """Let go of the folder. Safe to call twice."""
        with database.convert_failures(self.folder):
            self._database.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def begin(self, trajectory: Trajectory) -> None:
        """Enter an episode that starts now. Its id must be new."""
        with self._writing():
            self._insert_episode(trajectory)

    def add_step(self, episode: str, position: int, step: Step) -> None:
        """Keep one step of an episode that has begun; positions count from 0."""
        with self._writing():
            self._insert_step(episode, position, step)

    def add_exchanges(self, episode: str, position: int, exchanges: Sequence[Exchange]) -> None:
        """Keep what models were sent and said for a step; texts that are the same are kept once."""
        with self._writing():
            for number, exchange in enumerate(exchanges):
                packed: Any = to_json(exchange)
                for message in packed["messages"]:
                    body = message["text"].encode("utf-8", "surrogatepass")
                    digest = hashlib.blake2b(body, digest_size=16).digest()
                    self._database.execute(
                        "INSERT OR IGNORE INTO texts VALUES (?, ?)", (digest, zlib.compress(body))
                    )
                    message["text"] = digest.hex()
                row = (episode, position, number, _pack(packed))
                self._database.execute("INSERT OR REPLACE INTO exchanges VALUES (?,?,?,?)", row)

    def exchanges(self, episode: str) -> dict[int, tuple[Exchange, ...]]:
        """Return what models were sent and said, by the position of the step it was for.

        What came after the last step gave none.
        """
        found: dict[int, tuple[Exchange, ...]] = {}
        sql = "SELECT position, body FROM exchanges WHERE episode = ? ORDER BY position, number"
        for position, body in self._all(sql, episode):
            packed: Any = _unpack(body)
            for message in packed["messages"]:
                kept = bytes.fromhex(message["text"])
                row = self._first("SELECT body FROM texts WHERE hash = ?", kept)
                if row is None:
                    raise StoreError(f"{self.folder} lacks a text that a model was sent")
                message["text"] = zlib.decompress(row[0]).decode("utf-8", "surrogatepass")
            found[position] = (*found.get(position, ()), from_json(Exchange, packed))
        return found

    def finish(self, trajectory: Trajectory) -> None:
        """Close an episode with its ending and evidence; its steps are stored already."""
        with self._writing():
            self._end_episode(trajectory)

    def add(self, trajectory: Trajectory) -> None:
        """Keep a finished episode whole, steps included: a demonstration, a dream, an import."""
        with self._writing():
            self._insert_episode(replace(trajectory, ending=None))
            for position, step in enumerate(trajectory.steps):
                self._insert_step(trajectory.id, position, step)
            self._end_episode(trajectory)

    def join(self, other: Path) -> None:
        """Take in all that another run's store holds, but for states of a key that is known here.

        Pictures are files of their own. Raises `StoreError` where both hold the same episode.
        """
        tables = ("observations", "episodes", "steps", "scores", "texts", "exchanges", "state")
        shared = ("observations", "texts", "state")  # the same key means the same row, or ours
        with database.convert_failures(self.folder):
            self._database.execute("ATTACH ? AS other", (str(other / database.STORE_FILE),))
            try:
                names = {row[0] for row in self._all("SELECT name FROM other.sqlite_master")}
                with self._writing():
                    for table in (name for name in tables if name in names):
                        how = "INSERT OR IGNORE" if table in shared else "INSERT"
                        self._database.execute(f"{how} INTO {table} SELECT * FROM other.{table}")
            finally:
                self._database.execute("DETACH other")

    def score(self, episode: str, *scores: Score) -> None:
        """Put scores beside an episode; a score of the same name and evaluator is replaced."""
        rows = [
            (episode, score.name, score.evaluator, score.value, _readable(score.reason))
            for score in scores
        ]
        with self._writing():
            self._database.executemany("INSERT OR REPLACE INTO scores VALUES (?,?,?,?,?)", rows)

    def load(self, episode: str) -> Trajectory | None:
        """Return one episode with the steps stored so far; None if it has not begun."""
        row = self._first("SELECT record, last FROM episodes WHERE id = ?", episode)
        if row is None:
            return None
        record, digest = row
        rows = self._all(
            "SELECT body, decision, seconds FROM steps "
            "JOIN observations ON hash = observation WHERE episode = ? ORDER BY position",
            episode,
        )
        with database.convert_failures(self.folder):
            steps = (
                Step(
                    from_json(Observation, _unpack(body)),
                    from_json(Decision, _unpack(decision)),
                    seconds,
                )
                for body, decision, seconds in rows
            )
            trajectory = from_json(Trajectory, _unpack(record))
            trajectory, last = replace(trajectory, steps=tuple(steps)), None
            if digest:
                found = self._first("SELECT body FROM observations WHERE hash = ?", digest)
                if found is None:
                    raise StoreError(f"{self.folder} lacks an observation of an episode")
                last = from_json(Observation, _unpack(found[0]))
            return replace(trajectory, last=last)

    def find(self, start: str) -> Trajectory:
        """Return the episode whose id begins so. Raises `UsageError` where none or several do."""
        known = self.ids("any")
        if not known:
            raise UsageError(f"no episode of {self.folder} has begun")
        found = [start] if start in known else [each for each in known if each.startswith(start)]
        if len(found) != 1 or (episode := self.load(found[0])) is None:
            raise UsageError(
                f"{len(found)} of {len(known)} episodes of {self.folder} have an id that begins"
                f" with {start!r}; expected one. `webagent show {self.folder}` lists them"
            )
        return episode

    def trajectories(
        self, kind: Kind = "played", /, **where: Unpack[Where]
    ) -> Iterator[Trajectory]:
        """Yield the chosen episodes in the order of their plans, whichever order they ended in.

        Infrastructure failures are left out unless `kind` asks for them.
        """
        for episode in self.ids(kind, **where):
            trajectory = self.load(episode)
            if trajectory is not None:
                yield trajectory

    def ids(self, kind: Kind = "played", /, **where: Unpack[Where]) -> list[str]:
        """Return the ids of the chosen episodes in the order of their plans."""
        condition, values = conditions(where, kind)
        rows = self._all(f"SELECT id FROM episodes WHERE {condition} {_BY_PLAN}", *values)
        return [row[0] for row in rows]

    def entries(self, kind: Kind = "played", /, **where: Unpack[Where]) -> list[EpisodeSummary]:
        """Return the chosen episodes in the order of their plans, without reading their steps."""
        condition, values = conditions(where, kind)
        rows = self._all(
            "SELECT ending, id, arm, repeat, round, phase, idx, world, task, seed, attempt, error, "
            f"n_steps, started, seconds, goal FROM episodes WHERE {condition} {_BY_PLAN}",
            *values,
        )
        return [EpisodeSummary(Ending(ending) if ending else None, *rest) for ending, *rest in rows]

    def last_began(self) -> float:
        """Return when the last episode began, in seconds since 1970; 0 where none did."""
        (found,) = self._first("SELECT max(started) FROM episodes") or (None,)
        return float(found or 0.0)

    def scores(
        self, kind: Kind = "played", /, **where: Unpack[Where]
    ) -> dict[str, tuple[Score, ...]]:
        """Return scores of the chosen episodes by episode id; episodes without any are left out."""
        condition, values = conditions(where, kind)
        rows = self._all(
            "SELECT episode, name, value, reason, evaluator FROM scores "
            f"JOIN episodes ON id = episode WHERE {condition} {_BY_PLAN}, name, evaluator",
            *values,
        )
        found: dict[str, tuple[Score, ...]] = {}
        for episode, *fields in rows:
            found[episode] = (*found.get(episode, ()), Score(*fields))
        return found

    def count_real_steps(self, **where: Unpack[Where]) -> int:
        """Count the steps taken on real pages, those of failed attempts included."""
        condition, values = conditions(where, "any")
        rows = self._all(
            "SELECT count(*) FROM steps JOIN episodes ON id = episode "
            f"WHERE world != 'imagined' AND {condition}",
            *values,
        )
        return int(rows[0][0])

    def put_state(self, key: str, value: Json) -> None:
        """Remember a small value under a key, replacing what was there."""
        with self._writing():
            text = dumps(value).decode()
            self._database.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (key, text))

    def get_state(self, key: str, default: Json = None) -> Json:
        """Return the value remembered under the key."""
        row = self._first("SELECT value FROM state WHERE key = ?", key)
        return loads(row[0]) if row else default

    def states(self, prefix: str) -> dict[str, Json]:
        """Return all values whose keys begin with the prefix, by key, in the keys' order."""
        sql = "SELECT key, value FROM state WHERE substr(key, 1, ?) = ? ORDER BY key"
        return {key: loads(value) for key, value in self._all(sql, len(prefix), prefix)}

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with database.convert_failures(self.folder), self._database:
            self._database.execute("BEGIN IMMEDIATE")
            yield

    def _all(self, sql: str, *values: str | int | bytes) -> list[tuple[Any, ...]]:
        with database.convert_failures(self.folder):
            return self._database.execute(sql, values).fetchall()

    def _first(self, sql: str, *values: str | int | bytes) -> tuple[Any, ...] | None:
        return next(iter(self._all(sql, *values)), None)

    def _insert_episode(self, trajectory: Trajectory) -> None:
        task, source = trajectory.task, trajectory.provenance
        row = {
            "id": trajectory.id,
            "run": source.run,
            "arm": source.arm,
            "repeat": source.repeat,
            "round": source.round,
            "phase": source.phase,
            "idx": source.index,
            "world": source.world,
            "seeded_from": source.seeded_from,
            "task": task.id,
            "seed": task.seed,
            "parent": task.parent,
            "attempt": trajectory.attempt,
            "started": time.time(),
            **_outcome(trajectory),
        }
        if self._first("SELECT 1 FROM episodes WHERE id = ?", trajectory.id):
            raise StoreError(f"the episode {trajectory.id} is already in {self.folder}")
        names = ", ".join(row)
        marks = ", ".join(f":{name}" for name in row)
        self._database.execute(f"INSERT INTO episodes ({names}) VALUES ({marks})", row)

    def _insert_step(self, episode: str, position: int, step: Step) -> None:
        if not self._first("SELECT 1 FROM episodes WHERE id = ? AND ending IS NULL", episode):
            raise StoreError(f"the episode {episode} is not in progress in {self.folder}")
        self._database.execute(
            "INSERT INTO steps VALUES (?, ?, ?, ?, ?)",
            (
                episode,
                position,
                self._insert_observation(step.observation),
                _pack(to_json(step.decision)),
                step.seconds,
            ),
        )

    def _insert_observation(self, observation: Observation) -> bytes:
        body = dumps(to_json(observation))
        digest = hashlib.blake2b(body, digest_size=16).digest()
        self._database.execute(
            "INSERT OR IGNORE INTO observations VALUES (?, ?)", (digest, zlib.compress(body))
        )
        return digest

    def _end_episode(self, trajectory: Trajectory) -> None:
        if trajectory.ending is None:
            raise StoreError(f"the episode {trajectory.id} cannot be finished without an ending")
        row = {"id": trajectory.id, **_outcome(trajectory)}
        row["last"] = self._insert_observation(trajectory.last) if trajectory.last else None
        columns = ", ".join(f"{name} = :{name}" for name in row)
        changed = self._database.execute(
            f"UPDATE episodes SET {columns} WHERE id = :id AND ending IS NULL", row
        )
        if not changed.rowcount:
            raise StoreError(f"the episode {trajectory.id} is not in progress in {self.folder}")


def _outcome(trajectory: Trajectory) -> dict[str, Any]:
    """Return the columns that change until the end; only `record` is read back as a record."""
    return {
        "goal": _readable(trajectory.goal),
        "ending": trajectory.ending,
        "error": _readable(trajectory.error),
        "n_steps": len(trajectory.steps),
        "seconds": trajectory.seconds,
        "record": _pack(to_json(replace(trajectory, steps=(), last=None))),
    }


def _readable(text: str) -> str:
    """Return text that SQLite can hold: lone surrogates of a page become escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def _pack(value: Json) -> bytes:
    return zlib.compress(dumps(value))


def _unpack(packed: bytes) -> Json:
    return loads(zlib.decompress(packed))
