"""WebArena's, VisualWebArena's and WebChoreArena's rules where theirs are known to be wrong.

Each has the name of the published rule with `_corrected` after it. What is corrected:

- texts are found by words and numbers, so that `5` is not in `15` nor `5.5`, and is in `5.`;
- addresses are compared by host, path and query of one alternative, not as texts;
- `<` does not hold for equal numbers, and numbers may have decimals;
- all alternatives of a single character are looked for in the answer, none in itself.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from benchmarks.webarena.rules import visualwebarena, webarena
from benchmarks.webarena.rules.visualwebarena import excludes_all, page_rule
from benchmarks.webarena.rules.webarena import OR, includes_all, text_of, texts_of
from evaluators.evaluator import Verdict
from evaluators.rules.checks import RULES, Means, checks_hold, rule
from tasks.task import Json, Task
from webagent.records import Score, Trajectory

_ALTERNATIVES = re.compile(r" \|or\| ", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)")


@rule
def webarena_must_include_corrected(found: Json, expected: Json) -> Verdict:
    """One alternative of each item is in the answer, as words."""
    return includes_all(_found_in(text_of(found), texts_of(expected)))


RULES["visualwebarena_must_include_corrected"] = webarena_must_include_corrected


@rule
def webchorearena_must_include_corrected(found: Json, expected: Json) -> Verdict:
    """The share of the items of which one alternative is in the answer, as words."""
    included = _found_in(text_of(found), texts_of(expected))
    share = sum(included.values()) / len(included) if included else 1.0
    return Verdict(share, includes_all(included).reason)


@rule
def visualwebarena_must_exclude_corrected(found: Json, expected: Json) -> Verdict:
    """No item is in the answer, as words."""
    return excludes_all(_found_in(text_of(found), texts_of(expected)))


@page_rule
def visualwebarena_page_must_include_corrected(found: Json, expected: Json) -> Verdict:
    """One alternative of each item is in what was selected on the page, as words."""
    return includes_all(_found_in(visualwebarena.page_text(found), texts_of(expected)))


@page_rule
def visualwebarena_page_must_exclude_corrected(found: Json, expected: Json) -> Verdict:
    """No item is in what was selected on the page, as words."""
    return excludes_all(_found_in(visualwebarena.page_text(found), texts_of(expected)))


@page_rule
def visualwebarena_required_values_corrected(found: Json, expected: Json) -> bool | Verdict:
    """The number, which may have decimals, fulfils one alternative of each inequality."""
    if isinstance(found, bool) or not isinstance(found, str | int | float):
        raise TypeError(f"{found!r} is not a number")
    if isinstance(found, str):  # the only number in it
        numbers = _NUMBER.findall(found)
        if len(numbers) != 1:
            return False
        found = float(numbers[0].replace(",", ""))
    return all(any(_fulfils(found, part) for part in each.split(OR)) for each in texts_of(expected))


@rule
def webarena_url_match_corrected(found: Json, expected: Json) -> bool:
    """The page is that of one alternative or below it, with all of its query."""
    return any(_is_at(found, gold) for gold in text_of(expected).split(OR))


@rule
def webchorearena_url_match_corrected(found: Json, expected: Json) -> bool:
    """The page is that of one alternative or below it, with all of its query, in lower case."""
    gold = text_of(expected)
    return any(_is_at(text_of(found).lower(), part.lower()) for part in gold.split(OR))


RULES["visualwebarena_url_contains_corrected"] = webarena_url_match_corrected


@rule
def visualwebarena_url_exact_corrected(found: Json, expected: Json) -> bool:
    """The page is that of one alternative, its query in any order; fragments are free."""
    page = _parts(found)
    return any(
        _place(page) == _place(gold) and _query(page) == _query(gold)
        for gold in map(_parts, text_of(expected).split(OR))
    )


def _found_in(text: str, items: list[str]) -> dict[str, bool]:
    """Return for each item whether the words of an alternative follow each other in the text, not
    as part of longer words or numbers."""

    def stands(part: str) -> bool:
        wanted = _spaced(webarena.clean(part))
        before = r"(?<!\w)(?<!\d[.,])" if wanted[:1].isalnum() else ""
        after = r"(?!\w)(?![.,]\d)" if wanted[-1:].isalnum() else ""
        return re.search(before + re.escape(wanted) + after, _spaced(text)) is not None

    return {item: any(map(stands, _ALTERNATIVES.split(item))) for item in items}


def _spaced(text: str) -> str:
    return " ".join(text.casefold().split())


def _fulfils(value: float, text: str) -> bool:
    sign, bound = visualwebarena.inequality(text)
    is_equal = abs(value - bound) <= visualwebarena.TOLERANCE
    if sign in ("<", ">"):
        return not is_equal and (value < bound) == (sign == "<")
    return is_equal or (sign != "==" and (value < bound) == (sign == "<="))


def _is_at(found: Json, gold: str) -> bool:
    page, wanted = _parts(found), _parts(gold)
    (host, path), (gold_host, gold_path) = _place(page), _place(wanted)
    query, needed = _query(page), _query(wanted)
    return (
        host == gold_host
        and f"{path}/".startswith(f"{gold_path}/")
        and all(set(values) <= set(query.get(key, ())) for key, values in needed.items())
    )


def _place(address: SplitResult) -> tuple[str, str]:
    host = address.netloc.lower().replace("localhost", "127.0.0.1")
    return host, unquote(address.path).rstrip("/")


def _query(address: SplitResult) -> dict[str, list[str]]:
    query = parse_qs(address.query, keep_blank_values=True)
    return {key: sorted(values) for key, values in query.items()}


def _parts(address: Json) -> SplitResult:
    try:
        return urlsplit(text_of(address).strip().rstrip("/"))
    except ValueError as error:
        raise TypeError(f"{address!r} is not an address") from error


@dataclass(frozen=True, slots=True)
class Difference:
    """An episode that two sets of checks score differently."""

    episode: str
    task: str
    published: Score
    corrected: Score

    def __str__(self) -> str:
        published = f"{self.published.value} ({self.published.reason})"
        return f"{self.task} {self.episode}: {published}, corrected {self.corrected.value}" + (
            f" ({self.corrected.reason})"
        )


async def differences(
    episodes: Iterable[Trajectory],
    corrected: Iterable[Task],
    means: Means | None = None,
    score: str = "success",
) -> list[Difference]:
    """Episodes of the published tasks that the corrected ones score otherwise, from evidence alone.

    `corrected` are the tasks read with the corrected rules; each names its published one as its
    parent. Episodes of other tasks are passed over.
    """
    checks = {task.parent: task.checks for task in corrected}
    evaluate = checks_hold(score, means)
    found = []
    for episode in episodes:
        if episode.task.id not in checks:
            continue
        task = replace(episode.task, checks=checks[episode.task.id])
        scores = await evaluate(episode), await evaluate(replace(episode, task=task))
        if scores[0].value != scores[1].value:
            found.append(Difference(episode.id, episode.task.id, *scores))
    return found
