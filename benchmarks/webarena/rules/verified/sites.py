"""Addresses of a benchmark's sites, and the placeholders that stand for them in its task files."""

from collections.abc import Mapping
from dataclasses import dataclass

from tasks.task import Json


@dataclass(frozen=True, slots=True)
class Sites:
    """The sites of one task, in its order: site name to addresses, the one to open first."""

    addresses: Mapping[str, tuple[str, ...]]

    def rendered(self, text: str, *, strict: bool) -> str:
        """The text with a leading `__SITE__` replaced by that site's first address.

        Raises `ValueError` where none of the sites fits and `strict` is set.
        """
        for site, addresses in self.addresses.items():
            mark = placeholder(site)
            if text.startswith(mark) and addresses[0] != mark:
                return text.replace(mark, addresses[0])
        if strict:
            raise ValueError(f"{text!r} begins with none of {self._marks()}")
        return text

    def templated(self, text: str, *, strict: bool) -> str:
        """The text with a site's address replaced by `__SITE__`, longest addresses tried first.

        Raises `ValueError` where none of the addresses occurs and `strict` is set.
        """
        by_length = sorted(
            self.addresses.items(), key=lambda item: max(map(len, item[1])), reverse=True
        )
        for site, addresses in by_length:
            for address in addresses:
                if address in text:
                    return text.replace(address.rstrip("/"), placeholder(site))
        if strict:
            raise ValueError(f"{text!r} lies on none of the sites {self._marks()}")
        return text

    def _marks(self) -> str:
        return ", ".join(map(placeholder, self.addresses))


def placeholder(site: str) -> str:
    """`__GITLAB__` for `gitlab`."""
    return f"__{site.upper()}__"


def sites_of(value: Json) -> Sites:
    """Sites from a check: an object of site name to a list of addresses. Raises `TypeError`."""
    if not isinstance(value, dict) or not value:
        raise TypeError(f"sites are an object of site name to addresses, found {value!r}")
    addresses: dict[str, tuple[str, ...]] = {}
    for site, listed in value.items():
        if not isinstance(listed, list) or not listed or not all(map(_is_address, listed)):
            raise TypeError(f"site {site!r} needs a list of addresses, found {listed!r}")
        addresses[site] = tuple(str(one) for one in listed)
    return Sites(addresses)


def _is_address(value: Json) -> bool:
    return isinstance(value, str) and bool(value)
