"""Exploration as a source of proposals: a site gone through frontier first, told backwards, proven.

After Go-Browse (arXiv 2506.03533), NNetNav (2410.02907), Learn-by-Interact (2501.10893) and CuES
(2512.01311), with structure in place of a language model wherever none is given.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from recipes.proposing.explore_pages import sighting
from recipes.proposing.explore_surprise import Surprise, by_novelty
from recipes.proposing.explorer import Aim, Explorer, offer_of
from recipes.proposing.label import Candidate, Pruning, candidates, step_after, uncut
from recipes.proposing.label_tasks import drafted, rehearse
from recipes.proposing.prove import proven
from recipes.proposing.prove_stage import Playing, Stage
from tasks.proposal import Proposal
from tasks.proposers.backward import Grammar, Writer
from tasks.proposers.exploration import Ground
from tasks.proposers.frontier import NOWHERE, Frontier, PageNode, Sighting
from webagent.action.actions import Click
from webagent.policy.policy import Policy
from webagent.records import Trajectory

GOAL = (
    "Explore this site: go where you have not been, fill in forms with plausible values and send"
    " them, and see what comes of it. Nothing in particular is to be achieved."
)


@dataclass(frozen=True, slots=True)
class Exploring:
    """How much and how."""

    steps: int = 300
    """Real steps of exploration; what rehearsals and proofs take is counted apart."""
    episode_steps: int = 10
    """Beyond the way to the page that an episode is sent to."""
    batch: int = 4
    """Episodes sent out together, before what they found is looked at."""
    most: int = 60
    """Candidates that are rehearsed."""
    curiosity: float = 1.0
    """How much surprise raises a page's priority; 0: none."""
    pruning: Pruning = field(default_factory=Pruning)


@dataclass(slots=True)
class Explored:
    """What exploration has found."""

    frontier: Frontier
    episodes: list[Trajectory] = field(default_factory=list)
    surprises: list[tuple[float, ...]] = field(default_factory=list)
    """For each episode, by step."""
    steps: int = 0


async def explore(
    ground: Ground,
    stage: Stage,
    seed: int,
    settings: Exploring | None = None,
    surprise: Surprise | None = None,
    explorer: Policy | None = None,
) -> Explored:
    """Send episodes to the frontier until the steps are spent.

    What is done follows from the seed and from what the site shows; with the stage's recorder the
    same call goes on where it stopped. `explorer` plays in place of the structured one; it finds
    its page by the address at which its episodes start.
    """
    settings = settings or Exploring()
    surprise = surprise or by_novelty()
    found = Explored(Frontier(settings.curiosity))
    round = 0
    while found.steps < settings.steps:
        rng = np.random.default_rng([seed, round])
        nodes: list[PageNode | None] = [*found.frontier.choose(settings.batch, rng)] or [None]
        left = settings.steps - found.steps
        wanted = _sent(nodes, ground, found, settings, left, (seed, round, explorer))
        if not wanted:
            break
        episodes = await stage.play(wanted, f"explore {round}")
        played = [episode for episode in episodes if episode is not None and episode.steps]
        if not played:
            break
        for episode in played:
            _learn(found, episode, ground, surprise)
        round += 1
    return found


async def proposals(
    ground: Ground,
    stage: Stage,
    seed: int = 0,
    settings: Exploring | None = None,
    writer: Writer | None = None,
    surprise: Surprise | None = None,
    explorer: Policy | None = None,
) -> list[Proposal]:
    """Tasks of what an exploration of the site did, each proven or with why it is refused.

    The source is `curiosity` where a `surprise` is given, else `exploration`; with one, what
    surprised most comes first. Raises `ModelError` when the writer's model fails for good.
    """
    settings = settings or Exploring()
    found = await explore(ground, stage, seed, settings, surprise, explorer)
    chosen = candidates_of(found, seed, settings, by_surprise=surprise is not None)
    source = "curiosity" if surprise is not None else "exploration"
    return await told_and_proven(chosen, ground, stage, writer or Grammar(), source)


def candidates_of(
    found: Explored, seed: int, settings: Exploring, by_surprise: bool = False
) -> list[Candidate]:
    """The prefixes that describe something new, at most so many."""
    pruning = replace(settings.pruning, kept=Counter())
    chosen = []
    for index, (episode, surprises) in enumerate(zip(found.episodes, found.surprises, strict=True)):
        rng = np.random.default_rng([seed, 7, index])
        chosen += candidates(episode, pruning, rng, surprises)
    if by_surprise:
        chosen.sort(key=lambda candidate: -candidate.surprise)
    settings.pruning.pruned = pruning.pruned
    return chosen[: settings.most]


async def told_and_proven(
    chosen: Sequence[Candidate], ground: Ground, stage: Stage, writer: Writer, source: str
) -> list[Proposal]:
    """Candidates rehearsed, written, checked and proven; tasks of one goal once."""
    rehearsed = await rehearse(chosen, ground, stage, f"rehearse {source}")
    failed = [place for place, each in enumerate(rehearsed) if each.objection and each.was_cut]
    whole = [uncut(rehearsed[place].candidate) for place in failed]
    again = await rehearse(whole, ground, stage, f"rehearse {source} whole")
    for place, each in zip(failed, again, strict=True):
        rehearsed[place] = each
    drafts = [await drafted(each, ground, writer, source) for each in rehearsed]
    known: set[str] = set()
    single = []
    for draft in drafts:
        goal = draft.proposal.task.goal.casefold()
        if goal not in known or draft.proposal.refusals:
            single.append(draft)
        known.add(goal)
    open_ = [draft for draft in single if not draft.proposal.refusals]
    refused = [draft.proposal for draft in single if draft.proposal.refusals]
    return [*await proven(open_, stage, f"prove {source}"), *refused]


def _sent(
    nodes: Sequence[PageNode | None],
    ground: Ground,
    found: Explored,
    settings: Exploring,
    left: int,
    by: tuple[int, int, Policy | None],
) -> list[Playing]:
    """The next episodes, each to its page, as far as their steps still fit."""
    seed, round, explorer = by
    wanted: list[Playing] = []
    for place, node in enumerate(nodes):
        number = round * settings.batch + place
        way = node.way if node is not None else ()
        steps = settings.episode_steps + (1 if way == NOWHERE else len(way))
        if steps > left:
            break
        left -= steps
        task = ground.task("explore", GOAL, number, steps)
        if explorer is not None:
            start = node.url if node is not None else ground.start_url
            wanted.append(Playing(replace(task, start_url=start), explorer))
            continue
        aim = _aim(node, found.frontier)
        policy = Explorer(seed, {number: aim}, ground.may_destroy)
        wanted.append(Playing(task, policy))
    return wanted


def _aim(node: PageNode | None, frontier: Frontier) -> Aim:
    if node is None:
        return Aim()
    tried = Counter(frontier.links_tried)
    for each in frontier.nodes.values():
        tried.update({k: n for k, n in each.tried.items() if not k.startswith("link:")})
    return Aim(node.way, node.url, tried, node.link_yield)


def _learn(found: Explored, episode: Trajectory, ground: Ground, surprise: Surprise) -> None:
    """Put an episode's pages into the frontier, with how they were come to."""
    from worldmodel.transitions import Transition

    way: list[str] | None = [] if episode.task.start_url == ground.start_url else None
    surprises = []
    node = _seen(found.frontier, episode, 0, way, ground)
    for index, step in enumerate(episode.steps):
        after = step_after(episode, index)
        if after is None:
            break
        before = step.observation
        moved = Transition(
            episode.steps[:index],
            before,
            step.decision.action,
            after,
            False,
            episode.task.name,
            episode.id,
        )
        surprises.append(surprise(moved))
        target = before.node(getattr(step.decision.action, "mark", 0))
        is_link = isinstance(step.decision.action, Click) and target and target.role == "link"
        if before.url != after.url:
            way = [*way, target.name] if way is not None and is_link and target else None
        known = len(found.frontier.nodes)
        here = _seen(found.frontier, episode, index + 1, way, ground)
        if (offer := offer_of(before, step.decision.action)) and node is not None:
            is_new = len(found.frontier.nodes) > known
            found.frontier.note(node, offer, surprises[-1], is_new)
        node = here
    found.episodes.append(episode)
    found.surprises.append(tuple(surprises))
    found.steps += len(episode.steps)


def _seen(
    frontier: Frontier, episode: Trajectory, index: int, way: list[str] | None, ground: Ground
) -> PageNode | None:
    """The node of the page at a step; None off the site."""
    page = episode.steps[index].observation if index < len(episode.steps) else episode.last
    if page is None or not page.url.startswith(_origin(ground.start_url)):
        return None
    seen: Sighting = sighting(page, way if way is not None else NOWHERE, ground.may_destroy)
    return frontier.see(seen)[0]


def _origin(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}"
