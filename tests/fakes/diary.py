"""A small real application: a diary with log-in, served over HTTP from an SQLite file.

As a module it is a site; run as a script, `diary.py STATE PORT`, it is the server.
"""

import hashlib
import json
import os
import sqlite3
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from benchmarks.sites.site import Account, LoginForm, Serving, log_in

TABLES = """
CREATE TABLE entry (id INTEGER PRIMARY KEY, author TEXT, text TEXT);
CREATE TABLE session (cookie TEXT PRIMARY KEY, name TEXT);
CREATE TABLE visit (path TEXT);
INSERT INTO entry (author, text) VALUES ('ann', 'It rained.'), ('bob', 'It shone.');
"""


@dataclass(frozen=True, slots=True)
class Diary:
    """The site; `argument` is what its server is told besides, `files` are pictures, of so many
    bytes each, and `padding` fills the database."""

    id: str = "diary@1"
    address: str = "http://diary.test"
    argument: str = ""
    files: int = 3
    file_bytes: int = 100
    padding: int = 0
    database: str = "diary.db"
    restart_on_reset: bool = False
    passing: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: {"visit": ()})
    accounts: Mapping[str, Account] = field(
        default_factory=lambda: {
            "writer": Account("ann", "rain", "writes entries"),
            "other": Account("bob", "shine", "writes entries"),
        }
    )

    def missing(self) -> str:
        """Nothing."""
        return ""

    def fingerprint(self) -> str:
        """What the state depends on besides this file."""
        return f"{self.files} {self.file_bytes} {self.padding}"

    def build(self, state: Path) -> None:
        """Two entries, and pictures."""
        with sqlite3.connect(state / self.database) as connection:
            connection.executescript(TABLES)
            connection.execute("CREATE TABLE padding (filling BLOB)")
            rows = [(os.urandom(1000),) for _ in range(self.padding // 1000)]
            connection.executemany("INSERT INTO padding VALUES (?)", rows)
        connection.close()
        (state / "pictures").mkdir()
        for number in range(self.files):
            (state / "pictures" / f"{number}.bin").write_bytes(b"x" * self.file_bytes)
        with (state / "builds").open("a") as file:
            file.write(f"{os.getpid()}\n")

    def serve(self, state: Path, port: int) -> Serving:
        """This file, run as a script."""
        argv = (sys.executable, "-S", __file__, str(state), str(port), self.argument)
        environment = {"PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONDONTWRITEBYTECODE": "1"}
        return Serving(argv, environment, ready="/health")

    def log_in(self, base: str, account: Account) -> list[dict[str, object]]:
        """By the form."""
        return log_in(base, account, LoginForm("/login", "name", "password"))


def site(argument: str = "") -> Diary:
    """The site as its id names it; `closed` shows nobody but who is logged in more than a form."""
    return Diary(id=f"{argument}@1", argument=argument) if argument else Diary()


class Handler(BaseHTTPRequestHandler):
    """Everything that it knows is in the database, opened for each request."""

    state: Path
    argument: str
    pooled: "_Committing"
    cached: list[tuple[str, str]]
    """With `cached`, the entries as they were first read and those written since."""

    def do_GET(self) -> None:
        """The entries; a visit is noted, as real sites do."""
        self._try(self._read)

    def do_POST(self) -> None:
        """Log in, or write."""
        self._try(self._take)

    def _try(self, serve: Callable[[], None]) -> None:
        try:
            serve()
        except sqlite3.Error as error:
            self._reply(str(error), 500)

    def _read(self) -> None:
        path = urlsplit(self.path).path
        if path == "/health":
            self._reply("well", 500 if self.argument == "ill" else 200)
        elif path == "/crash":
            os._exit(3)
        elif path == "/login":
            self._reply(LOGIN)
        elif path == "/" and self.argument == "closed" and not self._who():
            self._reply("", 302, {"Location": "/login"})
        elif path == "/":
            with self._database() as database:
                database.execute("INSERT INTO visit VALUES (?)", (self.path,))
                entries = database.execute("SELECT author, text FROM entry ORDER BY id").fetchall()
            if self.argument == "cached":
                Handler.cached = entries = getattr(Handler, "cached", entries)
            who = self._who()
            items = "".join(f"<li>{author}: {text}</li>" for author, text in entries)
            here = f"http://{self.headers['Host']}/"
            self._reply(f"<title>Diary of {here}</title><h1>Hello {who}</h1><ul>{items}</ul>{FORM}")
        elif path == "/entries":
            with self._database() as database:
                entries = database.execute("SELECT author, text FROM entry ORDER BY id").fetchall()
            self._reply(json.dumps(entries))
        else:
            self._reply("nothing here", 404)

    def _take(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())
        if self.path == "/login":
            name, password = form["name"][0], form["password"][0]
            known = (name, password) in (("ann", "rain"), ("bob", "shine"))
            if not known or form["token"] != ["drop"]:
                self._reply(f"No such account. {LOGIN}")
                return
            cookie = hashlib.sha256(f"{name}{os.urandom(8).hex()}".encode()).hexdigest()
            with self._database() as database:
                database.execute("INSERT INTO session VALUES (?, ?)", (cookie, name))
            self._reply("", 302, {"Location": "/", "Set-Cookie": f"session={cookie}; Path=/"})
        elif who := self._who():
            with self._database() as database:
                values = (who, form["text"][0])
                database.execute("INSERT INTO entry (author, text) VALUES (?, ?)", values)
            if self.argument == "cached":
                Handler.cached.append(values)
            (self.state / "pictures" / f"new-{os.getpid()}.bin").write_bytes(b"new")
            self._reply("", 302, {"Location": "/"})
        else:
            self._reply("log in first", 403)

    def log_message(self, text: str, *values: object) -> None:
        """Quiet."""

    def _database(self) -> "_Committing":
        if self.argument == "pooled" or (
            self.argument == "pooled writes" and self.command == "POST"
        ):
            return Handler.pooled
        return _Committing(self.state / "diary.db")

    def _who(self) -> str:
        cookie = SimpleCookie(self.headers.get("Cookie", "")).get("session")
        if cookie is None:
            return ""
        with self._database() as database:
            query = "SELECT name FROM session WHERE cookie = ?"
            row = database.execute(query, (cookie.value,)).fetchone()
        return row[0] if row else ""

    def _reply(self, body, status=200, headers=None):
        self.send_response(status)
        for name, value in {"Content-Type": "text/html", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())


LOGIN = """
<form method="post"><input type="hidden" name="token" value="drop">
<input name="name"> <input name="password" type="password"> <button>Log in</button></form>
"""
FORM = """
<form method="post" action="/entries">
<label>Entry <input name="text"></label> <button>Write</button></form>
"""


class _Committing:
    """A connection for one request, or with `is_kept` for all."""

    def __init__(self, path: Path, is_kept: bool = False) -> None:
        self._connection = sqlite3.connect(path, check_same_thread=False)
        self._is_kept = is_kept

    def __enter__(self) -> sqlite3.Connection:
        return self._connection

    def __exit__(self, *failure: object) -> None:
        self._connection.commit()
        if not self._is_kept:
            self._connection.close()


def main(state: str, port: str, argument: str) -> None:
    """Serve until killed."""
    if argument == "broken":
        sys.stderr.write("the diary is out of ink\n")
        raise SystemExit(4)
    Handler.state, Handler.argument = Path(state), argument
    if argument.startswith("pooled"):
        Handler.pooled = _Committing(Path(state) / "diary.db", is_kept=True)
    ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
