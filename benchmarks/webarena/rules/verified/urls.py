"""Addresses as they are compared: site placeholders, tidy paths and queries without order."""

import base64
import binascii
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import SplitResult, parse_qs, quote, unquote, urlparse, urlsplit, urlunparse

from benchmarks.webarena.rules.verified.sites import Sites
from benchmarks.webarena.rules.verified.text import is_pattern

Query = Mapping[str, Sequence[object]]

_SECURED = frozenset({"http", "https", "ftp", "ftps"})
_PORTS = {"http": "80", "https": "443", "ftp": "21", "ws": "80", "wss": "443"}
_BASE64 = re.compile(r"[A-Za-z0-9_-]{4,}={0,2}")


@dataclass(frozen=True, slots=True)
class Address:
    """An address taken apart."""

    base: str
    """Without its query; a regular expression where it is a pattern."""
    query: Query
    """Names to their values, sorted."""

    @property
    def is_pattern(self) -> bool:
        """Whether the base is a regular expression."""
        return is_pattern(self.base)


@dataclass(frozen=True, slots=True)
class AddressReading:
    """How addresses are read for one check."""

    sites: Sites
    strict: bool = False
    """Raise where an address is on none of the sites."""
    rendered: bool = True
    """Placeholders become addresses first, as in network checks."""
    query: Query | None = None
    """Given beside the address; replaces the query in it."""
    ignored: frozenset[str] = frozenset()
    ignored_patterns: tuple[str, ...] = ()
    base64_path: bool = False
    """Queries are hidden in segments of the path in base64."""
    typed: Callable[[Query], Query] = field(default=lambda query: query)
    """Gives the values of the query their types."""

    def read(self, value: object) -> Address:
        """The address. Raises `ValueError` where it is none."""
        text = value.strip() if isinstance(value, str) else ""
        if not text:
            raise ValueError(f"{value!r} is not an address")
        if is_pattern(text):
            return Address(text.rstrip("/"), self._kept(self.query or {}))
        text = text.rstrip("/")
        if text.startswith("__") and self.rendered:
            text = self.sites.rendered(text, strict=self.strict)
        if _is_ssh(text):
            return Address(_ssh(text), {})
        parts = urlparse(self.sites.templated(tidy(text), strict=self.strict))
        path = f"{parts.path};{parts.params}" if parts.params else parts.path
        query = self.query
        if query is None:
            path, hidden = hidden_queries(path) if self.base64_path else (path, [])
            query = _parsed("&".join([*hidden, *([parts.query.strip()] if parts.query else [])]))
        host = parts.netloc.lower()
        base = urlunparse((parts.scheme.lower(), host, path, "", "", parts.fragment))
        return Address(base, self._kept(query))

    def _kept(self, query: Query) -> Query:
        kept = {
            name: tuple(sorted(str(value).lower().strip() for value in values))
            for name, values in query.items()
            if not (
                name in self.ignored
                or any(re.search(pattern, name, re.IGNORECASE) for pattern in self.ignored_patterns)
            )
        }
        return self.typed(kept)


def same_page(one: Address, other: Address, sites: Sites | None = None) -> bool:
    """Whether the bases agree, by pattern or else whatever the case and a slash at the end.

    With sites, placeholders are replaced before a pattern is tried. Raises `ValueError` for a
    pattern that is no regular expression.
    """
    if not one.is_pattern and not other.is_pattern:
        return one.base.lower().rstrip("/") == other.base.lower().rstrip("/")
    return any(
        pattern.is_pattern and _matches(pattern.base, literal.base, sites)
        for pattern, literal in ((one, other), (other, one))
    )


def same_query(expected: Query, found: Query) -> bool:
    """Whether the first value of each name agrees; missing and empty are the same.

    An expected value may be a pattern, matched from the beginning.
    """
    return all(
        _same_value(_first(expected.get(name, ())), _first(found.get(name, ())))
        for name in expected.keys() | found.keys()
    )


def tidy(text: str) -> str:
    """The address with a scheme, lower-case host, no default port, and one way of quoting.

    Raises `ValueError` for a host that cannot be.
    """
    parts = urlsplit(_with_scheme(text).replace("#!", "?_escaped_fragment_=").rstrip("&? "))
    scheme = parts.scheme.lower()
    user, host, port = _host(parts)
    port = str(int(port)) if port.isdigit() else port
    if _PORTS.get(scheme) == port:
        port = ""
    path = _tidy_path(parts.path, scheme)
    query = "&".join(_tidy_pair(pair) for pair in parts.query.split("&") if pair)
    fragment = quote(_unquoted(parts.fragment), "~=")
    authority = user + host + (f":{port}" if port else "")
    return SplitResult(scheme, authority, path, query, fragment).geturl()


def hidden_queries(path: str) -> tuple[str, list[str]]:
    """The path without segments that are a query in base64, and those queries."""
    kept, queries = [], []
    for segment in path.split("/"):
        query = _query_in(segment)
        if query:
            queries.append(query.lstrip("?&"))
        elif segment:
            kept.append(segment)
    start = "/" if path.startswith("/") else ""
    end = "/" if kept and path.endswith("/") else ""
    return start + "/".join(kept) + end, queries


def _query_in(segment: str) -> str:
    """The query that a segment is in base64, else empty."""
    if not _BASE64.fullmatch(segment):
        return ""
    try:
        text = base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return unquote(text).strip() if "=" in text else ""


def _with_scheme(text: str) -> str:
    if text == "-" or (text.startswith("/") and not text.startswith("//")):
        return text
    if ":" not in text[:7]:
        return "https://" + text.lstrip("/")
    scheme, rest = text.split(":", 1)
    return f"{scheme}://{rest.lstrip('/')}" if scheme.lower() in _SECURED else text


def _host(parts: SplitResult) -> tuple[str, str, str]:
    """User with its @, host and port."""
    user, at, place = parts.netloc.rpartition("@")
    host, _, port = place.partition(":")
    host = host.lower().strip(".")
    user = user + at
    if not host.isascii():
        host = host.encode("idna").decode()
    return ("" if user in ("@", ":@") else user), host, port


def _tidy_path(path: str, scheme: str) -> str:
    path = quote(_unquoted(path), "~:/#[]@!$&'()*+,;=")
    if scheme not in ("", "http", "https", "ftp", "file"):
        return path
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            if len(kept) > 1:
                kept.pop()
        elif segment == "":
            if not kept:
                kept.append(segment)
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in ("", ".", ".."):
        kept.append("")
    tidied = "/".join(kept)
    return tidied or ("/" if scheme else "")


def _tidy_pair(pair: str) -> str:
    name, _, value = pair.partition("=")
    name, value = (quote(_unquoted(part), "~:/?[]@!$'()*+,;") for part in (name, value))
    return f"{name}={value}" if value else name


def _unquoted(text: str) -> str:
    return unicodedata.normalize("NFC", unquote(text))


def _is_ssh(text: str) -> bool:
    lowered = text.lower()
    return lowered.startswith("ssh://") or (
        lowered.startswith("git@") and ":" in text and "://" not in text
    )


def _ssh(text: str) -> str:
    """User and path of a repository's address; the host and port are passed over."""
    if text.lower().startswith("ssh://"):
        parts = urlparse(text)
        user = parts.netloc.split("@")[0].lower() if "@" in parts.netloc else "git"
        path = parts.path
    else:
        user, _, place = text.partition("@")
        if ":" not in place:
            raise ValueError(f"{text!r} has no path after its host")
        user, path = user.lower(), place.partition(":")[2]
    return f"{user}@__SSH_HOST__:{path.lstrip('/').lower()}"


def _parsed(query: str) -> Query:
    return {
        unquote(name): tuple(sorted(map(unquote, values)))
        for name, values in parse_qs(query, keep_blank_values=True).items()
    }


def _matches(pattern: str, text: str, sites: Sites | None) -> bool:
    inner = pattern[1:-1]
    if sites is not None and inner.startswith("__"):
        inner = sites.rendered(inner, strict=False)
    if sites is not None and text.startswith("__"):
        text = sites.rendered(text, strict=False)
    try:
        return re.match(f"^{inner}$", text) is not None
    except re.error as error:
        raise ValueError(f"{pattern!r} is not a regular expression: {error}") from error


def _first(values: Sequence[object]) -> object:
    return "" if not values or values[0] is None else values[0]


def _same_value(expected: object, found: object) -> bool:
    text = str(expected)
    if is_pattern(text):
        return re.match(text, str(found)) is not None
    return bool(expected == found)
