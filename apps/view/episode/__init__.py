"""Episodes looked at closely: one step by step, two side by side, labels given by a person."""

from apps.view.episode.handlers import routes

__all__ = ["routes"]
