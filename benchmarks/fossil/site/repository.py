"""A Fossil repository made from artifacts, the same one every time."""

import re
import sqlite3
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import cache
from hashlib import md5, sha1, sha3_256
from pathlib import Path

from benchmarks.fossil.site import project
from benchmarks.fossil.site.project import REPORT, CheckIn, TechNote, Ticket, WikiPage
from benchmarks.sites.site import run_command

MARKDOWN = "text/x-markdown"
_ESCAPES = {"\\": "\\\\", " ": "\\s", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def name_of(artifact: bytes) -> str:
    """Return what Fossil calls an artifact or a file: its SHA3-256."""
    return sha3_256(artifact).hexdigest()


def check_in(
    change: CheckIn, parents: Sequence[str], files: Mapping[str, str], before: str
) -> bytes:
    """Return a manifest; `files` maps paths to contents' names, `before` is the parent's branch."""
    tags = []
    if change.branch != before:
        tags = [f"*branch * {change.branch}", f"*sym-{change.branch} *"]
        tags += [f"-sym-{before} *"] if before else []
    return _sealed(
        [
            f"C {_escaped(change.comment)}",
            f"D {change.date}.000",
            *(f"F {_escaped(path)} {files[path]}" for path in sorted(files)),
            *([f"P {' '.join(parents)}"] if parents else []),
            *(f"T {tag}" for tag in sorted(tags)),
            f"U {change.user}",
        ]
    )


def tag(date: str, user: str, name: str, target: str) -> bytes:
    """Return a control artifact that tags a check-in."""
    return _sealed([f"D {date}.000", f"T +{name} {target}", f"U {user}"])


def page_version(page: WikiPage, version: int, parent: str) -> bytes:
    """Return one version of a wiki page."""
    date, user = page.versions[version]
    return _sealed(
        [
            f"D {date}.000",
            f"L {_escaped(page.name)}",
            f"N {MARKDOWN}",
            *([f"P {parent}"] if parent else []),
            f"U {user}",
            _text(page.at(version)),
        ]
    )


def ticket_opened(ticket: Ticket) -> bytes:
    """Return the first change of a ticket: all of its fields."""
    fields = {
        "foundin": ticket.foundin,
        "icomment": ticket.description,
        "login": ticket.reporter,
        "mimetype": "text/plain",
        "priority": ticket.priority,
        "private_contact": f"{ticket.reporter}@quillmark.test",
        "resolution": "Open",
        "severity": ticket.severity,
        "status": "Open",
        "subsystem": ticket.subsystem,
        "title": ticket.title,
        "type": ticket.type,
    }
    return _ticket_change(ticket.opened, ticket.uuid, ticket.reporter, fields)


def ticket_changed(ticket: Ticket, place: int) -> bytes:
    """Return a later change of a ticket."""
    change = ticket.changes[place]
    fields = {"icomment": change.comment, "login": change.user, "mimetype": "text/plain"}
    fields |= change.fields
    return _ticket_change(change.date, ticket.uuid, change.user, fields)


def technote(note: TechNote) -> bytes:
    """Return a technote."""
    number = md5(note.title.encode(), usedforsecurity=False).hexdigest() + "0" * 8
    return _sealed(
        [
            f"C {_escaped(note.title)}",
            f"D {note.date}.000",
            f"E {note.date}.000 {number}",
            f"N {MARKDOWN}",
            *(f"T +sym-{name} *" for name in sorted(note.tags)),
            f"U {note.user}",
            _text(note.text),
        ]
    )


def _ticket_change(date: str, uuid: str, user: str, fields: Mapping[str, str]) -> bytes:
    return _sealed(
        [
            f"D {date}.000",
            *(f"J {name} {_escaped(fields[name])}" for name in sorted(fields)),
            f"K {uuid}",
            f"U {user}",
        ]
    )


def _text(text: str) -> str:
    return f"W {len(text.encode())}\n{text}"


def _sealed(cards: Sequence[str]) -> bytes:
    body = "".join(f"{card}\n" for card in cards).encode()
    return body + f"Z {md5(body, usedforsecurity=False).hexdigest()}\n".encode()


def _escaped(text: str) -> str:
    return re.sub(r"[\\ \n\t\r]", lambda found: _ESCAPES[found[0]], text)


PROJECT_CODE = sha1(b"quillmark").hexdigest()
_SECONDS = 60.0
MADE = 1718020800
"""Seconds since 1970 of 10 June 2024, noon, when nothing more is written."""


def make(path: Path, settings: Mapping[str, str]) -> None:
    """Write the repository of the project. Raises `SiteError` where Fossil does not do its part."""
    env = {"FOSSIL_HOME": str(path.parent), "FOSSIL_USER": "admin", "TZ": "UTC"}
    failure = "fossil@1 cannot be built"
    begin = ("fossil", "init", "--admin-user", "admin", "--date-override", "2023-01-30", str(path))
    run_command(begin, failure, _SECONDS, env)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("delete from blob")
        rows = {name_of(written): written for written in all_artifacts()}
        for place, (name, written) in enumerate(rows.items(), 1):
            content = struct.pack(">I", len(written)) + zlib.compress(written)
            database.execute(
                "insert into blob(rid, rcvid, size, uuid, content) values (?, 1, ?, ?, ?)",
                (place, len(written), name, content),
            )
    run_command(("fossil", "rebuild", str(path)), failure, _SECONDS, env)
    with closing(sqlite3.connect(path)) as database:
        with database:  # users, settings and the report; every time in it becomes `MADE`
            database.execute("delete from user where login = 'admin'")
            for place, person in enumerate(project.people(), 11):
                password = password_hash(person.login, person.password)
                database.execute(
                    "insert into user(uid, login, pw, cap, info, mtime) values (?, ?, ?, ?, ?, ?)",
                    (place, person.login, password, person.capabilities, person.name, MADE),
                )
            database.execute("update user set cap = 'hjor2' where login = 'nobody'")
            database.execute(
                "update user set cap = 'h', pw = '2F1C0A9B7D3E5846' where login = 'anonymous'"
            )
            database.execute("update user set mtime = ?", (MADE,))
            fixed = {"project-code": PROJECT_CODE, "server-code": sha1(b"server").hexdigest()}
            database.executemany(
                "replace into config(name, value) values (?, ?)", {**settings, **fixed}.items()
            )
            database.execute("update config set mtime = ?", (MADE,))
            database.execute("update rcvfrom set mtime = 2460472.0, ipaddr = '127.0.0.1'")
            database.execute(
                "insert into reportfmt(owner, title, cols, sqlcode) values ('admin', ?, '', ?)",
                REPORT,
            )
            database.execute("update reportfmt set mtime = ?", (MADE,))
        database.execute("vacuum")


def password_hash(login: str, password: str) -> str:
    """Return how Fossil keeps a password."""
    return sha1(f"{PROJECT_CODE}/{login}/{password}".encode()).hexdigest()


@cache
def check_in_names() -> tuple[str, ...]:
    """Return what Fossil calls the check-ins, oldest first."""
    return tuple(name_of(written) for written, is_check_in in _code() if is_check_in)


@cache
def post_names() -> tuple[tuple[str, ...], ...]:
    """Return what Fossil calls the forum's posts, thread by thread."""
    return tuple(tuple(map(name_of, thread)) for thread in _forum())


def all_artifacts() -> Iterator[bytes]:
    """Everything that was ever written, file contents before the check-ins that have them."""
    yield from (written for written, _ in _code())
    for ticket in project.tickets():
        yield ticket_opened(ticket)
        for place in range(len(ticket.changes)):
            yield ticket_changed(ticket, place)
    for page in project.pages():
        parent = ""
        for version in range(len(page.versions)):
            written = page_version(page, version, parent)
            parent = name_of(written)
            yield written
    for thread in _forum():
        yield from thread
    yield from map(technote, project.technotes())


def _forum() -> Iterator[list[bytes]]:
    """Thread by thread; a post names the first one and the one that it answers."""
    for thread in project.threads():
        posts: list[bytes] = []
        for post in thread:
            root = name_of(posts[0]) if posts else ""
            answered = name_of(posts[post.to]) if post.to >= 0 else ""
            posts.append(
                _sealed(
                    [
                        f"D {post.date}.000",
                        *([f"G {root}"] if root else []),
                        *([f"H {_escaped(post.title)}"] if post.title else []),
                        *([f"I {answered}"] if answered else []),
                        f"N {MARKDOWN}",
                        f"U {post.user}",
                        _text(post.text),
                    ]
                )
            )
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
        files = {path: name_of(content) for path, content in contents.items()}
        manifest = check_in(change, parents, files, before)
        yield manifest, True
        name = tips[change.branch] = name_of(manifest)
        trees[change.branch] = tree
        if change.tag:
            yield tag(change.date, change.user, f"sym-{change.tag}", name), False
        if change.merge:
            yield tag(change.date, change.user, "closed", parents[1]), False
