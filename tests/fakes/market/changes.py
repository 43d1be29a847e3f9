"""Tasks that change something on the market."""

import random

from tests.fakes.market.goods import CITIES, Stock
from tests.fakes.market.turns import Draft, go, press, to_good, two_goods, write


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
