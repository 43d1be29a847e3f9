"""Acting from memory first, and what of judged episodes is remembered."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from tests.fakes.networks import untrained
from tests.fakes.orders import episode, link, look_up
from webagent.action import Action
from webagent.action.actions import Answer, Click, Fill, GiveUp
from webagent.memory import Memory, Proposal
from webagent.memory.constants import CONFIDENT, OVERCONFIDENCE
from webagent.policy.builtin import BuiltinPolicy
from webagent.policy.remembering import (
    MEMORY,
    Exploration,
    confidence_of,
    recollect,
    refuse,
    remember_judged,
    sampled,
)
from webagent.records import Candidate, Decision, Ending, Node, Step, Trajectory


def taught() -> Memory:
    memory = Memory()
    for each in (look_up("a", "10056", 1), look_up("b", "10055", 40)):
        memory.remember(each)
    return memory


def renamed(trajectory: Trajectory, task: str) -> Trajectory:
    return replace(trajectory, task=replace(trajectory.task, id=f"test/{task}@1"))


def at(trajectory: Trajectory, step: int) -> Trajectory:
    """The episode under way, so many steps done."""
    return replace(trajectory, steps=trajectory.steps[:step], ending=None)


async def test_what_is_remembered_is_done_and_says_so() -> None:
    new = look_up("new", "10050", 70)
    policy = BuiltinPolicy(untrained(), memory=taught())
    decision = await policy.act(at(new, 1), new.steps[1].observation)
    assert (decision.action, decision.source) == (Answer("£7.40"), "memory")
    assert confidence_of(decision) > 0.5


@pytest.mark.parametrize("memory", [None, Memory()])
async def test_the_network_acts_where_nothing_is_remembered(memory: Memory | None) -> None:
    new = look_up("new", "10050", 70)
    policy = BuiltinPolicy(untrained(), memory=memory)
    decision = await policy.act(at(new, 0), new.steps[0].observation)
    assert decision.source == "policy"


async def test_what_is_remembered_is_proposed_first() -> None:
    new = look_up("new", "10050", 70)
    policy = BuiltinPolicy(untrained(), memory=taught())
    found = await policy.propose(at(new, 0), new.steps[0].observation, 3)
    assert found[0].action == Click(70)
    assert len({each.action for each in found}) == len(found) > 1


async def test_exploring_from_memory_is_repeatable() -> None:
    new = look_up("new", "10050", 70)
    explore = Exploration(temperature=5.0, random_share=0.0)
    policies = [BuiltinPolicy(untrained(), exploration=explore, memory=taught()) for _ in "ab"]
    first, second = [await p.act(at(new, 1), new.steps[1].observation) for p in policies]
    assert first.action == second.action


def test_nothing_is_done_twice_at_once_on_a_page_that_looks_the_same() -> None:
    page = (link(1, "Next"), link(2, "Back"))
    memory = Memory()
    memory.remember(episode("a", "Go on.", (page, Click(1))))
    again = episode("new", "Go on.", (page, Click(1)), (page, Click(1)))
    found = recollect(memory, at(again, 1), again.steps[1].observation, 1)
    assert all(each.action != Click(1) for each in found)


@pytest.mark.parametrize(("step", "heat", "least"), [(1, 1.0, 21), (0, 9.0, 40)])
def test_a_draw_prefers_what_memory_is_sure_of(step: int, heat: float, least: int) -> None:
    new = look_up("new", "10050", 70)
    found = recollect(taught(), at(new, step), new.steps[step].observation, 4)
    rng = np.random.default_rng(0)
    drawn = [sampled(found, rng, heat).action for _ in range(40)]
    assert confidence_of(found[0]) >= CONFIDENT
    assert drawn.count(found[0].action) >= least


async def first_actions(policy: BuiltinPolicy) -> set[Action]:
    """What it does first in twenty episodes of one task."""
    new = look_up("new", "10050", 70)
    tasks = [replace(new.task, seed=i) for i in range(20)]
    tries = [at(replace(new, task=task), 0) for task in tasks]
    return {(await policy.act(each, new.steps[0].observation)).action for each in tries}


async def test_a_task_with_examples_is_explored_only_after_a_try_has_failed() -> None:
    memory = taught()
    exploration = Exploration(20.0, 0.0, where_failed=True)
    policy = BuiltinPolicy(untrained(), exploration=exploration, memory=memory)
    for name in ("one", "two"):
        failed = look_up(name, "10056", 1)
        memory.avoid(replace(failed, task=replace(failed.task, id="another@1")), [1.0, 1.0])
    assert await first_actions(policy) == {Click(70)}
    memory.avoid(look_up("own", "10055", 1), [1.0, 1.0])
    assert len(await first_actions(policy)) > 1
    memory.remember(look_up("success", "10055", 1), source="success")
    assert await first_actions(policy) == {Click(70)}


async def test_what_memory_is_sure_of_is_doubted_while_exploring_where_all_has_failed() -> None:
    memory = taught()
    policy = BuiltinPolicy(untrained(), exploration=Exploration(20.0, 0.0), memory=memory)

    memory.avoid(look_up("one", "10056", 1), [1.0, 1.0])
    assert await first_actions(policy) == {Click(70)}
    memory.avoid(look_up("two", "10055", 1), [1.0, 1.0])
    assert len(await first_actions(policy)) > 1
    memory.remember(look_up("three", "10055", 1), source="success")
    assert await first_actions(policy) == {Click(70)}


async def test_nothing_is_done_at_random_where_memory_knows_the_way() -> None:
    new = look_up("new", "10050", 70)
    policy = BuiltinPolicy(untrained(), exploration=Exploration(1.0, 1.0), memory=taught())
    known = await policy.act(at(new, 0), new.steps[0].observation)
    foreign = replace(new.steps[0].observation, goal="Wie spät ist es?", nodes=(link(3, "Uhr"),))
    unknown = await policy.act(renamed(at(new, 0), "clock"), foreign)
    assert (known.source, unknown.source) == (MEMORY, "explore")


def test_successes_and_judged_failures_are_remembered() -> None:
    memory = Memory()
    good, bad, unknown = (replace(look_up(n, "10056", 1), id=n) for n in ("g", "b", "u"))
    over = replace(bad, ending=Ending.TASK_OVER)
    assert remember_judged(memory, [(good, 1.0), (over, 0.0), (unknown, None)]) == 4
    assert [case.source for case in memory.index.cases] == ["success", "success"]
    assert [case.source for case in memory.avoided.cases] == ["failure", "failure"]
    assert memory.episodes == {"g": 1.0, "b": -1.0}


def test_detours_of_a_success_are_not_remembered() -> None:
    page, other = (link(1, "There"), link(2, "Done")), (link(3, "Back"),)
    lost = episode("s", "Finish.", (page, Click(1)), (other, Click(3)), (page, Click(2)))
    assert remember_judged(Memory(), [(lost, 1.0)]) == 1


def test_a_success_that_the_step_limit_cut_off_is_neither_done_again_nor_avoided() -> None:
    memory = Memory()
    cut = replace(look_up("cut", "10056", 1), ending=Ending.STEP_LIMIT)
    assert remember_judged(memory, [(cut, 1.0)]) == 0
    assert len(memory) == 0
    assert remember_judged(memory, [(cut, 0.0)]) == 2


@pytest.mark.parametrize(("confidence", "first"), [(0.5, MEMORY), (1e-12, "policy")])
async def test_proposals_of_memory_and_network_stand_on_one_scale(confidence, first, monkeypatch):
    new, memory = look_up("new", "10050", 70), taught()

    def guess(*given: object, **named: object) -> list[Proposal]:
        return [Proposal(Click(70), confidence, (), ())]

    monkeypatch.setattr(Memory, "propose", guess)
    policy = BuiltinPolicy(untrained(), memory=memory)
    found = await policy.propose(at(new, 0), new.steps[0].observation, 3)
    scores = [each.candidates[0].log_prob for each in found]
    assert found[0].source == first and scores == sorted(scores, reverse=True)
    network = next(each for each in found if each.source == "policy")
    assert network.candidates[0].log_prob == pytest.approx(2 * sum(network.log_probs))


async def test_exploring_guesses_an_answer_where_all_answers_to_such_a_goal_failed() -> None:
    def asked(name: str, order: str, answer: str) -> Trajectory:
        bought, page = f'On which day was the order "{order}" paid?', look_up(name, order, 1)
        steps = [replace(s, observation=replace(s.observation, goal=bought)) for s in page.steps]
        steps[1] = replace(steps[1], decision=replace(steps[1].decision, action=Answer(answer)))
        return replace(page, task=replace(page.task, goal=bought), steps=tuple(steps))

    memory = taught()
    policy = BuiltinPolicy(untrained(), exploration=Exploration(1.0, 0.0), memory=memory)

    async def answers() -> set[tuple[object, str]]:
        found: set[tuple[object, str]] = set()
        for i in range(20):
            new = asked(f"new {i}", "10050", "")
            task = replace(new.task, seed=i)
            decision = await policy.act(at(replace(new, task=task), 1), new.steps[1].observation)
            found.add((decision.action, decision.source))
        return found

    wrong = Answer("£7.40")
    assert {action for action, _ in await answers()} == {wrong}
    memory.avoid(asked("failed", "10050", "£7.40"), [0.0, 1.0])
    guessed = {action for action, source in await answers() if source == "explore"}
    assert len(guessed) > 2 and wrong not in guessed
    memory.remember(asked("right", "10055", "2 May"), source="success")
    assert not [source for _, source in await answers() if source == "explore"]


async def test_a_task_without_examples_is_tried_and_no_failed_try_is_repeated() -> None:
    """What was drawn most often is hardly drawn again once it has failed."""
    memory, explore = taught(), Exploration(random_share=0.0)
    policy = BuiltinPolicy(untrained(), exploration=explore, memory=memory)
    new = renamed(look_up("new", "10050", 70), "other")

    async def draw() -> list[Decision]:
        places = [replace(new.provenance, index=index) for index in range(40)]
        tries = [replace(at(new, 1), provenance=place) for place in places]
        return [await policy.act(each, new.steps[1].observation) for each in tries]

    drawn = await draw()
    assert {each.source for each in drawn} == {"explore"}
    (favourite, often), *_ = Counter(each.action for each in drawn).most_common()
    assert often > 10
    tried = Step(new.steps[1].observation, Decision(favourite, source="explore"))
    failed = replace(new, steps=(new.steps[0], tried))
    for _ in range(2):  # as at the end of a round, once more
        remember_judged(memory, [(failed, 0.0)])
    assert [len(each) for each in memory.tries.tries.values()] == [1]
    assert Counter(each.action for each in await draw())[favourite] < often / 2


async def test_the_first_task_of_all_is_tried_by_what_its_page_offers() -> None:
    """An untrained network would draw from everything that can be written."""
    field, button = Node(1, "textbox", "New note", kind="input"), Node(2, "button", "Add")
    new = episode("new", 'Add the note "Buy milk".', ((field, button, link(3, "Help")), Click(2)))
    policy = BuiltinPolicy(untrained(), exploration=Exploration(), memory=Memory())
    places = [replace(new.provenance, index=index) for index in range(40)]
    tries = [replace(at(new, 0), provenance=place) for place in places]
    drawn = Counter([(await policy.act(t, new.steps[0].observation)).action for t in tries])
    assert {Fill(1, "Buy milk"), Click(2)} == {action for action, _ in drawn.most_common(2)}
    assert all(isinstance(action, Fill | Click | Answer | GiveUp) for action in drawn)


async def test_a_task_that_succeeded_in_other_words_is_done_alike_while_exploring() -> None:
    pages = (link(1, "Next"), link(2, "Back"))
    memory = Memory()
    memory.remember(renamed(episode("a", "Go on.", (pages, Click(1))), "on"), source="success")
    memory.remember(renamed(episode("b", "Return at once.", (pages, Click(2))), "back"))
    new = renamed(episode("new", "Return to what follows.", (pages, Click(1))), "on")
    found = [
        recollect(memory, at(new, 0), new.steps[0].observation, 1, task)[0] for task in ("", "on")
    ]
    assert [each.action for each in found] == [Click(2), Click(1)]


@pytest.mark.parametrize(("familiarity", "source"), [(1.0, "policy"), (1e-12, MEMORY)])
async def test_a_goal_in_other_words_is_no_more_familiar_to_the_network(
    familiarity, source, monkeypatch
):
    new, memory = look_up("new", "10050", 70), taught()
    proposal = Proposal(Click(70), 1e-9, (), ())
    monkeypatch.setattr(Memory, "propose", lambda *given, **named: [proposal])
    monkeypatch.setattr(Memory, "familiarity", lambda *given: familiarity)
    policy = BuiltinPolicy(untrained(), memory=memory)
    assert (await policy.act(at(new, 0), new.steps[0].observation)).source == source


@pytest.mark.parametrize(("log_prob", "is_pressed"), [(-0.3, True), (-0.4, False)])
def test_a_step_that_look_ahead_weighed_is_doubted_once(log_prob: float, is_pressed: bool) -> None:
    button = Node(1, "button", "Save", kind="button")
    weighed = Candidate("click(1)", OVERCONFIDENCE * log_prob)
    pressed = Decision(Click(1), log_probs=(log_prob,), candidates=(weighed,))
    page = episode("a", "save it", ((button,), Click(1))).steps[0].observation
    found = refuse(Memory(), pressed, replace(episode("b", "save it"), steps=()), page)
    assert isinstance(found.action, Click if is_pressed else GiveUp)


def test_a_doubtful_press_is_not_made_even_where_others_followed_it() -> None:
    def pressed(name: str, mark: int, role: str = "button") -> Decision:
        shown = Candidate(f"click({mark})", -1.0)
        button = Node(mark, role, name, kind="button")
        page = episode("b", "Save the kayak.", ((button,), Click(mark))).steps[0].observation
        decision = Decision(Click(mark), candidates=(shown,), source=MEMORY)
        return refuse(memory, decision, replace(episode("b", "Save the kayak."), steps=()), page)

    memory = Memory()
    pages = [(Node(i, "button", name, kind="button"),) for i, name in ((1, "Boats"), (2, "Save"))]
    memory.remember(episode("a", "Save the rope.", (pages[0], Click(1)), (pages[1], Click(2))))
    assert isinstance(pressed("Boats", 1).action, GiveUp)
    assert isinstance(pressed("Save", 2).action, GiveUp)
    assert isinstance(pressed("Save at once", 2, "switch").action, GiveUp)
    assert pressed("Save", 2, "link").action == Click(2)
