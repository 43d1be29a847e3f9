"""Where a URL leads, read as a browser reads it, whatever its spelling."""

import re
import unicodedata
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import unquote

IpAddress = IPv4Address | IPv6Address

WEB_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
"""The schemes that reach the network, with their default ports."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*")
_NOT_IN_HOSTS = re.compile(r"[\x00-\x20\x7f#%/:<>?@\[\\\]^|]")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")


@dataclass(frozen=True, slots=True)
class Address:
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


def read_address(url: str) -> Address:
    """The parts of a URL. Raises `ValueError` where a browser could not open it either.

    Follows the WHATWG URL standard as far as it concerns where a request goes: blanks and line
    breaks are dropped, backslashes are slashes, user names are skipped, numbers in any base are
    IPv4 addresses, other scripts are put into punycode. Where the two differ for a rare character,
    the host found here is one that no policy names.
    """
    text = re.sub(r"[\t\r\n]", "", url.strip("".join(map(chr, range(0x21)))))
    scheme, colon, rest = text.partition(":")
    if not colon or not _SCHEME.fullmatch(scheme):
        raise ValueError(f"{url[:100]!r} is not a whole address, such as https://example.com/")
    scheme = scheme.lower()
    if scheme not in WEB_PORTS:
        return Address(scheme, path=rest)
    before, mark, query = rest.partition("#")[0].partition("?")
    authority, _, path = before.replace("\\", "/").lstrip("/").partition("/")
    host, port = _split_port(authority.rpartition("@")[2])
    return Address(scheme, read_host(host), _port(port, scheme), f"/{path}{mark}{query}")


def read_host(text: str) -> str:
    """A host in canonical form. Raises `ValueError`."""
    if text.startswith("["):
        if not text.endswith("]"):
            raise ValueError(f"{text!r} lacks its closing bracket")
        return str(_ipv6(text[1:-1]))
    host = _ascii(unquote(text, errors="strict")).removesuffix(".")
    if not host or _NOT_IN_HOSTS.search(host) or len(host) > 253:
        raise ValueError(f"{text[:100]!r} is not the name of a host")
    last = host.rpartition(".")[2]
    return str(_ipv4(host)) if last.isdigit() or _NUMBER.fullmatch(last) else host


def read_ip(host: str) -> IpAddress | None:
    """The address a canonical host is, None for a name."""
    try:
        return IPv6Address(host) if ":" in host else IPv4Address(host)
    except AddressValueError:
        return None


def _split_port(text: str) -> tuple[str, str]:
    host, colon, port = text.rpartition(":")
    if not colon or "]" in port:
        return text, ""
    return host, port


def _port(text: str, scheme: str) -> int:
    if not text:
        return WEB_PORTS[scheme]
    if not (text.isascii() and text.isdigit()) or int(text) > 0xFFFF:
        raise ValueError(f"{text[:20]!r} is not a port")
    return int(text)


def _ascii(host: str) -> str:
    folded = unicodedata.normalize("NFKC", host.lower()).lower().replace("。", ".")
    return ".".join(
        label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii")
        for label in folded.split(".")
    )


def _ipv6(text: str) -> IPv6Address:
    if "%" in text:
        raise ValueError(f"{text[:60]!r} names a zone, which no URL may")
    return IPv6Address(text)


def _ipv4(host: str) -> IPv4Address:
    """One to four numbers, decimal, octal or hexadecimal; the last fills what is left."""
    parts = host.split(".")
    if len(parts) > 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        raise ValueError(f"{host[:60]!r} ends in a number and is no IPv4 address")
    *heads, tail = map(_number, parts)
    if any(head > 0xFF for head in heads) or tail >= 256 ** (4 - len(heads)):
        raise ValueError(f"{host[:60]!r} has a number that is too large for IPv4")
    return IPv4Address(sum(head << 8 * (3 - i) for i, head in enumerate(heads)) + tail)


def _number(text: str) -> int:
    if text[:2] in ("0x", "0X"):
        return int(text[2:] or "0", 16)
    return int(text, 8) if len(text) > 1 and text.startswith("0") else int(text)
