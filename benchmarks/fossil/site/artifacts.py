"""Fossil's artifacts: the records that all of its tables derive from.

The format is that of Fossil's file format document: cards of one line each in the order of their
letters, the last one a checksum of the rest.
"""

import re
from collections.abc import Mapping, Sequence
from hashlib import md5, sha3_256

from benchmarks.fossil.site.project import CheckIn, Page, Post, TechNote, Ticket

MARKDOWN = "text/x-markdown"
_ESCAPES = {"\\": "\\\\", " ": "\\s", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def name_of(artifact: bytes) -> str:
    """What Fossil calls an artifact or a file: its SHA3-256."""
    return sha3_256(artifact).hexdigest()


def check_in(
    change: CheckIn, parents: Sequence[str], files: Mapping[str, str], before: str
) -> bytes:
    """A manifest; `files` maps paths to names of contents, `before` is the parent's branch."""
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
    """A control artifact that tags a check-in."""
    return _sealed([f"D {date}.000", f"T +{name} {target}", f"U {user}"])


def page_version(page: Page, version: int, parent: str) -> bytes:
    """One version of a wiki page."""
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
    """The first change of a ticket: all of its fields."""
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
    """A later change of a ticket."""
    change = ticket.changes[place]
    fields = {"icomment": change.comment, "login": change.user, "mimetype": "text/plain"}
    fields |= change.fields
    return _ticket_change(change.date, ticket.uuid, change.user, fields)


def forum_post(post: Post, root: str, answered: str) -> bytes:
    """A forum post; root and answered post are empty for the first of a thread."""
    return _sealed(
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


def technote(note: TechNote) -> bytes:
    """A technote."""
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
