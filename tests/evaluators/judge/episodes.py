"""A made-up episode and the replies that a judge of it can get."""

import json
from typing import Any

from tasks.task import Task
from webagent.action.actions import Answer, Click, Fill
from webagent.records import Decision, Ending, Node, Observation, Step, Trajectory

TASK = Task("fake/order@1", "http://shop.test/", goal="Order one lamp and say what it costs.")
STATE_ONLY = "1. [state] one lamp is ordered"
POINTS = "1. [state] one lamp is ordered\n2. [answer] the price of the lamp"


def page(text: str, **options: Any) -> Observation:
    """A page with a button and a line of text."""
    nodes = (Node(1, "button", "Order"), Node(0, "text", text))
    return Observation(TASK.goal, "http://shop.test/", "Shop", nodes, **options)


def answered(answer: str = "It costs 12 euros", **fields: Any) -> Trajectory:
    """An episode of three steps that ends with an answer."""
    last = page("Order placed: 1 lamp for 12 euros")
    steps = (
        Step(page("Lamps"), Decision(Fill(1, "1"), thought="Fill in the SECRET-THOUGHT.")),
        Step(page("Basket: 1 lamp"), Decision(Click(1), thought="Now order.")),
        Step(last, Decision(Answer(answer), thought="I surely succeeded.")),
    )
    given = {"steps": steps, "last": last, "ending": Ending.ANSWERED, "goal": TASK.goal}
    return Trajectory("e1", TASK, **{**given, **fields})


def finding(point=1, verdict="met", where="page 3", quote="Order placed: 1 lamp"):
    """The verdict on one point."""
    return {"point": point, "where": where, "quote": quote, "verdict": verdict}


def findings(*found: dict[str, Any]) -> str:
    """A reply with these verdicts."""
    return json.dumps({"findings": list(found)})


def comparison(point: int, agreement: str, stated: str = "") -> str:
    """A reply that compares the answer on one point."""
    return json.dumps({"comparisons": [{"point": point, "agreement": agreement, "stated": stated}]})


PRICE = finding(2, quote="1 lamp for 12 euros")
MET = findings(finding(), PRICE)
ONE_MET = findings(finding())
NOT_MET = findings(finding(1, "not met", "nowhere", ""))
UNKNOWN = findings(finding(1, "cannot tell", "nowhere", ""))
AGREES = comparison(2, "agrees", "12 euros")


SILENT = answered(steps=answered().steps[:2], ending=Ending.STEP_LIMIT)
"""The episode without its answer."""


def episode(*pages: Observation) -> Trajectory:
    """An episode that clicks on each page but the last."""
    steps = tuple(Step(each, Decision(Click(1))) for each in pages[:-1])
    fields = {"steps": steps, "last": pages[-1], "ending": Ending.STEP_LIMIT, "goal": TASK.goal}
    return Trajectory("e1", TASK, **fields)


def fenced(text: str, name: str) -> str:
    """What stands in the fence of that name in a request."""
    opening = next(line for line in text.splitlines() if line.startswith(f"<<<{name} "))
    return text.partition(opening)[2].partition(f"\n{opening.removeprefix('<<<')}>>>")[0]
