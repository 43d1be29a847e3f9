"""Scores answers and traffic with the published package; run by the interpreter that has it.

It reads one JSON object a line from its standard input and writes one for each to its standard
output. It imports nothing of this repository. All that it adds to the package is that evidence
which was not recorded is distinguished from evidence that does not fit.
"""

import json
import logging
import re
import sys
from functools import cache
from typing import Any

from webarena_verified.core.evaluation.evaluators import EVALUATOR_REGISTRY
from webarena_verified.types.config import EnvironmentConfig, WebArenaVerifiedConfig
from webarena_verified.types.eval import TaskEvalContext
from webarena_verified.types.task import WebArenaSite, WebArenaVerifiedTask
from webarena_verified.types.tracing import NetworkTrace

UNREADABLE = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, OSError),
    *(RuntimeError, TypeError, ValueError, re.error),
)
"""What reading a check or an answer may end in: the package has no error class of its own."""

PARTS = {"body": "post_data", "content": "response_content", "cookies": "response_cookies"}
"""Part of an entry that may be missing, to the expected field that needs it."""


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
        context = TaskEvalContext(
            task=task,
            agent_response_raw=job["answer"],
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
