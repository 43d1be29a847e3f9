"""What proposers are shown: episodes of runs, visited pages, and chapters of manuals."""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urldefrag, urlsplit

import numpy as np

from benchmarks.rules import checks_hold
from loop.proposers.requests import SiteScope, TaskRequest, fill_common_slots, share_out
from tasks.suite import split_of
from tasks.task import Task
from tasks.variants import Attempt
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
    """The parts of a manual in Markdown, HTML or plain text that say enough to go by.

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


def from_chapters(
    scope: SiteScope,
    shown: Sequence[Chapter],
    count: int,
    known: Sequence[Task] = (),
    at_once: int = 2,
) -> list[TaskRequest]:
    """Requests that show some chapters each, `count` tasks in all."""
    groups = [shown[start : start + at_once] for start in range(0, len(shown), at_once)]
    return [
        TaskRequest(
            "manual",
            "manual",
            share,
            fill_common_slots(scope, share, known),
            {
                "chapters": "\n\n".join(
                    f"{n}. {each.title}\n{each.text}" for n, each in enumerate(group, 1)
                )
            },
            origins=tuple(f"{each.title!r} of {each.place or 'the manual'}" for each in group),
        )
        for group, share in zip(groups, share_out(count, len(groups)), strict=True)
        if share
    ]


def _from_html(text: str) -> list[str]:
    """The text of a page as lines, its headings marked as Markdown marks them."""
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
    """Each heading with the text below it; what stands before the first is the introduction."""
    found: list[tuple[str, list[str]]] = [("Introduction", [])]
    fenced = False
    for number, line in enumerate(lines):
        fenced ^= line.lstrip().startswith("```")
        following = lines[number + 1] if number + 1 < len(lines) else ""
        heading = "" if fenced else _heading(line, following)
        if heading:
            found.append((heading, []))
        elif not _RULE.match(line):
            found[-1][1].append(line)
    return [(title, "\n".join(body).strip()) for title, body in found]


def _heading(line: str, following: str) -> str:
    if atx := _ATX.match(line):
        return atx[2]
    if line.strip() and len(line) < 80 and _RULE.match(following):
        return line.strip()
    return line.strip() if _NUMBERED.match(line) and not following.strip() else ""


def _pieces(body: str) -> list[str]:
    """The text in parts that are not too long, cut between paragraphs where that goes."""
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
_PAGE = "document.documentElement.outerHTML"
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
    """Up to `count` pages of the site, from where the task starts along links.

    Only pages are opened, and nothing is pressed. A page that does not open is passed over; the
    first one has to. Raises `WorldError`.
    """
    rng = np.random.default_rng(seed)
    waiting, met = [start.start_url], {_plain(start.start_url)}
    seen: list[VisitedPage] = []
    world = await open_world()
    try:
        while waiting and len(seen) < count:
            url = waiting.pop(_next(waiting, seen, rng))
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
                plain = _plain(str(link))
                if plain not in met and _is_worth_opening(plain, scope):
                    met.add(plain)
                    waiting.append(plain)
    finally:
        await world.close()
    return seen


async def visit_manual(open_world: OpenWorld, start: Task) -> list[Chapter]:
    """The chapters of the page that the task starts on. Raises `WorldError`."""
    world = await open_world()
    try:
        task = replace(start, evidence={"page": _PAGE}, checks=(), records=())
        page = await world.reset(task)
        source = (await world.evidence(task)).get("page")
    finally:
        await world.close()
    return chapters(str(source or ""), page.url)


def describe_visit(page: Observation) -> VisitedPage:
    """A page as a proposer is shown it."""
    text = variant_named("text").write(page, _MOST_TOKENS)
    return VisitedPage(page.url, page.title, text, page.screenshot)


def _next(waiting: list[str], seen: list[VisitedPage], rng: np.random.Generator) -> int:
    """Which address to open: one of a kind that was seen least, among those any."""
    kinds = [_kind(page.url) for page in seen]
    counts = [kinds.count(_kind(url)) for url in waiting]
    fewest = [index for index, count in enumerate(counts) if count == min(counts)]
    return int(rng.choice(fewest))


def _kind(url: str) -> str:
    """An address with what differs from thing to thing taken out."""
    parts = urlsplit(url)
    keys = sorted(pair.partition("=")[0] for pair in parts.query.split("&"))
    return f"{_VARIABLE.sub('*', parts.path)}?{'&'.join(keys)}"


def _plain(url: str) -> str:
    return urldefrag(url)[0]


def _is_worth_opening(url: str, scope: SiteScope) -> bool:
    path = urlsplit(url).path
    return scope.holds(url) and not _FILES.search(path) and not _LEAVING.search(url)


_MOST_PAGES = 6


def read_judged_episodes(run: Path, scope: SiteScope) -> list[tuple[Trajectory, bool]]:
    """The run's real episodes on this site with whether each succeeded: by its checks where these
    could tell, else by whoever judged it last.

    Those on seeds for measuring are left out. Raises `SetupError` where none is left.
    """
    frozen = checks_hold().id
    with Store.open(run) as store:
        said: dict[str, float] = {}
        for episode, scores in store.scores().items():
            found = [s for s in scores if s.name == "success" and s.value is not None]
            checked = [s for s in found if s.evaluator == frozen]
            if chosen := (checked or found)[-1:]:
                said[episode] = chosen[0].value or 0.0
        judged = [
            (trajectory, said[trajectory.id] >= 0.5)
            for trajectory in store.trajectories()
            if trajectory.id in said
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
    """The solved tasks, each once, by its shortest episode."""
    best: dict[tuple[str, int], Trajectory] = {}
    for trajectory, success in judged:
        key = (trajectory.task.id, trajectory.task.seed)
        if success and (key not in best or len(trajectory.steps) < len(best[key].steps)):
            best[key] = trajectory
    return [_solved_task(trajectory) for trajectory in best.values()]


def count_attempts(judged: list[tuple[Trajectory, bool]]) -> list[Attempt]:
    """The tasks with how often each was tried and solved, under the goals that pages gave."""
    tries, successes = Counter[tuple[str, int]](), Counter[tuple[str, int]]()
    found: dict[tuple[str, int], Task] = {}
    for trajectory, success in judged:
        key = (trajectory.task.id, trajectory.task.seed)
        tries[key] += 1
        successes[key] += success
        found[key] = with_goal(trajectory)
    return [Attempt(task, tries[key], successes[key]) for key, task in found.items()]


def with_goal(trajectory: Trajectory) -> Task:
    """The task with its goal written out."""
    task = trajectory.task
    return task if task.goal else replace(task, goal=trajectory.goal)


def _solved_task(trajectory: Trajectory) -> SolvedTask:
    pages = {step.observation.url: describe_visit(step.observation) for step in trajectory.steps}
    return SolvedTask(
        trajectory.task,
        trajectory.goal or trajectory.task.goal,
        tuple(map(_describe_step, trajectory.steps)),
        tuple(pages.values())[:_MOST_PAGES],
        trajectory.id,
    )


def _describe_step(step: Step) -> str:
    """An action in the agent's own words, with the element it was done to."""
    action = step.decision.action
    node = step.observation.node(getattr(action, "mark", 0))
    on = f' on the {node.role} "{" ".join(node.name.split())[:60]}"' if node else ""
    return f"{format_action(action)}{on}"
