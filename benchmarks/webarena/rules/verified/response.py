"""What an agent says at the end: type of task, status and the data it was to find."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from benchmarks.webarena.rules.verified.comparison import difference
from benchmarks.webarena.rules.verified.kinds import STRING, Manner, Value, value_of
from benchmarks.webarena.rules.verified.schema import read_results
from benchmarks.webarena.rules.verified.sites import sites_of
from benchmarks.webarena.rules.verified.text import data_in
from evaluators.evaluator import Verdict
from evaluators.rules.rule import rule
from tasks.task import Json

_FENCED = re.compile(r"```(?:json)?\s*\n?(.*?)\n?```", re.DOTALL)
_STATED = ("task_type", "status")


@rule
def agent_response(found: Json, expected: Json) -> Verdict:
    """A response as WebArena-Verified 1.2.3 scores it, from an answer that is JSON text.

    Expected is the published `expected` with the evaluator's `results_schema` and `ordered`, and
    `sites`. Kept although wrong: an answer may hold patterns and lists of alternatives, and where
    the published response has no `retrieved_data` (task 319) nothing passes.
    """
    return _judged(found, _asked(expected), Manner())


@rule
def agent_response_corrected(found: Json, expected: Json) -> Verdict:
    """`agent_response` with the answer taken at its word: no patterns, no alternatives in it.

    A published response without `retrieved_data` expects none.
    """
    asked = {"retrieved_data": None, **_asked(expected)}
    return _judged(found, asked, Manner(patterns=False, alternatives=False))


def _asked(expected: Json) -> dict[str, Any]:
    if not isinstance(expected, dict):
        raise TypeError(f"agent_response needs an object, found {expected!r}")
    missing = [key for key in (*_STATED, "results_schema", "sites") if key not in expected]
    if missing:
        raise TypeError(f"agent_response needs {', '.join(missing)}")
    return expected


def _judged(found: Json, asked: Mapping[str, Any], manner: Manner) -> Verdict:
    """The verdict on an answer that is read in this manner."""
    sites = sites_of(asked["sites"])
    wanted = _wanted(asked, Manner(sites))
    said = _said(found)
    if not isinstance(said, dict):
        return Verdict(0.0, f"the answer is no JSON object with {', '.join(wanted)}")
    try:
        given = _given(said, asked, replace(manner, sites=sites))
    except ValueError as error:
        return Verdict(0.0, f"the answer cannot be scored: {error}")
    differs = difference(_without_data(wanted), _without_data(given), where="response")
    if not differs and _is_retrieval(asked):
        differs = _data_differs(wanted["retrieved_data"], given.get("retrieved_data"), asked)
    return Verdict(0.0 if differs else 1.0, differs or "the response is as expected")


def _said(found: Json) -> Json:
    """The answer as data, taken out of a code fence. Raises `TypeError` where it is not text."""
    if not isinstance(found, str):
        raise TypeError("the answer is text that holds JSON")
    fenced = _FENCED.search(found)
    text = fenced.group(1).strip() if fenced else found.strip()
    try:
        return data_in(text)
    except ValueError:
        return text


def _wanted(asked: Mapping[str, Any], manner: Manner) -> dict[str, Any]:
    """What is expected, read. Raises `TypeError`."""
    try:
        wanted: dict[str, Any] = {key: _stated(str(asked[key]), Manner()) for key in _STATED}
        wanted["retrieved_data"] = _data(asked.get("retrieved_data"), asked, manner, strict=True)
    except ValueError as error:
        raise TypeError(f"the expected response cannot be read: {error}") from error
    return wanted


def _given(said: Mapping[str, Any], asked: Mapping[str, Any], manner: Manner) -> dict[str, Any]:
    """What the answer says of each thing that was asked. Raises `ValueError`."""
    given: dict[str, Any] = {}
    for key in _STATED:
        named = key
        if key == "task_type" and key not in said:
            named = "performed_operation"
        if named in said:
            if not isinstance(said[named], str):
                raise ValueError(f"{named} is {said[named]!r}, expected text")
            text = said[named].strip()
            given[key] = _stated(text, replace(manner, sites=None)) if text else None
    if "retrieved_data" in asked:
        data = said.get("retrieved_data") if _is_retrieval(asked) else None
        given["retrieved_data"] = _data(data, asked, manner, strict=False)
    return given


def _stated(text: str, manner: Manner) -> Value:
    return value_of(text, STRING, manner)


def _data(raw: Json, asked: Mapping[str, Any], manner: Manner, *, strict: bool) -> list[Any] | None:
    """The data read by the schema; null where there is none."""
    if not raw and not isinstance(raw, int | float):
        return None
    listed: list[Json] = raw if isinstance(raw, list) else [raw]
    return read_results(listed, asked["results_schema"], manner, strict=strict)


def _data_differs(
    wanted: list[Any] | None, given: list[Any] | None, asked: Mapping[str, Any]
) -> str:
    if wanted is None:
        return "" if given is None else "retrieved_data: nothing was to be found"
    ordered = bool(asked.get("ordered", False))
    return difference(wanted, given, ordered=ordered, where="retrieved_data")


def _without_data(response: Mapping[str, Any]) -> dict[str, Any]:
    """The response with its data passed over; whether there is any still counts."""
    return {key: key if key == "retrieved_data" else value for key, value in response.items()}


def _is_retrieval(asked: Mapping[str, Any]) -> bool:
    return str(asked["task_type"]).upper() == "RETRIEVE"
