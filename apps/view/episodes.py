"""A run's episodes as a list: filtered by one line, sorted by any column, page by page."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from apps.view.columns import SortableColumn, list_heads
from apps.view.contents import Contents, EpisodeLine, EpisodeOutcome
from apps.view.pages import Pages, crumbs_of
from evaluators.attribution import Attribution, Cause
from evaluators.statistics import wilson
from loop.failures import choose_phase, name_episodes
from webagent.errors import SetupError
from webagent.records import Ending

Causes = Mapping[str, Attribution]
"""What failures were put down to, by episode id, as far as it is known."""
Test = Callable[[EpisodeLine, Causes], bool]

_TOKEN = re.compile(
    r'(?P<minus>-?)(?:(?P<word>[a-zA-Z]+):)?(?:"(?P<quoted>[^"]*)"|(?P<bare>[^\s"]*))'
)
_RANGE = re.compile(r"(?:(<=|>=|<|>)?\s*(-?\d+(?:\.\d+)?)|(-?\d+)?\.\.(-?\d+)?)")
_PASSES = 0.5
_NUMBERS = ("round", "repeat", "seed", "steps", "seconds")
_MOST_NAMES = 16
"""Names listed where another was expected."""

WORDS: Mapping[str, str] = {
    "at": "what a failure was put down to: at:grounding",
    "kind": "finer than that: kind:loop",
    "task": "name or id, * for anything: task:shop*",
    "arm": "arm:self or arm:self,control",
    "round": "round:3, round:2..4, round:>2",
    "repeat": "repeat:0",
    "phase": "phase:evaluate",
    "ending": 'ending:"step limit"',
    "seed": "seed:100004",
    "steps": "steps:>5, steps:2..4",
    "seconds": "seconds:>30",
    "judge": "another judge contradicts the verdict: judge:wrong, judge:lenient, judge:strict",
    "world": "world:browser, world:imagined",
    "id": "id:34165b42*",
}
"""Words before a colon, with what they choose."""
PLAIN: Mapping[str, str] = {
    "succeeded": "the verdict is a success",
    "failed": "the verdict is a failure, or the world failed",
    "unscored": "ended, and nobody could say how well",
    "broken": "browser, model server or site failed",
    "running": "under way",
    "interrupted": "cut short by a person or a kill, and played again",
    "disputed": "judges contradict each other",
    "policy": "played by a policy: no baseline, nothing recorded for one, nothing imagined",
}
"""Words that stand alone."""


@dataclass(frozen=True, slots=True)
class EpisodeFilter:
    """A filter that has been read: all of its tests must hold."""

    tests: tuple[tuple[Test, bool], ...]
    """Each with the answer that it must give."""
    needs_causes: bool
    """Whether it asks what failures were put down to."""
    free: tuple[str, ...]
    """Words that are looked for in the texts."""

    def chosen(self, contents: Contents, causes: Causes) -> list[EpisodeLine]:
        """Return the episodes for which all of it holds, in their order."""
        return [
            line
            for line in contents.lines
            if all(test(line, causes) is wanted for test, wanted in self.tests)
        ]

    def hint(self) -> str:
        """Return what may have been meant, where nothing was found."""
        for word in self.free:
            if close := get_close_matches(word.casefold(), PLAIN, n=1, cutoff=0.7):
                return f"“{word}” was looked for in the texts; did you mean {close[0]}?"
        return ""


def read_filter(text: str, contents: Contents) -> EpisodeFilter:
    """Read a filter: words are joined by and, commas by or, a hyphen in front negates.

    Raises `SetupError` naming what exists for words and values that do not.
    """
    tests, free = list[tuple[Test, bool]](), list[str]()
    needs_causes = False
    for found in _TOKEN.finditer(text):
        word = (found["word"] or "").lower()
        value = found["quoted"] if found["quoted"] is not None else found["bare"]
        if word:
            test = _read_condition(word, value, contents)
            needs_causes |= word in ("at", "kind")
        elif not value:
            continue
        elif found["quoted"] is None and value.lower() in PLAIN:
            test = _read_plain(value.lower())
        else:
            free.append(value)
            test = _find_in_texts(value.casefold())
        tests.append((test, not found["minus"]))
    return EpisodeFilter(tuple(tests), needs_causes, tuple(free))


def _read_condition(word: str, value: str, contents: Contents) -> Test:
    """Return the test behind `word:value`. Raises `SetupError`."""
    if word not in WORDS:
        close = get_close_matches(word, WORDS, n=1, cutoff=0.5)
        meant = f"did you mean {close[0]}:?" if close else f"there are {_list_names(list(WORDS))}"
        raise SetupError(f'unknown filter {word}:; {meant} Text with a colon goes in "quotes"')
    if word in _NUMBERS:
        ranges = [_read_range(word, part) for part in value.split(",")]
        return lambda line, found: any(
            low <= getattr(line.entry, word) <= high for low, high in ranges
        )
    parts = [part for part in value.split(",") if part]
    if not parts:
        raise SetupError(f"{word}: needs a value: {WORDS[word]}")
    if word in ("task", "id"):
        return _read_names(word, [part.casefold() for part in parts])
    if word == "kind":
        return lambda line, found: (
            (one := found.get(line.entry.id)) is not None
            and any(fnmatchcase(one.kind, part) for part in parts)
        )
    known = {
        "judge": ("wrong", "lenient", "strict"),
        "at": list(Cause),
        "ending": list(Ending),
    }.get(word) or contents.values(word)
    wanted = set[str]()
    for part in parts:
        fitting = [str(name) for name in known if fnmatchcase(name.lower(), part.lower())]
        if not fitting:
            close = get_close_matches(part, known, n=1, cutoff=0.5)
            meant = (
                f"did you mean {_list_names(close)}?" if close else f"there is {_list_names(known)}"
            )
            raise SetupError(f"{word}:{part} matches nothing; {meant}")
        wanted.update(fitting)
    if word == "judge":
        return lambda line, found: any(
            wanted & {"wrong", "lenient" if (score.value or 0.0) >= _PASSES else "strict"}
            for score in line.doubts
        )
    if word == "at":
        return lambda line, found: cause_of(line, found) in wanted
    return lambda line, found: str(getattr(line.entry, word)) in wanted


def _read_names(word: str, patterns: Sequence[str]) -> Test:
    def test(line: EpisodeLine, found: Causes) -> bool:
        entry = line.entry
        names = (line.task, entry.task, entry.task.split("@")[0])
        named = (entry.id,) if word == "id" else names
        return any(fnmatchcase(name.casefold(), each) for name in named for each in patterns)

    return test


def _read_range(word: str, part: str) -> tuple[float, float]:
    """Return the least and the greatest number. Raises `SetupError`."""
    read = _RANGE.fullmatch(part.strip())
    if read is None or part.strip() == "..":
        raise SetupError(f"{word}:{part} is not a number; write {WORDS[word]}")
    sign, number, first, last = read.groups()
    if number is None:
        return float(first or "-inf"), float(last or "inf")
    value, little = float(number), 1e-9
    return {
        None: (value, value),
        ">": (value + little, float("inf")),
        ">=": (value, float("inf")),
        "<": (float("-inf"), value - little),
        "<=": (float("-inf"), value),
    }[sign]


def _read_plain(word: str) -> Test:
    if word == "disputed":
        return lambda line, found: bool(line.doubts)
    if word == "policy":
        return lambda line, found: line.entry.is_of_policy
    if word == "failed":
        return lambda line, found: line.outcome in (EpisodeOutcome.FAILED, EpisodeOutcome.BROKEN)
    return lambda line, found: line.outcome == word


def _find_in_texts(text: str) -> Test:
    def test(line: EpisodeLine, found: Causes) -> bool:
        entry, cause = line.entry, found.get(line.entry.id)
        texts = [entry.goal, entry.task, line.reason, entry.error, entry.id, entry.arm]
        texts += [cause.reason] if cause else []
        return any(text in each.casefold() for each in texts)

    return test


def _list_names(names: Sequence[str]) -> str:
    quoted = [f'"{name}"' if " " in name or not name else name for name in names[:_MOST_NAMES]]
    return ", ".join(quoted) or "none in this run"


PER_PAGE = 100
_NEWEST = "-began"
_COLUMNS: Mapping[str, SortableColumn[[EpisodeLine, Causes]]] = {
    "verdict": SortableColumn(
        lambda line, found: list(EpisodeOutcome).index(line.outcome), "words"
    ),
    "task": SortableColumn(lambda line, found: (line.task, line.entry.seed), "words task"),
    "arm": SortableColumn(lambda line, found: line.entry.arm, "words"),
    "repeat": SortableColumn(lambda line, found: line.entry.repeat, "spare"),
    "round": SortableColumn(lambda line, found: line.entry.round, most_first=True),
    "phase": SortableColumn(lambda line, found: line.entry.phase, "words spare"),
    "steps": SortableColumn(lambda line, found: line.entry.steps, most_first=True),
    "seconds": SortableColumn(lambda line, found: line.entry.seconds, "spare", most_first=True),
    "ending": SortableColumn(lambda line, found: str(line.entry.ending or ""), "words spare"),
    "cause": SortableColumn(lambda line, found: cause_of(line, found) or "~", "words"),
    "began": SortableColumn(lambda line, found: line.entry.started, "spare", most_first=True),
}


def routes(pages: Pages) -> list[BaseRoute]:
    """Return `/run/NAME/episodes?q=…&sort=-steps&page=2`."""

    def episodes(request: Request) -> Response:
        run = pages.run(request)
        contents = pages.contents.contents(run)
        known = pages.causes.known(run, contents)
        query = dict(request.query_params)
        question, problem = None, ""
        try:
            question = read_filter(query.get("q", ""), contents)
        except SetupError as error:
            problem = str(error)
        chosen = question.chosen(contents, known.found) if question else []
        by = query.get("sort", _NEWEST)
        column = _COLUMNS.get(by.lstrip("-")) or _COLUMNS["began"]
        chosen.sort(key=lambda line: column.key(line, known.found), reverse=by.startswith("-"))
        count = len(chosen)
        text, last = query.get("page", "1"), max(1, -(-count // PER_PAGE))
        number = max(1, min(int(text) if text.isdecimal() and len(text) < 9 else 1, last))
        page = {
            "number": number,
            "last": last,
            "before": _address(query, run.address, page=str(number - 1)) if number > 1 else "",
            "after": _address(query, run.address, page=str(number + 1)) if number < last else "",
            "from": (number - 1) * PER_PAGE + 1 if count else 0,
            "to": min(count, number * PER_PAGE),
        }
        shown = chosen[(number - 1) * PER_PAGE : number * PER_PAGE]
        return pages.show(
            request,
            "episodes.html",
            crumbs_of(run, ("Episodes", "")),
            run=run,
            text=query.get("q", ""),
            problem=problem,
            hint=question.hint() if question and not chosen else "",
            known=known,
            waits=bool(question and question.needs_causes and known.pending),
            lines=[(line, cause_of(line, known.found)) for line in shown],
            tally=count_outcomes(chosen),
            total=len(contents.lines),
            columns=list_heads(
                _COLUMNS, by, lambda sort: _address(query, run.address, sort=sort, page="")
            ),
            chips=list_chips(contents, known.found),
            words={**{f"{word}:": help for word, help in WORDS.items()}, **PLAIN},
            page=page,
        )

    return [Route("/run/{run}/episodes", episodes)]


def cause_of(line: EpisodeLine, found: Causes) -> str:
    """Return what the failure was put down to; empty where it is not known or there is none."""
    cause = found.get(line.entry.id)
    return str(cause.cause) if cause else ""


def count_outcomes(lines: Sequence[EpisodeLine]) -> dict[str, Any]:
    """Return how many were chosen, and how often the policy succeeded in them.

    Where there are evaluation episodes, the rate is theirs; where none is of the policy, as in a
    list of baselines, it is that of all of them.
    """
    of_policy = [line for line in lines if line.entry.is_of_policy] or lines
    phase = choose_phase({line.entry.phase for line in of_policy})
    counts = Counter(line.outcome for line in of_policy if phase in ("", line.entry.phase))
    good = counts[EpisodeOutcome.SUCCEEDED]
    scored = good + counts[EpisodeOutcome.FAILED]
    low, high = wilson(good, scored)
    return {
        "count": len(lines),
        "apart": len(lines) - len(of_policy),
        "episodes": name_episodes(phase),
        "steps": sum(line.entry.steps for line in lines),
        "scored": scored,
        "success": good / scored if scored else 0.0,
        "low": low,
        "high": high,
    }


def list_chips(contents: Contents, found: Causes) -> list[tuple[str, str, int]]:
    """Return filters that choose something here: label, filter, count of the policy's episodes."""
    apart = len(contents.lines) - len(contents.of_policy)
    only = "policy " if apart else ""
    counts = {str(outcome): count for outcome, count in contents.counts.items()}
    counts["disputed"] = sum(bool(line.doubts) for line in contents.of_policy)
    chips = [(name, f"{only}{name}", count) for name, count in counts.items() if count]
    if apart:
        chips.append(("not the policy’s", "-policy", apart))
    causes = Counter(str(one.cause) for one in found.values())
    return [*chips, *((f"at {name}", f"at:{name}", n) for name, n in causes.most_common())]


def _address(query: Mapping[str, str], address: str, **changed: str) -> str:
    values = {name: value for name, value in {**query, **changed}.items() if value}
    return f"{address}/episodes?{urlencode(values)}" if values else f"{address}/episodes"
