"""What a market holds, made from a seed: goods, posts, articles, orders and a customer."""

import random
from dataclasses import dataclass

WOODS = ("Alder", "Birch", "Cedar", "Larch", "Maple", "Olive", "Walnut", "Willow")
GROUPS = {
    "lamps": ("desk lamp", "floor lamp", "wall lamp", "reading lamp", "night lamp"),
    "chairs": ("office chair", "garden chair", "rocking chair", "dining chair", "folding chair"),
    "kettles": ("tea kettle", "travel kettle", "camping kettle", "glass kettle", "steel kettle"),
}
COLOURS = ("black", "white", "green", "red", "blue", "grey")
PEOPLE = ("Ines", "Tomas", "Yuki", "Farah", "Oskar", "Leila", "Bruno", "Mette")
TOPICS = (
    "Which kettle for a small kitchen?",
    "My lamp flickers in the evening",
    "How to oil a wooden chair",
    "Delivery took three weeks",
    "A chair that folds flat",
    "Kettle whistles too early",
    "Replacement bulbs that fit",
    "Thanks for the quick repair",
)
TOWNS = ("Arnholt", "Bexmoor", "Castrel", "Dunwick", "Elverum", "Farnby")
RIVERS = ("Isel", "Marne", "Tove", "Wye", "Lech", "Avon")
CITIES = ("Ghent", "Turku", "Porto", "Graz", "Lyon", "Bergen", "Delft", "Trieste")
STATES = ("packed", "shipped", "on hold", "being repaired")


@dataclass(frozen=True, slots=True)
class Good:
    """Something for sale."""

    name: str
    group: str
    price: str
    colour: str
    stock: int


@dataclass(frozen=True, slots=True)
class Stock:
    """One market as it is before anybody acts; the same for the same seed."""

    goods: tuple[Good, ...]
    posts: tuple[tuple[str, str], ...]
    """Title and author."""
    articles: tuple[tuple[str, int, str], ...]
    """A town, the year it was founded and its river."""
    orders: tuple[tuple[str, str, str], ...]
    """Number, what was ordered and how far it is."""
    customer: str
    city: str

    def good(self, name: str) -> Good | None:
        """The good of that name, if there is one."""
        return next((good for good in self.goods if good.name == name), None)


def stock(seed: int) -> Stock:
    """The market of a seed."""
    dice = random.Random(f"market {seed}")
    prices = dice.sample(range(900, 9900, 10), 15)
    stocks = dice.sample(range(3, 60), 15)
    goods = []
    for group, nouns in GROUPS.items():
        woods = dice.sample(WOODS, 3)
        for noun in nouns:
            cents = prices.pop()
            name = f"{dice.choice(woods)} {noun}"
            price = f"${cents // 100}.{cents % 100:02}"
            goods.append(Good(name, group, price, dice.choice(COLOURS), stocks.pop()))
    numbers = dice.sample(range(2000, 9000), 3)
    ordered = dice.sample(goods, 3)
    states = dice.sample(STATES, 3)
    towns, rivers = dice.sample(TOWNS, 3), dice.sample(RIVERS, 3)
    years = dice.sample(range(1080, 1890), 3)
    return Stock(
        goods=tuple(goods),
        posts=tuple(zip(dice.sample(TOPICS, 4), dice.sample(PEOPLE, 4), strict=True)),
        articles=tuple(zip(towns, years, rivers, strict=True)),
        orders=tuple(
            (str(number), good.name, state)
            for number, good, state in zip(numbers, ordered, states, strict=True)
        ),
        customer=dice.choice(PEOPLE),
        city=dice.choice(CITIES),
    )
