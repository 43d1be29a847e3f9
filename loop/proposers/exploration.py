"""Exploration as a source of proposals: a site gone through frontier first, told backwards, proven.

After Go-Browse (arXiv 2506.03533), NNetNav (2410.02907), Learn-by-Interact (2501.10893) and CuES
(2512.01311), with structure in place of a language model wherever none is given.
"""

from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np

from loop.proposers.explorer import (
    UNKNOWN_PATH,
    ExplorationAim,
    Explorer,
    Frontier,
    ObservedTransition,
    PageNode,
    Surprise,
    by_novelty,
    by_prediction,
    find_offer,
)
from loop.proposers.goals import (
    FormSubmission,
    GoalWriter,
    GrammarWriter,
    ModelWriter,
    PageFact,
    PageVisit,
)
from loop.proposers.labelled_tasks import rehearse, write_proposal
from loop.proposers.labelling import TaskCandidate, find_candidates, restore_detours
from loop.proposers.page_forms import describe_page, find_menu, is_in_menu
from loop.proposers.records import ProposalRecord, SolveResult, SourceResult
from loop.proposers.settings import ProposeConfig
from loop.proposers.site import ProposalSite
from loop.proposers.territory import Territory
from loop.proposers.verification import EpisodePlayer, PlannedPlay, verify_proposals
from tasks.task import TaskProposal
from webagent.action.actions import Click
from webagent.errors import SetupError, WorldError
from webagent.models.model import Model
from webagent.records import Observation, Provenance, Trajectory

GOAL = (
    "Explore this site: go where you have not been, fill in forms with plausible values and send"
    " them, and see what comes of it. Nothing in particular is to be achieved."
)


_EPISODE_STEPS = 10
"""Beyond the way to the page that an episode is sent to."""
_BATCH = 4
"""Episodes sent out together, before what they found is looked at."""
_MOST_OPENED, _MOST_READ = 6, 12
"""Candidates that only go to a page, and questions, at most."""


@dataclass(frozen=True, slots=True)
class ExplorationSettings:
    """How much is explored."""

    steps: int = 300
    """Real steps of exploration; what rehearsals and proofs take is counted apart."""
    most: int = 60
    """Candidates that are rehearsed."""


@dataclass(frozen=True, slots=True)
class ExplorationRoles:
    """Who writes the tasks down, and what is gone to first."""

    writer: GoalWriter = field(default_factory=GrammarWriter)
    surprise: Surprise | None = None
    """None: counts of what was done, and the source is `exploration`."""


@dataclass(slots=True)
class ExplorationResult:
    """What exploration has found."""

    frontier: Frontier = field(default_factory=Frontier)
    episodes: list[Trajectory] = field(default_factory=list)
    surprises: list[tuple[float, ...]] = field(default_factory=list)
    """For each episode, by step."""
    steps: int = 0


async def explore(
    territory: Territory,
    player: EpisodePlayer,
    seed: int,
    settings: ExplorationSettings = ExplorationSettings(),
    roles: ExplorationRoles = ExplorationRoles(),
) -> ExplorationResult:
    """Send episodes to the frontier until the steps are spent.

    What is done follows from the seed and from what the site shows; with the player's recorder the
    same call goes on where it stopped. Raises `SetupError` for too few steps, `WorldError` when the
    worlds fail from the beginning.
    """
    surprise = roles.surprise or by_novelty()
    found = ExplorationResult()
    round = 0
    while found.steps < settings.steps:
        left = settings.steps - found.steps
        wanted = _plan_round(territory, found.frontier, left, (seed, round))
        if not wanted:
            if not found.episodes:
                raise SetupError(f"{settings.steps} steps are too few for one episode; give more")
            break
        episodes = await player.play(wanted, f"explore {round}")
        played = [episode for episode in episodes if episode is not None and episode.steps]
        if not played:
            if not found.episodes:
                raise WorldError(f"no exploration episode could be played: {player.error}")
            break
        for episode in played:
            _record_episode(found, episode, territory, surprise)
        round += 1
    return found


async def propose_by_exploration(
    territory: Territory,
    player: EpisodePlayer,
    seed: int = 0,
    settings: ExplorationSettings = ExplorationSettings(),
    roles: ExplorationRoles = ExplorationRoles(),
) -> list[TaskProposal]:
    """Return tasks of what an exploration did, each proven or with why it is refused, each goal
    once.

    The source is `curiosity` where the roles have a surprise, and then what surprised most comes
    first; else `exploration`. Raises `ModelError` when a model fails for good.
    """
    found = await explore(territory, player, seed, settings, roles)
    is_curious = roles.surprise is not None
    chosen = _select_candidates(found, seed, settings.most, by_surprise=is_curious)
    source = "curiosity" if is_curious else "exploration"
    rehearsed = await rehearse(chosen, territory, player, f"rehearse {source}")
    failed = [place for place, each in enumerate(rehearsed) if each.objection and each.was_cut]
    whole = [restore_detours(rehearsed[place].candidate) for place in failed]
    again = await rehearse(whole, territory, player, f"rehearse {source} whole")
    for place, each in zip(failed, again, strict=True):
        rehearsed[place] = each
    known: set[str] = set()
    open_, refused = [], []
    for each in rehearsed:
        proof_task = await write_proposal(each, territory, roles.writer, source)
        goal = proof_task.proposal.task.goal.casefold()
        if proof_task.proposal.refusals:
            refused.append(proof_task.proposal)
        elif goal not in known:
            open_.append(proof_task)
        known.add(goal)
    return [*await verify_proposals(open_, player, f"prove {source}"), *refused]


def _select_candidates(
    found: ExplorationResult, seed: int, most: int, *, by_surprise: bool
) -> list[TaskCandidate]:
    """Return the prefixes that describe something new, at most so many."""
    kept: Counter[str] = Counter()
    chosen = []
    for index, (episode, surprises) in enumerate(zip(found.episodes, found.surprises, strict=True)):
        rng = np.random.default_rng([seed, 7, index])
        chosen += find_candidates(episode, kept, rng, surprises)
    if by_surprise:
        chosen.sort(key=lambda candidate: -candidate.surprise)
    urls: dict[str, set[str]] = {}
    for episode in found.episodes:
        last = [episode.last] if episode.last else []
        for page in [*(step.observation for step in episode.steps), *last]:
            urls.setdefault(page.title, set()).add(page.url.split("#")[0])
    # A page can be asked for by its title only where no other page has that.
    named = [c for c in chosen if len(urls[c.last.title]) == 1]
    opened = [c for c in named if isinstance(c.page_actions[-1], PageVisit)]
    read = [c for c in named if isinstance(c.page_actions[-1], PageFact)]
    opened, read = opened[:_MOST_OPENED], read[:_MOST_READ]
    done = [c for c in chosen if isinstance(c.page_actions[-1], FormSubmission)]
    return [*done[: most - len(opened) - len(read)], *read, *opened]


def _plan_round(
    territory: Territory, frontier: Frontier, left: int, seeds: tuple[int, int]
) -> list[PlannedPlay]:
    """Return the next episodes, each to its page, as far as their steps still fit.

    `seeds` are the exploration's and the number of the round.
    """
    seed, round = seeds
    rng = np.random.default_rng(seeds)
    tried = Counter(frontier.links_tried)
    for each in frontier.nodes.values():
        tried.update({k: n for k, n in each.tried.items() if not k.startswith("link:")})
    wanted: list[PlannedPlay] = []
    nodes: list[PageNode | None] = [*frontier.choose(_BATCH, rng)] or [None]
    for number, node in enumerate(nodes, round * _BATCH):
        way = node.way if node is not None else ()
        steps = _EPISODE_STEPS + (1 if way == UNKNOWN_PATH else len(way))
        if steps > left:
            break
        left -= steps
        task = territory.task("explore", GOAL, number, steps)
        aim = ExplorationAim(way, node.url, tried, node.link_yield) if node else ExplorationAim()
        wanted.append(PlannedPlay(task, Explorer(seed, {number: aim}, territory.may_destroy)))
    return wanted


def _record_episode(
    found: ExplorationResult, episode: Trajectory, territory: Territory, surprise: Surprise
) -> None:
    """Put an episode's pages into the frontier, with the links that lead to them."""
    is_home = episode.task.start_url == territory.start_url
    way: list[str] | None = [] if is_home else None
    menu = find_menu(episode.steps[0].observation) if is_home else {}
    surprises = []
    node = _record_page(found.frontier, episode.steps[0].observation, way, territory)
    for index, step in enumerate(episode.steps):
        after = episode.page_after(index)
        if after is None:
            break
        before, action = step.observation, step.decision.action
        moved = ObservedTransition(episode.steps[:index], before, action, after, episode.id)
        surprises.append(surprise(moved))
        target = before.node(getattr(action, "mark", 0))
        link = (
            target.name if isinstance(action, Click) and target and target.role == "link" else None
        )
        if before.url != after.url:
            if link is not None and target and is_in_menu(target, menu):
                way = [link]
            else:
                way = [*way, link] if way is not None and link is not None else None
        known = len(found.frontier.nodes)
        here = _record_page(found.frontier, after, way, territory)
        if (offer := find_offer(before, action)) and node is not None:
            is_new = len(found.frontier.nodes) > known
            found.frontier.note(node, offer, surprises[-1], is_new)
        node = here
    found.episodes.append(episode)
    found.surprises.append(tuple(surprises))
    found.steps += len(episode.steps)


def _record_page(
    frontier: Frontier, page: Observation, way: list[str] | None, territory: Territory
) -> PageNode | None:
    """Return the node of a page; None off the site."""
    scheme, _, rest = territory.start_url.partition("://")
    if not page.url.startswith(f"{scheme}://{rest.partition('/')[0]}"):
        return None
    return frontier.see(
        describe_page(page, way if way is not None else UNKNOWN_PATH, territory.may_destroy)
    )


EXPLORING = ("exploration", "curiosity")


async def explore_for_proposals(
    source: str,
    site: ProposalSite,
    player: EpisodePlayer,
    config: ProposeConfig,
    model: Model | None = None,
) -> SourceResult:
    """Return what an exploration came to, each proposal with its proof or why it was refused.

    `model` writes the tasks down; a grammar does without one. Raises `SetupError` on a site that
    nobody resets and no guard limits.
    """
    if not site.scope.is_reset and config.guard is None:
        raise SetupError(
            f"--source {source} fills in forms and sends them; on a site that is not reset it needs"
            " limits, give them with --guard"
        )
    player = replace(player, provenance=Provenance(arm=source))
    surprise = None
    if source == "curiosity" and config.world is not None:
        from worldmodel.network import NetworkWorld

        surprise = by_prediction(NetworkWorld.load(config.world))
    elif source == "curiosity":
        surprise = by_novelty()
    writer = ModelWriter(model) if model is not None else GrammarWriter()
    roles = ExplorationRoles(writer=writer, surprise=surprise)
    settings = ExplorationSettings(steps=config.explore_steps, most=config.count)
    # Each source has seeds of its own, so that both explore differently.
    seed = 2 * config.seed + EXPLORING.index(source)
    records = []
    for each in await propose_by_exploration(build_territory(site), player, seed, settings, roles):
        solved = bool(each.solution)
        why = "; ".join(refusal.reason for refusal in each.refusals)
        is_checked = solved and bool(each.task.checks) and not each.refusals
        proof = SolveResult(solved, 1, each.solution, each.source, is_checked, why)
        records.append(ProposalRecord(each, proof=proof))
    return SourceResult(tuple(records))


def build_territory(site: ProposalSite) -> Territory:
    """Return the site as an explorer knows it."""
    scope, start = site.scope, site.start
    return Territory(
        scope.name,
        scope.address,
        scope.site,
        start.login,
        bool(scope.tables),
        start.clock,
        start.settle_ms,
    )
