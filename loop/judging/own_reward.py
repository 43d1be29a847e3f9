"""The run's own outcome reward model: what checks decide, and a model trained on that elsewhere."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluators.evaluator import FunctionEvaluator, Verdict
from loop.folder import RunFolder
from loop.measurement.scoring import HEADLINE, has_checks
from webagent.records import Trajectory

if TYPE_CHECKING:
    from evaluators.reward.language import LanguageReward

OWN_REWARD = "reward"
"""As --judge names it; the part of a round's weights where it lies, too."""


@dataclass(slots=True)
class OwnReward:
    """Judges the episodes of an arm.

    Where a real episode's task has checks, they decide. Any other episode is judged by the reward
    model that was trained after the latest round on what checks decided (as WebRL's is, arXiv
    2411.02337); before the first, nobody judges it.
    """

    folder: RunFolder
    arm: str
    repeat: int
    _round: int = 0
    _model: "LanguageReward | None" = None

    def evaluator(self) -> FunctionEvaluator:
        """Return the judge, which takes up the newest weights by itself."""
        return FunctionEvaluator("own_reward@1", "success", self._judge)

    async def _judge(self, trajectory: Trajectory) -> Verdict:
        if has_checks(trajectory.task) and not trajectory.provenance.imagined:
            found = await HEADLINE(trajectory)
            return Verdict(found.value, found.reason)
        places = self.folder.weights(self.arm, self.repeat, 0, "").parent
        trained = [int(each.parent.name) for each in places.glob(f"*/{OWN_REWARD}")]
        if (newest := max(trained, default=0)) != self._round:
            from evaluators.reward.language import LanguageReward
            from webagent.agent.actor import language_model

            await self.aclose()
            place = self.folder.weights(self.arm, self.repeat, newest, OWN_REWARD)
            self._model = LanguageReward(language_model(str(place), [OWN_REWARD]))
            self._round = newest
        if self._model is None or not trajectory.steps:
            return Verdict(None, "no checks, and no reward model that could judge it")
        chance = await self._model.probability(trajectory)
        reason = f"P(success) = {chance:.3f} after round {self._round}"
        return Verdict(float(chance >= 0.5), reason)

    async def aclose(self) -> None:
        """Give back the model's memory."""
        if self._model is not None:
            await self._model.model.close()
        self._round, self._model = 0, None
