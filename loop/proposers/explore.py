"""Exploration as a source of proposals: a site gone through frontier first, told backwards, proven.

After Go-Browse (arXiv 2506.03533), NNetNav (2410.02907), Learn-by-Interact (2501.10893) and CuES
(2512.01311), with structure in place of a language model wherever none is given.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from loop.proposers.backward import Grammar, Opened, Read, Submitted, Writer
from loop.proposers.exploration import Territory
from loop.proposers.explore_pages import is_in_menu, menu_of, sighting
from loop.proposers.explore_surprise import Moved, Surprise, by_novelty
from loop.proposers.explorer import Aim, Explorer, offer_of
from loop.proposers.frontier import NOWHERE, Frontier, PageNode, Sighting
from loop.proposers.label import Candidate, Pruning, candidates, step_after, uncut
from loop.proposers.label_tasks import drafted, rehearse
from loop.proposers.prove import proven
from loop.proposers.prove_stage import Playing, Stage
from tasks.proposal import Proposal
from webagent.action.actions import Click
from webagent.errors import SetupError, WorldError
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
    most_opened: int = 6
    """Of them those that only go to a page."""
    most_read: int = 12
    """Of them questions."""
    curiosity: float = 1.0
    """How much surprise raises a page's priority; 0: none."""
    pruning: Pruning = field(default_factory=Pruning)


@dataclass(frozen=True, slots=True)
class Roles:
    """Who does what a model may do; each has a way without one."""

    explorer: Policy | None = None
    """Plays in place of the structured explorer; it begins on the page that it is sent to."""
    writer: Writer = field(default_factory=Grammar)
    surprise: Surprise | None = None
    """None: counts of what was done, and the source is `exploration`."""


@dataclass(slots=True)
class Explored:
    """What exploration has found."""

    frontier: Frontier
    episodes: list[Trajectory] = field(default_factory=list)
    surprises: list[tuple[float, ...]] = field(default_factory=list)
    """For each episode, by step."""
    steps: int = 0


async def explore(
    territory: Territory,
    stage: Stage,
    seed: int,
    settings: Exploring | None = None,
    roles: Roles | None = None,
) -> Explored:
    """Send episodes to the frontier until the steps are spent.

    What is done follows from the seed and from what the site shows; with the stage's recorder the
    same call goes on where it stopped. Raises `SetupError` for too few steps, `WorldError` when the
    worlds fail from the beginning.
    """
    settings, roles = settings or Exploring(), roles or Roles()
    surprise = roles.surprise or by_novelty()
    found = Explored(Frontier(settings.curiosity))
    round = 0
    while found.steps < settings.steps:
        rng = np.random.default_rng([seed, round])
        nodes: list[PageNode | None] = [*found.frontier.choose(settings.batch, rng)] or [None]
        left = settings.steps - found.steps
        wanted = _sent(nodes, territory, found, settings, left, (seed, round, roles.explorer))
        if not wanted:
            if not found.episodes:
                raise SetupError(f"{settings.steps} steps are too few for one episode; give more")
            break
        episodes = await stage.play(wanted, f"explore {round}")
        played = [episode for episode in episodes if episode is not None and episode.steps]
        if not played:
            if not found.episodes:
                raise WorldError(f"no episode of exploring could be played: {stage.error}")
            break
        for episode in played:
            _learn(found, episode, territory, surprise)
        round += 1
    return found


async def proposals(
    territory: Territory,
    stage: Stage,
    seed: int = 0,
    settings: Exploring | None = None,
    roles: Roles | None = None,
) -> list[Proposal]:
    """Tasks of what an exploration of the site did, each proven or with why it is refused.

    The source is `curiosity` where the roles have a surprise, and then what surprised most comes
    first; else `exploration`. Raises `ModelError` when a model fails for good.
    """
    settings, roles = settings or Exploring(), roles or Roles()
    found = await explore(territory, stage, seed, settings, roles)
    is_curious = roles.surprise is not None
    chosen = candidates_of(found, seed, settings, by_surprise=is_curious)
    source = "curiosity" if is_curious else "exploration"
    return await told_and_proven(chosen, territory, stage, roles.writer, source)


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
    titles = _titles(found)
    opened = [c for c in chosen if isinstance(c.deeds[-1], Opened)]
    opened = [c for c in opened if len(titles[c.last.title]) == 1][: settings.most_opened]
    read = [c for c in chosen if isinstance(c.deeds[-1], Read)]
    read = [c for c in read if len(titles[c.last.title]) == 1][: settings.most_read]
    done = [c for c in chosen if isinstance(c.deeds[-1], Submitted)]
    return [*done[: settings.most - len(opened) - len(read)], *read, *opened]


def _titles(found: Explored) -> dict[str, set[str]]:
    """By title, the addresses of the pages that have it: one alone can be asked for by it."""
    titles: dict[str, set[str]] = {}
    for episode in found.episodes:
        for page in [s.observation for s in episode.steps] + (
            [episode.last] if episode.last else []
        ):
            titles.setdefault(page.title, set()).add(page.url.split("#")[0])
    return titles


async def told_and_proven(
    chosen: Sequence[Candidate], territory: Territory, stage: Stage, writer: Writer, source: str
) -> list[Proposal]:
    """Candidates rehearsed, written, checked and proven; tasks of one goal once."""
    rehearsed = await rehearse(chosen, territory, stage, f"rehearse {source}")
    failed = [place for place, each in enumerate(rehearsed) if each.objection and each.was_cut]
    whole = [uncut(rehearsed[place].candidate) for place in failed]
    again = await rehearse(whole, territory, stage, f"rehearse {source} whole")
    for place, each in zip(failed, again, strict=True):
        rehearsed[place] = each
    drafts = [await drafted(each, territory, writer, source) for each in rehearsed]
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
    territory: Territory,
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
        task = territory.task("explore", GOAL, number, steps)
        if explorer is not None:
            start = node.url if node is not None else territory.start_url
            wanted.append(Playing(replace(task, start_url=start), explorer))
            continue
        aim = _aim(node, found.frontier)
        policy = Explorer(seed, {number: aim}, territory.may_destroy)
        wanted.append(Playing(task, policy))
    return wanted


def _aim(node: PageNode | None, frontier: Frontier) -> Aim:
    if node is None:
        return Aim()
    tried = Counter(frontier.links_tried)
    for each in frontier.nodes.values():
        tried.update({k: n for k, n in each.tried.items() if not k.startswith("link:")})
    return Aim(node.way, node.url, tried, node.link_yield)


def _learn(found: Explored, episode: Trajectory, territory: Territory, surprise: Surprise) -> None:
    """Put an episode's pages into the frontier, with how they were come to."""
    way: list[str] | None = [] if episode.task.start_url == territory.start_url else None
    surprises = []
    is_home = episode.task.start_url == territory.start_url
    menu = menu_of(episode.steps[0].observation) if is_home else {}
    node = _seen(found.frontier, episode, 0, way, territory)
    for index, step in enumerate(episode.steps):
        after = step_after(episode, index)
        if after is None:
            break
        before = step.observation
        moved = Moved(episode.steps[:index], before, step.decision.action, after, episode.id)
        surprises.append(surprise(moved))
        target = before.node(getattr(step.decision.action, "mark", 0))
        is_link = isinstance(step.decision.action, Click) and target and target.role == "link"
        if before.url != after.url:
            if is_link and target and is_in_menu(target, menu):
                way = [target.name]
            else:
                way = [*way, target.name] if way is not None and is_link and target else None
        known = len(found.frontier.nodes)
        here = _seen(found.frontier, episode, index + 1, way, territory)
        if (offer := offer_of(before, step.decision.action)) and node is not None:
            is_new = len(found.frontier.nodes) > known
            found.frontier.note(node, offer, surprises[-1], is_new)
        node = here
    found.episodes.append(episode)
    found.surprises.append(tuple(surprises))
    found.steps += len(episode.steps)


def _seen(
    frontier: Frontier, episode: Trajectory, index: int, way: list[str] | None, territory: Territory
) -> PageNode | None:
    """The node of the page at a step; None off the site."""
    page = episode.steps[index].observation if index < len(episode.steps) else episode.last
    if page is None or not page.url.startswith(_origin(territory.start_url)):
        return None
    seen: Sighting = sighting(page, way if way is not None else NOWHERE, territory.may_destroy)
    return frontier.see(seen)[0]


def _origin(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}"
