"""Calls of the scorers' helper functions in a task file: parsed and looked up, never run."""

import ast
from collections.abc import Callable, Mapping
from typing import TypeAlias

from benchmarks.webarena.files import scripts
from benchmarks.webarena.files.schema import Entry

PREFIX = "func:"

OnPage: TypeAlias = Callable[..., str]
"""Arguments to the script that runs on the target's page."""

ON_PAGE: Mapping[str, tuple[OnPage, int]] = {
    "get_query_text": (scripts.query_text, 1),
    "get_query_text_lowercase": (scripts.query_text_lowercase, 1),
    "gitlab_get_project_memeber_role": (scripts.member_role, 1),
    "reddit_get_latest_comment_content_by_username": (scripts.latest_comment, 1),
    "reddit_get_parent_comment_username_of_latest_comment_by_username": (scripts.answered_user, 1),
    "shopping_get_num_reviews": (scripts.review_count, 0),
    "shopping_get_order_product_name_list": (scripts.ordered_names, 0),
    "shopping_get_order_product_option": (scripts.ordered_option, 2),
    "shopping_get_order_product_quantity": (scripts.ordered_quantity, 1),
    "shopping_get_product_attributes": (scripts.product_attributes, 1),
    "shopping_get_product_price": (scripts.product_price, 0),
    "shopping_get_rating_as_percentage": (scripts.rating_percentage, 0),
}
"""Helper to its script, and how many arguments it takes after the page."""

REVIEW_FIELDS: Mapping[str, str] = {
    "shopping_get_sku_latest_review_author": "nickname",
    "shopping_get_sku_latest_review_rating": "percent",
    "shopping_get_sku_latest_review_text": "detail",
}
"""Helper that asks the shop, to the field of a review that it gives."""

LATEST_ORDER = "shopping_get_latest_order_url"
POST_URL = "reddit_get_post_url"

_PAGE = "__page__"


def parse_call(entry: Entry, key: str) -> tuple[str, list[str]]:
    """Name and arguments of the call under the key, the page left out.

    Raises `UnreadableTasks` for what is not a call of texts.
    """
    wrong = entry.wrong(key, "a call of a helper, as func:get_query_text(__page__, '.title')")
    try:
        call = ast.parse(entry.text(key).removeprefix(PREFIX).strip(), mode="eval").body
    except SyntaxError as error:
        raise wrong from error
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.keywords:
        raise wrong
    arguments = []
    for argument in call.args:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            arguments.append(argument.value)
        elif not (isinstance(argument, ast.Name) and argument.id == _PAGE):
            raise wrong
    return call.func.id, arguments
