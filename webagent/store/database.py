"""The files of a run: its SQLite tables, their version and failures, and its pictures."""

import errno
import hashlib
import os
import re
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Protocol

from webagent.errors import StoreError

FORMAT = 1
"""Version of the tables; raised when older code could no longer read what newer code writes."""

STORE_FILE = "run.sqlite"
"""The tables, in a run folder."""
_PATIENCE = 30.0
"""Seconds to wait for another process that is writing."""

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE observations (hash BLOB PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE episodes (
    id TEXT PRIMARY KEY,
    run TEXT NOT NULL, arm TEXT NOT NULL, repeat INTEGER NOT NULL, round INTEGER NOT NULL,
    phase TEXT NOT NULL, idx INTEGER NOT NULL, world TEXT NOT NULL, seeded_from TEXT NOT NULL,
    task TEXT NOT NULL, seed INTEGER NOT NULL, parent TEXT NOT NULL, attempt INTEGER NOT NULL,
    goal TEXT NOT NULL, ending TEXT, error TEXT NOT NULL,
    n_steps INTEGER NOT NULL, started REAL NOT NULL, seconds REAL NOT NULL,
    last BLOB REFERENCES observations (hash),
    record BLOB NOT NULL
);
CREATE INDEX episodes_by_place ON episodes (run, arm, repeat, round, phase, idx);
CREATE TABLE steps (
    episode TEXT NOT NULL REFERENCES episodes (id),
    position INTEGER NOT NULL,
    observation BLOB NOT NULL REFERENCES observations (hash),
    decision BLOB NOT NULL,
    seconds REAL NOT NULL,
    PRIMARY KEY (episode, position)
);
CREATE TABLE scores (
    episode TEXT NOT NULL REFERENCES episodes (id),
    name TEXT NOT NULL,
    evaluator TEXT NOT NULL,
    value REAL,
    reason TEXT NOT NULL,
    PRIMARY KEY (episode, name, evaluator)
);
CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL);

-- What models were sent and what they replied.
CREATE TABLE texts (hash BLOB PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE exchanges (
    episode TEXT NOT NULL REFERENCES episodes (id),
    position INTEGER NOT NULL,
    number INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (episode, position, number)
);
"""


def create(folder: Path) -> None:
    """Put an empty database into the folder. Raises `StoreError` when one is there already.

    It is built under another name and linked into place whole, so that a kill leaves either a
    database that opens or none.
    """
    draft = folder / f".{STORE_FILE}.{os.getpid()}"
    with convert_failures(folder):
        folder.mkdir(parents=True, exist_ok=True)
        draft.unlink(missing_ok=True)
        try:
            with closing(sqlite3.connect(draft)) as database:
                database.execute("PRAGMA journal_mode = WAL")
                database.executescript(f"BEGIN; {_TABLES} COMMIT;")
                with database:
                    database.execute(
                        "INSERT INTO meta VALUES ('format', ?), ('created', datetime('now'))",
                        (str(FORMAT),),
                    )
            target = folder / STORE_FILE
            try:
                os.link(draft, target)  # unlike a rename it never replaces what is there
            except FileExistsError as error:
                raise StoreError(
                    f"{target.parent} already holds a run; resume it or choose another folder"
                ) from error
        finally:
            draft.unlink(missing_ok=True)


def connect(folder: Path) -> sqlite3.Connection:
    """Open the folder's database for reading and writing, once it has been found sound.

    Raises `StoreError` when there is none, when it is damaged, or of another version; nothing has
    been written then.
    """
    if not (folder / STORE_FILE).is_file():
        raise StoreError(
            f"{folder} holds no {STORE_FILE}, so it is not a run folder; check the path"
        )
    with convert_failures(folder):
        with closing(_connect(folder, "ro")) as database:
            _check_version(folder, database)
            state = database.execute("PRAGMA quick_check(1)").fetchone()
            if state != ("ok",):
                damage = f"{folder / STORE_FILE} is damaged or cut short ({state[0]})"
                raise StoreError(f"{damage}; left untouched")
        database = _connect(folder, "rw")
        database.execute("PRAGMA synchronous = NORMAL")  # safe from a kill; fsync at checkpoints
        database.execute("PRAGMA foreign_keys = ON")
    return database


def open_read_only(folder: Path) -> sqlite3.Connection:
    """Open the folder's database for reading alone, without a trace and without reading all of it.

    Raises `StoreError` when there is none or when it is of another version.
    """
    if not (folder / STORE_FILE).is_file():
        raise StoreError(
            f"{folder} holds no {STORE_FILE}, so it is not a run folder; check the path"
        )
    with convert_failures(folder):
        # Where nobody has it open, SQLite would leave files of its own beside it.
        at_rest = not (folder / f"{STORE_FILE}-wal").exists()
        with ExitStack() as undo:
            database = _connect(folder, "ro&immutable=1" if at_rest else "ro")
            undo.callback(database.close)
            _check_version(folder, database)
            undo.pop_all()
    return database


@contextmanager
def convert_failures(folder: Path) -> Iterator[None]:
    """Turn whatever SQLite, the disk or the stored bytes raise into a `StoreError`."""
    try:
        yield
    except (sqlite3.Error, OSError, OverflowError, zlib.error, UnicodeError) as error:
        text = str(error)
        if "is full" in text or getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
            sentence = (
                f"the disk under {folder} is full; finished steps are safe: make room, then go on"
                " with --resume where the command has it, or begin again"
            )
        elif "locked" in text:
            sentence = (
                f"{folder} was held by another process for {_PATIENCE:.0f} seconds; try again"
            )
        elif "malformed" in text or "not a database" in text or isinstance(error, zlib.error):
            sentence = f"{folder / STORE_FILE} is damaged or cut short ({text}); left untouched"
        else:
            sentence = f"{folder} cannot be used: {text}"
        raise StoreError(sentence) from error


def _connect(folder: Path, mode: str) -> sqlite3.Connection:
    uri = f"{(folder / STORE_FILE).resolve().as_uri()}?mode={mode}"
    # An agent in a notebook writes from a thread of its own, while whoever opened the store waits.
    return sqlite3.connect(
        uri, uri=True, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
    )


def _check_version(folder: Path, database: sqlite3.Connection) -> None:
    if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
        raise StoreError(
            f"{folder / STORE_FILE} is not a run; it is empty, cut short or of another program"
        )
    found = database.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
    if found != (str(FORMAT),):
        version = found[0] if found else "none"
        raise StoreError(
            f"{folder} has format {version}, this version reads format {FORMAT}; "
            "use the version that wrote it, nothing has been changed"
        )


_REFERENCE = re.compile(r"[0-9a-f]{64}\.[a-z]{3,4}")


class ImageStore(Protocol):
    """Keeps images and finds them again by reference."""

    def get(self, reference: str) -> bytes:
        """Return an image by its reference. Raises `StoreError` where there is none."""

    def add(self, image: bytes) -> str:
        """Keep an image; return its reference."""


class ImageFolder:
    """`images/ab/abcdef….png`, each file named by the SHA-256 of its bytes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, image: bytes, suffix: str = "png") -> str:
        """Keep the image and give its reference. Raises `StoreError` when the disk is full."""
        reference = f"{hashlib.sha256(image).hexdigest()}.{suffix}"
        path = self.path(reference)
        with convert_failures(self._folder):
            if not path.exists():
                draft = path.with_name(f".{path.name}.{os.getpid()}")
                path.parent.mkdir(parents=True, exist_ok=True)
                try:
                    draft.write_bytes(image)
                    draft.replace(path)
                finally:
                    draft.unlink(missing_ok=True)
        return reference

    def get(self, reference: str) -> bytes:
        """Return the bytes of the image. Raises `StoreError` when they are gone or not the same."""
        path = self.path(reference)
        with convert_failures(self._folder):
            if not path.is_file():
                raise StoreError(f"the image {path} is missing; was the folder copied completely?")
            image = path.read_bytes()
        if hashlib.sha256(image).hexdigest() != path.stem:
            raise StoreError(f"the image {path} is damaged: its bytes do not match its name")
        return image

    def path(self, reference: str) -> Path:
        """Return where the image lies. Raises `StoreError` for what is no reference."""
        if not _REFERENCE.fullmatch(reference):
            raise StoreError(f"{reference!r:.80} is not an image reference such as ab12….png")
        return self._folder / reference[:2] / reference


class MemoryImages:
    """Images in memory, by their content."""

    def __init__(self) -> None:
        self._images: dict[str, bytes] = {}

    def add(self, image: bytes) -> str:
        """Keep an image; return its reference."""
        reference = f"{hashlib.sha256(image).hexdigest()}.png"
        self._images[reference] = image
        return reference

    def get(self, reference: str) -> bytes:
        """Return an image by its reference. Raises `StoreError` where there is none."""
        if reference not in self._images:
            raise StoreError(f"there is no image {reference}")
        return self._images[reference]
