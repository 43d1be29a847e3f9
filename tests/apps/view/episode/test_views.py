"""What an episode's page is made of: pictures, strips, pairs and verdicts, as values."""

import xml.etree.ElementTree as ElementTree
from dataclasses import replace

from apps.view.episode.film import film_of, first_difference, pair_steps
from apps.view.episode.picture import draw_page, picture_of
from apps.view.episode.scene import read_page_text
from apps.view.episode.verdicts import ReasonPart, findings, pieces_of
from loop.costs import RunPrices
from tests.fakes.lessons import episode, node, page
from webagent.action.actions import Click, Fill, MouseDrag
from webagent.models.spending import Price, Prices
from webagent.records import Node, Score

FORM = page("Say hi", node(1, "textbox", "Name"), node(2, "button", "Send"), node(0, "text", "Hi"))


def test_a_picture_has_the_elements_in_view_and_knows_which_was_acted_on() -> None:
    picture = picture_of(replace(FORM, viewport=(100, 35)), Click(1), has_image=False)
    assert picture.kind == "drawn"
    assert [shape.mark for shape in picture.marked] == [1]
    assert [shape.label for shape in picture.targets] == ['[1] textbox "Name"']


def test_options_of_a_closed_list_are_not_drawn_on_top_of_each_other() -> None:
    box = (0, 0, 50, 18)
    nodes = [Node(1, "combobox", "Who", "Ann", box=box)]
    nodes += [Node(n, "option", f"Name {n}", box=box) for n in (2, 3)]
    assert len(picture_of(page("Pick", *nodes), None, has_image=False).shapes) == 1


def test_a_drag_has_both_its_ends_on_the_picture() -> None:
    assert picture_of(FORM, MouseDrag(3, 4, 30, 40), has_image=True).points == ((3, 4), (30, 40))


def test_a_drawing_is_xml_whatever_the_page_says() -> None:
    wild = page("x", *[node(n, "button", "<&>\x00\ud800 “”") for n in range(1, 4)])
    text = draw_page(picture_of(wild, None, has_image=False))
    root = ElementTree.fromstring(text.encode("utf-8"))
    assert sum(one.tag.endswith("text") for one in root.iter()) == 3


def test_an_element_that_is_gone_is_said_to_be_and_money_is_summed() -> None:
    whole = episode((FORM, Click(9)), (FORM, Click(2)))
    usage = {"input_tokens": 1000, "output_tokens": 500}
    steps = [
        replace(step, decision=replace(step.decision, weights="m", usage=usage))
        for step in whole.steps
    ]
    prices = Prices({"m": Price(input=1.0, output=2.0, currency="EUR")})
    film = film_of(replace(whole, steps=tuple(steps)), lambda _: False, RunPrices(prices, ""))
    assert film.frames[0].target == "[9], which is not on the page"
    assert film.frames[1].target == "button “Send”"
    assert (film.tokens, film.money) == ((2000, 1000), "0.004 EUR")


def test_equal_deeds_stand_beside_each_other_whatever_their_marks() -> None:
    moved = replace(FORM, nodes=tuple(replace(n, mark=n.mark and n.mark + 7) for n in FORM.nodes))
    left = episode((FORM, Fill(1, "a")), (FORM, Click(1)), (FORM, Click(2)))
    pairs = pair_steps(left, episode((moved, Fill(8, "a")), (moved, Click(9))))
    assert [(p.left, p.right, p.likeness) for p in pairs] == [
        (0, 0, "the same"),
        (1, None, "only here"),
        (2, 1, "the same"),
    ]
    assert first_difference(pairs) == 1
    assert first_difference(pair_steps(left, left)) is None


def test_a_reason_leads_to_the_pages_that_it_names() -> None:
    pieces = pieces_of(
        """judged: met: sent (page 2: 'it\\'s "done"'); seen on screenshot 3, page"""
    )
    assert pieces[1] == ReasonPart("""page 2: 'it\\'s "done"'""", 2, '''it's "done"''')
    assert pieces[3] == ReasonPart("screenshot 3", 3)
    assert "".join(piece.text for piece in pieces).endswith("screenshot 3, page")


def test_who_departs_from_the_checks_is_told_and_people_count_where_there_are_none() -> None:
    whole = episode((FORM, Click(2)), last=replace(FORM, over=True))
    truth = Score("success", 0.0, "no", "checks_hold@2")
    other = Score("success", 0.9, "yes", "judge@1")
    found = findings(whole, (truth, other), (), (), None)
    assert [one.departs for one in found.verdicts] == [False, True]
    assert found.truth == 0.0
    assert findings(whole, (other,), (), (), None).truth is None


def test_a_quote_is_found_in_the_lines_that_have_a_part_of_it() -> None:
    read = read_page_text(FORM, None, (2,), quote="button “Send” Hi there")
    assert [line.is_target for line in read.shown] == [False, True, False]
    assert [line.is_quoted for line in read.shown] == [False, True, False]


def test_a_step_of_unknown_length_of_text_is_cut_and_counted() -> None:
    read = read_page_text(page("x", *[node(0, "text", "y" * 5000) for _ in range(1200)]), None, ())
    assert (len(read.shown), len(read.folded), read.left_out, read.cut) == (40, 960, 200, 1000)
    assert len(read.shown[0].text) < 1100
