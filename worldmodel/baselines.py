"""Baselines for memory, and the accuracy of world models on a run's episodes, with intervals."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tasks.task import Json
from webagent.records import Ending
from worldmodel.accuracy import FIGURES, CopyPage, Tally, expect_all, summarize
from worldmodel.cases import Occasion
from worldmodel.knowable import KnowableLines
from worldmodel.prediction import Effect, Outcome, Prediction, Source, WorldModel
from worldmodel.recall import RememberedWorld
from worldmodel.transitions import Situation, Transition

_RESAMPLES = 100


@dataclass(slots=True)
class NearestPage:
    """Baseline: the page after the most similar remembered action, unchanged."""

    memory: RememberedWorld

    def learn(self, transitions: Iterable[Transition]) -> None:
        """Remember transitions."""
        self.memory.learn(transitions)

    def predict(self, situations: Sequence[Situation]) -> list[Prediction]:
        """Return the outcome of the most similar action."""
        predictions = []
        for situation in situations:
            page, cases = situation.observation, self.memory.recall(Occasion(situation))
            if not cases:
                unknown = Outcome(0.0, 0.5, 0.5)
                predictions.append(
                    Prediction(page, unknown, Effect.STAYS, None, 0.0, Source.UNKNOWN)
                )
                continue
            seen = cases[0][2].transition
            after = replace(seen.after, goal=page.goal)
            ending = seen.ending or (Ending.TASK_OVER if seen.after.over else None)
            moves = Effect.GOES if after.url != page.url else Effect.STAYS
            effect = Effect.ENDS if seen.ends else moves
            same = float(after.nodes == page.nodes)
            outcome = Outcome(float(seen.ends), same, float(seen.succeeded))
            predictions.append(Prediction(after, outcome, effect, ending, 0.5, Source.REMEMBERED))
        return predictions


def build_models(memory: RememberedWorld) -> dict[str, WorldModel]:
    """Return memory and its baselines, by name; they know what memory has learned."""
    return {
        "remembered": memory,
        "nearest": NearestPage(memory),
        "copying": CopyPage.most_frequent([case.transition for case in memory.cases]),
    }


async def compare_models(
    models: Mapping[str, WorldModel],
    memory: RememberedWorld,
    held: Sequence[Transition],
    at_once: int,
    on_done: Callable[[], None],
) -> dict[str, list[dict[str, Json]]]:
    """Return the rows of figures of models on transitions that memory has not learned; `at_once`
    and `on_done` are as for `expect_all`. Raises `ModelError` if a model that is asked fails.

    A row has the `figure`, its `value`, and `low` and `high` of its 95 % interval over episodes.
    """
    knowledge = KnowableLines()
    knowledge.learn(case.transition for case in memory.cases)
    figures = {}
    for name, model in models.items():
        measured = await expect_all(model, held, at_once, on_done)
        figures[name] = count_rows([one.tally(knowledge) for one in measured])
    return figures


def count_rows(tallies: Sequence[Tally]) -> list[dict[str, Json]]:
    """Return the rows of all figures, with bootstrap intervals over episodes."""
    whole = summarize(tallies)
    episodes: defaultdict[str, list[Tally]] = defaultdict(list)
    for one in tallies:
        episodes[one.episode].append(one)
    names, rng = list(episodes), np.random.default_rng(0)
    resampled: defaultdict[str, list[float]] = defaultdict(list)
    for _ in range(_RESAMPLES):
        picked = rng.integers(len(names), size=len(names))
        sample = [one for i in picked for one in episodes[names[int(i)]]]
        for figure, value in summarize(sample).items():
            if isinstance(value, float):
                resampled[figure].append(value)
    rows: list[dict[str, Json]] = []
    for figure in FIGURES:
        value, values = whole[figure], resampled[figure]
        low, high = np.quantile(values, (0.025, 0.975)) if values else (None, None)
        row = {"value": value, "low": low, "high": high}
        rounded = {k: None if each is None else round(float(each), 4) for k, each in row.items()}
        rows.append({"figure": figure, **rounded})
    return rows
