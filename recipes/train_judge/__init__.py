"""`webagent train-judge`: a reward model is taught by labelled episodes and measured."""

from recipes.train_judge.recipe import main
from recipes.train_judge.settings import TrainJudgeSettings

__all__ = ["TrainJudgeSettings", "main"]
