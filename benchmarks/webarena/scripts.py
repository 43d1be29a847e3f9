"""JavaScript that stands for the helper functions which the scorers call in Python.

Each is an expression. What a helper gives where the page has not what it looks for is kept: an
empty text or 0. Where the shop's own interface fails a script throws, so that nothing is captured.
"""

import json
import re
from pathlib import Path

_PRICE = (
    "#maincontent > div.columns > div > div.product-info-main > div.product-info-price"
    " > div.price-box.price-final_price > span > span"
)
_DETAILS = "#productDetails_detailBullets_sections1 > tbody"

_FOLDER = Path(__file__).parent / "javascript"


def _fragment(name: str) -> str:
    return "\n" + (_FOLDER / f"{name}.js").read_text(encoding="utf-8")


_ORDERED = _fragment("ordered")
_COMMENTS = _fragment("comments")
POST_URL = _fragment("post_url").strip()
"""Of the page in front the address of its post, as `reddit_get_post_url` makes it."""


def latest_order(base: str, account: tuple[str, str]) -> str:
    """Address of the shop's latest order."""
    return _with_token(base, account, _fragment("latest_order"))


def latest_review(base: str, account: tuple[str, str], sku: str, field: str) -> str:
    """`nickname`, `percent` (of its rating) or `detail` of a product's latest review."""
    last = "found.at(-1)"
    given = f"{last}.ratings[0].percent" if field == "percent" else f"{last}.{field}"
    body = _fragment("latest_review").replace("SKU", _js(sku)).replace("FIELD", given)
    return _with_token(base, account, body)


def query_text(selector: str) -> str:
    """Text of the first such element."""
    return _or(f"return document.querySelector({_js(selector)}).textContent ?? '';", "")


def query_text_lowercase(selector: str) -> str:
    """Text of the first such element, in lower case."""
    found = f"document.querySelector({_js(selector)}).textContent ?? ''"
    return _or(f"return ({found}).toLowerCase();", "")


def member_role(account: str) -> str:
    """Role of a project's member on its page of members."""
    names = "td[data-label='Account'] span.gl-avatar-labeled-sublabel"
    return _or(
        f"const names = [...document.querySelectorAll({_js(names)})];"
        f" const at = names.findIndex((name) => name.outerText === {_js('@' + account)});"
        " return document.querySelectorAll('td.col-max-role span')[at].outerText;",
        "",
    )


def ordered_names() -> str:
    """Names of the products of an order, ` |OR| ` between them."""
    return _or(f"{_ORDERED} return products.map((one) => one.name).join(' |OR| ');", "")


def ordered_quantity(sku: str) -> str:
    """How many of a product, or of the first of several alternatives, were ordered."""
    skus = sku.split(" |OR| ") if "|OR|" in sku else [sku]
    return _or(
        f"{_ORDERED} for (const one of products) if ({_js(skus)}.includes(one.sku.trim())) {{"
        " const count = one.qty.slice(7).trim();"
        " return /^[+-]?\\d+$/.test(count) ? Number(count) : 0; } return 0;",
        0,
    )


def ordered_option(sku: str, option: str) -> str:
    """What was chosen for an option of a product that was ordered."""
    return _or(
        f"{_ORDERED} const one = products.find((each) => each.sku.trim() === {_js(sku)});"
        f" return one.options[{_js(option)}] ?? '';",
        "",
    )


def product_attributes(attribute: str) -> str:
    """Values of the rows of a product's details that have one of the alternatives in their name."""
    terms = attribute.lower().split(" |or| ")
    return _or(
        f"return [...document.querySelector({_js(_DETAILS)}).children]"
        f".filter((row) => {_js(terms)}.some((term) =>"
        " row.children[0].outerText.toLowerCase().includes(term)))"
        ".map((row) => row.children[1].outerText).join(', ');",
        "",
    )


def product_price() -> str:
    """Price of the product of the page."""
    found = f"document.querySelector({_js(_PRICE)}).outerText.substr(1)"
    return _or(f"return parseFloat({found}) || 0;", 0)


def review_count() -> str:
    """How many reviews the product of the page has."""
    found = "document.querySelector('#tab-label-reviews-title').outerText.split(' ')[1]"
    return _or(f"return parseInt({found}) || 0;", 0)


def rating_percentage() -> str:
    """Rating of the product of the page."""
    found = "document.querySelector('.rating-result').title.replace('%', '')"
    return _or(f"return parseFloat({found}) || 0;", 0)


def latest_comment(username: str) -> str:
    """Text of the latest comment, or post, of a user on a post's page."""
    walk = (
        f"const walk = (node) => {{ if (node.username === {_js(username)}) take(node, node);"
        " node.children.forEach(walk); };"
    )
    return _walked(walk, "content")


def answered_user(username: str) -> str:
    """Who wrote what the latest comment of a user answers."""
    walk = (
        "const walk = (node) => node.children.forEach((child) =>"
        f" child.username === {_js(username)} ? take(node, child) : walk(child));"
    )
    return _walked(walk, "username")


def located(locator: str) -> str:
    """What a `document.…` locator gives, as text; empty where it throws."""
    return (
        f"(() => {{ try {{ const found = (() => {locator.strip().rstrip(';')})();"
        " return typeof found === 'number' ? String(found) : found ?? 'None';"
        " } catch (error) { return ''; } })()"
    )


def computed(expression: str) -> str:
    """What a `lambda:` locator gives; false where that is nothing, and where it throws."""
    return (
        f"(() => {{ try {{ const made = ({expression.strip().rstrip(';')});"
        " return (typeof made === 'function' ? made() : made) || false;"
        " } catch (error) { return false; } })()"
    )


def prepared(action: str) -> str:
    """A `prep_action`, whose failure changes nothing."""
    return f"(() => {{ try {{ {action} }} catch (error) {{}} }})()"


def pictured(selector: str) -> str:
    """The elements that a picture query looks for pictures in."""
    return f"[...document.querySelectorAll({_js(selector)})]"


def _walked(walk: str, field: str) -> str:
    start = "walk(read(document.querySelector('#main'), 0));"
    return _or(f"{_COMMENTS} {walk} {start} return found === null ? '' : found.{field};", "")


def _or(body: str, otherwise: str | int) -> str:
    return f"(() => {{ try {{ {body} }} catch (error) {{ return {_js(otherwise)}; }} }})()"


def _with_token(base: str, account: tuple[str, str], body: str) -> str:
    username, password = account
    said = json.dumps({"username": username, "password": password})
    slots = {"BASE": _js(base), "ACCOUNT": _js(said), "BODY": body}
    script = _fragment("with_token").strip()
    return re.sub(r"\b(?:BASE|ACCOUNT|BODY)\b", lambda slot: slots[slot[0]], script)


def _js(value: str | int | list[str]) -> str:
    return json.dumps(value)
