"""Patterns that name sites: `https://*.example.com:8443/shop`."""

import re
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

from webagent.guard.address import WEB_PORTS, Address, read_host

ANY_PORT = -1
_PATTERN = re.compile(
    r"(?:(?P<scheme>[a-z]+)://)?(?P<host>\*|(?:\*\.)?[^*/:\[\]@?#\s]+|\[[0-9a-fA-F:.]+\])"
    r"(?::(?P<port>\d{1,5}|\*))?(?P<path>/[^?#]*)?",
)
_NAMED = re.compile(r"(?P<name>[a-z0-9][a-z0-9_.-]*@\d+)(?P<path>/[^?#]*)?")
_SECURED = {"ws": "http", "wss": "https"}


@dataclass(frozen=True, slots=True)
class Site:
    """Which addresses belong to a site."""

    host: str
    """Canonical; `*` for every host, `*.example.com` for every host below example.com; `fossil@1`
    for a site that is started for each episode, which is no host until `served_at`."""
    scheme: str = ""
    """`http` or `https`; empty for both."""
    port: int = 0
    """0 for the default port of the scheme, `ANY_PORT` for every port."""
    path: str = "/"
    """Every path that is this one or lies below it."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(_as_site)

    def __str__(self) -> str:
        scheme = f"{self.scheme}://" if self.scheme else ""
        port = "" if not self.port else ":*" if self.port == ANY_PORT else f":{self.port}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}{host}{port}{self.path.rstrip('/')}"

    def served_at(self, address: Address) -> "Site":
        """The same part of the site, on the server of an address."""
        return replace(site_of(address), path=self.path)

    def has_host(self, host: str, port: int, schemes: tuple[str, ...]) -> bool:
        """Whether a connection to this host and port may be one to the site."""
        return self._names(host) and any(self._is_port(port, each) for each in schemes)

    def has_server(self, address: Address) -> bool:
        """Whether an address is on a server of the site, whatever its path."""
        return self.has_host(address.host, address.port, (address.scheme,))

    def covers(self, address: Address) -> bool:
        """Whether the address surely lies in the site, however its server reads the path."""
        return self.has_server(address) and all(map(self._has_path, _readings(address.path)))

    def touches(self, address: Address) -> bool:
        """Whether the address may lie in the site, by one way to read its path."""
        return self.has_server(address) and any(map(self._has_path, _readings(address.path)))

    def _names(self, host: str) -> bool:
        if self.host.startswith("*."):
            return host.endswith(self.host[1:])
        return self.host in ("*", host)

    def _is_port(self, port: int, scheme: str) -> bool:
        if self.scheme and _SECURED.get(scheme, scheme) != self.scheme:
            return False
        return self.port == ANY_PORT or port == (self.port or WEB_PORTS.get(scheme))

    def _has_path(self, path: str) -> bool:
        folder = self.path.rstrip("/")
        return path == folder or path.startswith(f"{folder}/")


def read_site(text: str) -> Site:
    """The site a pattern names. Raises `ValueError` saying how patterns look."""
    if named := _NAMED.fullmatch(text.strip()):
        return Site(named["name"], path=named["path"] or "/")
    found = _PATTERN.fullmatch(text.strip())
    if not found:
        raise ValueError(
            f"{text!r} names no site; write example.com, *.example.com, https://example.com:8443, "
            "https://example.com/folder, or fossil@1 for a site that is started for each episode"
        )
    scheme, port = found["scheme"] or "", found["port"] or "0"
    if scheme not in ("", "http", "https"):
        raise ValueError(f"{text!r}: a site's scheme is http or https, found {scheme!r}")
    number = ANY_PORT if port == "*" else int(port)
    if number > 0xFFFF:
        raise ValueError(f"{text!r}: {port} is not a port")
    return Site(_canonical(found["host"]), scheme, number, found["path"] or "/")


def site_of(address: Address) -> Site:
    """The one origin an address belongs to."""
    scheme = _SECURED.get(address.scheme, address.scheme)
    return Site(address.host, scheme, address.port)


def _as_site(value: object) -> Site:
    if isinstance(value, Site):
        return value
    if not isinstance(value, str):
        raise ValueError(f"a site is text such as 'https://example.com', found {value!r}")
    return read_site(value)


def _canonical(host: str) -> str:
    if host.startswith("*."):
        return f"*.{read_host(host[2:])}"
    return host if host == "*" else read_host(host)


def _readings(path: str) -> set[str]:
    """The path as it is written and as servers may read it: decoded, dots and slashes resolved."""
    written = path.partition("?")[0]
    decoded = unquote(unquote(written)).replace("\\", "/")
    return {written, _resolved(written), _resolved(decoded)}


def _resolved(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)
