"""An agent is made in a line, and says of every task how it ended and what it cost."""

import asyncio
import json
from collections.abc import Iterator

import pytest
from pydantic import BaseModel, field_validator

from tests.fakes.chat_server import Behave
from tests.fakes.policy import says
from webagent import Agent, Ending, Stop, custom_action
from webagent.action import ACTIONS, Action, Answer, GiveUp
from webagent.action.actions import ACTION_NAMES, Click
from webagent.agent import Began, Decided, Done, Event
from webagent.browser import Browser
from webagent.errors import (
    AnswerError,
    GuardError,
    ModelError,
    PolicyError,
    SetupError,
    StoppedError,
    UsageError,
    WorldError,
)
from webagent.guard import ActionRule, GuardPolicy
from webagent.models import CannedModel, Endpoint, Prices
from webagent.models import Price as ModelPrice
from webagent.policy.policy import ScriptedPolicy, play_actions
from webagent.records import Decision, Observation, Trajectory
from webagent.store import Store
from worldmodel.lookahead import LookAhead
from worldmodel.recall import RememberedWorld
from worldmodel.transitions import Transition

pytestmark = pytest.mark.browser


def plays(*actions: Action) -> ScriptedPolicy:
    """A policy that does these in turn."""
    return ScriptedPolicy(play_actions(actions))


def buys(trajectory: Trajectory, page: Observation) -> Action:
    """Press the button, then say so."""
    mark = next(node.mark for node in page.nodes if node.name == "Buy")
    return Answer("bought") if trajectory.steps else Click(mark)


async def test_a_model_by_name_answers_and_its_tokens_are_counted(shop, browser, chat_server):
    chat_server.will(Behave.reply('Thought: there it is\nAction: answer("420 euros")'))
    agent = Agent(Endpoint("big-1", base_url=chat_server.url), browser=browser)
    result = await agent.run("What does the blue kayak cost?", url=shop)
    assert (result.answer, result.ending) == ("420 euros", Ending.ANSWERED)
    assert result.is_answered and result.raise_for_ending() is result
    assert result.steps[0].decision.thought == "there it is"
    assert result.url == shop
    assert result.cost.requests == 1 and result.cost.output_tokens == 7
    assert result.cost.money is None
    assert "the price of 'big-1' is not known" in str(result.cost)
    assert "What does the blue kayak cost?" in chat_server.requests[0]["messages"][-1]["content"]


async def test_known_prices_make_money_and_a_cap_ends_the_task_as_stopped(shop, browser):
    prices = Prices({"canned": ModelPrice(input=1000.0, output=1000.0, currency="EUR")})
    agent = Agent(says("scroll(0, 0, 10)"), browser=browser, prices=prices, max_cost=0.001)
    result = await agent.run("Go on for ever", url=shop)
    assert result.ending is Ending.STOPPED
    assert "0.001 in money is spent" in result.reason
    assert result.cost.money is not None and result.cost.currency == "EUR"
    with pytest.raises(StoppedError, match="in money is spent"):
        result.raise_for_ending()


async def test_many_tasks_share_one_browser_and_each_has_its_own_session(shop, browser):
    before = browser.launches
    async with Agent(ScriptedPolicy(buys), browser=browser) as agent:
        results = await asyncio.gather(*(agent.run("Buy it", url=shop) for _ in range(3)))
    assert [result.answer for result in results] == ["bought"] * 3
    assert len({result.trajectory.id for result in results}) == 3
    assert browser.launches == before


async def test_what_happens_is_told_as_it_happens(shop: str, browser: Browser) -> None:
    events: list[Event] = []
    await Agent(ScriptedPolicy(buys), browser=browser).run("Buy", url=shop, listen=events.append)
    began, decided, done, answered = events
    assert isinstance(began, Began) and began.seen.title == "Shop"
    assert isinstance(decided, Decided) and isinstance(decided.decision.action, Click)
    assert isinstance(done, Done) and done.seen.title == "Bought"
    assert isinstance(answered, Decided) and answered.number == 2


class Torn:
    """A policy that has the answer second, and the answer's price always first."""

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        return (await self.propose(trajectory, observation, 1))[0]

    async def propose(self, trajectory, observation, n):
        options = (GiveUp("nothing here"), -0.6), (Answer("420 euros"), -0.9)
        return [Decision(action, log_probs=(chance,)) for action, chance in options][:n]


async def test_a_world_model_is_asked_before_the_agent_acts(shop: str, browser: Browser) -> None:
    memory = RememberedWorld()
    seen = Observation("What does it cost?", shop, "Shop", ())
    for action in (GiveUp("nothing here"), Answer("99 euros")):
        is_right = isinstance(action, Answer)
        ending = Ending.ANSWERED if is_right else Ending.GAVE_UP
        memory.learn([Transition((), seen, action, seen, is_right, "e", ending)])
    alone = await Agent(Torn(), browser=browser).run("What does it cost?", url=shop)
    asking = Agent(Torn(), browser=browser, lookahead=LookAhead(memory))
    result = await asking.run("What does it cost?", url=shop)
    assert (alone.ending, result.answer) == (Ending.GAVE_UP, "420 euros")
    decision = result.steps[0].decision
    assert decision.source == "lookahead" and decision.usage["lookahead_overridden"] == 1
    with pytest.raises(UsageError, match="asks nobody"):
        LookAhead(None)


async def test_an_episode_is_stored_like_any_other(shop, browser, tmp_path):
    with Store.open(tmp_path / "run", create=True) as store:
        async with Agent(ScriptedPolicy(buys), browser=browser, store=store) as agent:
            first = await agent.run("Buy", url=shop)
            await agent.run("Buy", url=shop)
        kept = list(store.trajectories(phase="run"))
    assert [each.ending for each in kept] == [Ending.ANSWERED] * 2
    assert kept[0].id == first.trajectory.id and kept[0].goal == "Buy"


async def test_an_answer_is_held_to_its_schema_and_asked_for_once_more(shop, browser):
    schema = {"type": "object", "required": ["euros"], "properties": {"euros": {"type": "integer"}}}
    wrong, right = ({"euros": price} for price in ("a lot", 420))
    model = says(*(f"answer({json.dumps(json.dumps(each))})" for each in (wrong, right)))
    result = await Agent(model, browser=browser).run("The price?", url=shop, schema=schema)
    assert result.value == right and result.is_answered
    assert len(result.steps) == 1
    (_, again) = model.requests
    told = again.messages[-1].text
    assert "does not fit its schema at euros: 'a lot' is not of type 'integer'" in told
    assert '"euros"' in result.trajectory.goal


class Price(BaseModel):
    """A form that a schema says only in part."""

    euros: int

    @field_validator("euros")
    @classmethod
    def _be_even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("an even price is expected")
        return value


async def test_an_answer_comes_as_an_instance_of_the_type_that_was_asked_for(shop, browser):
    model = says(*(f"answer({json.dumps(json.dumps({'euros': n}))})" for n in (421, 420)))
    agent = Agent(model, browser=browser, screenshots=True)
    result = await agent.run("The price?", url=shop, schema=Price)
    assert result.value == Price(euros=420)
    assert "euros: Value error, an even price" in model.requests[1].messages[-1].text
    assert repr(result).startswith("Result(answered: '{\"euros\": 420}', 1 steps, ")
    assert "src='data:image/png;base64," in result._repr_html_()
    told = result.to_dict()
    assert (told["outcome"], len(told["steps"])) == ("answered", 1)


async def test_a_second_misfit_is_a_typed_failure(shop: str, browser: Browser) -> None:
    result = await Agent(says('answer("dear")'), browser=browser).run(
        "The price?", url=shop, schema={"type": "object"}
    )
    assert result.ending is Ending.POLICY_UNREADABLE and result.value is None
    with pytest.raises(AnswerError, match="'dear' is not JSON"):
        result.raise_for_ending()


async def test_every_other_ending_has_an_error_of_its_own(shop, browser, chat_server):
    async def ending(agent: Agent, url: str = shop) -> tuple[Ending, type[BaseException]]:
        result = await agent.run("Do it", url=url)
        with pytest.raises((PolicyError, StoppedError, ModelError, WorldError)) as raised:
            result.raise_for_ending()
        assert result.reason and result.reason in str(raised.value)
        return result.ending, raised.type

    gave_up = Agent(plays(GiveUp("no kayak")), browser=browser)
    assert await ending(gave_up) == (Ending.GAVE_UP, AnswerError)
    short = Agent(says("scroll(0, 0, 10)"), browser=browser, max_steps=2)
    assert await ending(short) == (Ending.STEP_LIMIT, StoppedError)
    rambling = Agent(CannedModel(["I like kayaks."] * 2), browser=browser)
    assert await ending(rambling) == (Ending.POLICY_UNREADABLE, PolicyError)
    nowhere = Agent(plays(Answer()), browser=browser)
    assert await ending(nowhere, "http://127.0.0.1:9/") == (Ending.WORLD_FAILED, WorldError)
    chat_server.will(Behave.status(401))
    refused = Agent(Endpoint("m", base_url=chat_server.url), browser=browser)
    assert await ending(refused) == (Ending.MODEL_FAILED, ModelError)
    chat_server.will(Behave.status(401))
    assert str((await refused.run("Do it", url=shop)).cost) == "the model gave no reply"


async def test_a_task_is_ended_from_outside_while_its_model_thinks(shop, browser, chat_server):
    chat_server.will(Behave.slow())
    stop = Stop()

    def begin(event: Event) -> None:
        asyncio.get_running_loop().call_soon(stop.end, "seen enough")

    agent = Agent(Endpoint("m", base_url=chat_server.url), browser=browser)
    result = await agent.run("Wait", url=shop, stop=stop, listen=begin)
    assert (result.ending, result.reason) == (Ending.STOPPED, "seen enough")
    assert result.trajectory.last is not None


async def test_a_minute_is_a_limit_too(shop: str, browser: Browser) -> None:
    result = await Agent(says("wait(300)"), browser=browser, max_minutes=0.01).run("Wait", url=shop)
    assert result.ending is Ending.STOPPED and "its time is up" in result.reason


async def test_a_guard_holds_the_agent_and_asks_whoever_may_be_asked(shop: str) -> None:
    class Person:
        asked = ""

        async def approve(self, question: str) -> bool:
            self.asked = question
            return False

    person = Person()
    asks = GuardPolicy(on_refusal="end", actions=(ActionRule("ask", ("click",), reason="mine"),))
    result = await Agent(ScriptedPolicy(buys), guard=asks, approver=person).run("Buy", url=shop)
    assert result.ending is Ending.GUARD_REFUSED
    assert "May the agent do" in person.asked and "mine" in person.asked
    with pytest.raises(GuardError):
        result.raise_for_ending()


def test_without_an_event_loop_a_task_is_run_to_its_end() -> None:
    page = "data:text/html,<title>x</title>"
    with pytest.raises(SetupError, match="is no address"):
        Agent(plays(Answer("y"))).run_sync("Say y", url=page)
    result = Agent(plays(Answer("y"))).run_sync("Say y", url="about:blank")
    assert result.answer == "y"
    assert str(result.cost) == "no model was asked"


async def test_in_a_notebook_whose_loop_is_running_a_task_is_run_to_its_end() -> None:
    assert Agent(plays(Answer("y"))).run_sync("Say y", url="about:blank").answer == "y"


async def test_what_is_wrong_with_the_settings_is_said_before_anything_is_done(tmp_path, browser):
    with pytest.raises(SetupError, match="names nobody to act"):
        Agent("")
    with pytest.raises(SetupError, match="model is int"):
        Agent(3)  # type: ignore[arg-type]
    with pytest.raises(SetupError, match="price of 'm' is not known"):
        Agent("m", max_cost=1)
    with pytest.raises(SetupError, match="max_steps=0 leaves nothing"):
        Agent("m", max_steps=0)
    with pytest.raises(SetupError, match="vision is for language models"):
        Agent(plays(), vision=True)
    with pytest.raises(SetupError, match="belong to the browser"):
        Agent("m", browser=browser, headed=True)
    agent = Agent(plays(Answer()), browser=browser, logins=tmp_path)
    with pytest.raises(SetupError, match=r"did you mean https://shop\.example"):
        await agent.run("Buy", url="shop.example")
    with pytest.raises(SetupError, match="where does the task begin"):
        await agent.run("Buy")
    with pytest.raises(SetupError, match="JSON Schema is wrong at type"):
        await agent.run("Buy", url="about:blank", schema={"type": "numbr"})
    unknown = Agent(plays(Answer()), browser=browser, logins=tmp_path, login="nobody")
    with pytest.raises(SetupError, match="nobody"):
        await unknown.run("Buy", url="about:blank")
    with pytest.raises(SetupError, match="belongs to an event loop"):
        agent.run_sync("Buy", url="about:blank")


async def test_a_further_task_goes_on_in_the_page_and_knows_what_was_said(shop, browser, tmp_path):
    model = says("click(1)", 'answer("bought")', 'answer("one")')
    with Store.open(tmp_path / "run", create=True) as store:
        async with Agent(model, browser=browser, store=store) as agent:
            with pytest.raises(SetupError, match="where does the task begin"):
                await agent.run("Go on")
            await agent.run("Buy the kayak", url=shop)
            further = await agent.run("How many did you buy?")
            fresh = await agent.run("Look again", url=shop)
        kept = list(store.trajectories(phase="run"))
    assert further.steps[0].observation.title == "Bought", "the page of the task before"
    assert fresh.steps[0].observation.title == "Shop", "an address begins a session of its own"
    told = model.requests[2].messages[-1].text
    assert "How many did you buy?" in told and "- Buy the kayak\n  answered: bought" in told
    assert [each.task.start_url for each in kept] == [shop] * 3
    assert "Buy the kayak" not in fresh.trajectory.goal


async def test_the_model_calls_a_function_of_ones_own_under_the_guard(shop, own_action):
    model = says('stock_of("blue")', 'stock_of("red")', 'answer("7 pieces")')
    rule = ActionRule("deny", actions=("stock_of",), when={"properties": {"sku": {"const": "red"}}})
    guard = GuardPolicy(open_networks=("loopback",), actions=(rule,))
    result = await Agent(model, guard=guard, actions=[stock_of]).run("How many?", url=shop)
    assert own_action == ["blue"], "the guard has refused the other"
    assert "stock_of(sku)  Return how many pieces" in model.requests[0].messages[0].text
    first, second, last = result.steps
    assert "stock_of: 7 of blue" in second.observation.outcome
    shown = model.requests[1].messages[-1].text.partition("Outcome: <<<page ")[2]
    assert "stock_of: 7 of blue" in shown.partition(">>>")[0], (
        "fenced, as all that came from outside"
    )
    assert last.observation.outcome == "refused: the policy says deny"
    assert result.answer == "7 pieces" and first.decision.action != second.decision.action
    with pytest.raises(SetupError, match="decorate it with @custom_action"):
        Agent(model, actions=[says])


def stock_of(sku: str) -> str:
    """Return how many pieces of a product lie in our warehouse."""
    _CALLED.append(sku)
    return f"7 of {sku}"


_CALLED: list[str] = []


@pytest.fixture
def own_action() -> Iterator[list[str]]:
    """The calls of an action that is there for one test."""
    custom_action(stock_of)
    _CALLED.clear()
    yield _CALLED
    ACTION_NAMES.pop(ACTIONS.pop("stock_of"))


async def test_a_notebook_keeps_an_agent_and_goes_on_without_awaiting(shop, tmp_path):
    def work() -> None:  # beside the loop, which serves the shop
        with Store.open(tmp_path / "run", create=True) as store:
            with Agent(ScriptedPolicy(buys), store=store) as agent:
                first = agent.run_sync("Buy it", url=shop)
                second = agent.run_sync("And again")
            assert (first.answer, second.steps[0].observation.title) == ("bought", "Bought")
            assert len(store.ids("any")) == 2

    await asyncio.to_thread(work)
