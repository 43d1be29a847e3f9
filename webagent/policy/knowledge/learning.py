"""Hints learnt by comparing an episode that failed with one that succeeded.

Operations after "ExpeL" (Zhao et al. 2023, arXiv 2308.10144) and "AutoManual" (Chen et al. 2024,
arXiv 2405.16247): a model adds, edits and drops. Bounds, merging and pruning are in code. What a
model writes here may repeat what a page told it to, so a hint is one short line without marks of
fences, without another site's address and without long passages of a page; and it is only ever
shown as information.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from webagent.errors import SetupError
from webagent.models.model import Message, Model
from webagent.models.prompt import fence, load_prompt
from webagent.policy.knowledge.hints import (
    Rule,
    RuleBook,
    credit_rules,
    format_hints,
    read_book,
    site_of,
    site_of_episode,
    write_book,
)
from webagent.policy.knowledge.similarity import compare_by_words
from webagent.policy.knowledge.transcript import is_finished, require_finished, transcribe
from webagent.records import Trajectory

RULES_PROMPT = load_prompt(Path(__file__).parents[1] / "prompts" / "rules.md")
_CHANGE = re.compile(r"[\s*-]*(?:(ADD)\s*:|(EDIT)\s+\[?(\w+)\]?\s*:|(DROP)\s+\[?(\w+)\]?\s*$)(.*)")
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s\"'<>)]+", re.IGNORECASE)
_HINTS_TOKENS = 1500
Pair = tuple[Trajectory, Trajectory]
"""A failure, and a success to compare it with."""


@dataclass(frozen=True, slots=True)
class InductionSettings:
    """The bounds of what is learnt."""

    most: int = 20
    """Hints on a site; beyond that the worst of the learnt ones go."""
    changes: int = 4
    """Changes taken from one pair of episodes."""
    longest: int = 240
    """Characters of a hint."""
    quoted: int = 60
    """Characters of a page that a hint may copy in one piece."""
    alike: float = 0.8
    """Likeness from which a new hint counts as one that is there."""
    max_tokens: int = 3000
    """Of each episode as it is told."""


@dataclass(frozen=True, slots=True)
class InducedRules:
    """A book after a pair of episodes."""

    book: RuleBook
    refused: tuple[str, ...] = ()
    """Changes that were not made, each with the reason."""
    weights: str = ""
    prompt_hash: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)


async def induce_rules(
    model: Model,
    book: RuleBook,
    failed: Trajectory,
    succeeded: Trajectory,
    settings: InductionSettings = InductionSettings(),
) -> InducedRules:
    """Ask a model what to change, and change what may be changed.

    Which episode failed and which succeeded is for the caller to say. Raises `SetupError` for an
    episode that is not finished or was played on another site, `ModelError` when the model fails.
    """
    for episode in (failed, succeeded):
        require_finished(episode)
        if (site := site_of_episode(episode)) != book.site:
            raise SetupError(f"{episode.id} was played on {site}; the book is on {book.site}")
    system = RULES_PROMPT.fill("system", most=str(settings.changes))
    user = RULES_PROMPT.fill(
        "user",
        site=book.site,
        hints=fence("hints", format_hints(book, _HINTS_TOKENS) or "none"),
        failed=fence("episode", transcribe(failed, with_last=True).within(settings.max_tokens)),
        succeeded=fence(
            "episode", transcribe(succeeded, with_last=True).within(settings.max_tokens)
        ),
    )
    completion = await model.complete((Message("system", system), Message("user", user)))
    reply = completion.replies[0].text.rpartition("</think>")[2]
    refused: list[str] = []
    pages = _collect_page_texts(failed) + _collect_page_texts(succeeded)
    for change in list(_read_changes(reply))[: settings.changes]:
        reason = _find_objection(change, book, pages, settings)
        if reason:
            refused.append(f"{change}: {reason}")
        else:
            book = _apply_change(change, book, (failed.id, succeeded.id), settings)
    book = book.pruned(settings.most)
    return InducedRules(book, tuple(refused), completion.model, RULES_PROMPT.hash, completion.usage)


@dataclass(frozen=True, slots=True)
class _Change:
    verb: str
    id: str
    text: str

    def __str__(self) -> str:
        return " ".join(part for part in (self.verb, self.id, self.text) if part)


def _read_changes(reply: str) -> Iterator[_Change]:
    for each in reply.splitlines():
        if match := _CHANGE.fullmatch(each):
            verb = match[1] or match[2] or match[4]
            text = "".join(c for c in match[6] if c.isprintable())
            yield _Change(verb, match[3] or match[5] or "", " ".join(text.split()))


def _find_objection(
    change: _Change, book: RuleBook, pages: tuple[str, ...], settings: InductionSettings
) -> str:
    """Return why a change may not be made; empty where it may."""
    rule = book.rule(change.id)
    if change.verb != "ADD" and rule is None:
        return "there is no such hint"
    if rule is not None and not rule.is_learnt:
        return "a person wrote that hint"
    if change.verb == "DROP":
        return ""
    text = change.text
    if not text or len(text) > settings.longest:
        return f"{len(text)} characters; expected 1 to {settings.longest}"
    if "<<<" in text or ">>>" in text or text.startswith("(used"):
        return "it holds marks that stand for something else"
    if any(
        site_of(address if "://" in address else f"https://{address}") != book.site
        for address in _ADDRESS.findall(text)
    ):
        return "it names an address of another site"
    lowered = text.lower()
    length = settings.quoted + 1
    pieces = [lowered[at : at + length] for at in range(len(lowered) - settings.quoted)]
    if any(piece in page for page in pages for piece in pieces):
        return f"it copies more than {settings.quoted} characters from a page"
    return ""


def _apply_change(
    change: _Change, book: RuleBook, episodes: tuple[str, ...], settings: InductionSettings
) -> RuleBook:
    rule = book.rule(change.id)
    if rule is None:
        known: tuple[Rule, ...] = book.rules
        scores = compare_by_words([rule.text for rule in known])(change.text)
        best = max(range(len(known)), key=scores.__getitem__, default=-1)
        if best < 0 or scores[best] < settings.alike:
            return book.added(change.text, *episodes)
        return book.changed(known[best].learnt_from(*episodes)) if known[best].is_learnt else book
    if change.verb == "DROP":
        return book.without(rule.id)
    return book.changed(replace(rule, text=change.text).learnt_from(*episodes))


def _collect_page_texts(episode: Trajectory) -> tuple[str, ...]:
    """Return everything the pages of an episode said, each text once."""
    pages = [step.observation for step in episode.steps]
    pages += [episode.last] if episode.last is not None else []
    texts = (text for page in pages for node in page.nodes for text in (node.name, node.value))
    return tuple(dict.fromkeys(" ".join(text.split()).lower() for text in texts if text))


async def learn_rules(
    model: Model,
    folder: Path,
    judged: Iterable[tuple[Trajectory, bool]],
    settings: InductionSettings | None = None,
    along: Callable[[Sequence[Pair]], Iterable[Pair]] = iter,
) -> list[InducedRules]:
    """Count the hints that the episodes name, then learn from every failure with its success.

    Each episode comes with whether it went well; those that were not finished, or failed with
    their world, are passed over. Files are saved after every pair, so that a kill loses at most the
    pair in flight; `along` goes through the pairs, and may tell how far it is. To be called once
    with each episode: counts are added up. Raises `SetupError` for a file that makes no sense,
    `ModelError` when the model fails.
    """
    episodes = [(episode, went_well) for episode, went_well in judged if is_finished(episode)]
    for site in sorted({site_of_episode(episode) for episode, _ in episodes}):
        book = read_book(folder, site)
        for episode, went_well in episodes:
            if site_of_episode(episode) == site:
                book = credit_rules(book, episode, went_well=went_well)
        if book.rules:
            write_book(folder, book)
    learnt = []
    for failed, succeeded in along(pair_failures(episodes)):
        book = read_book(folder, site_of_episode(failed))
        induced = await induce_rules(
            model, book, failed, succeeded, settings or InductionSettings()
        )
        if induced.book.rules or book.rules:
            write_book(folder, induced.book)
        learnt.append(induced)
    return learnt


def pair_failures(judged: Sequence[tuple[Trajectory, bool]]) -> list[Pair]:
    """Return every failure with the success on its site that is most like it: of the same seed of
    the same task, else of the same task, else any. Failures without a success are left out."""
    succeeded = [episode for episode, went_well in judged if went_well]
    found = []
    for failed in (episode for episode, went_well in judged if not went_well):
        task, site = failed.task, site_of_episode(failed)
        near = [each for each in succeeded if site_of_episode(each) == site]
        near.sort(key=lambda each: (each.task.id != task.id, each.task.seed != task.seed))
        found += [(failed, each) for each in near[:1]]
    return found
