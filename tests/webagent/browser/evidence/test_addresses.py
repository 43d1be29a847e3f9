"""Addresses of probes: what is filled in, and whose server counts as the task's own."""

import pytest

from tasks.task import Probe
from webagent.browser.evidence.probe_page import Uncaptured
from webagent.browser.evidence.probes import fill_address, list_own_addresses

FOUND = {"link": "http://shop/a b", "word": "a/b c", "count": 3, "yes": True, "empty": ""}
NAMES = (*FOUND, "later")


@pytest.mark.parametrize(
    ("template", "address"),
    [
        ("http://shop/", "http://shop/"),
        ("{link}", "http://shop/a b"),
        ("{link}?n={count}", "http://shop/a b?n=3"),
        ("http://shop/{word}?q={word}", "http://shop/a%2Fb%20c?q=a%2Fb%20c"),
        ("{last_url}#x", "http://last/?y=1#x"),
        ("http://shop/?from={last_url}", "http://shop/?from=http%3A%2F%2Flast%2F%3Fy%3D1"),
        ("http://shop/{unknown}", "http://shop/{unknown}"),
    ],
)
def test_values_fill_an_address(template: str, address: str) -> None:
    assert fill_address(Probe("it", url=template), "http://last/?y=1", FOUND, NAMES) == address


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("{later}", "it needs the value of probe later, which was not captured"),
        ("{yes}", "it needs a text from probe yes, which found 'True'"),
        ("{empty}", "it needs a text from probe empty, which found ''"),
        ("/orders", "'/orders' is not the address of a page; expected http, https or file"),
        ("http://[", "'http://[' is not the address of a page; expected http, https or file"),
        ("{word}", "'a/b c' is not the address of a page; expected http, https or file"),
    ],
)
def test_an_address_that_cannot_be_filled_says_why(template: str, reason: str) -> None:
    with pytest.raises(Uncaptured) as raised:
        fill_address(Probe("it", url=template), "", FOUND, NAMES)
    assert str(raised.value) == reason


def test_a_page_does_not_choose_a_file() -> None:
    found = {"link": "file:///etc/passwd"}
    with pytest.raises(Uncaptured, match="a page must not choose which file is opened"):
        fill_address(Probe("it", url="{link}"), "", found, ("link",))
    probe = Probe("it", url="file:///tmp/{link}")
    assert fill_address(probe, "", found, ("link",)).startswith("file:///tmp/file%3A%2F%2F")


def test_only_servers_that_are_written_out_are_the_tasks_own() -> None:
    urls = ("http://a/x", "http://b/{link}", "http://c{link}", "{link}/d", "http://{link}/", "")
    probes = [Probe(f"p{place}", url=url) for place, url in enumerate(urls)]
    assert list_own_addresses(probes) == ["http://a/x", "http://b/"]
