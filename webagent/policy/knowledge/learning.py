"""What is learnt of a site by comparing an episode that failed with one that succeeded, and kept of
those that succeeded.

Operations on rules after "ExpeL" (Zhao et al. 2023, arXiv 2308.10144) and "AutoManual" (Chen et al.
2024, arXiv 2405.16247): a model adds, edits and drops.

Bounds, merging and pruning are in code. What a model writes here may repeat what a page demanded,
so it is one short line without marks of fences, without another site's address and without long
passages of a page; and it is only ever shown as information.
"""

import re
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from webagent.errors import SetupError
from webagent.models.model import Message, Model
from webagent.models.prompt import fence, load_prompt, shorten
from webagent.policy.knowledge.entries import EntryKind, SiteEntry
from webagent.policy.knowledge.similarity import compare_by_words
from webagent.policy.knowledge.site_file import (
    SiteFile,
    credit_entries,
    read_file,
    site_of,
    site_of_episode,
    write_file,
)
from webagent.policy.knowledge.site_memory import format_rules
from webagent.policy.knowledge.transcript import is_finished, require_finished, transcribe
from webagent.records import Trajectory

RULES_PROMPT = load_prompt(Path(__file__).parents[1] / "prompts" / "rules.md")
_CHANGE = re.compile(r"[\s*-]*(?:(ADD)\s*:|(EDIT)\s+\[?(\w+)\]?\s*:|(DROP)\s+\[?(\w+)\]?\s*$)(.*)")
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s\"'<>)]+", re.IGNORECASE)
_HINTS_TOKENS = 1500
_MOST_RULES, _MOST_EXAMPLES = 20, 100
"""Entries of a kind on a site; beyond that the worst of the learnt ones go."""
_EXAMPLES_OF_TASK = 5
"""Examples of one task, so that tasks of one site do not displace each other's."""
_CHANGES = 4
"""Changes taken from one pair of episodes."""
_LONGEST = 240
"""Characters of a rule."""
_QUOTED = 60
"""Characters of a page that a rule may copy in one piece."""
_ALIKE = 0.8
"""Likeness from which a new rule counts as one that is there."""
_SHOWN_TOKENS = 3000
"""Of each episode as it is shown to the model that writes."""
_EXAMPLE_TOKENS = 750
"""Of an episode as an example."""
Pair = tuple[Trajectory, Trajectory]
"""A failure, and a success to compare it with."""


@dataclass(frozen=True, slots=True)
class Induced:
    """A file after a pair of episodes."""

    file: SiteFile
    refused: tuple[str, ...] = ()
    """Changes that were not made, each with the reason."""
    is_usable: bool = True
    """Whether the model's reply names changes, or says that there are none."""


async def induce_entries(
    model: Model, file: SiteFile, failed: Trajectory, succeeded: Trajectory
) -> Induced:
    """Ask a model what to change, and change what may be changed.

    Which episode failed and which succeeded is for the caller to say. Raises `SetupError` for an
    episode that is not finished or was played on another site, `ModelError` when the model fails.
    """
    for episode in (failed, succeeded):
        require_finished(episode)
        if (site := site_of_episode(episode)) != file.site:
            raise SetupError(f"{episode.id} was played on {site}; the file is on {file.site}")
    system = RULES_PROMPT.fill("system", most=str(_CHANGES))
    user = RULES_PROMPT.fill(
        "user",
        site=file.site,
        hints=fence("hints", format_rules(file, _HINTS_TOKENS) or "none"),
        failed=fence("episode", transcribe(failed, with_last=True).within(_SHOWN_TOKENS)),
        succeeded=fence("episode", transcribe(succeeded, with_last=True).within(_SHOWN_TOKENS)),
    )
    completion = await model.complete((Message("system", system), Message("user", user)))
    reply = completion.replies[0].text.rpartition("</think>")[2]
    refused: list[str] = []
    pages = _collect_page_texts(failed) + _collect_page_texts(succeeded)
    changes: list[_Change] = []
    for match in filter(None, map(_CHANGE.fullmatch, reply.splitlines())):
        verb = match[1] or match[2] or match[4]
        words = "".join(c for c in match[6] if c.isprintable()).split()
        changes.append(_Change(verb, match[3] or match[5] or "", " ".join(words)))
    for change in changes[:_CHANGES]:
        if reason := _find_objection(change, file, pages):
            refused.append(f"{change}: {reason}")
        else:
            file = _apply_change(change, file, (failed, succeeded))
    file = file.pruned("rules", _MOST_RULES)
    is_usable = bool(changes) or reply.strip(" .*`\n").upper() == "NONE"
    return Induced(file, tuple(refused), is_usable)


@dataclass(frozen=True, slots=True)
class _Change:
    verb: str
    id: str
    text: str

    def __str__(self) -> str:
        return " ".join(part for part in (self.verb, self.id, self.text) if part)


def _find_objection(change: _Change, file: SiteFile, pages: tuple[str, ...]) -> str:
    """Return why a change may not be made; empty where it may."""
    entry = file.entry(change.id)
    if change.verb in ("EDIT", "DROP") and (entry is None or entry.kind != "rules"):
        return "there is no such hint"
    if entry is not None and not entry.is_learnt:
        return "a person wrote that hint"
    if change.verb == "DROP":
        return ""
    text = change.text
    if not text or len(text) > _LONGEST:
        return f"{len(text)} characters; expected 1 to {_LONGEST}"
    if "<<<" in text or ">>>" in text or text.startswith(("(used", "(retired")):
        return "it holds marks that stand for something else"
    if any(
        site_of(address if "://" in address else f"https://{address}") != file.site
        for address in _ADDRESS.findall(text)
    ):
        return "it names an address of another site"
    lowered = text.lower()
    pieces = [lowered[at : at + _QUOTED + 1] for at in range(len(lowered) - _QUOTED)]
    if any(piece in page for page in pages for piece in pieces):
        return f"it copies more than {_QUOTED} characters from a page"
    return ""


def _apply_change(change: _Change, file: SiteFile, pair: Pair) -> SiteFile:
    episodes = tuple(episode.id for episode in pair)
    entry = file.entry(change.id)
    if change.verb == "DROP" and entry is not None:
        return file.without(entry.id)
    if change.verb == "EDIT" and entry is not None:
        anew = entry.changed(text=change.text, is_retired=False)
        return file.changed(anew.learnt_from(*episodes))
    known = file.of_kind("rules")
    scores = compare_by_words([entry.text for entry in known])(change.text)
    best = max(range(len(known)), key=scores.__getitem__, default=-1)
    if best < 0 or scores[best] < _ALIKE:
        made = SiteEntry("r", change.text, learnt=time.strftime("%Y-%m-%d"))
        return file.added(made.learnt_from(*episodes))
    return file.changed(known[best].learnt_from(*episodes)) if known[best].is_learnt else file


def add_example(file: SiteFile, episode: Trajectory) -> SiteFile:
    """Return the file with an episode that went well among its examples, unless it, one of the same
    goal and actions, or enough others of its task are there.

    Raises `SetupError` for an episode that is not finished.
    """
    require_finished(episode)
    task = episode.task
    alike = [entry for entry in file.of_kind("examples") if entry.task == task.id]
    is_known = any(entry.seed == task.seed for entry in alike)
    if not episode.steps or is_known or len(alike) >= _EXAMPLES_OF_TASK:
        return file
    # The first line says the task, as the entry's own does.
    _, *transcript = transcribe(episode).within(_EXAMPLE_TOKENS).split("\n")
    lines = ("".join(c if c.isprintable() else " " for c in line).rstrip() for line in transcript)
    goal = shorten(episode.goal or task.goal)
    made = SiteEntry("x", goal, lines=tuple(filter(None, lines)), task=task.id, seed=task.seed)
    if any(entry.text == goal and _actions_of(entry) == _actions_of(made) for entry in alike):
        return file
    made = made.changed(learnt=time.strftime("%Y-%m-%d"))
    return file.added(made.learnt_from(episode.id)).pruned("examples", _MOST_EXAMPLES)


def _actions_of(entry: SiteEntry) -> list[str]:
    return [line for line in entry.lines if "Action:" in line]


def _collect_page_texts(episode: Trajectory) -> tuple[str, ...]:
    """Return everything the pages of an episode said, each text once."""
    pages = [step.observation for step in episode.steps]
    pages += [episode.last] if episode.last is not None else []
    texts = (text for page in pages for node in page.nodes for text in (node.name, node.value))
    return tuple(dict.fromkeys(" ".join(text.split()).lower() for text in texts if text))


async def learn_entries(
    model: Model | None,
    folder: Path,
    judged: Iterable[tuple[Trajectory, bool]],
    kinds: Collection[EntryKind] = ("rules", "examples"),
    along: Callable[[Sequence[Pair]], Iterable[Pair]] = iter,
) -> list[Induced]:
    """Count the entries that the episodes name, keep successes as examples, then learn from every
    failure with its success; without a model only count and keep.

    Each episode comes with whether it went well; those that were not finished, or failed with
    their world, are passed over. Files are saved after every pair, so that a kill loses at most the
    pair in flight; `along` goes through the pairs, and may tell how far it is. To be called once
    with each episode: counts are added up. Raises `SetupError` for a file that makes no sense,
    `ModelError` when the model fails.
    """
    episodes = [(episode, went_well) for episode, went_well in judged if is_finished(episode)]
    for site in sorted({site_of_episode(episode) for episode, _ in episodes}):
        file = read_file(folder, site)
        for episode, went_well in episodes:
            if site_of_episode(episode) == site:
                file = credit_entries(file, episode, went_well=went_well)
                if went_well and "examples" in kinds:
                    file = add_example(file, episode)
        if file.entries:
            write_file(folder, file)
    learnt: list[Induced] = []
    if model is None or "rules" not in kinds:
        return learnt
    for failed, succeeded in along(pair_failures(episodes)):
        file = read_file(folder, site_of_episode(failed))
        induced = await induce_entries(model, file, failed, succeeded)
        if induced.file.entries or file.entries:
            write_file(folder, induced.file)
        learnt.append(induced)
    return learnt


def pair_failures(judged: Sequence[tuple[Trajectory, bool]]) -> list[Pair]:
    """Return every failure with the success on its site that is most like it: of the same seed of
    the same task, else of the same task, else by the words of the goal. Failures without a success
    are left out."""
    succeeded = [episode for episode, went_well in judged if went_well]
    compare = compare_by_words([episode.task.goal for episode in succeeded])
    found = []
    for failed in (episode for episode, went_well in judged if not went_well):
        task, site = failed.task, site_of_episode(failed)
        near = [
            (
                each.task.id == task.id,
                (each.task.id, each.task.seed) == (task.id, task.seed),
                alike,
                n,
            )
            for n, (each, alike) in enumerate(zip(succeeded, compare(task.goal), strict=True))
            if site_of_episode(each) == site
        ]
        if near:
            found.append((failed, succeeded[max(near)[-1]]))
    return found
