"""Pages, episodes and a way to see what a policy asks, shared by the tests of prompting."""

import re
from collections.abc import Sequence
from dataclasses import replace

from tasks.task import Task
from webagent.action import parse_action
from webagent.errors import ModelError
from webagent.models.canned import CannedModel, CannedRequest
from webagent.models.model import Capabilities, Message, Reply
from webagent.policy.language import LanguagePolicy
from webagent.records import Decision, Ending, Node, Observation, Step, Trajectory

TASK = Task("shop/buy@1", "https://shop.test/", goal='Buy the "red" mug.', seed=7, max_steps=30)
HOME = Observation(
    TASK.goal,
    TASK.start_url,
    "Shop",
    (
        Node(0, "text", "Welcome to the shop", kind="h1"),
        Node(1, "textbox", "Search"),
        Node(2, "button", "Find"),
        Node(3, "link", "Offers"),
    ),
)
RESULTS = Observation(
    TASK.goal,
    "https://shop.test/find?q=mug",
    "Results",
    (Node(4, "link", "red mug"), Node(5, "link", "blue mug"), Node(6, "button", "Back")),
)
BOTH = Capabilities(images=True, constraints=True)
BLIND = Capabilities(constraints=True)


def step(page: Observation, action: str, thought: str = "", **fields: object) -> Step:
    """What was seen and what was done about it."""
    return Step(page, Decision(parse_action(action), thought, **fields))  # type: ignore[arg-type]


def under_way(*steps: Step, **fields: object) -> Trajectory:
    """An episode of these steps that goes on."""
    return replace(Trajectory("e1", TASK, TASK.goal, steps), **fields)  # type: ignore[arg-type]


def finished(*steps: Step, last: Observation = RESULTS, **fields: object) -> Trajectory:
    """An episode of these steps that is over."""
    return under_way(*steps, last=last, ending=Ending.ANSWERED, **fields)


START = under_way()
SEARCHED = under_way(
    step(HOME, "fill(1, 'mug')", "type what is looked for\ninto the field"),
    step(replace(HOME, outcome=""), "click(2)", "send it. " + "Then I will see. " * 40),
)


async def asked(
    trajectory: Trajectory,
    page: Observation,
    replies: Sequence[str | Reply | ModelError] = ("Thought: go on\nAction: wait(1)",),
    *,
    capabilities: Capabilities = BOTH,
    **options: object,
) -> tuple[Decision, list[CannedRequest]]:
    """What the policy decides on this page, and what it asked its model."""
    model = CannedModel(replies, capabilities=capabilities)
    decision = await LanguagePolicy(model, **options).act(trajectory, page)  # type: ignore[arg-type]
    return decision, model.requests


async def prompt(trajectory: Trajectory, page: Observation, **options: object) -> str:
    """The first prompt, its messages one after the other."""
    _, requests = await asked(trajectory, page, **options)  # type: ignore[arg-type]
    return written(requests[0].messages)


def written(messages: Sequence[Message]) -> str:
    """Messages as one text, each with its role and how many images it has."""
    return "\n\n".join(
        f"--- {message.role}, {len(message.images)} images ---\n{message.text}"
        for message in messages
    )


def fenced(label: str, text: str) -> str:
    """What stands in the first fence of this label."""
    found = re.search(rf"<<<{label} [0-9a-f]{{12}}\n(.*?)\n{label} [0-9a-f]{{12}}>>>", text, re.S)
    assert found, f"no fence of {label}"
    return found[1]
