"""`webagent view`: runs in a browser, as they are and while they go on."""

from recipes.view.command import ViewConfig, main

__all__ = ["ViewConfig", "main"]
