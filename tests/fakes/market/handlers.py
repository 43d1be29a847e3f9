"""What a visitor of the market can do: each changes the account and says which page comes next."""

from urllib.parse import urlencode

from tests.fakes.market.market import Account, FormHandler


def add_to_cart(account: Account, given: dict[str, str]) -> str:
    name = given["name"]
    account.cart[name] = account.cart.get(name, 0) + 1
    account.told = f"Added to the cart: {name}"
    return "/cart"


def remove_from_cart(account: Account, given: dict[str, str]) -> str:
    account.cart.pop(given["name"], None)
    account.told = f"Removed: {given['name']}"
    return "/cart"


def order(account: Account, _: dict[str, str]) -> str:
    account.bought.extend(account.cart)
    account.cart.clear()
    account.told = "Thank you for your order."
    return "/orders"


def add_wish(account: Account, given: dict[str, str]) -> str:
    if given["name"] not in account.wishes:
        account.wishes.append(given["name"])
    account.told = f"On the wish list: {given['name']}"
    return "/wishes"


def remove_wish(account: Account, given: dict[str, str]) -> str:
    account.wishes = [name for name in account.wishes if name != given["name"]]
    account.told = f"Removed: {given['name']}"
    return "/wishes"


def cancel(account: Account, given: dict[str, str]) -> str:
    account.orders[given["number"]] = "cancelled"
    account.told = "The order is cancelled."
    return "/orders"


def restore(account: Account, given: dict[str, str]) -> str:
    before = {number: state for number, _, state in account.stock.orders}
    account.orders[given["number"]] = before[given["number"]]
    account.told = "The order is restored."
    return "/orders"


def save_profile(account: Account, given: dict[str, str]) -> str:
    account.profile = {
        "name": given.get("name", ""),
        "city": given.get("city", ""),
        "newsletter": "newsletter" in given,
    }
    account.told = "Saved."
    return "/profile"


def vote(account: Account, given: dict[str, str]) -> str:
    title = given["title"]
    if title in account.votes:
        account.votes.remove(title)
    else:
        account.votes.append(title)
    return _post(title)


def comment(account: Account, given: dict[str, str]) -> str:
    account.comments.setdefault(given["title"], []).append(given.get("text", ""))
    return _post(given["title"])


def delete_comment(account: Account, given: dict[str, str]) -> str:
    account.comments[given["title"]].remove(given["text"])
    if not account.comments[given["title"]]:
        del account.comments[given["title"]]
    return _post(given["title"])


def send_ticket(account: Account, given: dict[str, str]) -> str:
    account.tickets.append(given.get("text", ""))
    account.told = "We have your ticket."
    return "/support"


def withdraw_ticket(account: Account, given: dict[str, str]) -> str:
    account.tickets.remove(given["text"])
    account.told = "The ticket is withdrawn."
    return "/support"


def _post(title: str) -> str:
    return f"/post?{urlencode({'title': title})}"


HANDLERS: dict[str, FormHandler] = {
    "/cart/add": add_to_cart,
    "/cart/remove": remove_from_cart,
    "/cart/order": order,
    "/wishes/add": add_wish,
    "/wishes/remove": remove_wish,
    "/orders/cancel": cancel,
    "/orders/restore": restore,
    "/profile/save": save_profile,
    "/post/vote": vote,
    "/post/comment": comment,
    "/post/delete": delete_comment,
    "/support/send": send_ticket,
    "/support/withdraw": withdraw_ticket,
}
