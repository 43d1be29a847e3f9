"""A notebook as a small web application: `notes.py build STATE`, `notes.py serve STATE PORT`."""

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

NOTES = ("Water the plants", "Return the library books", "Call the dentist")
PAGE = """<!doctype html><title>Notes</title><h1>Notes</h1>
<form method="post" action="/add"><input name="text" aria-label="New note">
<button>Add</button></form><ul>{items}</ul>"""
ITEM = """<li>{text} <form method="post" action="/done"><input type="hidden" name="id" value="{id}">
<button aria-label="Mark as done: {text}">Done</button></form></li>"""
FINISHED = "<li><s>{text}</s> (done)</li>"


@contextmanager
def connect(state: Path) -> Iterator[sqlite3.Connection]:
    """The database, opened anew for every request, so that a reset can take its place."""
    with closing(sqlite3.connect(state / "notes.db")) as database, database:
        yield database


class Pages(BaseHTTPRequestHandler):
    """One page, and two forms that change it."""

    state: Path

    def do_GET(self) -> None:
        """The list."""
        with connect(self.state) as database:
            rows = database.execute("SELECT id, text, done FROM note ORDER BY id").fetchall()
        items = ((FINISHED if done else ITEM).format(id=i, text=escape(t)) for i, t, done in rows)
        body = PAGE.format(items="".join(items)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        """Add a note, or mark one as done."""
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        with connect(self.state) as database:
            if self.path == "/add" and "text" in form:
                database.execute("INSERT INTO note (text, done) VALUES (?, 0)", form["text"])
            elif self.path == "/done":
                database.execute("UPDATE note SET done = 1 WHERE id = ?", form["id"])
        self.send_response(303)
        self.send_header("Location", "/")
        self.send_header("Content-Length", "0")
        self.end_headers()


def build(state: Path) -> None:
    """The first state."""
    with connect(state) as database:
        database.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT, done INTEGER)")
        database.executemany("INSERT INTO note (text, done) VALUES (?, 0)", [(n,) for n in NOTES])


def serve(state: Path, port: int) -> None:
    """Answer until the process is ended."""
    Pages.state = state
    ThreadingHTTPServer(("127.0.0.1", port), Pages).serve_forever()


if __name__ == "__main__":
    if sys.argv[1] == "build":
        build(Path(sys.argv[2]))
    else:
        serve(Path(sys.argv[2]), int(sys.argv[3]))
