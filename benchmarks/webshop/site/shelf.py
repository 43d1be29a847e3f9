"""The shop's databases: products with an index of their words, and purchases."""

import json
import re
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.webshop.site.products import ShopProduct

PRODUCTS, PURCHASES = "products.sqlite3", "purchases.sqlite3"
FOUND, ON_A_PAGE = 50, 10
"""Results of a search, and those on one page of it, as published."""


def fill_shelf(state: Path, products: Iterable[ShopProduct]) -> None:
    """Write both databases into a folder."""
    with closing(sqlite3.connect(state / PRODUCTS)) as shelf, shelf:
        shelf.execute("CREATE TABLE products (asin TEXT PRIMARY KEY, data TEXT)")
        shelf.execute(
            "CREATE VIRTUAL TABLE words USING fts5(asin UNINDEXED, contents, tokenize='porter')"
        )
        for each in products:
            options = ", and ".join(f"{name}: {', '.join(o)}" for name, o in each.options.items())
            # What the published index holds of a product.
            parts = (each.name, each.description, *each.features[:1], options)
            shelf.execute("INSERT INTO words VALUES (?, ?)", (each.asin, " ".join(parts)))
            data = json.dumps(asdict(each))
            shelf.execute("INSERT INTO products VALUES (?, ?)", (each.asin, data))
    with closing(sqlite3.connect(state / PURCHASES)) as purchases, purchases:
        purchases.execute(
            "CREATE TABLE purchases (id INTEGER PRIMARY KEY, product TEXT, options TEXT)"
        )


def find_products(state: Path, words: str) -> list[dict[str, Any]]:
    """Return the products that fit some words, the best first, by SQLite's BM25. The published
    shop asks Lucene's, with other constants (0.9 and 0.4 in place of 1.2 and 0.75)."""
    terms = re.findall(r"\w+", words.lower())
    if not terms:
        return []
    wanted = " OR ".join(f'"{term}"' for term in terms)
    with closing(sqlite3.connect(state / PRODUCTS)) as shelf:
        rows = shelf.execute(
            "SELECT data FROM words JOIN products USING (asin) WHERE words MATCH ?"
            " ORDER BY bm25(words), asin LIMIT ?",
            (wanted, FOUND),
        )
        return [json.loads(data) for (data,) in rows]


def read_product(state: Path, asin: str) -> dict[str, Any] | None:
    """Return a product by its id; None where there is none."""
    with closing(sqlite3.connect(state / PRODUCTS)) as shelf:
        row = shelf.execute("SELECT data FROM products WHERE asin = ?", (asin,)).fetchone()
    return None if row is None else json.loads(row[0])


def buy(state: Path, product: Mapping[str, Any], options: Mapping[str, str]) -> None:
    """Note a purchase."""
    with closing(sqlite3.connect(state / PURCHASES)) as purchases, purchases:
        purchases.execute(
            "INSERT INTO purchases (product, options) VALUES (?, ?)",
            (json.dumps(product), json.dumps(dict(options))),
        )
