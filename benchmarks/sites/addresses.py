"""A site's two addresses: the one that stays in the records, and where it is served just now."""

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache, partial
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

Value = TypeVar("Value")

_COLON = r"(?::|%(?:25)?3[Aa])"
_SLASHES = r"(?://|\\/\\/|%(?:25)?2[Ff]%(?:25)?2[Ff])"
_BEGINNING = r"(?:(?<![\w.-])|(?<=%[0-9A-Fa-f][0-9A-Fa-f]))"
_END = rf"(?![\w-]|\.\w|{_COLON}\d)"


class Translation:
    """Between the address of a site in tasks, as `http://fossil.test`, and that of its server.

    Outward every mention of the server is replaced, with `http://` or without, percent-encoded or
    not, under each of its names; inward only whole addresses, so that what merely ends like one,
    as `ann@fossil.test`, stays.
    """

    def __init__(self, address: str = "", base: str = "") -> None:
        """Without addresses nothing is translated. Raises `ValueError` for one with a path."""
        self._is_needed = address.rstrip("/") != base.rstrip("/")
        if not self._is_needed:
            return
        for given in (address, base):
            if urlsplit(given).path not in ("", "/"):
                raise ValueError(f"a site's address is scheme and host, found {given!r}")
        ours, theirs = urlsplit(address), urlsplit(base)
        self._hints = (ours.netloc.casefold(), f"{theirs.port}" if theirs.port else theirs.netloc)
        self._out = re.compile(_mention(theirs.scheme, _names(base), is_whole=False), re.IGNORECASE)
        self._in = re.compile(_mention(ours.scheme, (ours.netloc,), is_whole=True), re.IGNORECASE)
        self._put_out = partial(_replaced, ours.scheme, ours.netloc)
        self._put_in = partial(_replaced, theirs.scheme, theirs.netloc)

    def outward(self, value: Value) -> Value:
        """The value with the site's own address in each of its strings."""
        return self._mapped(value, is_out=True)

    def inward(self, value: Value) -> Value:
        """The value with the server's address in each of its strings."""
        return self._mapped(value, is_out=False)

    def _mapped(self, value: Value, is_out: bool) -> Value:
        return cast(Value, self._each(value, is_out)) if self._is_needed else value

    def _each(self, value: Any, is_out: bool) -> Any:
        if isinstance(value, str):
            if is_out:
                return self._out.sub(self._put_out, value) if self._hints[1] in value else value
            if self._hints[0] not in value.casefold():
                return value
            return self._in.sub(self._put_in, value)
        if value is None or isinstance(value, int | float):
            return value
        if isinstance(value, tuple | list):
            return type(value)([self._each(item, is_out) for item in value])
        if isinstance(value, Mapping):
            pairs = value.items()
            return {self._each(key, is_out): self._each(item, is_out) for key, item in pairs}
        changed = {}
        for name in _fields(cast(Any, type(value))):
            before = getattr(value, name)
            after = self._each(before, is_out)
            if after is not before and after != before:
                changed[name] = after
        return replace(value, **changed) if changed else value


@cache
def _fields(kind: Any) -> tuple[str, ...]:
    """Those of a record that can be given; none for anything else."""
    return tuple(each.name for each in fields(kind) if each.init) if is_dataclass(kind) else ()


def _names(base: str) -> tuple[str, ...]:
    """The server's host and port under each name that it goes by on this machine."""
    parts = urlsplit(base)
    if parts.hostname not in ("127.0.0.1", "localhost"):
        return (parts.netloc,)
    return (f"127.0.0.1:{parts.port}", f"localhost:{parts.port}")


def _mention(scheme: str, names: tuple[str, ...], is_whole: bool) -> str:
    """Pattern of an address; `scheme` and `after` are what stands before its host, if anything."""
    hosts = "|".join(re.escape(name).replace(":", _COLON) for name in names)
    head = rf"(?P<scheme>{scheme})(?P<after>{_COLON}{_SLASHES})"
    return rf"{_BEGINNING}(?:{head}){'' if is_whole else '?'}(?:{hosts}){_END}"


def _replaced(scheme: str, netloc: str, found: re.Match[str]) -> str:
    """In the way in which the address that was found is encoded."""
    colon = next((code for code in ("%253A", "%3A") if code in found[0].upper()), ":")
    before = f"{scheme}{found['after']}" if found["scheme"] else ""
    return before + netloc.replace(":", colon)
