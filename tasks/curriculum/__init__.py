"""The curriculum: decides what to try next by how much there is to learn from it."""

from tasks.curriculum.estimates import (
    Belief,
    Rules,
    TaskEstimate,
    TaskKind,
    TaskStanding,
    estimate_tasks,
    find_kinds,
    find_standing,
)
from tasks.curriculum.monitor import (
    Monitor,
    MonitoredTry,
    measure_round,
    plateau_warning,
    scale_exploration,
)
from tasks.curriculum.record import RoundRecord, TaskRecord, TryOutcome
from tasks.curriculum.sampling import Curriculum, Explanation, Horizon, SampledTask, sample_evenly

__all__ = [
    "Belief",
    "Curriculum",
    "Explanation",
    "Horizon",
    "Monitor",
    "MonitoredTry",
    "RoundRecord",
    "Rules",
    "SampledTask",
    "TaskEstimate",
    "TaskKind",
    "TaskRecord",
    "TaskStanding",
    "TryOutcome",
    "estimate_tasks",
    "find_kinds",
    "find_standing",
    "measure_round",
    "plateau_warning",
    "sample_evenly",
    "scale_exploration",
]
