"""Playing and scoring the episodes of a session."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from loop.executors.worker import OpenWorlds
from loop.jobs import ReportProgress
from loop.judging.scoring import OUTAGE
from loop.measurement.scoring import HEADLINE, LENIENT, EpisodeScorer
from webagent.browser.world import ViewerPictures
from webagent.errors import ModelError
from webagent.observation.variants import ObservationVariant
from webagent.policy.policy import Policy
from webagent.records import Ending, Trajectory
from webagent.rollout import OpenWorld, PlannedEpisode, StepBudget, collect
from webagent.store import Store

LENIENT_SCORE = "raw_positive"
_RETRIES = 2
"""Retries of an episode that failed because of the browser, site or model."""


@dataclass(frozen=True, slots=True)
class Player:
    """Where the episodes of a session are played, stored and reported."""

    store: Store
    report: ReportProgress
    open_worlds: OpenWorlds
    concurrency: int = 1
    """Episodes that are played at the same time."""
    variant: ObservationVariant | None = None
    """How pages are shown to the policy; None for lines of text."""
    stores_images: bool = False
    """Whether the policy or a judge looks at screenshots."""
    pictures: int = 0
    """Maximum number of screenshots stored for viewing alone, of evaluated episodes."""
    measuring: EpisodeScorer | None = None
    """The evaluation judge; None for the tasks' checks."""

    @property
    def open_world(self) -> OpenWorld:
        """Return real worlds for episodes of the tasks, including those on local sites."""
        return self.worlds(self.store.images.add)

    @property
    def measured_world(self) -> OpenWorld:
        """Return the same with screenshots of a number of pages for viewing."""
        keep, most = self.store.images.add, self.pictures
        return self.worlds(keep, ViewerPictures(keep, most) if most > 0 else None)

    def worlds(
        self, keep: Callable[[bytes], str], viewed: ViewerPictures | None = None
    ) -> OpenWorld:
        """Return the same with another folder for images, if any are used; screenshots for viewing
        alone go to `viewed`."""
        return self.open_worlds(keep, keep if self.stores_images else viewed, self.variant)


async def play_episodes(
    player: Player,
    plan: Sequence[PlannedEpisode],
    policy: Policy,
    stage: str,
    budget: StepBudget | None = None,
    earlier: int = 0,
) -> list[Trajectory]:
    """Play a plan in the browser and report progress; `earlier` episodes were played before on the
    same budget.

    Raises `ModelError` for a model that seems to be unavailable. Episodes that its model failed in
    an earlier session are retried.
    """
    played, lost, fresh = earlier, 0, 0
    steps = budget.spent if budget else 0
    before = set(player.store.ids("any"))
    failed, failure = _count_model_failures(player.store, plan), ""
    is_measured = bool(plan) and plan[0].provenance.phase == "evaluate"

    def seen(trajectory: Trajectory) -> None:
        nonlocal played, steps, lost, fresh, failure
        fresh += trajectory.id not in before
        is_lost = trajectory.ending is Ending.MODEL_FAILED and trajectory.id not in before
        lost = lost + 1 if is_lost else 0
        failure = trajectory.error if is_lost else failure
        if lost >= OUTAGE:
            raise ModelError(
                f"the model failed in the last {OUTAGE} episodes, the latest: {trajectory.error}"
            )
        played += 1
        steps += len(trajectory.steps)
        done = steps / budget.limit if budget and budget.limit else played / len(plan)
        player.report(stage, min(done, 1.0), f"{played} episodes, {steps} steps")

    episodes = await collect(
        plan,
        policy,
        player.measured_world if is_measured else player.open_world,
        concurrency=player.concurrency,
        recorder=player.store,
        budget_steps=budget,
        on_episode=seen,
        retries=_RETRIES + failed,
    )
    if len(plan) > 1 and lost and lost == fresh:
        raise ModelError(
            f"the model failed in every one of {lost} tries at {len(plan)} episodes, the latest:"
            f" {failure}"
        )
    return episodes


def _count_model_failures(store: Store, plan: Sequence[PlannedEpisode]) -> int:
    """Return the maximum number of times the model failed one of these episodes in earlier
    sessions."""
    places = {planned.provenance for planned in plan}
    arms = {(place.arm, place.repeat, place.round, place.phase) for place in places}
    counts = Counter(
        (arm, repeat, round, phase, entry.index)
        for arm, repeat, round, phase in arms
        for entry in store.entries(
            "finished",
            arm=arm,
            repeat=repeat,
            round=round,
            phase=phase,
            ending=[Ending.MODEL_FAILED],
        )
    )
    return max(counts.values(), default=0)


async def score_episodes(player: Player, episodes: Sequence[Trajectory]) -> list[float | None]:
    """Return the headline score of each episode; stored, with the lenient one where its task has
    it."""
    if player.measuring is not None:
        return list(await asyncio.gather(*map(player.measuring.give, episodes)))
    values = []
    for trajectory in episodes:
        headline = await HEADLINE(trajectory)
        player.store.score(trajectory.id, headline)
        if any(check.score == LENIENT_SCORE for check in trajectory.task.checks):
            player.store.score(trajectory.id, await LENIENT(trajectory))
        values.append(headline.value)
    return values
