"""`webagent train-judge`: a reward model is taught by labelled episodes and measured."""

from loop.judge_training.settings import TrainJudgeSettings

__all__ = ["TrainJudgeSettings"]
