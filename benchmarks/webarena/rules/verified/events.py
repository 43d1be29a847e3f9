"""What went over the network: whether a request was made as expected, or was not made."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.webarena.rules.verified.comparison import difference
from benchmarks.webarena.rules.verified.kinds import STRING, Manner, Value, value_of
from benchmarks.webarena.rules.verified.paths import ABSENT, at_path, is_path
from benchmarks.webarena.rules.verified.schema import read_fields
from benchmarks.webarena.rules.verified.sites import Sites, sites_of
from benchmarks.webarena.rules.verified.traffic import Request, request_of
from benchmarks.webarena.rules.verified.urls import (
    Address,
    AddressReading,
    Query,
    same_page,
    same_query,
)
from evaluators.evaluator import Verdict
from evaluators.rules.rule import rule
from tasks.task import Json

_ADDRESSES = ("referer", "redirect_url")


class Expectation:
    """One published network check, read for use on many requests."""

    def __init__(self, asked: Mapping[str, Any], manner: Manner) -> None:
        self.options = asked
        self.spec: Mapping[str, Any] = asked["expected"]
        self.sites: Sites = sites_of(asked["sites"])
        self.manner = replace(manner, sites=self.sites)
        self.method: str = self.spec.get("http_method", "GET")
        self.url = self._addresses(self.spec["url"], strict=True, query=self._given_query())
        wanted: dict[str, Any] = {
            "status": self.spec.get("response_status", 200),
            "method": self.method,
        }
        if self.spec.get("post_data"):
            sent = self._without_ignored(self.spec["post_data"])
            wanted["sent"] = self._read(sent, strict=True) if sent else None
        if self.spec.get("response_content"):
            wanted["content"] = self.spec["response_content"]
        if self.spec.get("response_cookies"):
            wanted["cookies"] = self._texts(self.spec["response_cookies"], strict=True)
        self.wanted = wanted

    @property
    def is_of_navigation(self) -> bool:
        """Whether only the last page that was opened counts."""
        return str(self.options["task_type"]).upper() == "NAVIGATE" and self.method == "GET"

    def candidates(self, requests: Sequence[Request]) -> list[Request]:
        """The requests that are compared. Raises `ValueError` for an address that is none."""
        if self.is_of_navigation:
            return [request for request in requests if request.is_navigation][-1:]
        fitting = [request for request in requests if self._is_about(request)]
        return fitting[-1:] if self.options.get("last_event_only", True) else fitting

    def differs(self, request: Request) -> str:
        """Where the request is not as expected, empty where it is."""
        if not self._same_address(self.url, request.url):
            return f"the address {request.url} is not as expected"
        for name, expected in (self.spec.get("headers") or {}).items():
            reason = self._header_differs(name, expected, request.headers.get(name.lower()))
            if reason:
                return reason
        return difference(self.wanted, self._found(request), extra=True, where="request")

    def _found(self, request: Request) -> dict[str, Any]:
        found: dict[str, Any] = {"status": request.status, "method": request.method}
        if "sent" in self.wanted:
            found["sent"] = self._sent(request)
        if "content" in self.wanted:
            content = request.content
            found["content"] = picked(content, self.wanted["content"], gaps=False)
        if "cookies" in self.wanted:
            cookies = {
                name: value
                for name, value in request.cookies.items()
                if name in self.wanted["cookies"]
            }
            found["cookies"] = self._texts(cookies, strict=False) or None
        return found

    def _sent(self, request: Request) -> dict[str, Any] | None:
        """The fields that are asked for; null where the body has none at all."""
        fields = request.sent
        if not fields:
            return None
        sent = self._without_ignored(fields)
        names = [name.strip() for name in self.wanted["sent"] or ()]
        if names:
            sent = picked(sent, names, gaps=True) or {}
        return self._read(sent, strict=False) if sent else None

    def _read(self, fields: Mapping[str, Any], *, strict: bool) -> dict[str, Any]:
        schema = self.options.get("post_data_schema") or {}
        return read_fields(fields, schema, self._manner(strict), strict=strict)

    def _texts(self, texts: Mapping[str, Any], *, strict: bool) -> dict[str, Any]:
        manner = replace(self._manner(strict), sites=None)
        return read_fields(texts, {}, manner, strict=strict)

    def _manner(self, strict: bool) -> Manner:
        """How values are read: expected ones always with their patterns and alternatives."""
        return replace(self.manner, patterns=True, alternatives=True) if strict else self.manner

    def _without_ignored(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        patterns = self.options.get("ignored_post_data_params_patterns") or ()
        return {
            name: value
            for name, value in fields.items()
            if not any(re.search(pattern, name) for pattern in patterns)
        }

    def _is_about(self, request: Request) -> bool:
        """Whether method, page and, where one was sent, the referring page fit."""
        if request.method.lower() != self.method.lower():
            return False
        if not self._same_page(self.url, request.url):
            return False
        expected = (self.spec.get("headers") or {}).get("referer")
        referer = request.headers.get("referer")
        if not expected or not referer:
            return True
        return self._same_page(self._addresses(expected, strict=True), referer.lower())

    def _header_differs(self, name: str, expected: Any, found: str | None) -> str:
        if found is None:
            return f"the request has no header {name}"
        if name in _ADDRESSES and expected:
            same = self._same_address(self._addresses(expected, strict=True), found)
        else:
            same = self._header_value(expected, strict=True) == self._header_value(found)
        return "" if same else f"the header {name} is {found!r}, expected {expected!r}"

    def _header_value(self, value: Any, *, strict: bool = False) -> Value | Any:
        if isinstance(value, list):
            value = [self.sites.templated(one, strict=False) for one in value]
        else:
            value = self.sites.templated(value, strict=False)
        try:
            return value_of(value, STRING, replace(self._manner(strict), sites=None))
        except ValueError:
            if strict:
                raise
            return value

    def _addresses(
        self, raw: Any, *, strict: bool, query: Query | None = None
    ) -> tuple[Address, ...]:
        """The address, or each of the alternatives. Raises `ValueError`."""
        if isinstance(raw, list) and len(raw) < 2:
            raise ValueError(f"alternatives are two or more, found {raw!r}")
        reading = AddressReading(
            self.sites,
            strict=strict,
            query=query,
            ignored=frozenset(self.options.get("ignored_query_params") or ()),
            ignored_patterns=tuple(self.options.get("ignored_query_params_patterns") or ()),
            base64_path=bool(self.options.get("decode_base64_query", False)),
            typed=lambda query: self._typed(query, strict=strict),
        )
        return tuple(map(reading.read, raw if isinstance(raw, list) else [raw]))

    def _typed(self, query: Query, *, strict: bool) -> Query:
        schema = self.options.get("query_params_schema")
        if not schema or not query:
            return query
        return read_fields(query, schema, Manner(), strict=strict)

    def _given_query(self) -> Query | None:
        given = self.spec.get("query_params")
        return None if given is None else {name: tuple(values) for name, values in given.items()}

    def _same_page(self, expected: Iterable[Address], url: str) -> bool:
        found = self._addresses(url, strict=False)
        return any(same_page(one, there, self.sites) for one in expected for there in found)

    def _same_address(self, expected: Iterable[Address], url: str) -> bool:
        found = self._addresses(url, strict=False)
        return any(
            same_page(one, there, self.sites) and same_query(one.query, there.query)
            for one in expected
            for there in found
        )


@rule
def network_event(found: Json, expected: Json) -> Verdict:
    """A request that WebArena-Verified 1.2.3 wants to see (or not) in the noted network traffic.

    Expected is the published evaluator with `expected` and its options, `task_type` of the task and
    `sites`. Of requests to the expected page by the expected method the last one counts, all of
    them where `last_event_only` is false; for a navigation task's GET the last page opened. Kept
    although wrong: what is sent may hold patterns, and where the published values cannot be read
    (tasks 699, 700 and 811: a list of one) nothing passes.
    """
    asked = _asked(expected)
    try:
        wanted = Expectation(asked, Manner())
    except (ValueError, re.error) as error:
        return Verdict(0.0, f"nothing passes, the published check cannot be read: {error}")
    return _judged(found, wanted)


@rule
def network_event_corrected(found: Json, expected: Json) -> Verdict:
    """`network_event` with what was sent taken at its word, and a list of one read as that one."""
    try:
        wanted = Expectation(_asked(expected), Manner(patterns=False, singles=True))
    except (ValueError, re.error) as error:
        raise TypeError(f"the expected request cannot be read: {error}") from error
    return _judged(found, wanted)


def _judged(found: Json, wanted: Expectation) -> Verdict:
    if not isinstance(found, list):
        raise TypeError("network traffic is a list of requests")
    requests = [request for request in map(request_of, found) if not request.is_static]
    try:
        candidates = wanted.candidates(requests)
        reasons = [wanted.differs(request) for request in candidates]
    except (ValueError, re.error) as error:
        return Verdict(0.0, f"the traffic cannot be scored: {error}")
    if wanted.options.get("should_not_exist", False):
        if candidates:
            return Verdict(0.0, f"{candidates[-1].url} was requested and should not have been")
        return Verdict(1.0, "no such request was made")
    if not candidates:
        return Verdict(0.0, f"no {wanted.method} to {wanted.spec['url']} was made")
    if "" in reasons:
        return Verdict(1.0, f"{candidates[reasons.index('')].url} was requested as expected")
    return Verdict(0.0, reasons[-1])


def _asked(expected: Json) -> dict[str, Any]:
    """The check as published, with `task_type` and `sites`. Raises `TypeError`."""
    spec = expected.get("expected") if isinstance(expected, dict) else None
    if not isinstance(expected, dict) or not isinstance(spec, dict):
        raise TypeError(f"network_event needs an object with 'expected', found {expected!r}")
    missing = [key for key in ("task_type", "sites") if key not in expected]
    missing += [] if "url" in spec else ["expected.url"]
    if missing:
        raise TypeError(f"network_event needs {', '.join(missing)}")
    return expected


def picked(
    data: Mapping[str, Any] | None, names: Iterable[str], *, gaps: bool
) -> dict[str, Any] | None:
    """The named fields, by key or by path; with `gaps` keys that are missing are null."""
    if not data:
        return None
    fields: dict[str, Any] = {}
    for name in names:
        if is_path(name):
            value = at_path(dict(data), name)
            fields[name] = None if value is ABSENT else value
        elif gaps or name in data:
            fields[name] = data.get(name)
    return fields
