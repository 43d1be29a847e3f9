"""`webagent run`: one task done live, watched and steered by a person."""

from recipes.run.command import main

__all__ = ["main"]
