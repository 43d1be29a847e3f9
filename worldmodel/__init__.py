"""What would happen: predicts what a page does when it is acted on."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from worldmodel.accuracy import Accuracy, CopyPage, measure
    from worldmodel.lookahead import Imagination, Reranked, Vote
    from worldmodel.model import Outcome, Situation, WorldModel
    from worldmodel.simulate import ImaginedWorld
    from worldmodel.transitions import Transition

__all__ = [
    "Accuracy",
    "CopyPage",
    "Imagination",
    "ImaginedWorld",
    "Outcome",
    "Reranked",
    "Situation",
    "Transition",
    "Vote",
    "WorldModel",
    "measure",
]

_PLACES = {
    "Accuracy": "accuracy",
    "CopyPage": "accuracy",
    "ImaginedWorld": "simulate",
    "Imagination": "lookahead",
    "Outcome": "model",
    "Reranked": "lookahead",
    "Situation": "model",
    "Transition": "transitions",
    "Vote": "lookahead",
    "WorldModel": "model",
    "measure": "accuracy",
}


def __getattr__(name: str) -> Any:
    """Return a public name, its module imported now: most of them load torch."""
    if name in _PLACES:
        return getattr(import_module(f"worldmodel.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
