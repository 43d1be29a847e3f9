"""Scores answers and traffic with the published package; run by the interpreter that has it.

It reads one JSON object a line from its standard input and writes one for each to its standard
output. It imports nothing of this repository. What it changes of the package is what the corrected
rules need, and that evidence which was not recorded is distinguished from evidence that does not
fit.
"""

import json
import logging
import re
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any

from webarena_verified.core.evaluation.evaluators import EVALUATOR_REGISTRY
from webarena_verified.core.evaluation.value_normalizer import ValueNormalizer
from webarena_verified.types.config import EnvironmentConfig, WebArenaVerifiedConfig
from webarena_verified.types.eval import TaskEvalContext
from webarena_verified.types.task import WebArenaSite, WebArenaVerifiedTask
from webarena_verified.types.tracing import NetworkTrace

UNREADABLE = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, OSError),
    *(RuntimeError, TypeError, ValueError, re.error),
)
"""What reading a check or an answer may end in: the package has no error class of its own."""

ENDLESS = re.compile(r"\d[eE]\+?\d{3}")
"""A distance too large for any: the package's tolerance, a share of it, takes it for any other."""

PARTS = {"body": "post_data", "content": "response_content", "cookies": "response_cookies"}
"""Part of an entry that may be missing, to the expected field that needs it."""


class LiteralNormalizer(ValueNormalizer):
    """Reads what an agent said or sent as it stands: neither as a pattern nor as alternatives."""

    is_response = True
    """Whether it reads a response; what is expected of traffic may be a list of one value."""

    def _normalize_simple_value(
        self, value: Any, kind: Any, strict: bool = True, **more: Any
    ) -> Any:
        name = (kind or {}).get("format") or (kind or {}).get("type", "string")
        return super()._normalize_simple_value(
            self._taken(value, name, strict), kind, strict, **more
        )

    def normalize_single(self, value: Any, name: str, strict: bool, **more: Any) -> Any:
        """Normalize one value."""
        return super().normalize_single(self._taken(value, name, strict), name, strict, **more)

    def _normalize_array(self, value: Any, kind: Any, strict: bool, **more: Any) -> Any:
        listed = _parsed(value, list)
        if isinstance(listed, list | tuple) and isinstance(kind, str):
            value = [self._taken(item, kind, strict) for item in listed]
        return super()._normalize_array(value, kind, strict, **more)

    def _normalize_object(self, value: Any, schema: Any, strict: bool, **more: Any) -> Any:
        fields = _parsed(value, dict)
        if isinstance(fields, Mapping):
            kinds = schema.get("properties", {})
            value = {}
            for name, one in fields.items():
                field = kinds.get(name) or {}
                if field.get("type") not in ("array", "object"):
                    wanted = field.get("format") or field.get("type", "string")
                    one = self._taken(one, wanted, strict)
                value[name] = one
        return super()._normalize_object(value, schema, strict, **more)

    def _taken(self, value: Any, name: str, strict: bool) -> Any:
        if isinstance(value, list | tuple) and name != "url":
            if not self.is_response:
                value = value[0] if len(value) == 1 else value
            elif not strict and not (name == "coordinates" and len(value) == 2):
                return json.dumps(list(value))
        if name == "distance" and not strict and ENDLESS.search(str(value)):
            return json.dumps([value])
        return value if strict else literal(value)


def literal(value: Any) -> Any:
    """Return text that the package would take for a pattern with a period after it, so that it is
    compared as text: the package ignores punctuation at the end."""
    is_pattern = isinstance(value, str) and value[:1] == "^" and value[-1:] == "$"
    return f"{value}." if is_pattern else value


def _parsed(value: Any, kind: type) -> Any:
    """Return what a text says in JSON where that is of this kind, anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        found = json.loads(value)
    except ValueError:
        return value
    return found if isinstance(found, kind) else value


@cache
def config_of(sites: str) -> WebArenaVerifiedConfig:
    """Return the configuration with these addresses of sites, given as JSON text."""
    environments = {
        WebArenaSite(site): EnvironmentConfig(urls=addresses)
        for site, addresses in json.loads(sites).items()
    }
    return WebArenaVerifiedConfig(environments=environments)


def task_of(job: Any, check: Any) -> WebArenaVerifiedTask:
    """Return a task that has this check, and a response of the same type of task."""
    response = {
        "evaluator": "AgentResponseEvaluator",
        "results_schema": {"type": "null"},
        "expected": {"task_type": job["task_type"], "status": "SUCCESS", "retrieved_data": None},
    }
    is_response = check["evaluator"] == "AgentResponseEvaluator"
    return WebArenaVerifiedTask(
        sites=list(job["sites"]),
        task_id=0,
        intent_template_id=0,
        start_urls=("http://start.invalid",),
        intent="scored",
        eval=[check] if is_response else [response, check],
        intent_template="scored",
        instantiation_dict={},
        revision=1,
    )


def score(job: Any) -> dict[str, Any]:
    """Return the score with its reason, `missing` where what was not recorded decides, or
    `unreadable` where the check itself cannot be read."""
    check = job["check"]
    found = _evaluated(job, check)
    needed = [
        name
        for name in job.get("missing", ())
        if (check["expected"].get(PARTS[name]) and not check.get("should_not_exist"))
    ]
    if needed and found.get("score") == 0.0:
        kept = {k: v for k, v in check["expected"].items() if k not in map(PARTS.get, needed)}
        if _evaluated(job, {**check, "expected": kept}).get("score"):
            return {"missing": needed}
    return found


def _evaluated(job: Any, check: Any) -> dict[str, Any]:
    try:
        task = task_of(job, check)
        evaluator = EVALUATOR_REGISTRY[check["evaluator"]]()
        answer = job["answer"]
        if job["corrected"]:
            evaluator.value_normalizer = LiteralNormalizer()
            evaluator.value_normalizer.is_response = check["evaluator"] == "AgentResponseEvaluator"
            if answer is not None:
                # type of task and status are taken literally
                answer = evaluator._get_actual_agent_response_dict(answer)
                if isinstance(answer, dict):
                    answer = {
                        name: value if name == "retrieved_data" else literal(value)
                        for name, value in answer.items()
                    }
        context = TaskEvalContext(
            task=task,
            agent_response_raw=answer,
            network_trace=NetworkTrace.from_content(job["entries"]),
            config=config_of(json.dumps(job["sites"])),
        )
        evaluator._normalized_expected_value(task.eval[-1].expected, task.eval[-1], context)
    except UNREADABLE as error:
        return {"unreadable": f"{type(error).__name__}: {error}"}
    result = evaluator.evaluate(context=context, config=task.eval[-1])
    notes = [note for each in result.assertions or () for note in each.assertion_msgs or ()]
    return {"score": result.score, "reason": "; ".join(notes) or result.error_msg or "as expected"}


def main() -> None:
    """Answer each job in turn until the input ends."""
    logging.disable(logging.CRITICAL)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(score(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
