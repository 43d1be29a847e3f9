"""Published recipes as settings of `webagent improve`, each with what is missing here.

docs/presets.md lists for each what follows the publication, what differs and why.
"""

from collections.abc import Mapping
from functools import partial

from loop.flat import compose
from loop.policies import ModelChoice
from loop.settings import ImproveConfig

_WEIGHTS = partial(
    compose,
    ImproveConfig,
    policy="local:",  # whose weights, the reader says
    arms=("none", "self"),
    demonstrations=0,
)

PRESETS = {
    "demo": compose(
        ImproveConfig,
        preset="demo",
        benchmark="demo",
        demonstrations=0,
        rounds=5,
        steps=160,
        round_tokens=30_000,
        evaluate=6,
        view=True,
    ),
    "webevolver": compose(
        ImproveConfig,
        preset="webevolver",
        policy="local:",
        arms=("none", "control", "self", "imagined", "lookahead"),
        rounds=3,
        judge="judge:agentrewardbench",
        horizon=7,
        imagined_share=0.5,
        world="policy",
        world_modelling=True,
        depth=2,
    ),
    "pae": _WEIGHTS(
        preset="pae",
        observation="set-of-marks",
        images=True,
        judge="judge:pae",
        proposer="endpoint",
        steps=10_240,
        objective="sft",
        lora=16,
        learning_rate=2e-5,
    ),
    "webrl": _WEIGHTS(
        preset="webrl",
        arms=("none", "control", "self"),
        observation="html",
        demonstrations=3,
        proposer="failures",
        proposals_solved_by="policy",
        judge="reward",
        objective="grpo",
        samples=4,
        replay=True,
        learning_rate=1e-6,
    ),
    "go-browse": _WEIGHTS(
        preset="go-browse",
        rounds=1,
        proposer="endpoint",
        proposals_solved_by="proposer",
        objective="sft",
        images=False,
    ),
    "early-experience": _WEIGHTS(
        preset="early-experience",
        arms=("none", "control", "self"),
        rounds=1,
        demonstrations=3,
        objective="sft",
        world_modelling=True,
    ),
}

LACKING: Mapping[str, tuple[str, ...]] = {
    "webevolver": (
        "policy and world model share their weights; those behind an endpoint are not trained",
        "dreams begin on real pages, and no world model is prompted to let a task succeed",
    ),
    "pae": ("tasks are proposed from pages that were visited, ten a round unless --propose says",),
    "webrl": (
        "the policy follows advantages within groups of episodes (`grpo`), not the published"
        " regression on a critic's",
        "no critic tells which new tasks are worth trying: the policy has to solve them in one of"
        " three tries",
        "demonstrations are not replayed, only own successes by their perplexity",
        "the outcome reward model reads the last page as text and judges only tasks without checks:"
        " it is trained each round on what checks decided, not before the first one",
    ),
    "go-browse": (
        "pages are visited along links of kinds not seen yet, without a graph of the site",
        "nothing is learnt from a stronger model unless its run is named with --demonstrated",
    ),
    "early-experience": (
        "what actions lead to is learnt from whole tries of its own, none of them branched off at a"
        " demonstrated state",
        "nothing is reflected on (the other of the two published objectives)",
        "own successes are imitated as well, by the verdicts that the loop goes by; the published"
        " one sees none",
    ),
}
"""What each preset is missing from the published system, in sentences that the summary repeats."""


def describe_lacking(config: ImproveConfig) -> list[str]:
    """Return what a run's preset is missing, and whether its judge is no other model than its
    policy, in sentences; empty if nothing is missing."""
    lacking, judging = list(LACKING.get(config.preset, ())), []
    if config.judges_ask and ModelChoice.named(config.judging.judge_model) == config.model:
        judging.append(
            "the judge's model is the policy's own, which passes mistakes that it makes itself;"
            " --judge-model names another"
        )
    if config.preset and config.learner == "endpoint":
        lacking.append(
            "nobody here can train the weights behind an endpoint: the policy is shown examples and"
            f" rules in place of --objective {config.weights.objective}"
        )
    return [*judging, *(f"preset {config.preset}: {sentence}" for sentence in lacking)]
