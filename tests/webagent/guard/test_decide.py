"""What may leave a browser, and what stays."""

from dataclasses import replace
from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.webagent.guard.test_address import HOST, IPV4, spellings
from webagent.guard import DownloadLimits, GuardPolicy, SiteRule, parse_site
from webagent.guard.address import IpAddress, kind_of
from webagent.guard.decide import decide_download, decide_ip, decide_request, decide_server

SHOP = SiteRule(parse_site("https://shop.example"), methods=("GET", "POST"))
ADMIN = SiteRule(parse_site("https://shop.example/admin"), "deny")
LIVE = SiteRule(parse_site("https://live.example"), web_sockets=True)
POLICY = GuardPolicy(sites=(SHOP, ADMIN, LIVE))
OPEN = GuardPolicy(other_sites="allow", sites=(ADMIN,))


@pytest.mark.parametrize(
    ("url", "method", "allowed"),
    [
        ("https://shop.example/", "GET", True),
        ("https://SHOP.example.:443/x", "POST", True),
        ("https://shop.example/", "DELETE", False),
        ("https://shop.example:8443/", "GET", False),
        ("http://shop.example/", "GET", False),
        ("https://shop.example/admin/x", "GET", False),
        ("https://shop.example/a/../admin", "GET", False),
        ("https://shop.example@evil.example/", "GET", False),
        ("https://shop.example.evil.example/", "GET", False),
        ("https://evil.example/?https://shop.example/", "GET", False),
        ("wss://shop.example/", "GET", False),
        ("wss://live.example/", "GET", True),
        ("about:blank", "GET", True),
        ("about:srcdoc", "GET", True),
        ("about:version", "GET", False),
        ("data:text/html,x", "GET", True),
        ("blob:https://shop.example/1-2", "GET", True),
        ("javascript:alert(1)", "GET", False),
        ("chrome://settings", "GET", False),
        ("view-source:https://shop.example/", "GET", False),
        ("filesystem:https://shop.example/x", "GET", False),
        ("file:///etc/passwd", "GET", False),
        ("not an address", "GET", False),
    ],
)
def test_a_request_is_judged_by_site_port_method_and_scheme(url, method, allowed):
    verdict = decide_request(POLICY, url, method)
    assert verdict.is_allowed == allowed
    assert bool(verdict.reason) != allowed


@given(HOST)
def test_no_host_is_open_that_no_rule_names(host: str) -> None:
    named = host in ("shop.example", "live.example")
    assert decide_request(POLICY, f"https://{host}/").is_allowed == named
    assert decide_server(POLICY, host, 443).is_allowed == named


@given(IPV4, st.integers(0, 11))
def test_an_address_in_a_closed_network_is_closed_in_every_spelling(ip: IpAddress, n: int) -> None:
    verdict = decide_request(OPEN, f"http://{spellings(ip)[n]}/")
    assert verdict.is_allowed == (kind_of(ip) == "public")


@given(IPV4)
def test_an_address_wrapped_in_another_counts_as_what_it_wraps(ip: IpAddress) -> None:
    number = int(ip)
    wrapped = [f"::ffff:{ip}", f"64:ff9b::{ip}", f"2002:{number >> 16:x}:{number & 0xFFFF:x}::1"]
    for text in wrapped:
        assert kind_of(ip_address(text)) == kind_of(ip)


NETWORKS = {
    "loopback": "127.0.0.1 127.255.0.9 0.0.0.0 0.1.2.3 ::1 ::",
    "private": "10.0.0.1 172.31.0.1 192.168.0.1 100.64.0.1 fd00::1",
    "link-local": "169.254.0.1 fe80::1",
    "metadata": "169.254.169.254 ::ffff:169.254.169.254 fd00:ec2::254",
    "reserved": "224.0.0.1 255.255.255.255",
    "public": "93.184.216.34 2606:2800:220:1::1",
}


@pytest.mark.parametrize("kind", NETWORKS)
def test_every_network_but_the_public_one_is_known(kind: str) -> None:
    assert {kind_of(ip_address(ip)) for ip in NETWORKS[kind].split()} == {kind}


def test_a_network_is_opened_by_name_range_or_host() -> None:
    router = ip_address("192.168.0.1")
    assert not decide_ip(OPEN, "router.example", 80, router).is_allowed
    for opened in ("private", "192.168.0.0/24"):
        assert decide_ip(replace(OPEN, open_networks=(opened,)), "x", 80, router).is_allowed
    assert not decide_ip(replace(OPEN, open_networks=("loopback",)), "x", 80, router).is_allowed
    given_by_hand = replace(OPEN, hosts={"router.example": "192.168.0.1"})
    assert decide_ip(given_by_hand, "router.example", 80, router).is_allowed
    assert not decide_ip(given_by_hand, "other.example", 80, router).is_allowed


def test_an_ip_address_in_a_rule_opens_that_address_only() -> None:
    policy = GuardPolicy(sites=(SiteRule(parse_site("http://127.0.0.1:8080")),))
    assert decide_request(policy, "http://127.0.0.1:8080/").is_allowed
    assert not decide_request(policy, "http://127.0.0.2:8080/").is_allowed
    assert not decide_ip(policy, "rebound.example", 80, ip_address("127.0.0.1")).is_allowed


def test_a_server_that_is_open_in_a_closed_network_does_not_open_its_other_ports() -> None:
    for host in ("127.0.0.1", "localhost"):
        policy = replace(OPEN, sites=(SiteRule(parse_site(f"http://{host}:8080")),))
        loopback = ip_address("127.0.0.1")
        assert decide_request(policy, f"http://{host}:8080/").is_allowed
        assert decide_ip(policy, host, 8080, loopback).is_allowed
        assert not decide_ip(policy, host, 9090, loopback).is_allowed
    assert not decide_request(policy, "http://127.0.0.1:9090/").is_allowed


def test_where_only_the_host_is_known_a_rule_for_a_part_opens_the_connection() -> None:
    policy = GuardPolicy(sites=(SiteRule(parse_site("https://a.example/part")), ADMIN))
    assert decide_server(policy, "a.example", 443).is_allowed
    assert not decide_request(policy, "https://a.example/other").is_allowed
    assert not decide_server(policy, "a.example", 80).is_allowed


def test_a_denied_host_is_closed_though_all_others_are_open() -> None:
    policy = replace(OPEN, sites=(SiteRule(parse_site("*.bad.example"), "deny"),))
    assert not decide_request(policy, "https://x.bad.example/").is_allowed
    assert not decide_server(policy, "x.bad.example", 443).is_allowed
    assert decide_request(policy, "https://good.example/").is_allowed


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("page.html", True),
        ("sub/page.html?x#y", True),
        ("pa%67e.html", True),
        ("../key", False),
        ("%2e%2e/key", False),
        ("link", False),
        ("sub/../../key", False),
    ],
)
def test_a_file_is_open_where_it_really_lies_in_an_open_folder(tmp_path, path, allowed):
    folder = tmp_path / "open"
    folder.mkdir()
    (tmp_path / "key").write_text("secret")
    (folder / "link").symlink_to(tmp_path / "key")
    policy = GuardPolicy(open_folders=(folder.resolve(),))
    assert decide_request(policy, f"{folder.as_uri()}/{path}").is_allowed == allowed
    assert not decide_request(policy, f"file://host{folder}/{path}").is_allowed


def test_downloads_are_closed_until_opened_and_then_bounded() -> None:
    assert not decide_download(GuardPolicy(), "a.pdf").is_allowed
    policy = GuardPolicy(downloads=DownloadLimits(True, (".pdf",), 10))
    assert decide_download(policy, "A.PDF", 10).is_allowed
    assert not decide_download(policy, "a.pdf.exe").is_allowed
    assert not decide_download(policy, "a.pdf", 11).is_allowed
