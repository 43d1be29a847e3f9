"""WebShop: its reward as published, its goals and split, its shop, and its oracle in a browser."""

import json
import re
import sqlite3
from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from benchmarks.catalogue import Options, find_benchmark
from benchmarks.oracles import View, fill, press, push
from benchmarks.rules import checks_hold
from benchmarks.sites import Instance
from benchmarks.sites.hosting import Hosting
from benchmarks.webshop.rules import compute_reward, is_alike, name_colour, webshop_bought
from benchmarks.webshop.site import products as products_module
from benchmarks.webshop.site import site
from benchmarks.webshop.site.products import load_goals, load_products
from tasks.suite import UnknownTask
from webagent.browser import Browser
from webagent.errors import SetupError, UsageError
from webagent.policy.policy import ScriptedPolicy
from webagent.rollout.episode import run_episode

SHOES = ("mens", "d.o.n", "issue", "basketball", "sneakers", "shoes", "casual")
KIND = {"query": "query 1", "product_category": "a › b › c", "nouns": list(SHOES)}
GOAL = {
    "product": KIND,
    "attributes": ["tea tree", "essential oils", "natural ingredients"],
    "options": ["grey", "xl"],
    "price_upper": 40.0,
}
PRODUCT = {
    **KIND,
    "name": "",
    "features": [],
    "description": "",
    "attributes": ["tea tree", "essential oil", "natural ingredients"],
    "price": 35.0,
}
IN_WORDS = {
    "attributes": [],
    "features": ["This shampoo has essential oils and smells like lemons"],
    "description": "Best shampoo on the market, made with natural ingredients",
}
CORD = {"query": "query 2", "product_category": "a › d › e", "nouns": ["cord", "cable", "plug"]}
NOUNS = {"nouns": ["cord", *"bcdefg"]}


@pytest.mark.parametrize(
    ("product", "options", "goal", "total"),
    [
        ({}, ["grey", "xl"], {}, 1.0),
        (IN_WORDS, ["grey", "xl"], {}, 5 / 6),
        ({}, ["blue", "xl"], {}, 5 / 6),
        ({}, ["xl", "light grey melange"], {}, 1.0),
        ({"price": 40.01}, ["grey", "xl"], {}, 5 / 6),
        ({}, ["grey", "xl"], {"options": ["grey", "xl", "pack of 12"]}, 6 / 7),
        ({"query": "other", "product_category": "a › x"}, ["grey", "xl"], {}, 1.0),
        (CORD, ["grey", "xl"], {"product": {**KIND, **NOUNS}}, 0.5),
        (CORD, ["grey", "xl"], {"product": {**KIND, "nouns": ["cord", *"bcdefghijk"]}}, 0.1),
        (CORD, ["grey", "xl"], {}, 0.0),
        ({**CORD, "query": "query 1"}, ["grey", "xl"], {"product": {**KIND, **NOUNS}}, 1.0),
    ],
)
def test_the_reward_is_the_published_one(product, options, goal, total):
    reward = compute_reward({**PRODUCT, **product}, options, {**GOAL, **goal})

    assert reward.total == pytest.approx(total)


def test_values_are_alike_whatever_their_order_and_what_one_has_more():
    assert is_alike("powder snow", "cool powder snow")
    assert is_alike("Essential Oil", "essential oils")
    assert not is_alike("blue", "grey")
    assert not is_alike("", "")
    # Of two colours the one that comes first among the published ones.
    assert (name_colour("dark red"), name_colour("light grey")) == ("dark", "grey")
    assert name_colour("pack of 12") == "pack of 12"


def test_nothing_bought_is_worth_nothing_and_only_the_first_purchase_counts():
    whole = [json.dumps(PRODUCT), json.dumps({"color": "grey", "size": "xl"})]
    half = [json.dumps(PRODUCT), json.dumps({"color": "blue"})]

    assert webshop_bought([], GOAL).value == 0
    assert webshop_bought([whole, half], GOAL).value == 1
    assert webshop_bought([half, whole], GOAL).value == 0


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Twelve products with 1,600 goals in the form of the published files."""
    item = {
        "query": " Scrubs ",
        "category": "beauty",
        "product_category": "Beauty › Body › Scrubs",
        "full_description": "A scrub.",
        "small_description": ["With tea tree oil"],
        "pricing": "$10.00$20.00",
        "customization_options": {"Size": [{"value": " 4 oz/113 g "}], "Scent": None},
    }
    items = [{**item, "asin": f"B{n:09}", "name": f"Tea Tree Scrub No{n}"} for n in range(12)]
    wanted = {"instruction_attributes": ["tea tree"], "instruction_options": ["4 oz | 113 g"]}
    asked = [{**wanted, "instruction": f"i want scrub no3 {n}."} for n in range(1600)]
    ids = [each["asin"] for each in items]
    files = {
        "items_shuffle_1000.json": [*items, items[0], {**items[0], "asin": "nan"}],
        "items_ins_v2_1000.json": {each: {"attributes": ["tea tree"]} for each in ids},
        "items_human_ins.json": {ids[3]: [*asked, {**asked[0], "instruction_attributes": []}]},
    }
    data = tmp_path / "data"
    data.mkdir()
    for name, content in files.items():
        (data / name).write_text(json.dumps(content))
    monkeypatch.setenv("WEBAGENT_WEBSHOP_DATA", str(data))
    monkeypatch.setenv("WEBAGENT_SITES", str(tmp_path))
    for each in (load_products, load_goals, products_module._files):
        each.cache_clear()
    return data


@pytest.fixture
def nouns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every word of a name is a noun, in place of those that spaCy's pipeline finds."""
    monkeypatch.setattr(products_module, "_find_nouns", lambda: lambda name: tuple(name.split()))


def test_published_files_are_read_as_their_loader_reads_them(published, nouns):
    products, goals = load_products(), load_goals()

    assert (len(products), len(goals)) == (12, 1600)
    assert (products[0].query, products[0].price_tag) == ("scrubs", "$10.0 to $20.0")
    assert products[0].options == {"size": ("4 oz | 113 g",)}
    assert 10 <= products[0].price <= 20
    assert re.fullmatch(
        r"i want scrub no3 \d+, and price lower than \d0\.00 dollars", goals[0].instruction
    )
    assert goals[0].price_upper > products[3].price


def test_seeds_are_goals_in_the_published_split_and_reached_by_their_product(published, nouns):
    goals = load_goals()
    suite = find_benchmark("webshop").load()

    for place, split in ((0, "test"), (499, "test"), (500, "development"), (1500, "train")):
        first = {"test": 0, "development": 500, "train": 1500}[split]
        task = suite.task("buy", place - first, split)
        assert task.goal == goals[place].instruction
        wanted = task.checks[0].expected
        assert compute_reward(asdict(goals[place].product), goals[place].options, wanted).total == 1
    assert suite.task("buy", 500, "test").goal == goals[0].instruction
    with pytest.raises(UnknownTask):
        suite.make("sell", 0, {})


def test_what_the_shop_needs_is_named(published, monkeypatch):
    with pytest.raises(UsageError, match="WEBAGENT_WEBSHOP_DATA"):
        find_benchmark("webshop").load(Options(files=Path("data")))
    with pytest.raises(SetupError, match="en_core_web_sm"):
        load_products()
    (published / "items_human_ins.json").unlink()
    assert "has no items_human_ins" in site().missing()
    monkeypatch.delenv("WEBAGENT_WEBSHOP_DATA")
    assert "in WEBAGENT_WEBSHOP_DATA" in site().missing()
    assert site().fingerprint() == ""


@pytest.mark.site
def test_the_shop_finds_shows_and_sells_and_forgets_it_with_a_reset(published, nouns):
    def page(path: str, data: bytes | None = None, **fields: str) -> str:
        with urlopen(f"{shop.base}{path}?{urlencode(fields)}", data) as answer:
            return answer.read().decode()

    def purchases() -> list[tuple[str, str]]:
        with closing(sqlite3.connect(shop.folder / "state" / "purchases.sqlite3")) as database:
            return database.execute("SELECT product, options FROM purchases").fetchall()

    with Instance.start(site()) as shop:
        results = page("/search", q="scrubs no3")
        found = re.findall(r">(B\d{9})<", results)
        assert "Total results: 12" in results and (len(found), found[0]) == (10, "B000000003")
        item = page("/item", asin=found[0], q="tea")
        assert "Scrub No3" in item and "value='4 oz | 113 g'" in item and "Buy Now" in item
        features = page(
            "/detail", asin=found[0], part="Features", **{"option:size": "4 oz | 113 g"}
        )
        assert "<li>" in features and "name='option:size' value='4 oz | 113 g'" in features
        bought = urlencode({"asin": found[0], "option:size": "4 oz | 113 g", "option:no": "x"})
        assert "Thank you" in page("/done", bought.encode())
        ((product, options),) = purchases()
        assert json.loads(product)["asin"] == found[0]
        assert json.loads(options) == {"size": "4 oz | 113 g"}
        shop.reset()
        assert purchases() == []
        assert page("/search", q="' OR \"").count("<li>") == 0


@pytest.mark.site
@pytest.mark.browser
@pytest.mark.slow
async def test_what_is_bought_in_a_browser_has_the_whole_reward(published, nouns):
    task = find_benchmark("webshop").load().task("buy", 0, "development")
    moves = (
        fill("Search", "scrub no3"),
        push("Search"),
        press("B000000003"),
        press("4 oz | 113 g", "radio"),
        push("Buy Now"),
    )
    policy = ScriptedPolicy(
        lambda trajectory, page: moves[len(trajectory.steps)](View.of(trajectory, page))
    )
    async with Hosting(1) as hosting, Browser() as browser:
        await hosting.prepare([task])
        world = await hosting.worlds(partial(browser.world, logins=hosting.logins))()
        episode = await run_episode(task, policy, world)
        await world.close()

    assert (await checks_hold()(episode)).value == 1
    assert (await checks_hold("reward")(episode)).value == 1
