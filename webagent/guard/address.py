"""Where a URL leads, read as a browser reads it: its parts, its network, the site it belongs to."""

import re
import unicodedata
from dataclasses import dataclass, replace
from ipaddress import (
    AddressValueError,
    IPv4Address,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from posixpath import normpath
from typing import Any
from urllib.parse import unquote

IpAddress = IPv4Address | IPv6Address

WEB_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
"""The schemes that reach the network, with their default ports."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*")
_NOT_IN_HOSTS = re.compile(r"[\x00-\x20\x7f#%/:<>?@\[\\\]^|]")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")


@dataclass(frozen=True, slots=True)
class ParsedUrl:
    """The parts of a URL that a policy can speak of."""

    scheme: str
    """In lower case."""
    host: str = ""
    """Canonical: ASCII, lower case, no trailing dot, IP addresses in their usual form."""
    port: int = 0
    path: str = ""
    """With the query; for other schemes than the web's all that follows the colon."""

    @property
    def origin(self) -> str:
        """Scheme, host and port, as a browser writes an origin."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = WEB_PORTS.get(self.scheme) == self.port
        return f"{self.scheme}://{host}" if usual else f"{self.scheme}://{host}:{self.port}"


def parse_url(url: str) -> ParsedUrl:
    """Return the parts of a URL. Raises `ValueError` where a browser could not open it either.

    Follows the WHATWG URL standard as far as it concerns where a request goes: blanks and line
    breaks are dropped, backslashes are slashes, user names are skipped, numbers in any base are
    IPv4 addresses, other scripts are put into punycode. Where the two differ for a rare character,
    the host found here is one that no policy names.
    """
    text = re.sub(r"[\t\r\n]", "", url.strip("".join(map(chr, range(0x21)))))
    scheme, colon, rest = text.partition(":")
    if not colon or not _SCHEME.fullmatch(scheme):
        raise ValueError(f"{url[:100]!r} is not a complete address, such as https://example.com/")
    scheme = scheme.lower()
    if scheme not in WEB_PORTS:
        return ParsedUrl(scheme, path=rest)
    before, mark, query = rest.partition("#")[0].partition("?")
    authority, _, path = before.replace("\\", "/").lstrip("/").partition("/")
    server = authority.rpartition("@")[2]
    host, colon, port = server.rpartition(":")
    if not colon or "]" in port:
        host, port = server, ""
    name = parse_host(host)
    if port and (not (port.isascii() and port.isdigit()) or int(port) > 0xFFFF):
        raise ValueError(f"{port[:20]!r} is not a port")
    number = int(port) if port else WEB_PORTS[scheme]
    return ParsedUrl(scheme, name, number, f"/{path}{mark}{query}")


def parse_host(text: str) -> str:
    """Return a host in canonical form. Raises `ValueError`."""
    if text.startswith("["):
        if not text.endswith("]"):
            raise ValueError(f"{text!r} lacks its closing bracket")
        if "%" in text:
            raise ValueError(f"{text[:60]!r} contains a zone, which is not allowed in a URL")
        return str(IPv6Address(text[1:-1]))
    written = unquote(text, errors="strict")
    folded = unicodedata.normalize("NFKC", written.lower()).lower().replace("。", ".")
    labels = (
        label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii")
        for label in folded.split(".")
    )
    host = ".".join(labels).removesuffix(".")
    if not host or _NOT_IN_HOSTS.search(host) or len(host) > 253:
        raise ValueError(f"{text[:100]!r} is not a host name")
    last = host.rpartition(".")[2]
    if not last.isdigit() and not _NUMBER.fullmatch(last):
        return host
    # One to four numbers of any base; the last fills what is left.
    parts = host.split(".")
    if len(parts) > 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        raise ValueError(f"{host[:60]!r} ends in a number and is not an IPv4 address")
    bases = [16 if p[:2] in ("0x", "0X") else 8 if p[1:] and p[0] == "0" else 10 for p in parts]
    digits = [
        part[2:] or "0" if base == 16 else part for part, base in zip(parts, bases, strict=True)
    ]
    *heads, tail = map(int, digits, bases)
    if any(head > 0xFF for head in heads) or tail >= 256 ** (4 - len(heads)):
        raise ValueError(f"{host[:60]!r} has a number that is too large for IPv4")
    return str(IPv4Address(sum(head << 8 * (3 - i) for i, head in enumerate(heads)) + tail))


def parse_ip(host: str) -> IpAddress | None:
    """Return the address a canonical host is, None for a name."""
    try:
        return IPv6Address(host) if ":" in host else IPv4Address(host)
    except AddressValueError:
        return None


KINDS = ("loopback", "private", "link-local", "metadata", "reserved")
"""The networks that are closed unless opened; any other address is `public`."""

_METADATA = {
    *map(ip_address, ("169.254.169.254", "169.254.170.2", "fd00:ec2::254")),
    *map(ip_address, ("100.100.100.200", "168.63.129.16", "192.0.0.192")),
}
"""Where cloud machines find their own credentials."""
_NAT64 = IPv6Network("64:ff9b::/96")


def kind_of(ip: IpAddress) -> str:
    """Return one of `KINDS`, or `public`; an address wrapped in another counts as what it wraps."""
    ip = _unwrapped(ip)
    if ip in _METADATA:
        return "metadata"
    if ip.is_loopback or ip.is_unspecified or (ip.version == 4 and ip in ip_network("0.0.0.0/8")):
        return "loopback"
    if ip.is_link_local:
        return "link-local"
    if ip.is_multicast or ip.is_reserved:
        return "reserved"
    return "public" if ip.is_global else "private"


def is_opened(ip: IpAddress, opened: tuple[str, ...]) -> bool:
    """Return whether the address is public or lies in one of the networks opened."""
    kind, inner = kind_of(ip), _unwrapped(ip)
    return kind == "public" or any(
        name == kind if name in KINDS else inner in ip_network(name) for name in opened
    )


def check_network(name: str) -> None:
    """Raise `ValueError` for what is neither one of `KINDS` nor a network such as 10.1.0.0/16."""
    if name not in KINDS:
        try:
            ip_network(name)
        except ValueError as error:
            raise ValueError(
                f"{name!r} is not a network; use {', '.join(KINDS)} or one such as 10.1.0.0/16"
            ) from error


def _unwrapped(ip: IpAddress) -> IpAddress:
    if isinstance(ip, IPv4Address):
        return ip
    inner = ip.ipv4_mapped or ip.sixtofour
    if inner is None and ip in _NAT64:
        inner = IPv4Address(int(ip) & 0xFFFFFFFF)
    if inner is None and ip.teredo is not None:
        inner = ip.teredo[1]
    if inner is None and int(ip) >> 32 == 0 and int(ip) > 1:
        inner = IPv4Address(int(ip))
    return inner or ip


ANY_PORT = -1
_PATTERN = re.compile(
    r"(?:(?P<scheme>[a-z]+)://)?(?P<host>\*|(?:\*\.)?[^*/:\[\]@?#\s]+|\[[0-9a-fA-F:.]+\])"
    r"(?::(?P<port>\d{1,5}|\*))?(?P<path>/[^?#]*)?"
)
_NAMED = re.compile(r"(?P<name>[a-z0-9][a-z0-9_.-]*@\d+)(?P<path>/[^?#]*)?")
_SECURED = {"ws": "http", "wss": "https"}


@dataclass(frozen=True, slots=True)
class SitePattern:
    """Which addresses belong to a site."""

    host: str
    """Canonical; `*` for every host, `*.example.com` for every host below example.com; `shop@1`
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

        def read(value: object) -> SitePattern:
            if isinstance(value, SitePattern):
                return value
            if not isinstance(value, str):
                raise ValueError(f"a site is text such as 'https://example.com', found {value!r}")
            return parse_site(value)

        return core_schema.no_info_plain_validator_function(read)

    def __str__(self) -> str:
        scheme = f"{self.scheme}://" if self.scheme else ""
        port = "" if not self.port else ":*" if self.port == ANY_PORT else f":{self.port}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}{host}{port}{self.path.rstrip('/')}"

    def served_at(self, address: ParsedUrl) -> "SitePattern":
        """Return the same part of the site, on the server of an address."""
        return replace(site_at(address), path=self.path)

    def has_host(self, host: str, port: int, schemes: tuple[str, ...]) -> bool:
        """Return whether a connection to this host and port may be one to the site."""
        is_host = self.host in ("*", host)
        if self.host.startswith("*."):
            is_host = host.endswith(self.host[1:])
        return is_host and any(
            (not self.scheme or _SECURED.get(each, each) == self.scheme)
            and (self.port == ANY_PORT or port == (self.port or WEB_PORTS.get(each)))
            for each in schemes
        )

    def has_server(self, address: ParsedUrl) -> bool:
        """Return whether an address is on a server of the site, whatever its path."""
        return self.has_host(address.host, address.port, (address.scheme,))

    def covers(self, address: ParsedUrl) -> bool:
        """Return whether the address surely lies in the site, however its server reads the path."""
        folder = self.path.rstrip("/")
        return self.has_server(address) and all(
            path == folder or path.startswith(f"{folder}/") for path in _readings(address.path)
        )

    def touches(self, address: ParsedUrl) -> bool:
        """Return whether the address may lie in the site, by one way to read its path."""
        folder = self.path.rstrip("/").casefold()
        readings = {path.casefold() for path in _readings(address.path)}
        is_within = any(each == folder or each.startswith(f"{folder}/") for each in readings)
        return self.has_server(address) and is_within


def parse_site(text: str) -> SitePattern:
    """Return the site a pattern names. Raises `ValueError` saying how patterns look."""
    if named := _NAMED.fullmatch(text.strip()):
        return SitePattern(named["name"], path=named["path"] or "/")
    found = _PATTERN.fullmatch(text.strip())
    if not found:
        raise ValueError(
            f"{text!r} names no site; write example.com, *.example.com, https://example.com:8443, "
            "https://example.com/folder, or shop@1 for a site that is started for each episode"
        )
    scheme, port = found["scheme"] or "", found["port"] or "0"
    if scheme not in ("", "http", "https"):
        raise ValueError(f"{text!r}: a site's scheme is http or https, found {scheme!r}")
    number = ANY_PORT if port == "*" else int(port)
    if number > 0xFFFF:
        raise ValueError(f"{text!r}: {port} is not a port")
    host = found["host"]
    if host.startswith("*."):
        host = f"*.{parse_host(host[2:])}"
    elif host != "*":
        host = parse_host(host)
    return SitePattern(host, scheme, number, found["path"] or "/")


def site_at(address: ParsedUrl) -> SitePattern:
    """Return the one origin an address belongs to."""
    scheme = _SECURED.get(address.scheme, address.scheme)
    return SitePattern(address.host, scheme, address.port)


_PARAMETERS = re.compile(r"(?<=[^.;\0])(?:[;\0].*|[\s.]+)$", re.DOTALL)
"""What servers leave out at the end of a part of a path: parameters, all after a zero, blanks."""


def _readings(path: str) -> set[str]:
    """Return the path as written and as servers may read it, decoded and resolved."""
    written = path.partition("?")[0]
    decoded = unquote(unquote(written)).replace("\\", "/")
    plain = "/".join(_PARAMETERS.sub("", part) for part in decoded.split("/"))
    return {written, *(normpath(f"/{each.lstrip('/')}") for each in (written, decoded, plain))}
