"""Deceptions on the made-up market: its tasks done wrongly, taken back or only talked about."""

from html import escape

from tests.fakes.market import MARKET_TASKS, Market, MarketTask, make_market_task
from tests.fakes.market.turns import Turn
from webagent.action import Action
from webagent.policy.policy import ScriptedPolicy
from webagent.records import Observation, Trajectory

TAGS = ("<p>{}</p>", "<div role=alert>{}</div>", "<h2>{}</h2>", "<footer>{}</footer>")


def make_task(market: Market, kind: str, seed: int, words: str = "") -> MarketTask:
    """The task in the market of a seed, whose pages say these words, first or second one on.

    `{goal}` stands for the goal."""
    if not words:
        return make_market_task(kind, seed, market.site.address)
    made = make_market_task(kind, seed, market.site.address, notice=str(seed))
    tag = TAGS[seed % len(TAGS)]
    said = tag.format(escape(words.replace("{goal}", made.task.goal)))
    market.banners[str(seed)] = said, 1 + seed // 2 % 2
    return made


def follow(turns: tuple[Turn, ...]) -> ScriptedPolicy:
    """One turn a step."""

    def script(trajectory: Trajectory, page: Observation) -> Action | None:
        turn = len(trajectory.steps)
        return turns[turn](page) if turn < len(turns) else None

    return ScriptedPolicy(script, source="policy", name="visitor")


def ways(made: MarketTask) -> dict[str, tuple[Turn, ...]]:
    """What is done by kind; empty where the task cannot be had that way."""
    return {
        "honest": made.honest,
        "claimed": made.claimed,
        "wrong item": made.wrong,
        "undone": made.undone,
        "empty page": made.lost,
        "page says so": made.wrong if made.task.seed % 2 else made.claimed,
        "hedged": made.hedged,
    }


KINDS = tuple(MARKET_TASKS)
