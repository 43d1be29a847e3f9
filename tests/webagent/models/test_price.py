"""Prices are read from a person's file; what is not known never counts as nothing."""

from datetime import date
from pathlib import Path

import pytest

from webagent.errors import SetupError
from webagent.models.spending import Prices, read_prices

FILE = """
currency = "USD"

[models."big-1"]
input = 2.0
cached_input = 0.5
output = 10
date = 2026-11-01
source = "https://prices.example"

[models."big-*"]
input = 1.0
output = 4.0
currency = "EUR"

[models."big-1-mini*"]
input = 0.1
output = 0.4

[models."mine*"]
own = true
"""


def prices(tmp_path: Path, text: str = FILE) -> Prices:
    """The prices of a file with this text."""
    path = tmp_path / "prices.toml"
    path.write_text(text, encoding="utf-8")
    return read_prices(path)


def test_a_price_is_told_with_its_date_source_and_currency(tmp_path: Path) -> None:
    price = prices(tmp_path).of("big-1")
    assert (price.currency, price.date) == ("USD", date(2026, 11, 1))
    assert price.source == "https://prices.example"


def test_the_very_name_comes_before_patterns_and_long_patterns_before_short_ones(tmp_path):
    known = prices(tmp_path)
    named = {name: known.of(name) for name in ("big-1", "big-2", "big-1-mini-7", "small")}
    found = {name: price.input if price else None for name, price in named.items()}
    assert found == {"big-1": 2.0, "big-2": 1.0, "big-1-mini-7": 0.1, "small": None}
    assert (named["big-2"] and named["big-2"].currency) == "EUR"


def test_tokens_read_before_are_charged_at_their_own_price(tmp_path: Path) -> None:
    known = prices(tmp_path)
    usage = {"input_tokens": 1000, "cached_input_tokens": 600, "output_tokens": 100}
    big, other = known.of("big-1"), known.of("big-2")
    assert big and other
    assert big.money(usage) == pytest.approx((400 * 2 + 600 * 0.5 + 100 * 10) / 1e6)
    assert other.money(usage) == pytest.approx((1000 * 1 + 100 * 4) / 1e6)


def test_own_weights_cost_no_money_that_could_be_told(tmp_path: Path) -> None:
    price = prices(tmp_path).of("mine-7b")
    assert price is not None and price.own
    assert price.money({"input_tokens": 1000}) is None


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("[models.a]\ninput = 1", 'models."a".*lacks output, currency'),
        ('currency = "USD"\n[models.a]\noutput = 1', "lacks input; a price left out"),
        ('currency = "USD"\n[models.a]\ninput = -1\noutput = 1', r"models\.a\.input: .*greater"),
        ('[models.a]\ninputs = 1\ncurrency = "USD"', r"models\.a\.inputs: Extra"),
        ("models = 3", "models: "),
        ("=", "is not TOML"),
    ],
)
def test_a_mistake_in_the_file_is_named(tmp_path: Path, text: str, answer: str) -> None:
    with pytest.raises(SetupError, match=answer):
        prices(tmp_path, text)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"none\.toml cannot be read"):
        read_prices(tmp_path / "none.toml")
