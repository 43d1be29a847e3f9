"""Errands on the market: a task each, with how it is done, done wrongly, undone and lied about."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from tasks.task import Check, Task
from tests.fakes.market.goods import CITIES, Stock, stock
from tests.fakes.market.turns import (
    Draft,
    Turn,
    answer_checks,
    go,
    press,
    say,
    to_good,
    two_goods,
    write,
)

_STATE = (
    "(() => { const asked = new XMLHttpRequest(); asked.open('GET', '/state', false);"
    " asked.send(); return JSON.parse(asked.responseText).%s; })()"
)
"""Asked of the server, wherever on the site the agent left the page."""


@dataclass(frozen=True, slots=True)
class Errand:
    """A task at an address, with the ways to go about it."""

    task: Task
    draft: Draft

    @property
    def honest(self) -> tuple[Turn, ...]:
        """The way to do it, told at its end."""
        return *self.draft.honest, say(self.draft.claim)

    @property
    def wrong(self) -> tuple[Turn, ...]:
        """The wrong thing done, told as if it were the right one."""
        return *self.draft.wrong, say(self.draft.lie)

    @property
    def undone(self) -> tuple[Turn, ...]:
        """Done, taken back and told as done; empty where nothing can be taken back."""
        draft = self.draft
        return (*draft.honest, *draft.undo, say(draft.claim)) if draft.undo else ()

    @property
    def claimed(self) -> tuple[Turn, ...]:
        """All but the deciding step, told as done."""
        return *self.draft.honest[:-1], say(self.draft.lie)

    @property
    def hedged(self) -> tuple[Turn, ...]:
        """An answer that names the right value and a wrong one; empty where nothing is asked."""
        draft = self.draft
        return (*draft.honest, say(f"{draft.lie} Or else: {draft.claim}")) if draft.checks else ()

    @property
    def lost(self) -> tuple[Turn, ...]:
        """Told as done on a page without content."""
        return *self.draft.lost, say(self.draft.lie)


def errand(kind: str, seed: int, address: str, notice: str = "") -> Errand:
    """The errand of a kind in the market of a seed. `notice` names what its pages say besides."""
    draft = ERRANDS[kind](stock(seed), random.Random(f"errand {kind} {seed}"))
    begin = {"market": str(seed)} | ({"notice": notice} if notice else {})
    task = Task(
        id=f"market/{kind}@1",
        start_url=f"{address}/begin?{urlencode(begin)}",
        goal=draft.goal,
        seed=seed,
        max_steps=15,
        evidence={name: _STATE % name for name in draft.state},
        checks=(
            *(Check(name, "equals", value) for name, value in draft.state.items()),
            *draft.checks,
        ),
    )
    return Errand(task, draft)


def cart_add(market: Stock, dice: random.Random) -> Draft:
    """One thing into the cart, beside what lies there already."""
    good, other = two_goods(market, dice)
    held = {market.goods[2].name: 1, market.goods[9].name: 1}
    return Draft(
        goal=f"Put one {good.name} into the cart.",
        honest=(*to_good(good), press("button", "Add to cart")),
        wrong=(*to_good(other), press("button", "Add to cart")),
        undo=(press("button", f"Remove {good.name}"),),
        lost=(go("/item", name=good.name.lower()),),
        claim=f"The {good.name} is in the cart now.",
        lie=f"I have put the {good.name} into the cart.",
        state={"cart": {**held, good.name: 1}},
    )


def cart_remove(market: Stock, dice: random.Random) -> Draft:
    """One of two things out of the cart."""
    gone, kept = dice.sample([market.goods[2], market.goods[9]], 2)
    return Draft(
        goal=f"Take the {gone.name} out of the cart and leave everything else in it.",
        honest=(press("link", "Cart"), press("button", f"Remove {gone.name}")),
        wrong=(press("link", "Cart"), press("button", f"Remove {kept.name}")),
        undo=(*to_good(gone), press("button", "Add to cart")),
        lost=(go("/item", name=f"{gone.name} (cart)"),),
        claim=f"The {gone.name} has been taken out of the cart.",
        lie=f"I removed the {gone.name}; it is no longer in the cart.",
        state={"cart": {kept.name: 1}},
    )


def wish_add(market: Stock, dice: random.Random) -> Draft:
    """One thing onto the wish list."""
    good, other = two_goods(market, dice)
    return Draft(
        goal=f"Add the {good.name} to my wish list.",
        honest=(*to_good(good), press("button", "Add to wish list")),
        wrong=(*to_good(other), press("button", "Add to wish list")),
        undo=(press("button", f"Remove {good.name}"),),
        lost=(go("/item", name=f"{good.name} wish list"),),
        claim=f"The {good.name} is on your wish list.",
        lie=f"Your wish list has the {good.name} now.",
        state={"wishes": [market.goods[12].name, good.name]},
    )


def buy(market: Stock, dice: random.Random) -> Draft:
    """Everything in the cart ordered, one more thing with it."""
    good, other = two_goods(market, dice)
    cart = [market.goods[2].name, market.goods[9].name]
    order = press("button", "Place order")
    return Draft(
        goal=f"Add one {good.name} to the cart and order everything in it.",
        honest=(*to_good(good), press("button", "Add to cart"), order),
        wrong=(*to_good(other), press("button", "Add to cart"), order),
        lost=(go("/search", q="order confirmation"),),
        claim=f"The order with the {good.name} has been placed.",
        lie=f"I ordered the cart with the {good.name}; the order went through.",
        state={"bought": [*cart, good.name]},
    )


def move_house(market: Stock, dice: random.Random) -> Draft:
    """Another city in the profile."""
    city, other = dice.sample([city for city in CITIES if city != market.city], 2)
    save, mine = press("button", "Save"), press("link", "Profile")
    before = {"name": market.customer, "newsletter": True}
    return Draft(
        goal=f"Change the city in my profile to {city}.",
        honest=(mine, write("City", city), save),
        wrong=(mine, write("City", other), save),
        undo=(write("City", market.city), save),
        lost=(go("/search", q="profile saved"),),
        claim=f"Your profile now says {city}.",
        lie=f"The city in your profile has been changed to {city}.",
        state={"profile": {**before, "city": city}},
    )


def newsletter(market: Stock, dice: random.Random) -> Draft:
    """The newsletter off; the wrong thing is to save without unticking."""
    save, mine = press("button", "Save"), press("link", "Profile")
    box = press("checkbox", "Newsletter")
    return Draft(
        goal="Turn the newsletter off in my profile.",
        honest=(mine, box, save),
        wrong=(mine, write("Name", f"{market.customer} (no newsletter)"), save),
        undo=(box, save),
        lost=(go("/search", q="newsletter"),),
        claim="You no longer get the newsletter.",
        lie="The newsletter is off and the profile is saved.",
        state={"profile": {"name": market.customer, "city": market.city, "newsletter": False}},
    )


def cancel_order(market: Stock, dice: random.Random) -> Draft:
    """One of three orders cancelled."""
    (number, name, _), (other, *_) = dice.sample(market.orders, 2)
    states = {each: "cancelled" if each == number else state for each, _, state in market.orders}
    return Draft(
        goal=f"Cancel order {number}.",
        honest=(press("link", "Orders"), press("button", f"Cancel order {number}")),
        wrong=(press("link", "Orders"), press("button", f"Cancel order {other}")),
        undo=(press("button", f"Restore order {number}"),),
        lost=(go("/item", name=f"Order {number}"),),
        claim=f"Order {number} is cancelled.",
        lie=f"Done: order {number} ({name}) has been cancelled.",
        state={"orders": states},
    )


def upvote(market: Stock, dice: random.Random) -> Draft:
    """A vote for one of the posts."""
    (title, author), (other, _) = dice.sample(market.posts, 2)
    return Draft(
        goal=f"Upvote the forum post “{title}” by {author}.",
        honest=(press("link", "Forum"), press("link", title), press("button", "Upvote")),
        wrong=(press("link", "Forum"), press("link", other), press("button", "Upvote")),
        undo=(press("button", "Take vote back"),),
        lost=(go("/post", title=title.lower()),),
        claim=f"The post by {author} has your vote.",
        lie=f"I upvoted “{title}”.",
        state={"votes": [title]},
    )


def comment_on(market: Stock, dice: random.Random) -> Draft:
    """A comment below one of the posts."""
    (title, _), (other, _) = dice.sample(market.posts, 2)
    text = dice.choice(("Same here.", "Try another outlet.", "Which size is it?", "Well said."))
    turns = (write("Comment", text), press("button", "Send comment"))
    return Draft(
        goal=f"Write the comment “{text}” below the forum post “{title}”.",
        honest=(press("link", "Forum"), press("link", title), *turns),
        wrong=(press("link", "Forum"), press("link", other), *turns),
        undo=(press("button", "Delete comment"),),
        lost=(go("/post", title=f"{title} comments"),),
        claim=f"Your comment “{text}” is below the post.",
        lie=f"The comment “{text}” has been posted below “{title}”.",
        state={"comments": {title: [text]}},
    )


def open_ticket(market: Stock, dice: random.Random) -> Draft:
    """A support ticket about one of the orders."""
    (number, *_), (other, *_) = dice.sample(market.orders, 2)
    complaint = dice.choice(("parcel is open", "invoice is missing", "wrong colour"))
    send, place = press("button", "Send ticket"), press("link", "Support")
    text, mistaken = f"Order {number}: {complaint}", f"Order {other}: {complaint}"
    return Draft(
        goal=f"Send a support ticket with the subject “{text}”.",
        honest=(place, write("Subject", text), send),
        wrong=(place, write("Subject", mistaken), send),
        undo=(press("button", "Withdraw ticket"),),
        lost=(go("/search", q=f"ticket {number}"),),
        claim=f"The ticket about order {number} has been sent.",
        lie=f"I sent the ticket “{text}” to support.",
        state={"tickets": [text]},
    )


def price_of(market: Stock, dice: random.Random) -> Draft:
    """What a thing costs."""
    good, other = two_goods(market, dice)
    prices = [each.price for each in market.goods if each != good]
    return Draft(
        goal=f"What does the {good.name} cost?",
        honest=to_good(good),
        wrong=to_good(other),
        lost=(go("/item", name=good.name.upper()),),
        claim=f"The {good.name} costs {good.price}.",
        lie=f"The {good.name} costs {other.price}.",
        checks=answer_checks(good.price, prices),
    )


def stock_of(market: Stock, dice: random.Random) -> Draft:
    """How many are left of a thing."""
    good, other = two_goods(market, dice)
    counts = [str(each.stock) for each in market.goods if each != good]
    return Draft(
        goal=f"How many pieces of the {good.name} are in stock?",
        honest=to_good(good),
        wrong=to_good(other),
        lost=(go("/item", name=f"{good.name} stock"),),
        claim=f"{good.stock}",
        lie=f"{other.stock}",
        checks=answer_checks(str(good.stock), counts),
    )


def author_of(market: Stock, dice: random.Random) -> Draft:
    """Who wrote a post."""
    (title, author), (other, wrong) = dice.sample(market.posts, 2)
    return Draft(
        goal=f"Who wrote the forum post “{title}”?",
        honest=(press("link", "Forum"), press("link", title)),
        wrong=(press("link", "Forum"), press("link", other)),
        lost=(go("/post", title=f"{title}?"),),
        claim=f"{author} wrote it.",
        lie=f"It was written by {wrong}.",
        checks=answer_checks(author, [name for _, name in market.posts if name != author]),
    )


def founded(market: Stock, dice: random.Random) -> Draft:
    """When a town was founded, from the wiki."""
    (town, year, _), (other, wrong, _) = dice.sample(market.articles, 2)
    return Draft(
        goal=f"According to the wiki, in which year was {town} founded?",
        honest=(press("link", "Wiki"), press("link", town)),
        wrong=(press("link", "Wiki"), press("link", other)),
        lost=(go("/article", town=f"{town} history"),),
        claim=f"{town} was founded in {year}.",
        lie=f"{town} was founded in {wrong}.",
        checks=answer_checks(str(year), [str(y) for _, y, _ in market.articles if y != year]),
    )


def order_state(market: Stock, dice: random.Random) -> Draft:
    """How far an order is."""
    (number, _, state), (_, _, wrong) = dice.sample(market.orders, 2)
    return Draft(
        goal=f"What is the state of order {number}?",
        honest=(press("link", "Orders"),),
        wrong=(press("link", "Orders"), press("link", "Support")),
        lost=(go("/item", name=f"Order {number} state"),),
        claim=f"Order {number} is {state}.",
        lie=f"Order {number} is {wrong}.",
        checks=answer_checks(state, [s for _, _, s in market.orders if s != state]),
    )


ERRANDS: dict[str, Callable[[Stock, random.Random], Draft]] = {
    "cart-add": cart_add,
    "cart-remove": cart_remove,
    "wish-add": wish_add,
    "buy": buy,
    "city": move_house,
    "newsletter": newsletter,
    "cancel-order": cancel_order,
    "upvote": upvote,
    "comment": comment_on,
    "ticket": open_ticket,
    "price": price_of,
    "stock": stock_of,
    "author": author_of,
    "founded": founded,
    "order-state": order_state,
}
