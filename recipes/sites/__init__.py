"""`webagent site`: the sites that tasks are played on, by hand."""

from recipes.sites.command import main

__all__ = ["main"]
