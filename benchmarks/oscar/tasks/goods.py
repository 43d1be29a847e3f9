"""Templates about the catalogue in the dashboard: prices, stock, products and categories."""

from dataclasses import replace
from random import Random

from benchmarks.oscar.site.catalogue import CATEGORIES, PARENTS, Product, decimal, products
from benchmarks.oscar.site.keys import category_key, product_key, record_key
from benchmarks.oscar.site.people import basket, orders, reviews, wishes
from benchmarks.oscar.tasks.template import (
    Case,
    Row,
    added,
    amount,
    changed,
    does,
    one,
    removed,
    sold,
    template,
)
from tasks.task import Check

RECORDS = "partner_stockrecord"
PRODUCTS = "catalogue_product"
_TREE = """SELECT above.name, below.name FROM catalogue_category below
LEFT JOIN catalogue_category above ON above.path = substr(below.path, 1, 4) AND above.depth = 1
WHERE below.depth > 1 AND below.is_public ORDER BY 1, 2"""
_NEW_CATEGORIES = ("Bowls", "Teapots", "Mirrors", "Doormats", "Candles", "Globes", "Kites", "Hats")
_NEW_PRODUCTS = ("Larch", "Osprey", "Tansy", "Birch", "Merlin", "Sorrel", "Bracken", "Plover")


def record(product: Product, price: int = -1, stock: int = -1) -> Row:
    """What is stored of the price and the stock of a product."""
    return {
        "id": record_key(product),
        "product_id": product_key(product),
        "partner_sku": f"W-{product.upc}",
        "price": amount(product.price if price < 0 else price),
        "num_in_stock": product.stock if stock < 0 else stock,
        "low_stock_threshold": 5,
    }


def shown(product: Product) -> Row:
    """What is stored of a product itself."""
    return {
        "id": product_key(product),
        "upc": product.upc,
        "title": product.title,
        "description": f"<p>{product.description}</p>",
        "is_public": 1,
        "is_discountable": 1,
        "priority": 0,
    }


@template("shop-set-price", "staff", 9, "dashboard", "search", "form")
def set_price(draw: Random) -> Case:
    """Another price."""
    product = sold(draw)[0]
    price = product.price + draw.choice((-95, -50, 45, 100, 155, 250))
    goal = one(
        draw,
        'Set the price of the "{}" to {} pounds.',
        'From today the "{}" costs {} pounds. Change it in the catalogue.',
    )
    rows = {RECORDS: changed((record(product), record(product, price)))}
    return does(goal.format(product.title, decimal(price)), rows)


@template("shop-set-stock", "staff", 9, "dashboard", "search", "form")
def set_stock(draw: Random) -> Case:
    """Another number in stock."""
    product = draw.choice([each for each in products() if not each.sizes])
    stock = draw.choice([each for each in range(10, 90) if each != product.stock])
    goal = one(
        draw,
        'We have counted {1} pieces of the "{0}": set the number in stock to that.',
        'Set the stock of the "{0}" to {1}.',
    )
    rows = {RECORDS: changed((record(product), record(product, stock=stock)))}
    return does(goal.format(product.title, stock), rows)


@template("shop-deliveries", "staff", 18, "dashboard", "search", "form", "compute", "long")
def deliveries(draw: Random) -> Case:
    """The stock of two products grows."""
    first, second = sold(draw, 2)
    more, again = draw.sample(range(5, 50), 2)
    goal = one(
        draw,
        'A delivery has come: {} more of the "{}" and {} more of the "{}". Add them to what is in'
        " stock of each.",
        'Book what has arrived: the stock grows by {} for the "{}" and by {} for the "{}".',
    )
    pairs = [
        (record(each), record(each, stock=each.stock + extra))
        for each, extra in ((first, more), (second, again))
    ]
    goal = goal.format(more, first.title, again, second.title)
    return does(goal, {RECORDS: changed(*pairs)})


@template("shop-rename", "staff", 8, "dashboard", "search", "form")
def rename(draw: Random) -> Case:
    """Another title."""
    product = sold(draw)[0]
    title = f"{draw.choice(_NEW_PRODUCTS)} {product.title.partition(' ')[2]}"
    goal = one(
        draw,
        'Rename the product "{}" to "{}". Nothing else about it changes.',
        'The "{}" has a new name: change its title to "{}".',
    )
    was = shown(product)
    pair = (was, {**was, "title": title})
    return does(goal.format(product.title, title), {PRODUCTS: changed(pair)})


@template("shop-hide", "staff", 8, "dashboard", "search", "form")
def hide(draw: Random) -> Case:
    """A product that customers do not see any more."""
    product = sold(draw)[0]
    goal = one(
        draw,
        'Take the "{}" out of the shop without deleting it: it must not be public any more.',
        'Make the product "{}" non-public, so that customers do not see it.',
    )
    was = shown(product)
    pair = (was, {**was, "is_public": 0})
    return does(goal.format(product.title), {PRODUCTS: changed(pair)})


@template("shop-delete", "staff", 8, "dashboard", "search", "confirm")
def delete(draw: Random) -> Case:
    """A product that is gone, with all that hangs on it; orders keep their lines."""
    held = {*(each.title for each, _ in basket()), *(each.title for each in wishes())}
    product = next(each for each in sold(draw, 8) if each.title not in held)
    goal = one(
        draw,
        'Delete the product "{}" from the catalogue.',
        'We do not sell the "{}" any more. Delete it in the dashboard.',
    )
    rows: dict[str, Row] = {
        PRODUCTS: removed({"id": product_key(product), "title": product.title}),
        RECORDS: removed({"id": record_key(product)}),
        "catalogue_productcategory": removed({"product_id": product_key(product)}),
        "catalogue_productimage": removed({"product_id": product_key(product)}),
        "catalogue_productattributevalue": removed(
            *({"product_id": product_key(product)} for _ in range(3))
        ),
    }
    told = [each for each in reviews() if each.product == product]
    if told:
        rows["reviews_productreview"] = removed(*({"title": each.title} for each in told))
    count = sum(product in dict(order.lines) for order in orders())
    if count:
        was: Row = {"product_id": product_key(product), "title": product.title}
        now: Row = {"product_id": None, "title": product.title}
        rows["order_line"] = changed(*[(was, now)] * count)
    return does(goal.format(product.title), rows)


@template("shop-new-category", "staff", 9, "dashboard", "form", "choose")
def new_category(draw: Random) -> Case:
    """A category below one of the first level."""
    name, parent = draw.choice(_NEW_CATEGORIES), draw.choice(PARENTS)
    goal = one(
        draw,
        'Create a category "{}" below "{}".',
        'We will sell something new: add the category "{}" as a child of "{}".',
    )
    case = does(goal.format(name, parent), {"may": ["catalogue_category"]})
    pairs = sorted([*((each.parent, each.name) for each in CATEGORIES), (parent, name)])
    whole = Check("tree", "equals", [[above, below] for above, below in pairs])
    return replace(case, checks=(*case.checks, whole), queries={"tree": _TREE})


@template("shop-new-product", "staff", 18, "dashboard", "form", "choose", "long")
def new_product(draw: Random) -> Case:
    """A product with category, price and stock."""
    category = draw.choice([each for each in CATEGORIES if each.name != "Shirts"])
    title = f"{draw.choice(_NEW_PRODUCTS)} {category.noun}"
    upc = str(draw.randint(90_000_000, 99_999_999))
    price = category.cheapest + draw.randrange(0, 2000, 5)
    stock = draw.randint(5, 80)
    goal = one(
        draw,
        'Create a product of the type Goods: title "{}", UPC "{}", category "{}". The partner'
        ' Warehouse has it under the SKU "{}", {} pieces at {} pounds.',
        'Add a new product to the catalogue (type Goods): "{}", with the UPC "{}", in the category'
        ' "{}". It comes from the partner Warehouse, SKU "{}"; {} are in stock, at {} pounds.',
    ).format(title, upc, category.name, f"W-{upc}", stock, decimal(price))
    rows: dict[str, Row] = {
        PRODUCTS: added({"title": title, "upc": upc, "structure": "standalone", "is_public": 1}),
        RECORDS: added({"partner_sku": f"W-{upc}", "price": amount(price), "num_in_stock": stock}),
        "catalogue_productcategory": added({"category_id": category_key(category.name)}),
    }
    return does(goal, rows)
