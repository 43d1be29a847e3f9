"""A notebook as a small web application: `notes.py build STATE`, `notes.py serve STATE PORT`."""

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

LISTS = {
    "Home": ("Water the plants", "Fix the tap", "Feed the rabbit", "Wash the windows"),
    "Work": ("Call the printer", "Send the invoice", "Plan the workshop", "Read the contract"),
    "Errands": ("Return the library books", "Call the dentist", "Buy stamps", "Collect the parcel"),
}
PAGE = """<!doctype html><title>Notes</title>
<style>body {{ font: 15px/1.6 sans-serif; margin: 2em auto; max-width: 34em }}
form {{ display: inline }}
li {{ margin: .3em 0 }} h2 {{ font-size: 1em; margin: 1em 0 0 }}</style>
<h1>Notes</h1><form method="post" action="/add"><input name="text" aria-label="New note">
<select name="list" aria-label="List">{options}</select> <button>Add</button></form>{lists}"""
FORM = """<form method="post" action="{action}"><input type="hidden" name="id" value="{id}">
<button aria-label="{name}: {text}">{label}</button></form>"""


@contextmanager
def connect(state: Path) -> Iterator[sqlite3.Connection]:
    """The database, opened anew for every request, so that a reset can take its place."""
    with closing(sqlite3.connect(state / "notes.db")) as database, database:
        yield database


def show(note: int, text: str, done: int) -> str:
    """One note with its buttons."""
    text = escape(text)
    finish = FORM.format(action="/done", id=note, name="Mark as done", text=text, label="Done")
    delete = FORM.format(action="/delete", id=note, name="Delete", text=text, label="Delete")
    return f"<li>{f'<s>{text}</s> (done)' if done else f'{text} {finish}'} {delete}</li>"


class Pages(BaseHTTPRequestHandler):
    """One page, and the forms that change it."""

    state: Path

    def do_GET(self) -> None:
        """The lists."""
        with connect(self.state) as database:
            rows = database.execute("SELECT list, id, text, done FROM note ORDER BY id").fetchall()
        lists = "".join(
            f"<h2>{name}</h2><ul>{''.join(show(*row) for of, *row in rows if of == name)}</ul>"
            for name in LISTS
        )
        options = "".join(f"<option>{name}" for name in LISTS)
        body = PAGE.format(options=options, lists=lists).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        """Add a note, mark one as done, or delete one."""
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        with connect(self.state) as database:
            if self.path == "/add" and "text" in form:
                row = (form["list"][0], form["text"][0])
                database.execute("INSERT INTO note (list, text, done) VALUES (?, ?, 0)", row)
            elif self.path == "/done":
                database.execute("UPDATE note SET done = 1 WHERE id = ?", form["id"])
            elif self.path == "/delete":
                database.execute("DELETE FROM note WHERE id = ?", form["id"])
        self.send_response(303)
        self.send_header("Location", "/")
        self.send_header("Content-Length", "0")
        self.end_headers()


def build(state: Path) -> None:
    """The first state."""
    rows = [(name, text) for name, texts in LISTS.items() for text in texts]
    with connect(state) as database:
        database.execute(
            "CREATE TABLE note (id INTEGER PRIMARY KEY, list TEXT, text TEXT, done INTEGER)"
        )
        database.executemany("INSERT INTO note (list, text, done) VALUES (?, ?, 0)", rows)


def serve(state: Path, port: int) -> None:
    """Answer until the process is ended."""
    Pages.state = state
    ThreadingHTTPServer(("127.0.0.1", port), Pages).serve_forever()


if __name__ == "__main__":
    if sys.argv[1] == "build":
        build(Path(sys.argv[2]))
    else:
        serve(Path(sys.argv[2]), int(sys.argv[3]))
