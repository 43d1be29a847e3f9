"""The shop builds, serves, logs in, and lets its database be replaced while it runs."""

import sqlite3
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import pytest

from benchmarks.oscar.site import OscarSite, site
from benchmarks.oscar.site.catalogue import CATEGORIES, decimal, products
from benchmarks.oscar.site.people import CUSTOMER, EVERYONE, orders, reviews
from benchmarks.sites.site import SiteError
from tests.benchmarks.oscar.site.conftest import Shop

pytestmark = [pytest.mark.site, pytest.mark.very_slow]


def rows(database: Path, query: str) -> list[tuple[object, ...]]:
    """What a query gives."""
    with sqlite3.connect(database) as connection:
        return connection.execute(query).fetchall()


def cookies(shop: Shop, role: str) -> str:
    """A header that says who is logged in."""
    found = shop.site.log_in(shop.running.base, shop.site.accounts[role])
    return "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in found)


def test_the_catalogue_of_the_tasks_is_that_of_the_database(shop: Shop) -> None:
    found = rows(
        shop.built / shop.site.database,
        "select p.title, p.upc, s.price, s.num_in_stock from catalogue_product p"
        " join partner_stockrecord s on s.product_id = p.id where p.structure = 'standalone'",
    )
    expected = [each for each in products() if not each.sizes]
    assert sorted(found) == sorted(
        (each.title, each.upc, float(decimal(each.price)), each.stock) for each in expected
    )


def test_the_order_history_of_the_tasks_is_that_of_the_database(shop: Shop) -> None:
    found = rows(
        shop.built / shop.site.database,
        "select o.number, u.email, o.status, o.total_incl_tax, sum(l.quantity) from order_order o"
        " join auth_user u on u.id = o.user_id join order_line l on l.order_id = o.id group by 1",
    )
    assert sorted(found) == sorted(
        (
            *(order.number, order.buyer.email, order.status, float(decimal(order.total))),
            sum(quantity for _, quantity in order.lines),
        )
        for order in orders()
    )


def test_every_page_of_a_category_shows_its_products(shop: Shop) -> None:
    found = rows(shop.built / shop.site.database, "select id, name from catalogue_category")
    numbers = {name: number for number, name in found}
    for category in CATEGORIES:
        path = f"{category.parent}/{category.name.replace(' ', '-')}_{numbers[category.name]}/"
        page = shop.page(f"/catalogue/category/{path.lower()}")
        for each in products():
            assert (f'title="{each.title}"' in page) == (each.category == category.name)


def test_search_finds_what_has_every_word(shop: Shop) -> None:
    mug = next(each for each in products() if each.category == "Mugs")
    assert mug.title in shop.page("/search/?" + urlencode({"q": mug.title}))
    assert "0</strong> results" in shop.page("/search/?q=mug+locomotive").replace("\n", "")


def test_search_sorts_by_price(shop: Shop) -> None:
    page = shop.page("/search/?q=lamp&sort_by=price-asc")
    lamps = sorted((each for each in products() if each.category == "Lamps"), key=lambda p: p.price)
    places = [page.index(f'title="{each.title}"') for each in lamps]
    assert places == sorted(places)


@pytest.mark.parametrize("role", ["customer", "shopper", "newcomer", "staff"])
def test_every_role_is_logged_in(shop: Shop, role: str) -> None:
    assert shop.site.accounts[role].name in shop.page("/accounts/profile/", cookies(shop, role))


def test_only_staff_may_open_the_dashboard(shop: Shop) -> None:
    assert "Orders" in shop.page("/dashboard/orders/", cookies(shop, "staff"))
    assert orders()[-1].number not in shop.page("/dashboard/orders/", cookies(shop, "customer"))


def test_a_wrong_password_is_named(shop: Shop) -> None:
    account = replace(shop.site.accounts["customer"], password="wrong")
    with pytest.raises(SiteError, match="did not accept the password of maya"):
        shop.site.log_in(shop.running.base, account)


def test_a_database_that_is_replaced_is_what_the_next_page_shows(shop: Shop) -> None:
    logged_in = cookies(shop, "customer")
    database = shop.running.state / shop.site.database
    with sqlite3.connect(database) as connection:
        connection.execute("update catalogue_product set title = 'Changed' where id = 1")
    assert "Changed" in shop.page("/catalogue/?sort_by=newest&page=9", logged_in)
    assert min(shop.running.reset() for _ in range(3)) < 0.1
    page = shop.page("/catalogue/?sort_by=newest&page=9", logged_in)
    assert "Changed" not in page and products()[0].title in page


def test_looking_around_changes_nothing_but_what_passes(shop: Shop) -> None:
    shop.running.reset()
    before = _kept(shop, shop.built)
    logged_in = cookies(shop, "customer")
    for path in ("/", "/search/?q=lamp", "/basket/", "/accounts/orders/", "/catalogue/a_1/"):
        shop.page(path, logged_in)
    shop.page("/dashboard/", cookies(shop, "staff"))
    assert _kept(shop, shop.running.state) == before


def _kept(shop: Shop, folder: Path) -> dict[str, list[tuple[object, ...]]]:
    """All rows but those of passing tables, passing columns left out."""
    database = folder / shop.site.database
    tables = [str(name) for (name,) in rows(database, "select name from sqlite_master")]
    kept = {}
    for table in tables:
        columns = [str(row[1]) for row in rows(database, f"pragma table_info({table})")]
        passing = shop.site.passing.get(table)
        if table.startswith("sqlite_") or passing == () or not columns:
            continue
        shown = ", ".join(f'"{name}"' for name in columns if name not in (passing or ()))
        kept[table] = rows(database, f"select {shown} from {table}")
    return kept


def test_what_is_lacking_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.oscar.site.find_spec", lambda name: None)
    assert "pip install 'webagent-loop[sites]'" in site().missing()
    with pytest.raises(SiteError, match="django-oscar"):
        site().build(Path("nowhere"))


def test_a_build_that_fails_says_why(shop_site: OscarSite, tmp_path: Path) -> None:
    (tmp_path / shop_site.database).write_text("not a database")
    with pytest.raises(SiteError, match="file is not a database"):
        shop_site.build(tmp_path)


def test_reviews_and_people_are_those_of_the_database(shop: Shop) -> None:
    database = shop.built / shop.site.database
    assert rows(database, "select count(*) from reviews_productreview") == [(len(reviews()),)]
    emails = {str(email) for (email,) in rows(database, "select email from auth_user")}
    assert emails == {person.email for person in EVERYONE}
    saved = rows(
        database,
        f"select a.line1 from address_useraddress a join auth_user u on u.id = a.user_id"
        f" where u.email = '{CUSTOMER.email}'",
    )
    assert [line for (line,) in saved] == [address.line1 for address in CUSTOMER.addresses]
