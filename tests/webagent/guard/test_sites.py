"""A pattern names the sites it says, and no others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.webagent.guard.test_address import HOST, LABEL
from webagent.guard.address import parse_site, parse_url, site_at


@given(HOST, LABEL)
def test_a_wildcard_stands_for_whole_labels_below(host: str, label: str) -> None:
    below = parse_site(f"*.{host}x")
    assert below.covers(parse_url(f"https://{label}.{host}x/"))
    assert below.covers(parse_url(f"https://{label}.{label}.{host}x/"))
    assert not below.covers(parse_url(f"https://{host}x/"))
    assert not below.covers(parse_url(f"https://{label}{host}x/"))
    assert not below.covers(parse_url(f"https://{label}.{host}x.invalid/"))


@given(HOST, st.integers(1, 65535))
def test_without_a_port_only_the_default_one_is_meant(host: str, port: int) -> None:
    site = parse_site(f"{host}x")
    assert site.covers(parse_url(f"http://{host}x:{port}/")) == (port == 80)
    assert site.covers(parse_url(f"https://{host}x:{port}/")) == (port == 443)
    assert parse_site(f"{host}x:*").covers(parse_url(f"https://{host}x:{port}/"))


@given(HOST)
def test_an_origin_covers_itself_in_any_spelling(host: str) -> None:
    address = parse_url(f"https://{host}x/a")
    assert site_at(address).covers(parse_url(f"HTTPS://{host.upper()}X.:443/b?c"))
    assert not site_at(address).covers(parse_url(f"http://{host}x/a"))
    assert site_at(address).covers(parse_url(f"wss://{host}x/a"))


@pytest.mark.parametrize("path", ["/shop", "/shop/", "/shop/a", "/shop?x=/admin", "/shop/./a"])
def test_a_path_covers_what_lies_below_it(path: str) -> None:
    assert parse_site("a.example/shop").covers(parse_url(f"https://a.example{path}"))


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/shopping", "/Shop", "/shop/../admin", "/shop/%2e%2e/admin", "/shop/..%2fadmin"),
        *("/shop/%252e%252e/admin", "/shop/..\\admin", "/x/../shop"),
    ],
)
def test_a_path_that_can_be_read_as_another_is_not_covered(path: str) -> None:
    assert not parse_site("a.example/shop").covers(parse_url(f"https://a.example{path}"))


@pytest.mark.parametrize(
    "path",
    [
        *("/admin", "/ADMIN/../admin/x", "//admin", "/x/%2e%2e/admin", "/%61dmin", "/admin;x/a"),
        *("/admin;a=b", "/ADMIN/x", "/admin%20", "/admin%20/x", "/admin%00.html", "/admin./x"),
        *("/x/../admin;a/y", "/admin%2500", "/Admin%3Ba=b/x"),
    ],
)
def test_a_path_that_can_be_read_as_a_closed_one_touches_it(path: str) -> None:
    assert parse_site("a.example/admin").touches(parse_url(f"https://a.example{path}"))
    assert not parse_site("a.example/administer").touches(parse_url(f"https://a.example{path}"))


@pytest.mark.parametrize(
    "text",
    [
        *("", "a b", "http://", "ftp://a.example", "a.*.example", "*a.example", "a.example:99999"),
        *("a.example/x?y", "user@a.example", "http://a.example#x", "1.2.3.4.5"),
    ],
)
def test_what_names_no_site_is_said_to(text: str) -> None:
    with pytest.raises(ValueError):
        parse_site(text)
