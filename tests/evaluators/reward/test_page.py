"""The account: all that decides stands on one page, and what the agent thinks does not."""

from dataclasses import replace

from evaluators.reward.builtin import build_page
from tests.fakes.lessons import episode, node, page
from webagent.action.actions import Answer, Click, Fill
from webagent.models.builtin.layout import lay_out_prompt
from webagent.records import Ending

FORM = page("Send it to Ann.", node(1, "textbox", "To"), node(2, "button", ""))
FILLED = page("Send it to Ann.", node(1, "textbox", "To", value="Ann"), node(2, "button", ""))
AFTER = page("Send it to Ann.", node(9, "text", "Sent to Ann"))
OVER = replace(page("Send it to Ann."), over=True)


def told(*lines: object) -> set[tuple[str, str, str, str]]:
    """Role, kind, name and value of the lines that the account adds."""
    return {(n.role, n.kind, n.name, n.value) for n in lines if n.mark < 0}  # type: ignore[attr-defined]


def test_where_the_page_is_gone_the_one_acted_on_decides_below_what_was_done_before() -> None:
    read = build_page(episode((FORM, Fill(1, "Ann")), (FILLED, Click(2)), last=OVER))
    assert told(*read.page.nodes) == {
        ("ending", "task over", "", ""),
        ("page", "acted", "", ""),
        ("deed", "fill", "To", "Ann"),
    }
    assert read.page.nodes[-2:] == FILLED.nodes
    assert (len(read.before), read.action) == (1, Click(2))


def test_where_there_is_a_page_afterwards_it_decides_and_the_last_action_is_told_too() -> None:
    ended = replace(episode((FILLED, Click(2)), last=AFTER), ending=Ending.STEP_LIMIT)
    read = build_page(ended)
    assert told(*read.page.nodes) == {
        ("ending", "step limit", "", ""),
        ("page", "last", "", ""),
        ("deed", "click", "To", ""),
    }
    assert read.page.nodes[-1].name == "Sent to Ann"


def test_an_answer_is_read_and_a_thought_is_not() -> None:
    said = episode((FORM, Answer("Ann lives here")), last=FORM)
    said = replace(said, ending=Ending.ANSWERED)
    thinking = replace(said.steps[0].decision, thought="I am certain that all is done")
    loud = replace(said, steps=(replace(said.steps[0], decision=thinking),))
    assert ("answer", "text", "Ann lives here", "") in told(*build_page(said).page.nodes)
    assert build_page(loud) == build_page(said)


def test_an_episode_under_way_is_read_as_one_that_ended_here() -> None:
    whole = episode((FORM, Fill(1, "Ann")), (FILLED, Click(2)))
    assert build_page(replace(whole, ending=None)) == build_page(whole)


def test_lines_of_the_account_are_taken_for_no_element_of_the_page() -> None:
    read = build_page(episode((FORM, Fill(1, "Ann")), (FILLED, Click(2)), last=OVER))
    written = lay_out_prompt("judge", read.page, read.before, read.action)
    heads = [line.kind for line in written.lines]
    assert heads[:3] == ["ending/task over", "page/acted", "deed/fill"]
    assert len({line.node.mark for line in written.lines}) == len(written.lines)
