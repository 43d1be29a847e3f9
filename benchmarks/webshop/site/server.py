"""Serves the shop's pages: `python -m benchmarks.webshop.site.server PORT`."""

import os
import sys
from collections.abc import Mapping
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from benchmarks.webshop.site.shelf import ON_A_PAGE, buy, find_products, read_product

STATE = Path(os.environ.get("WEBAGENT_SHOP_STATE", "."))
OPTION = "option:"
"""Before the name of an option among the fields of a form."""
DETAILS = ("Description", "Features", "Reviews")


class ShopHandler(BaseHTTPRequestHandler):
    """Answers from the databases and the address alone."""

    def do_GET(self) -> None:
        """Show a page."""
        address = urlsplit(self.path)
        fields = dict(parse_qsl(address.query))
        self._answer(address.path, fields)

    def do_POST(self) -> None:
        """Buy, or search."""
        size = int(self.headers.get("Content-Length", 0))
        self._answer(urlsplit(self.path).path, dict(parse_qsl(self.rfile.read(size).decode())))

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing."""

    def _answer(self, path: str, fields: Mapping[str, str]) -> None:
        product = read_product(STATE, fields.get("asin", "")) if "asin" in fields else None
        body = None
        if path == "/":
            body = _SEARCH
        elif path == "/search":
            body = _results(fields.get("q", ""), max(1, int(fields.get("page", "1") or 1)))
        elif product is not None and path == "/item":
            body = _item(product, fields)
        elif product is not None and path == "/detail":
            part = fields.get("part", DETAILS[0])
            text = f"<p>{escape(product['description'])}</p>" if part == "Description" else ""
            if part == "Features":
                items = "".join(f"<li>{escape(each)}</li>" for each in product["features"])
                text = f"<ul>{items}</ul>"
            kept = {OPTION + name: value for name, value in _options(product, fields).items()}
            back = _back("/item", {**fields, **kept}, kept)
            body = f"{_HOME}{back}<h3>{escape(part)}</h3>{text}"
        elif product is not None and path == "/done" and self.command == "POST":
            buy(STATE, product, _options(product, fields))
            body = "<h1>Thank you for shopping with us!</h1>"
        page = body or "<h1>There is no such page</h1>"
        content = f"<!DOCTYPE html><title>WebShop</title><body>{page}</body>".encode()
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


_SEARCH = (
    "<h1>WebShop</h1><form action='/search'><input name='q' aria-label='Search' required>"
    "<button>Search</button></form>"
)
_HOME = "<form action='/'><button>Back to Search</button></form>"


def _results(words: str, page: int) -> str:
    found = find_products(STATE, words)
    shown = found[(page - 1) * ON_A_PAGE : page * ON_A_PAGE]
    turns = [(page - 1, "&lt; Prev")] * (page > 1) + [(page + 1, "Next &gt;")]
    buttons = "".join(
        f"<form action='/search'>{_hidden({'q': words, 'page': str(to)})}<button>{name}</button>"
        "</form>"
        for to, name in turns
    )
    lines = "".join(
        f"<li><a href='/item?{escape(urlencode({'asin': each['asin'], 'q': words, 'page': page}))}'"
        f">{escape(each['asin'])}</a><p>{escape(each['name'])}</p>"
        f"<p>{escape(each['price_tag'])}</p></li>"
        for each in shown
    )
    heading = f"<h3>Page {page} (Total results: {len(found)})</h3>"
    return f"{_HOME}{heading}{buttons}<ul>{lines}</ul>"


def _item(product: Mapping[str, Any], fields: Mapping[str, str]) -> str:
    chosen = _options(product, fields)
    groups = "".join(
        f"<fieldset><legend>{escape(name)}</legend>"
        + "".join(
            f"<label><input type='radio' name='{escape(OPTION + name)}' value='{escape(value)}'"
            f"{' checked' * (chosen.get(name) == value)}> {escape(value)}</label> "
            for value in values
        )
        + "</fieldset>"
        for name, values in product["options"].items()
    )
    details = "".join(
        f"<button formaction='/detail' formmethod='get' name='part' value='{each}'>{each}</button>"
        for each in DETAILS
    )
    return (
        f"{_HOME}{_back('/search', fields)}<h2>{escape(product['name'])}</h2>"
        f"<h4>Price: {escape(product['price_tag'])}</h4><h4>Rating: N.A.</h4>"
        f"<form action='/done' method='post'>{_hidden(_place(fields))}{groups}<div>{details}</div>"
        "<button>Buy Now</button></form>"
    )


def _options(product: Mapping[str, Any], fields: Mapping[str, str]) -> dict[str, str]:
    """Return what is chosen of the product's options."""
    named = {name: fields.get(OPTION + name, "") for name in product["options"]}
    return {name: value for name, value in named.items() if value in product["options"][name]}


def _place(fields: Mapping[str, str]) -> dict[str, str]:
    return {name: fields[name] for name in ("asin", "q", "page") if name in fields}


def _back(path: str, fields: Mapping[str, str], kept: Mapping[str, str] | None = None) -> str:
    inside = _hidden({**_place(fields), **(kept or {})})
    return f"<form action='{path}'>{inside}<button>&lt; Prev</button></form>"


def _hidden(fields: Mapping[str, str]) -> str:
    return "".join(
        f"<input type='hidden' name='{escape(name)}' value='{escape(value)}'>"
        for name, value in fields.items()
    )


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), ShopHandler).serve_forever()
