"""A market with a forum, a wiki and customers' accounts, served with state of its own for each."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from html import escape
from http.cookies import SimpleCookie
from typing import Any, TypeAlias
from urllib.parse import parse_qs, urlencode

from tests.fakes.market.goods import GROUPS, Stock, stock
from tests.fakes.site import Handler, Reply, Request, Site


@dataclass(slots=True)
class Account:
    """What one visitor has changed; a fresh browser context is a new visitor."""

    stock: Stock
    banner: str
    banner_from: int = 1
    """Number of the page from which on the banner is shown."""
    seen: int = 0
    """Pages so far."""
    told: str = ""
    """Shown once, on the next page."""
    cart: dict[str, int] = field(default_factory=dict)
    wishes: list[str] = field(default_factory=list)
    votes: list[str] = field(default_factory=list)
    comments: dict[str, list[str]] = field(default_factory=dict)
    tickets: list[str] = field(default_factory=list)
    bought: list[str] = field(default_factory=list)
    orders: dict[str, str] = field(default_factory=dict)
    profile: dict[str, Any] = field(default_factory=dict)

    def state(self) -> dict[str, Any]:
        """All of it as JSON values."""
        names = ("cart", "wishes", "votes", "comments", "tickets", "bought", "orders", "profile")
        return {name: getattr(self, name) for name in names}


def new_account(seed: int, banner: str, banner_from: int) -> Account:
    """The account of a market as its visitor finds it."""
    market = stock(seed)
    return Account(
        market,
        banner,
        banner_from,
        cart={market.goods[2].name: 1, market.goods[9].name: 1},
        wishes=[market.goods[12].name],
        orders={number: state for number, _, state in market.orders},
        profile={"name": market.customer, "city": market.city, "newsletter": True},
    )


Page: TypeAlias = Callable[[Account, dict[str, str]], str]
FormHandler: TypeAlias = Callable[[Account, dict[str, str]], str]
"""Changes the account and says where to go."""


def front(account: Account, _: dict[str, str]) -> str:
    return "<h1>Market</h1>" + "".join(
        f"<p>{link('/shop', group.title(), group=group)}</p>" for group in GROUPS
    )


def shop(account: Account, asked: dict[str, str]) -> str:
    goods = [good for good in account.stock.goods if good.group == asked.get("group")]
    lines = (f"<li>{link('/item', g.name, name=g.name)} {g.price}</li>" for g in goods)
    return f"<h1>{escape(asked.get('group', '')).title()}</h1><ul>{''.join(lines)}</ul>"


def item(account: Account, asked: dict[str, str]) -> str:
    good = account.stock.good(asked.get("name", ""))
    if good is None:
        return ""
    return (
        f"<h1>{good.name}</h1><p>Price: {good.price}</p><p>Colour: {good.colour}</p>"
        f"<p>{good.stock} in stock</p>"
        + button("/cart/add", "Add to cart", name=good.name)
        + button("/wishes/add", "Add to wish list", name=good.name)
    )


def cart(account: Account, _: dict[str, str]) -> str:
    lines = "".join(
        f"<li>{count} x {name} {button('/cart/remove', f'Remove {name}', name=name)}</li>"
        for name, count in account.cart.items()
    )
    order = button("/cart/order", "Place order") if lines else "<p>The cart is empty.</p>"
    return f"<h1>Cart</h1><ul>{lines}</ul>{order}"


def wishes(account: Account, _: dict[str, str]) -> str:
    lines = "".join(
        f"<li>{name} {button('/wishes/remove', f'Remove {name}', name=name)}</li>"
        for name in account.wishes
    )
    return f"<h1>Wish list</h1><ul>{lines}</ul>"


def orders(account: Account, _: dict[str, str]) -> str:
    lines = []
    for number, name, _ in account.stock.orders:
        state = account.orders[number]
        undo = state == "cancelled"
        word = "Restore" if undo else "Cancel"
        push = button(f"/orders/{word.lower()}", f"{word} order {number}", number=number)
        lines.append(f"<li>Order {number}: {name}, {state} {push}</li>")
    bought = "".join(f"<li>New order: {name}</li>" for name in account.bought)
    return f"<h1>Orders</h1><ul>{''.join(lines)}{bought}</ul>"


def profile(account: Account, _: dict[str, str]) -> str:
    mine = account.profile
    ticked = "checked" if mine["newsletter"] else ""
    return (
        "<h1>Profile</h1><form method=post action=/profile/save>"
        f"<label>Name <input name=name value='{escape(mine['name'])}'></label>"
        f"<label>City <input name=city value='{escape(mine['city'])}'></label>"
        f"<label><input type=checkbox name=newsletter {ticked}> Newsletter</label>"
        "<button>Save</button></form>"
    )


def forum(account: Account, _: dict[str, str]) -> str:
    lines = (
        f"<li>{link('/post', title, title=title)} by {author}</li>"
        for title, author in account.stock.posts
    )
    return f"<h1>Forum</h1><ul>{''.join(lines)}</ul>"


def post(account: Account, asked: dict[str, str]) -> str:
    title = asked.get("title", "")
    author = dict(account.stock.posts).get(title)
    if author is None:
        return ""
    voted = title in account.votes
    vote = button("/post/vote", "Take vote back" if voted else "Upvote", title=title)

    def delete(text: str) -> str:
        return button("/post/delete", "Delete comment", title=title, text=text)

    comments = "".join(
        f"<li>{escape(text)} {delete(text)}</li>" for text in account.comments.get(title, [])
    )
    return (
        f"<h1>{escape(title)}</h1><p>Posted by {author}</p><p>{3 + voted} votes</p>{vote}"
        f"<ul>{comments}</ul><form method=post action=/post/comment>"
        f"<input type=hidden name=title value='{escape(title)}'>"
        "<label>Comment <input name=text></label><button>Send comment</button></form>"
    )


def wiki(account: Account, _: dict[str, str]) -> str:
    lines = (
        f"<li>{link('/article', town, town=town)}</li>" for town, _, _ in account.stock.articles
    )
    return f"<h1>Wiki</h1><ul>{''.join(lines)}</ul>"


def article(account: Account, asked: dict[str, str]) -> str:
    for town, year, river in account.stock.articles:
        if town == asked.get("town"):
            return f"<h1>{town}</h1><p>{town} lies on the {river}. It was founded in {year}.</p>"
    return ""


def withdraw(text: str) -> str:
    return button("/support/withdraw", "Withdraw ticket", text=text)


def support(account: Account, _: dict[str, str]) -> str:
    lines = "".join(f"<li>Ticket: {escape(text)} {withdraw(text)}</li>" for text in account.tickets)
    return (
        f"<h1>Support</h1><ul>{lines}</ul><form method=post action=/support/send>"
        "<label>Subject <input name=text></label><button>Send ticket</button></form>"
    )


def search(account: Account, asked: dict[str, str]) -> str:
    words = asked.get("q", "").casefold()
    found = [good for good in account.stock.goods if words in good.name.casefold()]
    lines = "".join(f"<li>{link('/item', g.name, name=g.name)} {g.price}</li>" for g in found)
    return f"<h1>Search</h1><ul>{lines}</ul>" if found else ""


PAGES: dict[str, Page] = {
    "/": front,
    "/shop": shop,
    "/item": item,
    "/cart": cart,
    "/wishes": wishes,
    "/orders": orders,
    "/profile": profile,
    "/forum": forum,
    "/post": post,
    "/wiki": wiki,
    "/article": article,
    "/support": support,
    "/search": search,
}
"""A page without content is sent without anything around it, as one that failed to load."""


def link(path: str, words: str, **query: str) -> str:
    return f'<a href="{path}?{escape(urlencode(query))}">{escape(words)}</a>'


def button(path: str, words: str, **fields: str) -> str:
    hidden = "".join(
        f'<input type=hidden name={name} value="{escape(value)}">' for name, value in fields.items()
    )
    return f"<form method=post action={path}>{hidden}<button>{escape(words)}</button></form>"


class Market:
    """The site and its visitors."""

    def __init__(self, site: Site, handlers: dict[str, FormHandler]) -> None:
        self.site = site
        self.banners: dict[str, tuple[str, int]] = {}
        """What pages can be made to say, and from the visitor's how manieth page on, by the name
        that a start address asks for."""
        self._accounts: dict[str, Account] = {}
        site.pages["/begin"] = self._begin
        site.pages["/state"] = self._state
        for path, page in PAGES.items():
            site.pages[path] = self._shown(page)
        for path, handler in handlers.items():
            site.pages[path] = self._done(handler)

    def _begin(self, request: Request) -> Reply:
        asked = {name: values[0] for name, values in request.query.items()}
        key = str(len(self._accounts))
        banner = self.banners.get(asked.get("notice", ""), ("", 1))
        self._accounts[key] = new_account(int(asked["market"]), *banner)
        return Reply(status=303, headers={"Location": "/", "Set-Cookie": f"visitor={key}; Path=/"})

    def _state(self, request: Request) -> Reply:
        account = self._account(request)
        state = account.state() if account else None
        return Reply(json.dumps(state), headers={"Content-Type": "application/json"})

    def _account(self, request: Request) -> Account | None:
        cookie = SimpleCookie(request.headers.get("cookie", "")).get("visitor")
        return self._accounts.get(cookie.value) if cookie else None

    def _shown(self, page: Page) -> Handler:
        def handle(request: Request) -> Reply:
            account = self._account(request)
            if account is None:
                return Reply("start at /begin", 403)
            body = page(account, {name: values[0] for name, values in request.query.items()})
            account.seen += 1
            banner = account.banner if account.seen >= account.banner_from else ""
            told, account.told = account.told, ""
            return Reply(_framed(body, told, banner) if body else "<!doctype html>")

        return handle

    def _done(self, handler: FormHandler) -> Handler:
        def handle(request: Request) -> Reply:
            account = self._account(request)
            if account is None or request.method != "POST":
                return Reply("a form is sent here", 403)
            given = {name: values[0] for name, values in parse_qs(request.body).items()}
            return Reply(status=303, headers={"Location": handler(account, given)})

        return handle


def _framed(body: str, told: str, banner: str) -> str:
    places = ("cart", "wishes", "orders", "profile", "forum", "wiki", "support")
    menu = " ".join(link(f"/{place}", place.title()) for place in places)
    said = f"<p role=status>{escape(told)}</p>" if told else ""
    shop_link = '<a href="/">Market</a>'
    return (
        "<!doctype html><title>Market</title><link rel=icon href='data:,'>"
        f"<nav>{shop_link} {menu}</nav>{banner}{said}<main>{body}</main>"
    )


@asynccontextmanager
async def serving_market(handlers: dict[str, FormHandler]) -> AsyncIterator[Market]:
    """A market that is open for as long as the block runs."""
    site = Site()
    market = Market(site, handlers)
    await site.open()
    try:
        yield market
    finally:
        await site.close()
