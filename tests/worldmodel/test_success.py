"""P(success) as episodes went, corrected by what the others say of each."""

from dataclasses import replace

from tests.fakes.lessons import WORDS, node, page
from webagent.action.actions import Answer, Click
from webagent.memory.goals import read_goal
from webagent.records import Observation
from worldmodel.cases import Occasion, TransitionCase
from worldmodel.success import GoalRates, SuccessMemory
from worldmodel.transitions import Situation, Transition

CHOICES = 4


def listing(number: int) -> Observation:
    """A page that asks for one of its four links."""
    names = [WORDS[(number + i) % len(WORDS)] for i in range(CHOICES)]
    links = [node(i, "link", name) for i, name in enumerate(names, 1)]
    return page(f'Click on "{names[number % CHOICES]}".', *links)


def chose(number: int, place: int, succeeded: bool) -> Transition:
    """An episode of one step: the link so many after the right one."""
    seen = listing(number)
    action = Click((number + place) % CHOICES + 1)
    return Transition((), seen, action, seen, succeeded, f"e{number}-{place}")


def remembered(*told: Transition) -> SuccessMemory:
    memory = SuccessMemory()
    for number, each in enumerate(told):
        memory.add(TransitionCase(each.situation, each, number))
    return memory


def ask(memory: SuccessMemory, number: int, place: int) -> float:
    seen = listing(number)
    return memory.chance(Occasion(Situation(seen, (), Click((number + place) % CHOICES + 1))))


def test_what_the_goal_names_promises_more_than_what_it_does_not() -> None:
    told = [chose(n, place, place == 0) for n in range(12) for place in (0, n % 3 + 1)]
    memory = remembered(*told)
    assert ask(memory, 15, 0) > 0.8 > 0.2 > ask(memory, 15, 1)


def test_where_the_likest_say_nothing_the_chance_is_the_share_that_came() -> None:
    """Every third episode succeeds whatever was done: nobody is called a success for it."""
    told = [chose(n, 0, n % 3 == 0) for n in range(60)]
    chances = [ask(remembered(*told), number, 0) for number in (70, 75, 80)]
    assert all(0.2 < chance < 0.5 for chance in chances)


def test_the_correction_leaves_out_the_episode_that_is_judged() -> None:
    """Steps of one episode end alike; that is no reason to be sure of another one."""
    luck = [True, False, True, True, False, False, True, False, True, False]
    told = [
        Transition((), listing(n), Click(1 + n % CHOICES), listing(n), won, f"e{n}")
        for n, won in enumerate(luck)
        for _ in range(5)
    ]
    assert 0.2 < ask(remembered(*told), 31, 0) < 0.8


def test_demonstrations_do_not_count_as_what_the_agent_achieves() -> None:
    """Of its own episodes every third succeeds; those that were shown all do."""
    own = [chose(n, 0, n % 3 == 0) for n in range(60)]
    shown = [replace(chose(100 + n, 0, True), shown=True) for n in range(60)]
    chances = [ask(remembered(*own, *shown), number, 0) for number in (70, 75, 80)]
    assert all(chance < 0.5 for chance in chances)
    as_own = [replace(each, shown=False) for each in shown]
    assert ask(remembered(*own, *as_own), 70, 0) > 0.5


def test_goals_in_other_words_count_as_far_as_they_share_them() -> None:
    rates = GoalRates()
    for number in range(8):
        rates.add(read_goal(f'Find the price of the "Mug {number}".'), f"a{number}", True)
        rates.add(read_goal(f'Delete the user called "ada{number}".'), f"b{number}", False)
    assert rates.rate(read_goal('Tell me the price of the "Pan".')) > 0.8
    assert rates.rate(read_goal('The user called "eve" is to be deleted.')) < 0.2


def test_goals_without_words_are_compared_as_well() -> None:
    rates = GoalRates()
    for number, goal in enumerate(("", "?!", '"10056"')):
        rates.add(read_goal(goal), f"e{number}", True)
    assert all(rates.rate(read_goal(goal)) > 0.5 for goal in ("", '"10057"'))


def test_an_answer_is_not_likelier_for_having_been_right_elsewhere() -> None:
    def asked(number: int, text: str, succeeded: bool) -> Transition:
        seen = replace(listing(number), goal=f'Who wrote "{WORDS[number]}"?')
        return Transition((), seen, Answer(text), seen, succeeded, f"{number}{text}")

    memory = remembered(
        *(asked(n, "ada", True) for n in range(6)), *(asked(n, "bob", False) for n in range(6))
    )
    told = [asked(15, text, True) for text in ("ada", "bob", "eve")]
    assert len({memory.chance(Occasion(each.situation)) for each in told}) == 1


def test_nothing_is_promised_where_nothing_is_remembered() -> None:
    assert ask(SuccessMemory(), 1, 0) == 0.5
