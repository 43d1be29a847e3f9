"""Search over the database itself, so that there is no index that could differ from it."""

from collections.abc import Iterator
from typing import Any

from django.db.models import OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from haystack.backends import BaseEngine, BaseSearchBackend, BaseSearchQuery, SearchNode
from haystack.models import SearchResult

_ORDERS = {"price": "_price", "rating": "rating", "date_created": "date_created"}
_ORDERS["title_exact"] = "title"


class DatabaseQuery(BaseSearchQuery):
    """Keeps the filters as they are; the backend makes them a query of the database."""

    def build_query(self) -> SearchNode:
        """Return the filters."""
        return self.query_filter

    def matching_all_fragment(self) -> str:
        """Return all products."""
        return ""


class DatabaseBackend(BaseSearchBackend):
    """Products that have every word that was asked for, in title, description or UPC."""

    def update(self, index: Any, iterable: Any, commit: bool = True) -> None:
        """Nothing to do: the database is the index."""

    def remove(self, obj_or_string: Any, commit: bool = True) -> None:
        """Nothing to do."""

    def clear(self, models: Any = None, commit: bool = True) -> None:
        """Nothing to do."""

    def search(
        self,
        query_string: SearchNode,
        sort_by: Any = None,
        start_offset: int = 0,
        end_offset: int | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Return the page of results from `start_offset` on, and how many there are in all."""
        from oscar.core.loading import get_model

        model = get_model("catalogue", "Product")
        found = model.objects.browsable().base_queryset()
        for name, value in _conditions(query_string):
            field = name.partition("__")[0]
            if field == "category":
                found = found.filter(categories__in=value)
            elif field == "content":
                for word in str(getattr(value, "query_string", value)).split():
                    says = Q(title__icontains=word) | Q(description__icontains=word)
                    found = found.filter(says | Q(upc__icontains=word))
        records = get_model("partner", "StockRecord").objects
        own = records.filter(product=OuterRef("pk")).values("price")[:1]
        of_sizes = records.filter(product__parent=OuterRef("pk")).values("price")[:1]
        fields = ["-" * each.startswith("-") + _ORDERS[each.lstrip("-")] for each in sort_by or ()]
        ordered = found.distinct().annotate(_price=Coalesce(Subquery(own), Subquery(of_sizes)))
        ordered = ordered.order_by(*fields, "title", "pk")
        results = []
        for product in ordered[start_offset:end_offset]:
            result = SearchResult("catalogue", "product", product.pk, 0)
            result._model, result._object = type(product), product
            results.append(result)
        return {"results": results, "hits": found.distinct().count()}


class DatabaseEngine(BaseEngine):
    """What the settings name."""

    backend = DatabaseBackend
    query = DatabaseQuery


def _conditions(node: SearchNode) -> Iterator[tuple[str, Any]]:
    for child in node.children:
        if isinstance(child, SearchNode):
            yield from _conditions(child)
        else:
            yield child
