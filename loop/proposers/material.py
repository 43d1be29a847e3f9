"""What proposers are shown: episodes of runs, visited pages, and chapters of manuals."""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from urllib.parse import urldefrag, urlsplit

import numpy as np

from benchmarks.rules import checks_hold
from loop.proposers.requests import SiteScope
from tasks.curriculum import TriedTask
from tasks.suite import split_of
from tasks.task import Task
from webagent.action import format_action
from webagent.errors import SetupError, WorldError
from webagent.observation.variants import variant_named
from webagent.records import Observation, Step, Trajectory
from webagent.rollout.world import World
from webagent.store import Store

_LONGEST, _SHORTEST = 700, 25
"""Words of a chapter: a longer one is cut, a shorter one says too little."""
_ATX = re.compile(r"^(#{1,3})\s+(.+?)\s*#*\s*$")
_RULE = re.compile(r"^(={3,}|-{3,}|~{3,})\s*$")
_NUMBERED = re.compile(r"^\d+(?:\.\d+)*\.?\s+[A-Z].{2,70}$")
_HTML = re.compile(r"<(?:html|body|h[1-3]|p|div|ul|table|title)\b[^>]*>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Chapter:
    """A part of a manual under one heading."""

    title: str
    text: str
    place: str = ""
    """The file or address it is from."""


def chapters(text: str, place: str = "") -> list[Chapter]:
    """Return the parts of a manual in Markdown, HTML or plain text that say enough to go by.

    A part is what stands under a heading of the first three levels; a long one is cut at
    paragraphs.
    """
    lines = _from_html(text) if _HTML.search(text) else text.splitlines()
    return [
        Chapter(title, piece, place)
        for title, body in _under_headings(lines)
        for piece in _pieces(body)
        if len(piece.split()) >= _SHORTEST
    ]


def _from_html(text: str) -> list[str]:
    """Return the text of a page as lines, its headings marked as Markdown marks them."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(text, "html.parser")
    for part in soup(["script", "style", "nav", "header", "footer", "noscript", "template"]):
        part.decompose()
    for level in (1, 2, 3):
        for heading in soup(f"h{level}"):
            heading.string = f"\n{'#' * level} {' '.join(heading.get_text().split())}\n"
    for block in soup(["p", "li", "tr", "div", "br", "pre", "dt", "dd", "section", "article"]):
        block.append("\n")
    for end in soup(["p", "pre", "ul", "ol", "table", "dl"]):
        end.append("\n")
    return [re.sub(r"[ \t]+", " ", line).strip() for line in soup.get_text().splitlines()]


def _under_headings(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Return each heading with the text below it, from the introduction before the first."""
    found: list[tuple[str, list[str]]] = [("Introduction", [])]
    fenced = False
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        fenced ^= line.lstrip().startswith("```")
        is_underlined = len(line) < 80 and _RULE.match(following)
        is_numbered = _NUMBERED.match(line) and not following.strip()
        if not fenced and (atx := _ATX.match(line)):
            found.append((atx[2], []))
        elif not fenced and line.strip() and (is_underlined or is_numbered):
            found.append((line.strip(), []))
        elif not _RULE.match(line):
            found[-1][1].append(line)
    return [(title, "\n".join(body).strip()) for title, body in found]


def _pieces(body: str) -> list[str]:
    """Return the text in parts that are not too long, cut between paragraphs where possible."""
    parts: list[list[str]] = [[]]
    for paragraph in re.split(r"\n\s*\n", body):
        tokens = paragraph.split()
        if sum(len(p.split()) for p in parts[-1]) + len(tokens) > _LONGEST and parts[-1]:
            parts.append([])
        if len(tokens) > _LONGEST:
            paragraph = " ".join(tokens[:_LONGEST])
        parts[-1].append(paragraph.strip())
    return ["\n\n".join(filter(None, part)) for part in parts]


OpenWorld = Callable[[], Awaitable[World]]

_MOST_TOKENS = 1500
_LINKS = "[...document.links].map((link) => link.href).slice(0, 400)"
_VARIABLE = re.compile(r"\d+|%[0-9a-f]{2}|[0-9a-f]{8,}", re.IGNORECASE)
_LEAVING = re.compile(r"log-?out|sign-?out|logoff|delete|remove|unsubscribe", re.IGNORECASE)
_FILES = re.compile(r"\.(?:zip|tar|gz|pdf|png|jpe?g|gif|svg|css|js|xml|rss|ico)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class VisitedPage:
    """A page of the site as it was visited."""

    url: str
    title: str
    text: str
    screenshot: str = ""
    """Reference to its picture; empty where none was taken."""


@dataclass(frozen=True, slots=True)
class SolvedTask:
    """A task as it was solved once."""

    task: Task
    goal: str
    """As the page gave it, where the task's own is empty."""
    actions: tuple[str, ...]
    """What was done, each with the element it was done to, in words."""
    pages: tuple[VisitedPage, ...] = ()
    """What was seen on the way."""
    episode: str = ""


async def visit_pages(
    open_world: OpenWorld, start: Task, scope: SiteScope, count: int, seed: int = 0
) -> list[VisitedPage]:
    """Visit up to `count` pages of the site, from where the task starts along links.

    Only pages are opened, and nothing is pressed. A page that does not open is passed over; the
    first one has to. Raises `WorldError`.
    """
    rng = np.random.default_rng(seed)
    waiting, met = [start.start_url], {urldefrag(start.start_url)[0]}
    seen: list[VisitedPage] = []
    world = await open_world()
    try:
        while waiting and len(seen) < count:
            # An address of the kind that was visited least, any one of those.
            visits = Counter(_kind(page.url) for page in seen)
            counts = [visits[_kind(url)] for url in waiting]
            fewest = [index for index, each in enumerate(counts) if each == min(counts)]
            url = waiting.pop(int(rng.choice(fewest)))
            task = replace(start, start_url=url, evidence={"links": _LINKS}, checks=(), records=())
            try:
                page = await world.reset(task)
                links = (await world.evidence(task)).get("links")
            except WorldError:
                if not seen:
                    raise
                continue
            if not scope.holds(page.url):
                continue
            seen.append(describe_visit(page))
            for link in links if isinstance(links, list) else ():
                address = urldefrag(str(link))[0]
                is_page = not _FILES.search(urlsplit(address).path) and not _LEAVING.search(address)
                if address not in met and scope.holds(address) and is_page:
                    met.add(address)
                    waiting.append(address)
    finally:
        await world.close()
    return seen


async def visit_manual(open_world: OpenWorld, start: Task) -> list[Chapter]:
    """Return the chapters of the page that the task starts on. Raises `WorldError`."""
    world = await open_world()
    try:
        task = replace(
            start,
            evidence={"page": "document.documentElement.outerHTML"},
            checks=(),
            records=(),
        )
        page = await world.reset(task)
        source = (await world.evidence(task)).get("page")
    finally:
        await world.close()
    return chapters(str(source or ""), page.url)


def describe_visit(page: Observation) -> VisitedPage:
    """Return a page as a proposer is shown it."""
    text = variant_named("text").write(page, _MOST_TOKENS)
    return VisitedPage(page.url, page.title, text, page.screenshot)


def _kind(url: str) -> str:
    """Return an address with what differs from thing to thing taken out."""
    parts = urlsplit(url)
    keys = sorted(pair.partition("=")[0] for pair in parts.query.split("&"))
    return f"{_VARIABLE.sub('*', parts.path)}?{'&'.join(keys)}"


def read_judged_episodes(run: Path, scope: SiteScope) -> list[tuple[Trajectory, bool]]:
    """Return the run's real episodes on this site with whether each succeeded.

    Its checks say so where they could tell, else whoever judged it last.

    Those on seeds for measuring are left out. Raises `SetupError` where none is left.
    """
    frozen = checks_hold().id
    with Store.open(run) as store:
        values: dict[str, float] = {}
        for episode, scores in store.scores().items():
            found = [s for s in scores if s.name == "success" and s.value is not None]
            checked = [s for s in found if s.evaluator == frozen]
            if chosen := (checked or found)[-1:]:
                values[episode] = chosen[0].value or 0.0
        judged = [
            (trajectory, values[trajectory.id] >= 0.5)
            for trajectory in store.trajectories()
            if trajectory.id in values
            and not trajectory.provenance.imagined
            and split_of(trajectory.task.seed) != "test"
            and (
                trajectory.task.site == scope.site
                if scope.site
                else scope.holds(trajectory.task.start_url)
            )
        ]
    if not judged:
        raise SetupError(
            f"{run} holds no scored episode on {scope.name} ({scope.address}) on a seed that is not"
            " for measuring; play some there with webagent benchmark --split train"
        )
    return judged


def find_solved_tasks(judged: list[tuple[Trajectory, bool]]) -> list[SolvedTask]:
    """Return the solved tasks, each once, by its shortest episode."""
    best: dict[tuple[str, int], Trajectory] = {}
    for trajectory, success in judged:
        key = (trajectory.task.id, trajectory.task.seed)
        if success and (key not in best or len(trajectory.steps) < len(best[key].steps)):
            best[key] = trajectory
    solved = []
    for trajectory in best.values():
        pages = {s.observation.url: describe_visit(s.observation) for s in trajectory.steps}
        solved.append(
            SolvedTask(
                trajectory.task,
                trajectory.goal or trajectory.task.goal,
                tuple(map(_describe_step, trajectory.steps)),
                tuple(pages.values())[:6],
                trajectory.id,
            )
        )
    return solved


def count_attempts(judged: list[tuple[Trajectory, bool]]) -> list[TriedTask]:
    """Return the tasks with how often each was tried and solved, under the goals of the pages."""
    tries, successes = Counter[tuple[str, int]](), Counter[tuple[str, int]]()
    found: dict[tuple[str, int], Task] = {}
    for trajectory, success in judged:
        task = trajectory.task
        key = (task.id, task.seed)
        tries[key] += 1
        successes[key] += success
        found[key] = task if task.goal else replace(task, goal=trajectory.goal)
    return [TriedTask(task, tries[key], successes[key]) for key, task in found.items()]


def _describe_step(step: Step) -> str:
    """Return an action in the agent's own words, with the element it was done to."""
    action = step.decision.action
    node = step.observation.node(getattr(action, "mark", 0))
    on = f' on the {node.role} "{" ".join(node.name.split())[:60]}"' if node else ""
    return f"{format_action(action)}{on}"
