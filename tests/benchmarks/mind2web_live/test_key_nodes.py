"""Key nodes: reached in any order, by address, element or value, with the share of them."""

import pytest

from benchmarks.mind2web_live.rules import key_nodes_reached, site_name
from benchmarks.rules import CONSULTING_RULES, RULES, Means, RuleQuestion, checks_hold
from tasks.task import Task, TaskCheck
from webagent.errors import ModelError
from webagent.models.canned import CannedModel
from webagent.records import Ending, Observation, Trajectory

OUTLINE = (
    '<html><body><div id="a"></div><div id="b"><button data-acted><span></span></button></div>'
)


def note(**fields):
    """An element as a world notes it."""
    url = "https://www.shop.com/x"
    return {"url": url, "selector": "button", "value": "", "text": "", "outline": OUTLINE, **fields}


def share(rule, found, **expected):
    return RULES[rule](found, expected).value


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        ({"reference": "shop.com/search"}, 1.0),
        ({"reference": "https://"}, 0.0),
        ({"reference": "#top"}, 1.0),
        ({"reference": "red shoes", "key": "q"}, 1.0),
        ({"reference": "red", "key": "q"}, 1.0),
        ({"reference": "red", "key": "q", "exact": True}, 0.0),
        ({"reference": "red shoes", "key": "q", "exact": True}, 1.0),
        ({"reference": "red", "key": "size"}, 0.0),
        ({"reference": "https://www.shop.com/", "exact": True}, 1.0),
        ({"reference": "q=red"}, 0.0),
    ],
)
def test_addresses_are_compared_as_the_published_evaluator_compares_them(expected, value):
    urls = ["https://www.shop.com/", "https://www.shop.com/search?q=red%20shoes&q=no#top"]

    assert share("key_node_url", urls, **expected) == value


@pytest.mark.parametrize(
    ("selector", "value"),
    [
        ("#b > button ", 1.0),
        ("#b span", 1.0),
        ("#b", 0.0),
        ("#a", 0.0),
        ("#c", 0.0),
        ("#b >", 0.0),
        ("html > body > div:nth-child(2) > button", 1.0),
    ],
)
def test_an_element_is_the_one_the_selector_finds_or_lies_closely_around_it(selector, value):
    found = [note(url="https://m.shop.com/"), note()]

    assert share("key_node_element", found, selector=selector, netloc="shop") == value


def test_elements_on_other_sites_do_not_count():
    assert share("key_node_element", [note()], selector="button", netloc="mall") == 0.0


def test_without_an_outline_only_the_same_selector_tells():
    found = [note(outline=None)]

    assert share("key_node_element", found, selector="button", netloc="shop") == 1.0
    assert share("key_node_element", found, selector="#b", netloc="shop") is None


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        ({"reference": "Johm"}, 1.0),
        ({"reference": "Joh"}, 0.0),
        ({"reference": "Joh", "included": True}, 1.0),
        ({"reference": "Johm", "selector": "#b > button"}, 1.0),
        ({"reference": "Johm", "selector": "#a"}, 0.0),
        ({"reference": "Johm", "netloc": "mall"}, 0.0),
    ],
)
def test_a_value_is_compared_in_its_element(expected, value):
    expected = {"netloc": "shop", **expected}

    assert share("key_node_value", [note(value="Johm")], **expected) == value


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://www.google.com.hk/x", "google"),
        ("https://zhihu.com", "zhihu"),
        ("https://store.steam.com", "store"),
        ("about:blank", ""),
        ("http://localhost:80", ""),
    ],
)
def test_a_site_has_its_published_name(url, name):
    assert site_name(url) == name


def means(model, found, rule="key_node_url_means", **expected):
    question = RuleQuestion(
        found, {"reference": "Decide whether it is a coat", **expected}, "", model
    )
    return CONSULTING_RULES[rule](question)


async def test_a_model_judges_meaning_once_for_each_text_until_one_is_right():
    model = CannedModel(["0.5", "1.0\nyes"])
    urls = ["http://a.b/?q=hat", "http://a.b/?q=hat", "http://a.b/", "http://a.b/?q=coat%20x"]
    verdict = await means(Means(model), [*urls, "http://a.b/?q=more"], key="q")

    assert verdict.value == 1.0
    assert ["hat" in one.messages[1].text for one in model.requests] == [True, False]


async def test_a_partial_meaning_does_not_reach_a_node():
    assert (await means(Means(CannedModel(["0.85"])), ["http://a.b"])).value == 0.0


async def test_meaning_without_a_model_or_with_one_that_fails_cannot_be_told():
    assert (await means(Means(), ["http://a.b"])).value is None
    assert (await means(Means(CannedModel([ModelError("x")])), ["http://a.b"])).value is None


async def test_meaning_of_a_value_is_asked_of_the_right_element_alone():
    model = CannedModel(["1"])
    rule, expected = "key_node_value_means", {"selector": "#b > button", "netloc": "shop"}

    assert (await means(Means(model), [note(value="x")], rule, **expected)).value == 1.0
    expected["selector"] = "#a"
    assert (await means(Means(model), [note(value="x")], rule, **expected)).value == 0.0
    assert len(model.requests) == 1


def episode(**evidence):
    """An episode that saw one page, with four key nodes, two of them reached."""
    checks = (
        TaskCheck("episode.urls", "key_node_url", {"reference": "shop.com"}),
        TaskCheck("episode.urls", "key_node_url", {"reference": "/cart"}),
        TaskCheck("elements", "key_node_element", {"selector": "button", "netloc": "shop"}),
        TaskCheck(
            "episode.urls", "key_node_url_means", {"reference": "Decide whether it is a shop"}
        ),
    )
    task = Task("m/1@1", "about:blank", checks=checks)
    page = Observation("", "https://www.shop.com/", "Shop", ())
    return Trajectory("e", task, ending=Ending.ANSWERED, evidence=evidence, last=page)


async def test_the_share_counts_partial_meaning_and_success_needs_all():
    finished = episode(elements=[note()])
    nodes = await key_nodes_reached(Means(CannedModel(["0.6"])))(finished)
    success = await checks_hold(means=Means(CannedModel(["1"])))(finished)

    assert (nodes.name, nodes.value) == ("key_nodes", pytest.approx(2.6 / 4))
    assert success.value == 0.0


async def test_the_share_is_not_told_where_a_node_cannot_be():
    assert (await key_nodes_reached()(episode(elements=[note()]))).value is None
    assert (await key_nodes_reached()(episode())).value is None
    no_nodes = Trajectory("e", Task("m/1@1", ""), ending=Ending.ANSWERED)
    assert (await key_nodes_reached()(no_nodes)).value is None


@pytest.mark.parametrize("rule", ["key_node_url", "key_node_element", "key_node_value"])
@pytest.mark.parametrize("found", ["text", None, [3]])
def test_evidence_of_another_form_cannot_be_compared(rule, found):
    if rule == "key_node_url" and isinstance(found, list):
        found = {}
    with pytest.raises(TypeError):
        RULES[rule](found, {"reference": "x", "selector": "x", "netloc": "x"})
    with pytest.raises(TypeError):
        RULES[rule]([], {"key": "q"})
