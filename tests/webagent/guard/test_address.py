"""However an address is spelt, it is read as the place a browser would go to."""

from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webagent.guard.address import parse_host, parse_url

LABEL = st.from_regex(r"[a-z]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True)
HOST = st.lists(LABEL, min_size=1, max_size=4).map(".".join)
IPV4 = st.ip_addresses(v=4)


def spellings(ip: IPv4Address) -> list[str]:
    """Ways to write an IPv4 address that browsers understand."""
    whole, bytes_ = int(ip), ip.packed
    return [
        str(ip),
        f"{ip}.",
        str(whole),
        hex(whole),
        oct(whole).replace("o", ""),
        ".".join(hex(byte) for byte in bytes_),
        ".".join(f"0{byte:o}" for byte in bytes_),
        f"{bytes_[0]}.{whole & 0xFFFFFF}",
        f"{bytes_[0]}.{bytes_[1]}.{whole & 0xFFFF}",
        "".join(f"%{ord(character):02x}" for character in str(ip)),
        str(ip).translate(str.maketrans("0123456789", "０１２３４５６７８９")),
        str(ip).replace(".", "。"),
    ]


@given(IPV4, st.integers(0, 11))
def test_every_spelling_of_an_ip_address_is_that_address(ip: IPv4Address, way: int) -> None:
    assert parse_host(spellings(ip)[way]) == str(ip)


@given(HOST)
def test_capitals_and_a_dot_at_the_end_change_nothing(host: str) -> None:
    assert parse_url(f"HTTPS://{host.upper()}./a").host == parse_host(host)


@given(HOST, HOST)
def test_what_stands_before_an_at_sign_is_no_host(host: str, decoy: str) -> None:
    for url in (
        f"http://{decoy}@{host}/",
        f"http://{decoy}:80@{host}/",
        f"http://{decoy}@{decoy}@{host}/",
        f"http:\\\\{decoy}@{host}\\",
    ):
        assert parse_url(url).host == parse_host(host)


@given(HOST, HOST)
def test_what_stands_after_the_host_is_no_host(host: str, decoy: str) -> None:
    for tail in (f"/@{decoy}", f"\\@{decoy}", f"?@{decoy}", f"#@{decoy}", f":80/{decoy}"):
        assert parse_url(f"http://{host}{tail}").host == parse_host(host)


@given(HOST, st.sampled_from(["\t", "\n", "\r"]), st.data())
def test_line_breaks_inside_an_address_are_dropped(host, blank, data):
    url = f"http://{host}/path"
    place = data.draw(st.integers(0, len(url)))
    assert parse_url(url[:place] + blank + url[place:]) == parse_url(url)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused_with_a_reason(text: str) -> None:
    try:
        address = parse_url(text)
    except ValueError as error:
        assert str(error)
    else:
        assert address.scheme == address.scheme.lower()


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://a.example", "http://a.example"),
        ("http://a.example:80/x", "http://a.example"),
        ("https://a.example:80/x", "https://a.example:80"),
        ("https:a.example", "https://a.example"),
        ("https:////a.example", "https://a.example"),
        ("http://[::FFFF:127.0.0.1]/", "http://[::ffff:7f00:1]"),
        ("http://bücher.example", "http://xn--bcher-kva.example"),
        ("http://аpple.example", "http://xn--pple-43d.example"),
    ],
)
def test_an_origin_is_written_as_browsers_write_it(url: str, origin: str) -> None:
    assert parse_url(url).origin == origin


@pytest.mark.parametrize(
    "url",
    [
        *("", "example.com", "//example.com", "http://", "http://a b/", "http://1.2.3.4.5/"),
        *("http://256.0.0.1/", "http://[::1/", "http://[::1%25eth0]/", "http://a:99999/"),
        *("http://a<b/", "http://%00/", "http://1.2.3.4x.5/", "http://:80/"),
    ],
)
def test_what_no_browser_opens_is_no_address(url: str) -> None:
    with pytest.raises(ValueError):
        parse_url(url)
