"""Fills a new database with what the shop begins with; run as a module."""

import os
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from benchmarks.oscar.site import catalogue, people
from benchmarks.oscar.site.catalogue import SIZES, Product, decimal
from benchmarks.oscar.site.people import EVERYONE, OPENED, ShopOrder

COUNTRIES = (("GB", "United Kingdom"), ("IE", "Ireland"), ("FR", "France"))
_ATTRIBUTES = (("colour", "text"), ("material", "text"), ("weight", "integer"))


def main() -> None:
    """Make the tables and all rows, in the folder that the settings name."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks.oscar.site.shop.settings")
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import transaction

    call_command("migrate", verbosity=0, interactive=False)
    with transaction.atomic():
        _Opening().run()


def _model(app: str, name: str) -> Any:
    from oscar.core.loading import get_model

    return get_model(app, name)


class _Opening:
    """Makes rows, and keeps those that later ones refer to."""

    def __init__(self) -> None:
        self.users: dict[str, Any] = {}
        self.records: dict[str, Any] = {}
        self.categories: dict[str, Any] = {}
        self.site: Any = None

    def run(self) -> None:
        """Everything, in the order in which rows refer to each other."""
        self.site = _model("sites", "Site").objects.get(pk=1)
        self.site.name = self.site.domain = "shop.test"
        self.site.save()
        for place, (code, name) in enumerate(COUNTRIES):
            _model("address", "Country").objects.create(
                iso_3166_1_a2=code,
                printable_name=name,
                name=name,
                display_order=len(COUNTRIES) - place,
                is_shipping_country=True,
            )
        self.partner = _model("partner", "Partner").objects.create(name="Warehouse")
        for name in ("Shipped", "Returned"):
            _model("order", "ShippingEventType").objects.create(name=name)
        for title, address in catalogue.PAGES:
            page = _model("flatpages", "FlatPage").objects.create(
                url=address, title=title, content=f"<p>{title}: ask us.</p>"
            )
            page.sites.add(self.site)
        tree = _model("catalogue", "Category")
        for name in catalogue.PARENTS:
            self.categories[name] = tree.objects.add_root({"name": name})
        for category in catalogue.CATEGORIES:
            parent = tree.objects.get(pk=self.categories[category.parent].pk)
            self.categories[category.name] = tree.objects.add_child(parent, {"name": category.name})
        self._products()
        self._promotions()
        self._people()
        for order in people.orders():
            self._order(order)
        table = _model("reviews", "ProductReview")
        products = _model("catalogue", "Product").objects
        for number, review in enumerate(people.reviews()):
            row = table.objects.create(
                product=products.get(upc=review.product.upc),
                user=self.users[review.author.email],
                score=review.score,
                title=review.title,
                body=review.body,
                status=1 if review.is_approved else 0,
            )
            table.objects.filter(pk=row.pk).update(
                date_created=OPENED + timedelta(days=number, hours=number % 9)
            )
            row.product.update_rating()
        self._baskets()
        # What was made now is dated as if it had been made when the shop opened.
        rows = _model("catalogue", "Product").objects
        for place, key in enumerate(rows.order_by("pk").values_list("pk", flat=True)):
            made = OPENED + timedelta(minutes=place)
            rows.filter(pk=key).update(date_created=made, date_updated=made)

    def _products(self) -> None:
        goods = _model("catalogue", "ProductClass").objects.create(name="Goods")
        for name, kind in _ATTRIBUTES:
            goods.attributes.create(name=name.capitalize(), code=name, type=kind)
        for product in catalogue.products():
            from django.core.files.base import ContentFile

            from benchmarks.oscar.site.shop.pictures import draw

            row = _model("catalogue", "Product")(
                structure="parent" if product.sizes else "standalone",
                upc=product.upc,
                title=product.title,
                description=f"<p>{product.description}</p>",
                product_class=goods,
                meta_description="",
            )
            row.attr.colour = product.colour
            row.attr.material = product.material
            row.attr.weight = product.weight
            row.save()
            row.categories.add(self.categories[product.category])
            picture = ContentFile(draw(product.title, product.colour), name=f"{product.upc}.png")
            _model("catalogue", "ProductImage").objects.create(product=row, original=picture)
            if not product.sizes:
                self._record(row, product.upc, product.price, product.stock)
            for place, (size, stock) in enumerate(zip(SIZES, product.sizes, strict=False)):
                child = _model("catalogue", "Product").objects.create(
                    structure="child",
                    parent=row,
                    upc=f"{product.upc}{place}",
                    title=size,
                    meta_description="",
                )
                self._record(child, f"{product.upc}{place}", product.price, stock)

    def _record(self, row: Any, upc: str, price: int, stock: int) -> None:
        self.records[upc] = _model("partner", "StockRecord").objects.create(
            product=row,
            partner=self.partner,
            partner_sku=f"W-{upc}",
            price=Decimal(decimal(price)),
            num_in_stock=stock,
            low_stock_threshold=5,
        )

    def _promotions(self) -> None:
        ranges = _model("offer", "Range").objects
        everything = ranges.create(name="Everything", includes_all_products=True)
        for title in catalogue.RANGES:
            ranges.create(name=title)
        for offer in catalogue.OFFERS:
            goods = ranges.create(name=f"All {offer.category}")
            goods.included_categories.add(self.categories[offer.category])
            state = "Open" if offer.is_open else "Suspended"
            self._offer(offer.name, goods, offer.percent, "Site", state)
        for voucher in catalogue.VOUCHERS:
            granted = self._offer(
                f"Offer for voucher '{voucher.name}'", everything, voucher.percent, "Voucher"
            )
            row = _model("voucher", "Voucher").objects.create(
                name=voucher.name,
                code=voucher.code,
                usage="Multi-use",
                start_datetime=datetime(2023, 1, 1, tzinfo=UTC),
                end_datetime=datetime(voucher.ends, 12, 31, tzinfo=UTC),
            )
            row.offers.add(granted)

    def _offer(self, name: str, goods: Any, percent: int, kind: str, status: str = "Open") -> Any:
        condition = _model("offer", "Condition").objects.create(range=goods, type="Count", value=1)
        benefit = _model("offer", "Benefit").objects.create(
            range=goods, type="Percentage", value=percent
        )
        return _model("offer", "ConditionalOffer").objects.create(
            name=name,
            description=f"{percent}% off.",
            offer_type=kind,
            status=status,
            condition=condition,
            benefit=benefit,
        )

    def _people(self) -> None:
        from django.contrib.auth.hashers import make_password

        password = make_password(people.PASSWORD, salt="lanternstreetshop00001")
        for at, person in enumerate(EVERYONE):
            user = _model("auth", "User").objects.create(
                username=person.email.partition("@")[0],
                email=person.email,
                first_name=person.first_name,
                last_name=person.last_name,
                is_staff=person.is_staff,
                is_superuser=person.is_staff,
                password=password,
                date_joined=OPENED + timedelta(minutes=at),
            )
            self.users[person.email] = user
            _model("analytics", "UserRecord").objects.create(
                user=user, num_orders=len(people.orders_of(person))
            )
            for at, home in enumerate(person.addresses):
                _model("address", "UserAddress").objects.create(
                    user=user, is_default_for_shipping=at == 0, phone_number=home.phone, **home.row
                )

    def _order(self, order: ShopOrder) -> None:
        buyer = self.users[order.buyer.email]
        shipping, charge = people.SHIPPING[order.shipping]
        address = _model("order", "ShippingAddress").objects.create(
            phone_number=order.buyer.addresses[0].phone, **order.buyer.addresses[0].row
        )
        basket = _model("basket", "Basket").objects.create(
            owner=buyer, status="Submitted", date_submitted=order.placed
        )
        row = _model("order", "Order").objects.create(
            number=order.number,
            basket=basket,
            user=buyer,
            site=self.site,
            currency="GBP",
            total_incl_tax=Decimal(decimal(order.total)),
            total_excl_tax=Decimal(decimal(order.total)),
            shipping_incl_tax=Decimal(decimal(charge)),
            shipping_excl_tax=Decimal(decimal(charge)),
            shipping_method=shipping,
            shipping_code=order.shipping,
            shipping_address=address,
            status=order.status,
            date_placed=order.placed,
        )
        for product, quantity in order.lines:
            self._line(row, product, quantity, order)

    def _line(self, row: Any, product: Product, quantity: int, order: ShopOrder) -> None:
        record = self.records[product.upc]
        each, total = Decimal(decimal(product.price)), Decimal(decimal(product.price * quantity))
        line = _model("order", "Line").objects.create(
            order=row,
            partner=self.partner,
            partner_name=self.partner.name,
            partner_sku=record.partner_sku,
            stockrecord=record,
            product=record.product,
            title=product.title,
            upc=product.upc,
            quantity=quantity,
            line_price_incl_tax=total,
            line_price_excl_tax=total,
            line_price_before_discounts_incl_tax=total,
            line_price_before_discounts_excl_tax=total,
            unit_price_incl_tax=each,
            unit_price_excl_tax=each,
            status=order.status,
            num_allocated=0,
        )
        line.prices.create(order=row, quantity=quantity, price_incl_tax=each, price_excl_tax=each)

    def _baskets(self) -> None:
        baskets = {
            person.email: _model("basket", "Basket").objects.create(
                owner=self.users[person.email], status="Open"
            )
            for person in EVERYONE
        }
        for product, quantity in people.basket():
            record = self.records[product.upc]
            baskets[people.SHOPPER.email].lines.create(
                line_reference=f"{record.product_id}_{record.pk}",
                product=record.product,
                stockrecord=record,
                quantity=quantity,
                price_currency="GBP",
                price_excl_tax=record.price,
                price_incl_tax=record.price,
            )
        wishes = _model("wishlists", "WishList").objects.create(
            owner=self.users[people.CUSTOMER.email], name=people.WISH_LIST, key="w15h35"
        )
        for product in people.wishes():
            wishes.lines.create(product=self.records[product.upc].product, title=product.title)


if __name__ == "__main__":
    main()
