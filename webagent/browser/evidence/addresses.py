"""The addresses that probes open, with what earlier probes found filled in."""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote, urlsplit

from tasks.task import Json, Probe
from webagent.browser.evidence.missing import Uncaptured

_SLOT = re.compile(r"\{([^{}]*)\}")
_LAST = "last_url"
_SCHEMES = ("http", "https", "file")


def address_of(probe: Probe, last_url: str, found: Mapping[str, Json], names: Iterable[str]) -> str:
    """The probe's address; `found` are the values of earlier probes, `names` those of all.

    What fills the beginning is an address and stays as it is; anywhere else it is a part of one and
    is percent-encoded whole, slashes included. Raises `Uncaptured`.
    """
    known = set(names)

    def fill(slot: re.Match[str]) -> str:
        name = slot[1]
        if name != _LAST and name not in known:
            return slot[0]
        text = last_url if name == _LAST else _text(name, found)
        return text if slot.start() == 0 else quote(text, safe="")

    url = _SLOT.sub(fill, probe.url).strip()
    scheme = _scheme(url)
    if scheme not in _SCHEMES:
        raise Uncaptured(f"{url[:200]!r} is no address of a page; expected http, https or file")
    if scheme == "file" and _scheme(probe.url) != "file" and not probe.url.startswith("{last_url}"):
        raise Uncaptured(f"a page must not choose which file is opened, here {url[:200]!r}")
    return url


def own_addresses(probes: Iterable[Probe]) -> list[str]:
    """Addresses whose server the probes themselves name, rather than a value from a page."""
    heads = (_head(probe.url) for probe in probes)
    return [head for head in dict.fromkeys(heads) if head]


def _head(url: str) -> str:
    """The address as far as it is written out; nothing where a slot may go on with its server."""
    head, *rest = _SLOT.split(url)
    _, separator, after = head.partition("://")
    return head if separator and (not rest or "/" in after) else ""


def _text(name: str, found: Mapping[str, Json]) -> str:
    value = found.get(name)
    if name not in found:
        raise Uncaptured(f"it needs the value of probe {name}, which was not captured")
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
        raise Uncaptured(f"it needs a text from probe {name}, which found {str(value)[:80]!r}")
    return str(value)


def _scheme(url: str) -> str:
    try:
        return urlsplit(url).scheme.lower()
    except ValueError:
        return ""
