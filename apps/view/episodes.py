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

from apps.view.contents import Contents, EpisodeLine, EpisodeOutcome
from apps.view.pages import Pages, crumbs_of
from evaluators.attribution import Attribution, Cause
from evaluators.statistics import wilson
from webagent.errors import SetupError
from webagent.records import Ending

Causes = Mapping[str, Attribution]
"""What failures were put down to, by episode id, as far as it is known."""
Test = Callable[[EpisodeLine, Causes], bool]

_TOKEN = re.compile(
    r'(?P<minus>-?)(?:(?P<word>[a-zA-Z]+):)?(?:"(?P<quoted>[^"]*)"|(?P<bare>[^\s"]*))'
)
_RANGE = re.compile(r"(?:(<=|>=|<|>)?\s*(-?\d+(?:\.\d+)?)|(-?\d+)?\.\.(-?\d+)?)")
_HALF = 0.5

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
    "disputed": "judges contradict each other",
    "policy": "played by a policy: no baseline, nothing recorded for one, nothing imagined",
}
"""Words that stand alone."""
_JUDGE = ("wrong", "lenient", "strict")


@dataclass(frozen=True, slots=True)
class EpisodeFilter:
    """A filter that has been read: all of its tests must hold."""

    text: str
    tests: tuple[Test, ...]
    needs_causes: bool
    """Whether it asks what failures were put down to."""
    free: tuple[str, ...]
    """Words that are looked for in the texts."""

    def chosen(self, contents: Contents, causes: Causes) -> list[EpisodeLine]:
        """The episodes for which all of it holds, in their order."""
        if not self.tests:
            return list(contents.lines)
        return [line for line in contents.lines if all(test(line, causes) for test in self.tests)]

    def hint(self) -> str:
        """What may have been meant, where nothing was found."""
        for word in self.free:
            if close := get_close_matches(word.casefold(), PLAIN, n=1, cutoff=0.7):
                return f"“{word}” was looked for in the texts; did you mean {close[0]}?"
        return ""


def read_filter(text: str, contents: Contents) -> EpisodeFilter:
    """Read a filter: words are joined by and, commas by or, a hyphen in front negates.

    Raises `SetupError` naming what exists for words and values that do not.
    """
    tests, free = list[Test](), list[str]()
    needs_causes = False
    for found in _TOKEN.finditer(text):
        word = (found["word"] or "").lower()
        value = found["quoted"] if found["quoted"] is not None else found["bare"]
        if word:
            test = _worded(word, value, contents)
            needs_causes |= word in ("at", "kind")
        elif not value:
            continue
        elif found["quoted"] is None and value.lower() in PLAIN:
            test = _plain(value.lower())
        else:
            free.append(value)
            test = _mentions(value.casefold())
        tests.append(_negated(test) if found["minus"] else test)
    return EpisodeFilter(text, tuple(tests), needs_causes, tuple(free))


def _worded(word: str, value: str, contents: Contents) -> Test:
    """The test behind `word:value`."""
    if word not in WORDS:
        close = get_close_matches(word, WORDS, n=1, cutoff=0.5)
        meant = f"did you mean {close[0]}:?" if close else f"there are {_listed(WORDS)}"
        raise SetupError(
            f'there is no word {word}: to choose by; {meant} Text with a colon goes in "quotes"'
        )
    if word in ("round", "repeat", "seed", "steps", "seconds"):
        ranges = [_range(word, part) for part in value.split(",")]

        def test(line: EpisodeLine, found: Causes) -> bool:
            number = float(getattr(line.entry, word))
            return any(low <= number <= high for low, high in ranges)

        return test
    parts = [part for part in value.split(",") if part]
    if not parts:
        raise SetupError(f"{word}: wants a value: {WORDS[word]}")
    if word in ("task", "id"):
        return _named(word, parts)
    if word == "judge":
        return _judged(_known("judge", parts, _JUDGE))
    if word == "at":
        causes = set(_known("at", parts, list(Cause)))
        return lambda line, found: (
            (one := found.get(line.entry.id)) is not None and (str(one.cause) in causes)
        )
    if word == "kind":
        return lambda line, found: (
            (one := found.get(line.entry.id)) is not None
            and any(fnmatchcase(one.kind, part) for part in parts)
        )
    if word == "ending":
        endings = set(_known("ending", parts, list(Ending)))
        return lambda line, found: str(line.entry.ending) in endings
    wanted = set(_known(word, parts, contents.values(word)))
    return lambda line, found: getattr(line.entry, word) in wanted


def _known(word: str, parts: Sequence[str], known: Sequence[str]) -> list[str]:
    """The values as they are written in the run, `*` for anything. Raises `SetupError`."""
    chosen = []
    for part in parts:
        fitting = [name for name in known if fnmatchcase(name.lower(), part.lower())]
        if not fitting:
            close = get_close_matches(part, known, n=1, cutoff=0.5)
            meant = f"did you mean {_quoted(close[0])}?" if close else f"there is {_listed(known)}"
            raise SetupError(f"{word}:{part} fits nothing; {meant}")
        chosen += fitting
    return chosen


def _range(word: str, part: str) -> tuple[float, float]:
    """The least and the greatest number. Raises `SetupError`."""
    read = _RANGE.fullmatch(part.strip())
    if read is None or part.strip() == "..":
        raise SetupError(f"{word}:{part} is no number; write {WORDS[word]}")
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


def _named(word: str, parts: Sequence[str]) -> Test:
    patterns = [part.casefold() for part in parts]

    def test(line: EpisodeLine, found: Causes) -> bool:
        entry = line.entry
        names = (entry.id,) if word == "id" else (line.task, entry.task, entry.task.split("@")[0])
        lowered = [name.casefold() for name in names]
        return any(fnmatchcase(name, pattern) for name in lowered for pattern in patterns)

    return test


def _judged(kinds: Sequence[str]) -> Test:
    def test(line: EpisodeLine, found: Causes) -> bool:
        said = {"lenient" if (score.value or 0.0) >= _HALF else "strict" for score in line.doubts}
        return bool(said) if "wrong" in kinds else bool(said & set(kinds))

    return test


def _plain(word: str) -> Test:
    if word == "disputed":
        return lambda line, found: bool(line.doubts)
    if word == "policy":
        return lambda line, found: line.entry.is_of_policy
    if word == "failed":
        return lambda line, found: line.outcome in (EpisodeOutcome.FAILED, EpisodeOutcome.BROKEN)
    return lambda line, found: line.outcome == word


def _mentions(text: str) -> Test:
    def test(line: EpisodeLine, found: Causes) -> bool:
        entry = line.entry
        texts = (entry.goal, entry.task, line.reason, entry.error, entry.id, entry.arm)
        cause = found.get(entry.id)
        return any(text in said.casefold() for said in texts) or (
            cause is not None and text in cause.reason.casefold()
        )

    return test


def _negated(test: Test) -> Test:
    return lambda line, found: not test(line, found)


def _listed(names: Mapping[str, str] | Sequence[str]) -> str:
    return ", ".join(_quoted(name) for name in list(names)[:16]) or "none in this run"


def _quoted(name: str) -> str:
    return f'"{name}"' if " " in name or not name else name


PER_PAGE = 100
_NEWEST = "-began"
_KEYS: Mapping[str, Callable[[EpisodeLine, Causes], Any]] = {
    "verdict": lambda line, found: list(EpisodeOutcome).index(line.outcome),
    "task": lambda line, found: (line.task, line.entry.seed),
    "arm": lambda line, found: line.entry.arm,
    "repeat": lambda line, found: line.entry.repeat,
    "round": lambda line, found: line.entry.round,
    "phase": lambda line, found: line.entry.phase,
    "steps": lambda line, found: line.entry.steps,
    "seconds": lambda line, found: line.entry.seconds,
    "ending": lambda line, found: str(line.entry.ending or ""),
    "cause": lambda line, found: cause_of(line, found) or "~",
    "began": lambda line, found: line.entry.started,
}
"""What each column is sorted by."""


@dataclass(frozen=True, slots=True)
class Column:
    """A head that sorts."""

    name: str
    address: str
    """Of the list sorted by it, the other way round where it is sorted by it already."""
    sorted: str
    """`ascending`, `descending` or `none`, as ARIA has it."""
    kind: str
    """Classes of its cells."""


_KINDS = {
    "verdict": "words",
    "task": "words task",
    "arm": "words",
    "phase": "words spare",
    "ending": "words spare",
    "cause": "words",
    "repeat": "spare",
    "seconds": "spare",
    "began": "spare",
}


def routes(pages: Pages) -> list[BaseRoute]:
    """`/run/NAME/episodes?q=…&sort=-steps&page=2`."""

    def episodes(request: Request) -> Response:
        run = pages.run(request)
        contents = pages.shelf.contents(run)
        known = pages.archivist.known(run, contents)
        asked = dict(request.query_params)
        question, problem = _read(asked.get("q", ""), contents)
        chosen = question.chosen(contents, known.found) if question else []
        lines = _sorted(chosen, asked.get("sort", _NEWEST), known.found)
        number = _number(asked.get("page", "1"), len(lines))
        shown = lines[(number - 1) * PER_PAGE : number * PER_PAGE]
        return pages.show(
            request,
            "episodes.html",
            crumbs_of(run, ("Episodes", "")),
            run=run,
            text=asked.get("q", ""),
            problem=problem,
            hint=question.hint() if question and not chosen else "",
            known=known,
            waits=bool(question and question.needs_causes and known.pending),
            lines=[(line, cause_of(line, known.found)) for line in shown],
            tally=count_outcomes(lines),
            total=len(contents.lines),
            columns=_columns(asked, run.address),
            chips=list_chips(contents, known.found),
            words={**{f"{word}:": help for word, help in WORDS.items()}, **PLAIN},
            page=_page(asked, number, len(lines), run.address),
        )

    return [Route("/run/{run}/episodes", episodes)]


def cause_of(line: EpisodeLine, found: Causes) -> str:
    """What the failure was put down to; empty where it is not known or there is none."""
    cause = found.get(line.entry.id)
    return str(cause.cause) if cause else ""


def _read(text: str, contents: Contents) -> tuple[EpisodeFilter | None, str]:
    try:
        return read_filter(text, contents), ""
    except SetupError as error:
        return None, str(error)


def _sorted(lines: Sequence[EpisodeLine], by: str, found: Causes) -> list[EpisodeLine]:
    key = _KEYS.get(by.lstrip("-")) or _KEYS["began"]
    return sorted(lines, key=lambda line: key(line, found), reverse=by.startswith("-"))


def _number(text: str, count: int) -> int:
    """The page that is meant, among those there are."""
    number = int(text) if text.isdecimal() and len(text) < 9 else 1
    return max(1, min(number, -(-count // PER_PAGE)))


def count_outcomes(lines: Sequence[EpisodeLine]) -> dict[str, Any]:
    """Return how many were chosen, and how often the policy succeeded in them.

    Where none is of the policy, as in a list of baselines, the rate is that of all of them.
    """
    of_policy = [line for line in lines if line.entry.is_of_policy]
    counted = of_policy or lines
    counts = Counter(line.outcome for line in counted)
    scored = counts[EpisodeOutcome.SUCCEEDED] + counts[EpisodeOutcome.FAILED]
    low, high = wilson(counts[EpisodeOutcome.SUCCEEDED], scored)
    return {
        "count": len(lines),
        "apart": len(lines) - len(counted),
        "steps": sum(line.entry.steps for line in lines),
        "scored": scored,
        "success": counts[EpisodeOutcome.SUCCEEDED] / scored if scored else 0.0,
        "low": low,
        "high": high,
    }


def _columns(asked: Mapping[str, str], address: str) -> list[Column]:
    by = asked.get("sort", _NEWEST)
    made = []
    for name in _KEYS:
        descending = by == f"-{name}"
        ascending = by == name
        other = (
            name
            if descending
            else f"-{name}"
            if ascending
            else (f"-{name}" if name in ("steps", "seconds", "round", "began") else name)
        )
        way = "descending" if descending else "ascending" if ascending else "none"
        link = _address(asked, address, sort=other, page="")
        made.append(Column(name, link, way, _KINDS.get(name, "")))
    return made


def list_chips(contents: Contents, found: Causes) -> list[tuple[str, str, int]]:
    """Return filters that choose something here, each as label, filter and count; counted are the
    policy's episodes."""
    apart = len(contents.lines) - len(contents.of_policy)
    only = "policy " if apart else ""
    counts = {str(outcome): count for outcome, count in contents.counts.items()}
    counts["disputed"] = sum(bool(line.doubts) for line in contents.of_policy)
    chips = [(name, f"{only}{name}", count) for name, count in counts.items() if count]
    if apart:
        chips.append(("not the policy’s", "-policy", apart))
    causes = Counter(str(one.cause) for one in found.values())
    return [*chips, *((f"at {name}", f"at:{name}", n) for name, n in causes.most_common())]


def _page(asked: Mapping[str, str], number: int, count: int, address: str) -> dict[str, Any]:
    last = max(1, -(-count // PER_PAGE))
    return {
        "number": number,
        "last": last,
        "before": _address(asked, address, page=str(number - 1)) if number > 1 else "",
        "after": _address(asked, address, page=str(number + 1)) if number < last else "",
        "from": (number - 1) * PER_PAGE + 1 if count else 0,
        "to": min(count, number * PER_PAGE),
    }


def _address(asked: Mapping[str, str], address: str, **changed: str) -> str:
    values = {name: value for name, value in {**asked, **changed}.items() if value}
    return f"{address}/episodes?{urlencode(values)}" if values else f"{address}/episodes"
