"""Exploration as a source of proposals: a site gone through frontier first, told backwards, proven.

After Go-Browse (arXiv 2506.03533), NNetNav (2410.02907), Learn-by-Interact (2501.10893) and CuES
(2512.01311), with structure in place of a language model wherever none is given.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from loop.proposers.explorer import (
    ExplorationAim,
    Explorer,
    ObservedTransition,
    Surprise,
    by_novelty,
    by_prediction,
    find_offer,
)
from loop.proposers.frontier import UNKNOWN_PATH, Frontier, PageDescription, PageNode
from loop.proposers.goals import (
    FormSubmission,
    GoalWriter,
    GrammarWriter,
    ModelWriter,
    PageFact,
    PageVisit,
)
from loop.proposers.labelled_tasks import rehearse, write_proposal
from loop.proposers.labelling import (
    Pruning,
    TaskCandidate,
    find_candidates,
    find_page_after,
    restore_detours,
)
from loop.proposers.page_forms import describe_page, find_menu, is_in_menu
from loop.proposers.records import ProposalRecord, SolveResult
from loop.proposers.settings import ProposeConfig
from loop.proposers.site import ProposalSite
from loop.proposers.sources import SourceResult
from loop.proposers.territory import Territory
from loop.proposers.verification import EpisodePlayer, PlannedPlay, verify_proposals
from tasks.proposal import Proposal
from webagent.action.actions import Click
from webagent.errors import SetupError, WorldError
from webagent.models.model import Model
from webagent.policy.policy import Policy
from webagent.records import Provenance, Trajectory

GOAL = (
    "Explore this site: go where you have not been, fill in forms with plausible values and send"
    " them, and see what comes of it. Nothing in particular is to be achieved."
)


@dataclass(frozen=True, slots=True)
class ExplorationSettings:
    """How much and how."""

    steps: int = 300
    """Real steps of exploration; what rehearsals and proofs take is counted apart."""
    episode_steps: int = 10
    """Beyond the way to the page that an episode is sent to."""
    batch: int = 4
    """Episodes sent out together, before what they found is looked at."""
    most: int = 60
    """Candidates that are rehearsed."""
    most_opened: int = 6
    """Of them those that only go to a page."""
    most_read: int = 12
    """Of them questions."""
    curiosity: float = 1.0
    """How much surprise raises a page's priority; 0: none."""
    pruning: Pruning = field(default_factory=Pruning)


@dataclass(frozen=True, slots=True)
class ExplorationRoles:
    """Who does what a model may do; each has a way without one."""

    explorer: Policy | None = None
    """Plays in place of the structured explorer; it begins on the page that it is sent to."""
    writer: GoalWriter = field(default_factory=GrammarWriter)
    surprise: Surprise | None = None
    """None: counts of what was done, and the source is `exploration`."""


@dataclass(slots=True)
class ExplorationResult:
    """What exploration has found."""

    frontier: Frontier
    episodes: list[Trajectory] = field(default_factory=list)
    surprises: list[tuple[float, ...]] = field(default_factory=list)
    """For each episode, by step."""
    steps: int = 0


async def explore(
    territory: Territory,
    player: EpisodePlayer,
    seed: int,
    settings: ExplorationSettings | None = None,
    roles: ExplorationRoles | None = None,
) -> ExplorationResult:
    """Send episodes to the frontier until the steps are spent.

    What is done follows from the seed and from what the site shows; with the player's recorder the
    same call goes on where it stopped. Raises `SetupError` for too few steps, `WorldError` when the
    worlds fail from the beginning.
    """
    settings, roles = settings or ExplorationSettings(), roles or ExplorationRoles()
    surprise = roles.surprise or by_novelty()
    found = ExplorationResult(Frontier(settings.curiosity))
    round = 0
    while found.steps < settings.steps:
        rng = np.random.default_rng([seed, round])
        nodes: list[PageNode | None] = [*found.frontier.choose(settings.batch, rng)] or [None]
        left = settings.steps - found.steps
        wanted = _plan_round(nodes, territory, found, settings, left, (seed, round, roles.explorer))
        if not wanted:
            if not found.episodes:
                raise SetupError(f"{settings.steps} steps are too few for one episode; give more")
            break
        episodes = await player.play(wanted, f"explore {round}")
        played = [episode for episode in episodes if episode is not None and episode.steps]
        if not played:
            if not found.episodes:
                raise WorldError(f"no episode of exploring could be played: {player.error}")
            break
        for episode in played:
            _record_episode(found, episode, territory, surprise)
        round += 1
    return found


async def propose_by_exploration(
    territory: Territory,
    player: EpisodePlayer,
    seed: int = 0,
    settings: ExplorationSettings | None = None,
    roles: ExplorationRoles | None = None,
) -> list[Proposal]:
    """Tasks of what an exploration of the site did, each proven or with why it is refused.

    The source is `curiosity` where the roles have a surprise, and then what surprised most comes
    first; else `exploration`. Raises `ModelError` when a model fails for good.
    """
    settings, roles = settings or ExplorationSettings(), roles or ExplorationRoles()
    found = await explore(territory, player, seed, settings, roles)
    is_curious = roles.surprise is not None
    chosen = select_candidates(found, seed, settings, by_surprise=is_curious)
    source = "curiosity" if is_curious else "exploration"
    return await write_and_verify(chosen, territory, player, roles.writer, source)


def select_candidates(
    found: ExplorationResult, seed: int, settings: ExplorationSettings, by_surprise: bool = False
) -> list[TaskCandidate]:
    """The prefixes that describe something new, at most so many."""
    pruning = replace(settings.pruning, kept=Counter())
    chosen = []
    for index, (episode, surprises) in enumerate(zip(found.episodes, found.surprises, strict=True)):
        rng = np.random.default_rng([seed, 7, index])
        chosen += find_candidates(episode, pruning, rng, surprises)
    if by_surprise:
        chosen.sort(key=lambda candidate: -candidate.surprise)
    settings.pruning.pruned = pruning.pruned
    titles = _group_titles(found)
    opened = [c for c in chosen if isinstance(c.page_actions[-1], PageVisit)]
    opened = [c for c in opened if len(titles[c.last.title]) == 1][: settings.most_opened]
    read = [c for c in chosen if isinstance(c.page_actions[-1], PageFact)]
    read = [c for c in read if len(titles[c.last.title]) == 1][: settings.most_read]
    done = [c for c in chosen if isinstance(c.page_actions[-1], FormSubmission)]
    return [*done[: settings.most - len(opened) - len(read)], *read, *opened]


def _group_titles(found: ExplorationResult) -> dict[str, set[str]]:
    """By title, the addresses of the pages that have it: one alone can be asked for by it."""
    titles: dict[str, set[str]] = {}
    for episode in found.episodes:
        for page in [s.observation for s in episode.steps] + (
            [episode.last] if episode.last else []
        ):
            titles.setdefault(page.title, set()).add(page.url.split("#")[0])
    return titles


async def write_and_verify(
    chosen: Sequence[TaskCandidate],
    territory: Territory,
    player: EpisodePlayer,
    writer: GoalWriter,
    source: str,
) -> list[Proposal]:
    """Candidates rehearsed, written, checked and proven; tasks of one goal once."""
    rehearsed = await rehearse(chosen, territory, player, f"rehearse {source}")
    failed = [place for place, each in enumerate(rehearsed) if each.objection and each.was_cut]
    whole = [restore_detours(rehearsed[place].candidate) for place in failed]
    again = await rehearse(whole, territory, player, f"rehearse {source} whole")
    for place, each in zip(failed, again, strict=True):
        rehearsed[place] = each
    proof_tasks = [await write_proposal(each, territory, writer, source) for each in rehearsed]
    known: set[str] = set()
    single = []
    for proof_task in proof_tasks:
        goal = proof_task.proposal.task.goal.casefold()
        if goal not in known or proof_task.proposal.refusals:
            single.append(proof_task)
        known.add(goal)
    open_ = [proof_task for proof_task in single if not proof_task.proposal.refusals]
    refused = [proof_task.proposal for proof_task in single if proof_task.proposal.refusals]
    return [*await verify_proposals(open_, player, f"prove {source}"), *refused]


def _plan_round(
    nodes: Sequence[PageNode | None],
    territory: Territory,
    found: ExplorationResult,
    settings: ExplorationSettings,
    left: int,
    by: tuple[int, int, Policy | None],
) -> list[PlannedPlay]:
    """The next episodes, each to its page, as far as their steps still fit."""
    seed, round, explorer = by
    wanted: list[PlannedPlay] = []
    for place, node in enumerate(nodes):
        number = round * settings.batch + place
        way = node.way if node is not None else ()
        steps = settings.episode_steps + (1 if way == UNKNOWN_PATH else len(way))
        if steps > left:
            break
        left -= steps
        task = territory.task("explore", GOAL, number, steps)
        if explorer is not None:
            start = node.url if node is not None else territory.start_url
            wanted.append(PlannedPlay(replace(task, start_url=start), explorer))
            continue
        aim = _choose_aim(node, found.frontier)
        policy = Explorer(seed, {number: aim}, territory.may_destroy)
        wanted.append(PlannedPlay(task, policy))
    return wanted


def _choose_aim(node: PageNode | None, frontier: Frontier) -> ExplorationAim:
    if node is None:
        return ExplorationAim()
    tried = Counter(frontier.links_tried)
    for each in frontier.nodes.values():
        tried.update({k: n for k, n in each.tried.items() if not k.startswith("link:")})
    return ExplorationAim(node.way, node.url, tried, node.link_yield)


def _record_episode(
    found: ExplorationResult, episode: Trajectory, territory: Territory, surprise: Surprise
) -> None:
    """Put an episode's pages into the frontier, with how they were come to."""
    way: list[str] | None = [] if episode.task.start_url == territory.start_url else None
    surprises = []
    is_home = episode.task.start_url == territory.start_url
    menu = find_menu(episode.steps[0].observation) if is_home else {}
    node = _record_page(found.frontier, episode, 0, way, territory)
    for index, step in enumerate(episode.steps):
        after = find_page_after(episode, index)
        if after is None:
            break
        before = step.observation
        moved = ObservedTransition(
            episode.steps[:index], before, step.decision.action, after, episode.id
        )
        surprises.append(surprise(moved))
        target = before.node(getattr(step.decision.action, "mark", 0))
        is_link = isinstance(step.decision.action, Click) and target and target.role == "link"
        if before.url != after.url:
            if is_link and target and is_in_menu(target, menu):
                way = [target.name]
            else:
                way = [*way, target.name] if way is not None and is_link and target else None
        known = len(found.frontier.nodes)
        here = _record_page(found.frontier, episode, index + 1, way, territory)
        if (offer := find_offer(before, step.decision.action)) and node is not None:
            is_new = len(found.frontier.nodes) > known
            found.frontier.note(node, offer, surprises[-1], is_new)
        node = here
    found.episodes.append(episode)
    found.surprises.append(tuple(surprises))
    found.steps += len(episode.steps)


def _record_page(
    frontier: Frontier, episode: Trajectory, index: int, way: list[str] | None, territory: Territory
) -> PageNode | None:
    """The node of the page at a step; None off the site."""
    page = episode.steps[index].observation if index < len(episode.steps) else episode.last
    if page is None or not page.url.startswith(_origin(territory.start_url)):
        return None
    seen: PageDescription = describe_page(
        page, way if way is not None else UNKNOWN_PATH, territory.may_destroy
    )
    return frontier.see(seen)[0]


def _origin(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}"


EXPLORING = ("exploration", "curiosity")


async def explore_for_proposals(
    source: str,
    place: ProposalSite,
    player: EpisodePlayer,
    config: ProposeConfig,
    model: Model | None = None,
) -> SourceResult:
    """What an exploration of so many steps came to; each proposal with its proof, or with why it
    was refused. With a model that writes the tasks down.

    Raises `SetupError` on a site that nobody puts back and no guard holds.
    """
    if not place.scope.is_reset and config.guard is None:
        raise SetupError(
            f"--source {source} fills in forms and sends them; on a site that is not reset it needs"
            " limits, give them with --guard"
        )
    player = replace(player, provenance=Provenance(arm=source))
    writer = ModelWriter(model) if model is not None else GrammarWriter()
    surprise = _choose_surprise(config) if source == "curiosity" else None
    roles = ExplorationRoles(writer=writer, surprise=surprise)
    settings = ExplorationSettings(steps=config.explore_steps, most=config.count)
    seed = 2 * config.seed + EXPLORING.index(source)  # each source goes its own ways
    made = await propose_by_exploration(build_territory(place), player, seed, settings, roles)
    return SourceResult(tuple(map(_build_record, made)))


def build_territory(place: ProposalSite) -> Territory:
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


def _choose_surprise(config: ProposeConfig) -> Surprise:
    if config.world is None:
        return by_novelty()
    from worldmodel.model import WorldModel

    return by_prediction(WorldModel.load(config.world))


def _build_record(proposal: Proposal) -> ProposalRecord:
    """The proposal under the names that proposals have, with what its own proof says."""
    solved = bool(proposal.solution)
    refused = [each.reason for each in proposal.refusals]
    proof = SolveResult(
        solved,
        1,
        proposal.solution,
        proposal.source,
        solved and bool(proposal.task.checks) and not refused,
        "; ".join(refused),
    )
    return ProposalRecord(proposal, proof=proof)
