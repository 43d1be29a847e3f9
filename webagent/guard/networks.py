"""What kind of network an IP address lies in, so that only the open internet is open."""

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from webagent.guard.address import IpAddress

KINDS = ("loopback", "private", "link-local", "metadata", "reserved")
"""The networks that are closed unless opened; any other address is `public`."""

_METADATA = frozenset(
    ip_address(text)
    for text in (
        "169.254.169.254",
        "169.254.170.2",
        "fd00:ec2::254",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
    )
)
"""Where cloud machines find their own credentials."""
_NAT64 = IPv6Network("64:ff9b::/96")


def kind_of(ip: IpAddress) -> str:
    """One of `KINDS`, or `public`; an address wrapped in another counts as what it wraps."""
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
    """Whether the address is public or lies in one of the networks opened."""
    kind, inner = kind_of(ip), _unwrapped(ip)
    return kind == "public" or any(_covers(name, kind, inner) for name in opened)


def check_network(name: str) -> None:
    """Raises `ValueError` for what is neither one of `KINDS` nor a network such as 10.1.0.0/16."""
    if name not in KINDS:
        try:
            ip_network(name)
        except ValueError as error:
            raise ValueError(
                f"{name!r} is no network; use {', '.join(KINDS)} or one such as 10.1.0.0/16"
            ) from error


@lru_cache(maxsize=256)
def _covers(name: str, kind: str, ip: IpAddress) -> bool:
    return name == kind if name in KINDS else ip in ip_network(name)


def _unwrapped(ip: IpAddress) -> IpAddress:
    if isinstance(ip, IPv4Address):
        return ip
    inner = ip.ipv4_mapped or ip.sixtofour or _in_nat64(ip)
    if inner is None and ip.teredo is not None:
        inner = ip.teredo[1]
    if inner is None and int(ip) >> 32 == 0 and int(ip) > 1:
        inner = IPv4Address(int(ip))
    return inner or ip


def _in_nat64(ip: IPv6Address) -> IPv4Address | None:
    return IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else None
