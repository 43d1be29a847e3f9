"""A Fossil repository made from artifacts, the same one every time."""

import sqlite3
import struct
import subprocess
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import cache
from hashlib import sha1
from pathlib import Path

from benchmarks.fossil.site import artifacts, project
from benchmarks.fossil.site.settings import REPORT
from benchmarks.sites.site import SiteError

PROJECT_CODE = sha1(b"quillmark").hexdigest()
MADE = 1718020800
"""Seconds since 1970 of 10 June 2024, noon, when nothing more is written."""


def make(fossil: str, path: Path, settings: Mapping[str, str]) -> None:
    """Write the repository of the project. Raises `SiteError` where Fossil does not do its part."""
    home = {"FOSSIL_HOME": str(path.parent), "FOSSIL_USER": "admin"}
    _run([fossil, "init", "--admin-user", "admin", "--date-override", "2023-01-30", path], home)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("delete from blob")
        rows = {artifacts.name_of(written): written for written in all_artifacts()}
        database.executemany(
            "insert into blob(rid, rcvid, size, uuid, content) values (?, 1, ?, ?, ?)",
            (
                (
                    place,
                    len(written),
                    name,
                    struct.pack(">I", len(written)) + zlib.compress(written),
                )
                for place, (name, written) in enumerate(rows.items(), 1)
            ),
        )
    _run([fossil, "rebuild", path], home)
    with closing(sqlite3.connect(path)) as database:
        with database:
            database.execute("delete from user where login = 'admin'")
            database.executemany(
                "insert into user(uid, login, pw, cap, info, mtime) values (?, ?, ?, ?, ?, ?)",
                (
                    (
                        place,
                        person.login,
                        password_hash(person.login, person.password),
                        person.capabilities,
                        person.name,
                        MADE,
                    )
                    for place, person in enumerate(project.people(), 11)
                ),
            )
            database.execute("update user set cap = 'hjor2' where login = 'nobody'")
            database.execute(
                "update user set cap = 'h', pw = '2F1C0A9B7D3E5846' where login = 'anonymous'"
            )
            database.execute("update user set mtime = ?", (MADE,))
            _put_settings(database, settings)
            database.execute("update rcvfrom set mtime = 2460472.0, ipaddr = '127.0.0.1'")
            database.execute(
                "insert into reportfmt(owner, title, cols, sqlcode) values ('admin', ?, '', ?)",
                REPORT,
            )
            database.execute("update reportfmt set mtime = ?", (MADE,))
        database.execute("vacuum")


def password_hash(login: str, password: str) -> str:
    """How Fossil keeps a password."""
    return sha1(f"{PROJECT_CODE}/{login}/{password}".encode()).hexdigest()


@cache
def check_in_names() -> tuple[str, ...]:
    """What Fossil calls the check-ins, oldest first."""
    return tuple(artifacts.name_of(written) for written, is_check_in in _code() if is_check_in)


@cache
def post_names() -> tuple[tuple[str, ...], ...]:
    """What Fossil calls the forum's posts, thread by thread."""
    return tuple(tuple(map(artifacts.name_of, thread)) for thread in _forum())


def all_artifacts() -> Iterator[bytes]:
    """Everything that was ever written, file contents before the check-ins that have them."""
    yield from (written for written, _ in _code())
    for ticket in project.tickets():
        yield artifacts.ticket_opened(ticket)
        for place in range(len(ticket.changes)):
            yield artifacts.ticket_changed(ticket, place)
    for page in project.pages():
        parent = ""
        for version in range(len(page.versions)):
            written = artifacts.page_version(page, version, parent)
            parent = artifacts.name_of(written)
            yield written
    for thread in _forum():
        yield from thread
    yield from map(artifacts.technote, project.technotes())


def _forum() -> Iterator[list[bytes]]:
    """Thread by thread; a post names the first one and the one that it answers."""
    for thread in project.threads():
        posts: list[bytes] = []
        for post in thread:
            root = artifacts.name_of(posts[0]) if posts else ""
            answered = artifacts.name_of(posts[post.to]) if post.to >= 0 else ""
            posts.append(artifacts.forum_post(post, root, answered))
        yield posts


def _code() -> Iterator[tuple[bytes, bool]]:
    """In order; with each whether it is a check-in."""
    tips: dict[str, str] = {}
    trees: dict[str, dict[str, str]] = {}
    for change in project.check_ins():
        before = change.branch if change.branch in tips else ("trunk" if tips else "")
        tree = dict(trees.get(before, {}))
        if change.merge:
            tree |= trees[change.merge]
        tree |= change.write
        tree |= {path: tree.get(path, "") + text for path, text in change.append.items()}
        contents = {path: text.encode() for path, text in tree.items()}
        yield from ((content, False) for content in contents.values())
        parents = [tips[each] for each in (before, change.merge) if each]
        files = {path: artifacts.name_of(content) for path, content in contents.items()}
        manifest = artifacts.check_in(change, parents, files, before)
        yield manifest, True
        name = tips[change.branch] = artifacts.name_of(manifest)
        trees[change.branch] = tree
        if change.tag:
            yield artifacts.tag(change.date, change.user, f"sym-{change.tag}", name), False
        if change.merge:
            yield artifacts.tag(change.date, change.user, "closed", parents[1]), False


def _put_settings(database: sqlite3.Connection, settings: Mapping[str, str]) -> None:
    fixed = {"project-code": PROJECT_CODE, "server-code": sha1(b"server").hexdigest()}
    database.executemany(
        "replace into config(name, value, mtime) values (?, ?, ?)",
        ((name, value, MADE) for name, value in {**settings, **fixed}.items()),
    )
    database.execute("update config set mtime = ?", (MADE,))


def _run(argv: Sequence[str | Path], environment: Mapping[str, str]) -> None:
    done = subprocess.run(
        [str(word) for word in argv],
        env={"PATH": "/usr/bin:/bin:/usr/local/bin", "TZ": "UTC", **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    if done.returncode:
        said = (done.stderr or done.stdout).strip()[-300:]
        raise SiteError(f"{argv[0]} {argv[1]} ended with status {done.returncode}: {said}")
