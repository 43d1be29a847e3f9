"""Whether a site takes writes after a reset as a fresh one does, tried by its own forms."""

import hashlib
import http.client
import re
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from urllib.parse import urlencode, urljoin, urlsplit

from benchmarks.sites.changes import UnreadableChanges, find_changes
from benchmarks.sites.instance import Instance
from benchmarks.sites.site import FormReader, HtmlForm
from benchmarks.sites.state import Build

_PAGES = 30
_FORMS = 12
_REDIRECTS = 5
_SECONDS = 30.0
_LONGEST = 5_000_000
_NO_ANSWER = 599
"""In place of a status; above all that are."""
_LEAVES = re.compile(r"log.?out|sign.?out|log.?in|sign.?in", re.IGNORECASE)
_WRITES = re.compile(r"new|add|create|edit|write|post", re.IGNORECASE)
_LOOKS = re.compile(r"preview|cancel|back|search|delete", re.IGNORECASE)
_VARYING = re.compile(r"[?].*|[0-9a-f]{6,}|[0-9]+")
"""What tells pages of one kind apart, by which the crawl would be eaten up."""
_VALUES = {"number": "1", "range": "1", "date": "2026-01-01", "time": "12:00", "tel": "5550100"}
_TYPED = ("text", "search", "textarea", "email", "url", *_VALUES)


@dataclass(frozen=True, slots=True)
class FoundForm:
    """A form that writes, and who may use it."""

    role: str
    page: str
    """Where it is: the path."""
    target: str
    """Where it is sent."""


@dataclass(frozen=True, slots=True)
class PageReply:
    """What the server answered, redirects followed."""

    status: int
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class WriteOutcome:
    """What came of one write."""

    status: int
    changes: tuple[str, ...]
    """In how much the state differs from the saved one."""
    places: tuple[str, ...]
    """Paths that show what was written."""


class Visitor:
    """Someone with cookies who reads pages of a running site and sends its forms."""

    def __init__(self, running: Instance, role: str) -> None:
        """`role` is an account of the site; empty for nobody. Raises `SiteError`."""
        self._place = urlsplit(running.base)
        kept = running.login(role)["cookies"] if role else []
        self._cookies = {str(each["name"]): str(each["value"]) for each in kept}

    def open(
        self, path: str, form: Mapping[str, str] | None = None, referer: str = "/"
    ) -> PageReply:
        """Return the page at a path, or what comes of sending a form there."""
        for _ in range(_REDIRECTS):
            status, location, text = self._ask(path, form, referer)
            if not (300 <= status < 400 and location) or not self._is_own(urljoin(path, location)):
                break
            referer, path, form = path, self._path_of(urljoin(path, location)), None
        return PageReply(status, path, text)

    def links(self, reply: PageReply, reader: FormReader) -> Iterator[str]:
        """Yield paths of the site that a page leads to, but for those that log in or out."""
        for link in reader.links:
            whole = urljoin(reply.path, link)
            if self._is_own(whole) and not _LEAVES.search(whole):
                yield self._path_of(whole)

    def target(self, page: str, form: HtmlForm) -> str:
        """Return the path that a form is sent to; empty where that is another site."""
        whole = urljoin(page, form.action or page)
        return self._path_of(whole) if self._is_own(whole) else ""

    def _ask(self, path: str, form: Mapping[str, str] | None, referer: str) -> tuple[int, str, str]:
        base = f"{self._place.scheme}://{self._place.netloc}"
        pairs = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        headers = {"Connection": "close", "Referer": base + referer, "Accept": "text/html,*/*"}
        headers |= {"Cookie": pairs} if pairs else {}
        if form is not None:
            headers |= {"Origin": base, "Content-Type": "application/x-www-form-urlencoded"}
        connection = http.client.HTTPConnection(self._place.netloc, timeout=_SECONDS)
        try:
            body = None if form is None else urlencode(form)
            connection.request("GET" if form is None else "POST", path, body, headers)
            reply = connection.getresponse()
            for line in reply.headers.get_all("Set-Cookie", []):
                with suppress(CookieError):
                    self._cookies |= {name: each.value for name, each in SimpleCookie(line).items()}
            text = reply.read(_LONGEST).decode(errors="replace")
            return reply.status, reply.headers.get("Location", ""), text
        except (OSError, http.client.HTTPException):
            return _NO_ANSWER, "", ""
        finally:
            connection.close()

    def _is_own(self, url: str) -> bool:
        parts = urlsplit(url)
        return parts.scheme in ("", "http") and parts.netloc in ("", self._place.netloc)

    def _path_of(self, url: str) -> str:
        parts = urlsplit(url)
        return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def find_write(running: Instance) -> FoundForm | None:
    """Return a form whose sending changes the state, found by following links from the first page
    as each account in turn; None where there is none. Raises `SiteError`."""
    for role in [*running.site.accounts, ""]:
        visitor, tried = Visitor(running, role), 0
        waiting, known, kinds = ["/"], {"/"}, Counter[str]()
        for _ in range(_PAGES):
            if not waiting or tried == _FORMS:
                break
            path = min(waiting, key=lambda path: (kinds[_kind(path)], not _WRITES.search(path)))
            waiting.remove(path)
            kinds[_kind(path)] += 1
            reply = visitor.open(path)
            reader = _read_forms(reply.text)
            for form in filter(_can_write, reader.forms[:_FORMS]):
                found = FoundForm(role, reply.path, visitor.target(reply.path, form))
                before, tried = read_changes(running), tried + 1
                outcome = play_write(running, found, _new_words())
                if found.target and outcome.status < 400 and outcome.changes != before:
                    return found
            fresh = [path for path in visitor.links(reply, reader) if path not in known]
            known.update(fresh)
            waiting += dict.fromkeys(fresh)
    return None


def play_write(running: Instance, found: FoundForm, words: str) -> WriteOutcome:
    """Fill the form with these words, send it, and look what came of it. Raises `SiteError`."""
    visitor = Visitor(running, found.role)
    page = reply = visitor.open(found.page)
    for form in filter(_can_write, _read_forms(page.text).forms):
        if visitor.target(page.path, form) == found.target:
            filled = {**form.values, **_press(form), **_fill(form, words)}
            reply = visitor.open(found.target, filled, found.page)
            break
    paths = dict.fromkeys((found.page, reply.path))
    places = tuple(path for path in paths if words in visitor.open(path).text)
    return WriteOutcome(reply.status, read_changes(running), places)


def compare_writes(build: Build, found: FoundForm) -> list[str]:
    """Return in what an episode that writes after a reset differs from the same in a fresh process;
    nothing where they are alike. Raises `SiteError`."""
    form, differences = f"the form of {found.page} to {found.target}", []
    with Instance.of(build) as running:
        words = _new_words()
        fresh = play_write(running, found, words)
        running.reset()
        visitor = Visitor(running, found.role)
        for path in fresh.places:
            if words in visitor.open(path).text:
                differences.append(f"{path} shows after a reset what was written before it")
        after = play_write(running, found, _new_words())
    if after.status != fresh.status:
        before = f"and with {fresh.status} in a fresh process"
        differences.append(f"{form} is answered with status {after.status} after a reset {before}")
    if after.changes != fresh.changes:
        said = [", ".join(each.changes) or "nothing" for each in (after, fresh)]
        differences.append(f"{form} changes {said[0]} after a reset and {said[1]} before it")
    return differences


def read_changes(running: Instance) -> tuple[str, ...]:
    """Return in how much the state differs from the saved one: rows by table, or files."""
    database, saved = running.database, running.saved_database
    if database and saved:
        try:
            found = find_changes(saved, database, running.site.passing)
        except UnreadableChanges as error:
            return (str(error),)
        rows = (
            (table, kind, len(rows)) for table, of in found.items() for kind, rows in of.items()
        )
        return tuple(f"{count} {kind} in {table}" for table, kind, count in rows if count)
    ours, theirs = map(_digests, (running.state, running.build.state(running.state_name)))
    return tuple(
        f"{len(names)} files {kind}"
        for kind, names in (
            ("added", ours.keys() - theirs.keys()),
            ("removed", theirs.keys() - ours.keys()),
            (
                "changed",
                {name for name in ours.keys() & theirs.keys() if ours[name] != theirs[name]},
            ),
        )
        if names
    )


def _kind(path: str) -> str:
    return _VARYING.sub("", path)


def _new_words() -> str:
    return f"checked{secrets.token_hex(6)}"


def _read_forms(page: str) -> FormReader:
    reader = FormReader()
    reader.feed(page)
    return reader


def _can_write(form: HtmlForm) -> bool:
    kinds = form.kinds.values()
    return form.method.lower() == "post" and "password" not in kinds and "file" not in kinds


def _press(form: HtmlForm) -> dict[str, str]:
    """Return what the button adds that is most likely to write."""
    named = sorted(form.buttons.items(), key=lambda item: bool(_LOOKS.search(item[0])))
    return dict(named[:1])


def _fill(form: HtmlForm, words: str) -> dict[str, str]:
    """Return a value for each field that a person would type into."""
    special = {"email": f"{words}@example.test", "url": f"http://{words}.test/", **_VALUES}
    typed = {name: kind for name, kind in form.kinds.items() if kind in _TYPED}
    return {name: special.get(kind, words) for name, kind in typed.items()}


def _digests(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(f.relative_to(folder)): hashlib.sha256(f.read_bytes()).digest() for f in files}
