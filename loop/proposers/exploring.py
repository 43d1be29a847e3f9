"""Exploration and curiosity as sources: a site gone through, and its tasks as lines."""

from dataclasses import replace

from loop.proposers.backward import Grammar
from loop.proposers.exploration import Territory
from loop.proposers.explore import Exploring, Roles, proposals
from loop.proposers.explore_surprise import Surprise, by_novelty, by_prediction
from loop.proposers.filters import Solving
from loop.proposers.label_model import ModelWriter
from loop.proposers.line import Line
from loop.proposers.place import Place
from loop.proposers.prove_stage import Stage
from loop.proposers.settings import ProposeConfig
from loop.proposers.sources import Proposed
from tasks.proposal import Proposal
from webagent.errors import SetupError
from webagent.models.model import Model
from webagent.records import Provenance

EXPLORING = ("exploration", "curiosity")


async def propose_by_exploring(
    source: str, place: Place, stage: Stage, config: ProposeConfig, model: Model | None = None
) -> Proposed:
    """What an exploration of so many steps came to; each proposal with its proof, or with why it
    was refused. With a model that writes the tasks down.

    Raises `SetupError` on a site that nobody puts back and no guard holds.
    """
    if not place.scope.is_reset and config.guard is None:
        raise SetupError(
            f"--source {source} fills in forms and sends them; on a site that is not reset it needs"
            " limits, give them with --guard"
        )
    stage = replace(stage, provenance=Provenance(arm=source))
    writer = ModelWriter(model) if model is not None else Grammar()
    surprise = _surprise(config) if source == "curiosity" else None
    roles = Roles(writer=writer, surprise=surprise)
    settings = Exploring(steps=config.explore_steps, most=config.count)
    seed = 2 * config.seed + EXPLORING.index(source)  # each source goes its own ways
    made = await proposals(territory_of(place), stage, seed, settings, roles)
    return Proposed(tuple(map(_line, made)))


def territory_of(place: Place) -> Territory:
    """The place as an explorer knows it."""
    scope, start = place.scope, place.start
    return Territory(
        scope.name,
        scope.address,
        scope.site,
        start.login,
        bool(scope.tables),
        start.clock,
        start.settle_ms,
    )


def _surprise(config: ProposeConfig) -> Surprise:
    if config.world is None:
        return by_novelty()
    from worldmodel.model import WorldModel

    return by_prediction(WorldModel.load(config.world))


def _line(proposal: Proposal) -> Line:
    """The proposal under the names that proposals have, with what its own proof says."""
    solved = bool(proposal.solution)
    refused = [each.reason for each in proposal.refusals]
    proof = Solving(
        solved,
        1,
        proposal.solution,
        proposal.source,
        solved and bool(proposal.task.checks) and not refused,
        "; ".join(refused),
    )
    return Line(proposal, proof=proof)
