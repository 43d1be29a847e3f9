"""Demonstrations of looking up orders in a made-up shop, for memory to learn from."""

from tasks.task import Task
from webagent.action.actions import Action, Answer, Click
from webagent.memory import Memory, Proposal
from webagent.records import Decision, Ending, Node, Observation, Provenance, Step, Trajectory

Turn = tuple[tuple[Node, ...], Action]


def link(mark: int, name: str, top: int = 0, left: int = 0) -> Node:
    """A link of a mark."""
    return Node(mark, "link", name, kind="a", box=(left, top, 60, 10))


def text(name: str, top: int = 0, left: int = 100) -> Node:
    """Text that cannot be acted on."""
    return Node(0, "text", name, kind="td", box=(left, top, 200, 10))


def episode(name: str, goal: str, *turns: Turn) -> Trajectory:
    """A demonstration of these turns."""
    steps = []
    for number, (nodes, action) in enumerate(turns):
        page = Observation(goal, f"http://shop.test/{number}", "Shop", nodes)
        steps.append(Step(page, Decision(action, source="demonstration")))
    task = Task("test/look-up@1", "http://shop.test/", goal)
    provenance = Provenance(arm="none", phase="demonstrate")
    answered = Ending.ANSWERED
    return Trajectory(f"{name}-1", task, goal, tuple(steps), ending=answered, provenance=provenance)


def taught(*episodes: Trajectory) -> Memory:
    """A memory of these episodes."""
    memory = Memory()
    for each in episodes:
        memory.remember(each)
    return memory


def recalled(memory: Memory, new: Trajectory, step: int = 0) -> Proposal:
    """What the memory says first where the new episode is at that step."""
    return memory.propose(new.steps[step].observation, new.steps[:step])[0]


ORDERS = {"10056": ("£3.30", 0), "10055": ("£9.75", 20), "10050": ("£7.40", 40)}


def orders(first: int, names: tuple[str, ...] = tuple(ORDERS)) -> tuple[Node, ...]:
    """The page of all orders."""
    nodes = [link(first, "Home"), text("Orders")]
    for i, name in enumerate(names):
        nodes.append(link(first + 1 + i, name, 20 * i + 50))
        nodes.append(text(f"5 | {ORDERS[name][0]} | paid", 20 * i + 50))
    return tuple(nodes)


def look_up(name: str, order: str, first: int, goal: str = "") -> Trajectory:
    """Looking up what an order came to."""
    start = (link(first, "Account"), link(first + 1, "Help"))
    return episode(
        name,
        goal or f'What did my order "{order}" come to?',
        (start, Click(first)),
        (orders(first + 10), Answer(ORDERS[order][0])),
    )
