"""Two addresses of one site: every mention is translated, and what only looks like one is not."""

from dataclasses import replace

import pytest

from benchmarks.sites.hosting import Translation
from tasks.task import Probe, Task
from webagent.action.actions import Fill, Goto
from webagent.records import Node, Observation

BOTH = Translation("http://shop.test", "http://127.0.0.1:8123")


@pytest.mark.parametrize(
    ("server", "own"),
    [
        ("http://127.0.0.1:8123/a?b=c#d", "http://shop.test/a?b=c#d"),
        ("http://localhost:8123", "http://shop.test"),
        ("127.0.0.1:8123", "shop.test"),
        ("//localhost:8123/x.png", "//shop.test/x.png"),
        ("/login?next=http%3A%2F%2F127.0.0.1%3A8123%2F", "/login?next=http%3A%2F%2Fshop.test%2F"),
        ("next=http%3a%2f%2flocalhost%3a8123", "next=http%3a%2f%2fshop.test"),
        ("a=http%253A%252F%252F127.0.0.1%253A8123", "a=http%253A%252F%252Fshop.test"),
        ('{"to":"http:\\/\\/127.0.0.1:8123\\/x"}', '{"to":"http:\\/\\/shop.test\\/x"}'),
        ("See http://127.0.0.1:8123. Or not.", "See http://shop.test. Or not."),
        ("view-source:http://127.0.0.1:8123/", "view-source:http://shop.test/"),
        ("http://ann:pw@127.0.0.1:8123/", "http://ann:pw@shop.test/"),
        *((like, like) for like in ("127.0.0.1:81234", "127.0.0.1:812", "127.0.0.1", "8123")),
        *((like, like) for like in ("x127.0.0.1:8123", "1.127.0.0.1:8123")),
    ],
)
def test_outward_every_mention_of_the_server_and_nothing_like_it_is_the_sites_own(server, own):
    assert BOTH.outward(server) == own


@pytest.mark.parametrize(
    ("own", "server"),
    [
        ("http://shop.test", "http://127.0.0.1:8123"),
        ("HTTP://Shop.Test/a", "http://127.0.0.1:8123/a"),
        ("/?next=http%3A%2F%2Fshop.test%2F", "/?next=http%3A%2F%2F127.0.0.1%3A8123%2F"),
        ("ann@shop.test", "ann@shop.test"),
        ("http://shop.test.evil/", "http://shop.test.evil/"),
        ("http://my-shop.test/", "http://my-shop.test/"),
        ("http://shop.test:81/", "http://shop.test:81/"),
        ("shop.test", "shop.test"),
    ],
)
def test_inward_only_whole_addresses_are_translated(own, server):
    assert BOTH.inward(own) == server


def test_whatever_holds_texts_is_translated_and_nothing_else_is_touched():
    task = Task(
        id="shop/buy@1",
        start_url="http://shop.test/",
        further_urls=("http://shop.test/cart",),
        evidence={"at": "location.href === 'http://shop.test/'"},
        probes=(Probe("cart", url="http://shop.test/cart"),),
    )
    inner = BOTH.inward(task)
    assert inner.start_url == "http://127.0.0.1:8123/"
    assert inner.further_urls == ("http://127.0.0.1:8123/cart",)
    assert inner.probes[0].url == "http://127.0.0.1:8123/cart"
    assert BOTH.outward(inner) == task

    page = Observation("", "http://127.0.0.1:8123/", "Shop", (Node(1, "link", "localhost:8123"),))
    seen = BOTH.outward(page)
    assert seen == replace(page, url="http://shop.test/", nodes=(Node(1, "link", "shop.test"),))
    assert BOTH.inward(Goto("http://shop.test/x")) == Goto("http://127.0.0.1:8123/x")
    fill = Fill(3, "ann@shop.test")
    assert BOTH.inward(fill) is fill
    evidence = {"rows": [["http://127.0.0.1:8123/", 3, None, True]]}
    assert BOTH.outward(evidence) == {"rows": [["http://shop.test/", 3, None, True]]}


def test_another_scheme_and_a_port_of_its_own_are_kept_apart():
    other = Translation("https://shop.test:444", "http://127.0.0.1:8123")

    assert other.outward("http://127.0.0.1:8123/") == "https://shop.test:444/"
    assert other.outward("http%3A%2F%2F127.0.0.1%3A8123") == "https%3A%2F%2Fshop.test%3A444"
    assert other.inward("https://shop.test:444/") == "http://127.0.0.1:8123/"


def test_the_same_address_on_both_sides_is_not_touched_and_may_have_a_path():
    same = Translation("http://host:7780/admin", "http://host:7780/admin/")

    assert same.inward("http://host:7780/admin/x") == "http://host:7780/admin/x"
    with pytest.raises(ValueError, match="scheme and host"):
        Translation("http://shop.test/admin", "http://127.0.0.1:8123")
