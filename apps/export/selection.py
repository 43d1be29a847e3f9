"""Which episodes of a run are exported, and what the frozen judge said of each."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from webagent.errors import SetupError
from webagent.records import Score
from webagent.store import EpisodeSummary, Store, Where


@dataclass(frozen=True, slots=True)
class Chosen:
    """An episode to be exported."""

    entry: EpisodeSummary
    scores: tuple[Score, ...]
    success: float | None
    """The frozen judge's headline score; None where it abstained or was not asked."""

    @property
    def succeeded(self) -> bool | None:
        """Whether the judge passed it; None where it did not say."""
        return None if self.success is None else self.success >= 0.5

    @property
    def imagined(self) -> bool:
        """Whether no real page was touched."""
        return self.entry.world == "imagined"


@dataclass(frozen=True, slots=True)
class Selection:
    """The episodes of an export, in the order of their plans."""

    real: tuple[Chosen, ...]
    imagined: tuple[Chosen, ...]
    left_out: Counter[str]
    """How many episodes were not taken, by reason."""


def select(
    store: Store, judge: str, where: Where, phases: Sequence[str], *, imagined: bool
) -> Selection:
    """The played episodes of these phases; no phase means all.

    Infrastructure failures and episodes under way say nothing about the agent and are never taken.
    Raises `SetupError` when others judged the run, but this judge did not.
    """
    scores = store.scores("played", **where)
    _check_judge(scores, judge)
    left_out = Counter(_untold(entry) for entry in store.entries("any", **where))
    left_out.pop("", None)
    real, dreamt = [], []
    for entry in store.entries("played", **where):
        if phases and entry.phase not in phases:
            left_out[f"of phase {entry.phase}"] += 1
            continue
        said = scores.get(entry.id, ())
        chosen = Chosen(entry, said, _headline(said, judge))
        if not chosen.imagined:
            real.append(chosen)
        elif imagined:
            dreamt.append(chosen)
        else:
            left_out["imagined"] += 1
    return Selection(tuple(real), tuple(dreamt), left_out)


def _untold(entry: EpisodeSummary) -> str:
    """Why nothing is told of an episode; empty where something is."""
    if entry.ending is None:
        return "under way"
    return "failed for a reason outside the agent" if entry.ending.is_infrastructure else ""


def _headline(scores: Sequence[Score], judge: str) -> float | None:
    said = (s.value for s in scores if s.name == "success" and s.evaluator.startswith(judge))
    return next(said, None)


def _check_judge(scores: Mapping[str, Sequence[Score]], judge: str) -> None:
    judges = {s.evaluator for said in scores.values() for s in said if s.name == "success"}
    if judges and not any(name.startswith(judge) for name in judges):
        raise SetupError(
            f"no episode has a `success` score by {judge!r}; the run was judged by"
            f" {', '.join(sorted(judges))}: name one of them with --judge"
        )
