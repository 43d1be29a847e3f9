"""A language model as a world: shown the like, read strictly, unknown where it writes nonsense."""

from dataclasses import replace

import pytest

from tests.worldmodel.test_recall import KNOWN, LISTING, came, product, taught
from webagent.action.actions import Answer, Click, Fill
from webagent.errors import ModelError, PromptTooLongError
from webagent.models.canned import CannedModel
from webagent.models.model import Reply
from webagent.models.prompt import estimate_tokens
from webagent.models.replies import UnusableError
from webagent.records import Decision, Node, Step
from webagent.training.language.texts import page_changes
from worldmodel.layers import LayeredWorld
from worldmodel.lines import is_unknown, read_range
from worldmodel.prediction import Effect, Source, expect
from worldmodel.prompted import PromptedWorld, read_page
from worldmodel.transitions import Situation

PEN = product("Pen", "£1.00", 10)
ASKED = Situation(LISTING, (), Click(6))


async def test_the_changes_that_a_model_writes_are_the_next_page() -> None:
    model = CannedModel([page_changes(LISTING, PEN)])
    [told] = await PromptedWorld(model, taught(*KNOWN)).expect([ASKED])
    assert (told.page.url, told.page.title) == (PEN.url, PEN.title)
    assert [n.name for n in told.page.nodes] == [n.name for n in PEN.nodes]
    assert (told.effect, told.source) == (Effect.GOES, Source.MODELLED)
    shown = model.requests[0].messages[-1].text
    assert "Pan - Shop" in shown and shown.index("Pan - Shop") < shown.rindex("click(6)")
    assert 'click(5) on link "Pan"' in shown and 'click(6) on link "Pen"' in shown


async def test_what_the_model_leaves_open_is_marked_as_unknown() -> None:
    page = replace(PEN, nodes=(*PEN.nodes[:-2], replace(PEN.nodes[-2], name="£…"), PEN.nodes[-1]))
    [told] = await PromptedWorld(CannedModel([page_changes(LISTING, page)])).expect([ASKED])
    assert [is_unknown(node) for node in told.page.nodes].count(True) == 1


async def test_nonsense_is_asked_for_again_and_then_unknown() -> None:
    model = CannedModel(["I cannot say.", "Still no idea."])
    [told] = await PromptedWorld(model).expect([ASKED])
    assert (told.source, told.confidence, told.page.nodes) == (Source.UNKNOWN, 0.0, LISTING.nodes)
    assert len(model.requests) == 2 and "cannot be used" in model.requests[1].messages[-1].text


FULL = PromptTooLongError("too many tokens")


async def test_fewer_examples_are_shown_where_they_do_not_fit() -> None:
    model = CannedModel([FULL, page_changes(LISTING, PEN)])
    [told] = await PromptedWorld(model, taught(*KNOWN)).expect([ASKED])
    assert (told.source, told.page.url) == (Source.MODELLED, PEN.url)
    shown = [request.messages[-1].text.count("What changed:") for request in model.requests]
    assert shown == [2, 1] and "shown 1 similar" in told.because


async def test_a_page_that_does_not_fit_leads_to_what_is_unknown() -> None:
    model = CannedModel([FULL, FULL, FULL, FULL])
    [told] = await PromptedWorld(model, taught(*KNOWN)).expect([ASKED])
    assert (told.source, told.confidence) == (Source.UNKNOWN, 0.0)
    assert "does not fit canned" in told.because and "too many tokens" in told.because


async def test_the_goal_and_the_steps_so_far_are_shown_and_left_out_last() -> None:
    goal = "Buy a pen. " * 100
    page = replace(LISTING, goal=goal, url=LISTING.url + "?q=" + "x" * 500)
    step = Step(replace(page, title="Home of the shop"), Decision(Fill(2, "pen " * 200)))
    asked = Situation(page, (step,) * 9, Click(6))
    model = CannedModel([FULL, FULL, FULL, "no change"])
    await PromptedWorld(model, taught(*KNOWN)).expect([asked])
    told = [request.messages[-1].text for request in model.requests]
    assert ["Buy a pen." in text for text in told] == [True, True, True, False]
    assert told[2].count("Home of the shop (http://shop.test/catalogue/?q=x") == 6
    assert "(3 earlier ones)" in told[2] and told[2].count('fill(2, "pen pen') == 6
    assert estimate_tokens(told[2]) - estimate_tokens(told[3]) < 600
    trained = CannedModel(["no change"])
    await PromptedWorld(trained, examples=0).expect([asked])
    assert "Buy a pen." not in trained.requests[0].messages[-1].text, "it did not learn with it"


async def test_a_question_that_was_asked_is_not_paid_again() -> None:
    model = CannedModel([page_changes(LISTING, PEN), "no change"])
    world = PromptedWorld(model).asked_once()
    first, second = await world.expect([ASKED, ASKED])
    [again] = await world.expect([ASKED])
    assert first == second == again and len(model.requests) == 1
    await world.expect([Situation(LISTING, (), Click(5))])
    assert len(model.requests) == 2
    full = CannedModel([FULL, FULL, "no change"])
    too_long = PromptedWorld(full).asked_once()
    for _ in range(2):
        assert (await too_long.expect([ASKED]))[0].source is Source.UNKNOWN
    assert len(full.requests) == 2


async def test_what_is_asked_again_and_does_not_fit_is_unknown() -> None:
    [told] = await PromptedWorld(CannedModel(["nonsense", FULL])).expect([ASKED])
    assert told.source is Source.UNKNOWN


async def test_a_reply_may_be_as_long_as_such_pages_are() -> None:
    long = replace(PEN, nodes=tuple(replace(n, name=n.name + " word" * 500) for n in PEN.nodes))
    memory = taught(came(LISTING, Click(5), long, "c"))
    model = CannedModel(["no change", "no change"])
    await PromptedWorld(model).expect([ASKED])
    await PromptedWorld(model, memory).expect([ASKED])
    short, roomy = (request.max_tokens for request in model.requests)
    assert short == 1024
    assert roomy > len(page_changes(LISTING, long)) / 3.5


async def test_an_end_that_a_model_writes_is_one() -> None:
    [told] = await PromptedWorld(CannedModel(["the task is over"])).expect([ASKED])
    assert told.page.over and told.effect is Effect.ENDS
    assert told.outcome.ends == 1.0


async def test_one_reply_is_as_sure_as_its_tokens_were_likely() -> None:
    model = CannedModel([Reply("no change", log_probs=(-0.1, -0.3))])
    [told] = await PromptedWorld(model).expect([ASKED])
    assert told.confidence == pytest.approx(2.718281828**-0.2)


async def test_what_is_ruled_and_what_memory_is_sure_of_is_not_asked_about() -> None:
    memory = taught(*KNOWN, came(LISTING, Click(5), KNOWN[1].after, "c"))
    model = CannedModel([])
    world = LayeredWorld(memory, PromptedWorld(model, memory))
    ends, recalled = await expect(
        world, [Situation(LISTING, (), Answer("3")), Situation(LISTING, (), Click(5))]
    )
    assert ends.effect is Effect.ENDS and recalled.source is Source.REMEMBERED
    assert not model.requests


async def test_a_server_that_fails_is_an_error_and_no_prediction() -> None:
    with pytest.raises(ModelError):
        await PromptedWorld(CannedModel([])).expect([ASKED])


def test_a_reply_with_an_address_that_cannot_be_parsed_is_unusable():
    with pytest.raises(UnusableError, match="is not an address"):
        read_page("@2 -1\n+http://[shop.test/", LISTING)


def test_a_page_is_read_back_as_it_was_shown() -> None:
    box = Node(9, "textbox", "Notes", "two\nlines", kind="textarea")
    page = replace(PEN, nodes=(*PEN.nodes, box), scroll=(120, 900))
    memory = taught(came(LISTING, Click(5), page, "c"))
    read = read_page(page_changes(LISTING, page), LISTING, memory.cases)
    assert [(n.name, n.value, n.kind) for n in read.nodes] == [
        (n.name, n.value, n.kind) for n in page.nodes
    ]


def test_a_new_line_has_the_kind_of_such_lines_on_the_pages_that_similar_steps_led_to() -> None:
    heading = Node(0, "text", "Order 12", kind="h1")
    cells = tuple(Node(0, "text", f"cell {name}", kind="td") for name in "abc")
    similar = taught(came(LISTING, Click(5), replace(PEN, nodes=(heading, *cells)), "c")).cases
    read = read_page(
        "@4 -1\n+Order 77\n+something else\n+... 5 more lines left out", LISTING, similar
    )
    assert [node.kind for node in read.nodes[:2]] == ["h1", "td"]
    assert is_unknown(read.nodes[2]) and read_range(read.nodes[2])[:2] == (5, 5)


async def test_where_memory_guesses_the_model_is_asked() -> None:
    page = replace(LISTING, nodes=(*LISTING.nodes, Node(8, "link", "Imprint")))
    memory = taught(*KNOWN)
    [guess] = memory.predict([Situation(page, (), Click(8))])
    assert guess.source is Source.UNKNOWN
    world = LayeredWorld(memory, PromptedWorld(CannedModel([page_changes(page, PEN)]), memory))
    [told] = await expect(world, [Situation(page, (), Click(8))])
    assert told.source is Source.MODELLED and told.page.url == PEN.url
