"""Whether a site takes writes after a reset as a fresh one does, tried by its own forms."""

import hashlib
import re
import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from benchmarks.sites.changes import UnreadableChanges, find_changes
from benchmarks.sites.instance import Instance
from benchmarks.sites.site import HtmlForm, read_forms
from benchmarks.sites.state import Build

_PAGES = 30
_FORMS = 12
_REDIRECTS = 5
_SECONDS = 30.0
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
        from httpx2 import Client

        # A reset waits for open connections.
        headers = {"Connection": "close", "Accept": "text/html,*/*"}
        self._base = urlsplit(running.base)
        self._client = Client(
            base_url=running.base, headers=headers, timeout=_SECONDS, trust_env=False
        )
        for each in running.login(role)["cookies"] if role else []:
            self._client.cookies.set(each["name"], each["value"], self._base.hostname or "")

    def open(
        self, path: str, form: Mapping[str, str] | None = None, referer: str = "/"
    ) -> PageReply:
        """Return the page at a path, or what comes of sending a form there."""
        from httpx2 import HTTPError, InvalidURL

        base = f"{self._base.scheme}://{self._base.netloc}"
        headers = {"Referer": base + referer} | ({"Origin": base} if form is not None else {})
        try:
            method = "GET" if form is None else "POST"
            reply = self._client.request(method, path, data=form, headers=headers)
            for _ in range(_REDIRECTS):
                following = reply.next_request
                if following is None or not self.own_path(path, str(following.url)):
                    break
                reply = self._client.send(following)
        except (HTTPError, InvalidURL):
            return PageReply(_NO_ANSWER, path, "")
        return PageReply(reply.status_code, self.own_path("/", str(reply.url)), reply.text)

    def own_path(self, page: str, link: str) -> str:
        """Return the path that a link of a page leads to; empty where that is another site."""
        parts = urlsplit(urljoin(urljoin(self._base.geturl(), page), link))
        if parts[:2] != self._base[:2]:
            return ""
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
            forms, links = read_forms(reply.text)
            for form in filter(_can_write, forms[:_FORMS]):
                found = FoundForm(role, reply.path, visitor.own_path(reply.path, form.action))
                before, tried = read_changes(running), tried + 1
                outcome = play_write(running, found, _new_words())
                if found.target and outcome.status < 400 and outcome.changes != before:
                    return found
            paths = dict.fromkeys(visitor.own_path(reply.path, link) for link in links)
            fresh = [
                path for path in paths if path not in {*known, ""} and not _LEAVES.search(path)
            ]
            known.update(fresh)
            waiting += fresh
    return None


def play_write(running: Instance, found: FoundForm, words: str) -> WriteOutcome:
    """Fill the form with these words, send it, and look what came of it. Raises `SiteError`."""
    visitor = Visitor(running, found.role)
    page = reply = visitor.open(found.page)
    for form in filter(_can_write, read_forms(page.text)[0]):
        if visitor.own_path(page.path, form.action) == found.target:
            named = sorted(form.buttons.items(), key=lambda item: bool(_LOOKS.search(item[0])))
            special = {"email": f"{words}@example.test", "url": f"http://{words}.test/", **_VALUES}
            typed = {name: kind for name, kind in form.kinds.items() if kind in _TYPED}
            filled = {
                **form.values,
                **dict(named[:1]),
                **{name: special.get(kind, words) for name, kind in typed.items()},
            }
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
    ours, theirs = (
        {
            str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).digest()
            for path in folder.rglob("*")
            if path.is_file()
        }
        for folder in (running.state, running.build.state)
    )
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


def _can_write(form: HtmlForm) -> bool:
    kinds = form.kinds.values()
    return form.method.lower() == "post" and "password" not in kinds and "file" not in kinds
