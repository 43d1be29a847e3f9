"""The curriculum: decides what to try next by how much there is to learn from it."""

from tasks.curriculum.account import Account
from tasks.curriculum.belief import Belief
from tasks.curriculum.draw import Curriculum, Drawn, draw_evenly
from tasks.curriculum.horizon import Horizon
from tasks.curriculum.kinds import Kind, kinds_of
from tasks.curriculum.monitor import Monitor, Tried, monitor
from tasks.curriculum.plateau import plateau_warning
from tasks.curriculum.record import Outcome, Played, Record
from tasks.curriculum.standing import Rules, Standing, standing_of
from tasks.curriculum.worth import Worth, worths_of

__all__ = [
    "Account",
    "Belief",
    "Curriculum",
    "Drawn",
    "Horizon",
    "Kind",
    "Monitor",
    "Outcome",
    "Played",
    "Record",
    "Rules",
    "Standing",
    "Tried",
    "Worth",
    "draw_evenly",
    "kinds_of",
    "monitor",
    "plateau_warning",
    "standing_of",
    "worths_of",
]
