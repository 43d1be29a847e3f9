"""Episodes looked at closely: one step by step, two side by side, labels given by a person."""

from starlette.routing import BaseRoute

from recipes.view.pages import Pages


def routes(pages: Pages) -> list[BaseRoute]:
    """`/run/NAME/episode/ID` and what belongs to it; see `recipes/view/app.py`."""
    return []
