"""What a judge can be shown of a trajectory: its pages, its actions, and what the agent claims."""

import io
import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

from rapidfuzz.distance import Prefix

from webagent.action import Action, Answer, GiveUp, format_action, is_final
from webagent.errors import check_package
from webagent.models.prompt import fence
from webagent.records import Observation, Step, Trajectory

_GRID = 64
"""Cells of the raster, each way, on which two screenshots are compared."""
_SAME_CELL = 24
"""Difference in brightness, of 255, that a caret or an antialiased edge makes in a cell."""


@dataclass(frozen=True, slots=True)
class EvidencePage:
    """One page with what can be shown of it."""

    number: int
    """Counted from 1: page n is the one that action n was taken on, one more is how it was left."""
    observation: Observation
    text: str = ""
    """Title, address and lines; empty where no text was recorded or none is shown."""
    image: bytes | None = None
    relevance: float = 0.0

    @property
    def has_content(self) -> bool:
        """Whether there is anything to see."""
        return bool(self.text) or self.image is not None


def list_pages(trajectory: Trajectory) -> list[Observation]:
    """Return all pages in order, the one the agent left last."""
    last = [trajectory.last] if trajectory.last is not None else []
    return [*(step.observation for step in trajectory.steps), *last]


def view_pages(
    trajectory: Trajectory,
    render: Callable[[Observation], str],
    screenshot: Callable[[Observation], bytes | None],
) -> tuple[EvidencePage, ...]:
    """Return all pages in order, the one the agent left last.

    The page after an answer is left out where it looks as the one that was answered on.
    """
    views = [
        EvidencePage(number, page, format_page(page, render), screenshot(page))
        for number, page in enumerate(list_pages(trajectory), start=1)
    ]
    if trajectory.last is not None and trajectory.steps:
        final = trajectory.steps[-1].decision.action
        if is_final(final) and _look_the_same(views[-2], views[-1]):
            views.pop()
    return tuple(views)


def drop_repeats(views: Sequence[EvidencePage]) -> tuple[EvidencePage, ...]:
    """Return the last of consecutive pages that show the same; pages without content are left out.

    The same: equal words in equal order, whatever their marks, focus and spacing, and screenshots
    that are equal but for a caret. A page that differs by a single word or tick is kept.
    """
    kept: list[EvidencePage] = []
    for view in views:
        if not view.has_content:
            continue
        if kept and _look_the_same(kept[-1], view):
            kept.pop()
        kept.append(view)
    return tuple(kept)


def select_relevant(views: Sequence[EvidencePage], count: int) -> tuple[EvidencePage, ...]:
    """Return the most relevant ones in their own order, the last one always among them."""
    ranked = sorted(views[:-1], key=lambda each: (-each.relevance, -each.number))
    kept = [*ranked[: max(count - 1, 0)], *views[-1:]]
    return tuple(sorted(kept, key=lambda each: each.number))


def limit_images(views: Sequence[EvidencePage], count: int) -> tuple[EvidencePage, ...]:
    """Return the same with screenshots on the most relevant ones only."""
    seen = [each for each in views if each.image is not None]
    kept = {each.number for each in select_relevant(seen, count)} if count else set()
    return tuple(each if each.number in kept else replace(each, image=None) for each in views)


def format_pages(views: Sequence[EvidencePage]) -> str:
    """Return the texts, each in a fence of its own."""
    texts = [fence(f"page {each.number}", each.text) for each in views if each.text]
    return "\n\n".join(texts) or "No text of a page was recorded."


def format_captions(views: Sequence[EvidencePage]) -> str:
    """Return which page each attached screenshot shows, in their order."""
    numbers = [each.number for each in views if each.image is not None]
    return "; ".join(f"screenshot {n} shows page {n}" for n in numbers) or "none"


def collect_images(views: Sequence[EvidencePage]) -> tuple[bytes, ...]:
    """Return the screenshots in order."""
    return tuple(each.image for each in views if each.image is not None)


def format_page(page: Observation, render: Callable[[Observation], str]) -> str:
    """Return title, address and lines; empty where no line was recorded."""
    if not page.nodes:
        return ""
    heading = [line for line in (page.title, page.url) if line]
    return "\n".join([*heading, *[""] * bool(heading), render(page)])


def _look_the_same(first: EvidencePage, second: EvidencePage) -> bool:
    if first.observation.url != second.observation.url:
        return False
    if _words(first.observation) != _words(second.observation):
        return False
    if first.image is None or second.image is None:
        return first.image is second.image
    if first.image == second.image:
        return True
    check_package("PIL", "comparing screenshots")
    from PIL import Image, ImageChops

    try:
        pictures = [
            Image.open(io.BytesIO(each)).convert("L") for each in (first.image, second.image)
        ]
    except (OSError, ValueError):
        return False
    if pictures[0].size != pictures[1].size:
        return False
    difference = ImageChops.difference(*pictures).resize((_GRID, _GRID), Image.Resampling.BOX)
    return max(difference.tobytes()) <= _SAME_CELL  # no more than a caret


def _words(page: Observation) -> tuple[tuple[object, ...], ...]:
    return tuple(
        (
            node.role,
            re.sub(r"\s+", " ", node.name),
            node.value,
            tuple(state for state in node.states if state != "focused"),
        )
        for node in page.nodes
    )


@dataclass(frozen=True, slots=True)
class Claim:
    """What the agent says of its own work: never evidence, compared with it afterwards."""

    stance: str = "none"
    """`done`, `gave up` or `none`."""
    answer: str = ""


def find_claim(trajectory: Trajectory) -> Claim:
    """Find the claim that the last action makes."""
    action = trajectory.steps[-1].decision.action if trajectory.steps else None
    if isinstance(action, Answer):
        return Claim("done", action.text)
    return Claim("gave up", action.reason) if isinstance(action, GiveUp) else Claim()


def format_actions(trajectory: Trajectory) -> str:
    """Return what was done, a numbered line each, without the agent's words about it."""
    pages = [*(step.observation for step in trajectory.steps), trajectory.last][1:]
    lines = []
    for number, (step, after) in enumerate(zip(trajectory.steps, pages, strict=True), start=1):
        match step.decision.action:
            case Answer():
                done = "said that it had finished"
            case GiveUp():
                done = "gave up"
            case _:
                done = format_targeted_action(step)
        outcome = f" ({after.outcome})" if after is not None and after.outcome else ""
        lines.append(f"{number}. {done}{outcome}")
    return "\n".join(lines) or "nothing"


def has_acted(trajectory: Trajectory) -> bool:
    """Return whether anything was done but to end the episode."""
    return any(not is_final(step.decision.action) for step in trajectory.steps)


def format_reasoned_actions(trajectory: Trajectory) -> str:
    """Return each step with its address, action and reasoning, and the last page at the end.

    The answer stands in the last action: this is for judges that were published with it.
    """
    steps = [
        (step.observation.url, format_targeted_action(step), step.decision.thought)
        for step in trajectory.steps
    ]
    if trajectory.last is not None:
        steps.append((trajectory.last.url, "none, the episode is over", ""))
    return "\n".join(
        f"Step {number}\nURL: {url or 'not recorded'}\nAction: {action}\n"
        f"Reasoning: {thought or '-'}"
        for number, (url, action, thought) in enumerate(steps, start=1)
    )


def format_targeted_action(step: Step) -> str:
    """Return a step's action with the element that it was done to, without the agent's words."""
    action: Action = step.decision.action
    target = step.observation.node(getattr(action, "mark", 0))
    return format_action(action) + (f' on {target.role} "{target.name}"' if target else "")


LEXICON = Path(__file__).with_name("page_claims.json")
_ELEMENT = re.compile(r"\s*\*?\[\d+\] ")
_SENTENCE = re.compile(r"[.!?;]+(?:\s|$)|[。！？؟।\n]")
_LETTERS = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"[^\W_]+")
_ADDRESS = re.compile(r"\S+://\S+")
_UNSPACED = re.compile(
    "[\u0e00-\u0e7f\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7af]"
)
_REACH = 60
"""Characters between what is spoken of and the word that says it is over, at most."""
_RUN = 5
"""Words that the task begins with, and that make a line of text which has them a repetition."""
_SHORTEST_RUN = 3
"""Words of a task that is shorter than that; of a still shorter one nothing is a repetition."""

_STEM = 4
"""Letters that two words of one stem share at least."""


@dataclass(frozen=True, slots=True)
class PageClaims:
    """Finds lines that claim something about a task; the task's own subject is no claim."""

    goal: str
    addressees: re.Pattern[str]
    matters: re.Pattern[str]
    opening: tuple[str, ...]
    """The words the task begins with."""
    known: frozenset[str]
    """All its words."""

    @classmethod
    def of(cls, goal: str) -> "PageClaims":
        """Return the claims that count as such where this is the task."""
        folded = _fold(goal)
        words = _WORD.findall(folded)
        opening = tuple(words[:_RUN]) if len(words) >= _SHORTEST_RUN else ()
        addressees, matters = (
            _pattern(
                tuple(each for each in _lexicon()[name] if not _pattern((each,)).search(folded))
            )
            for name in ("addressees", "matters")
        )
        return cls(goal, addressees, matters, opening, frozenset(words))

    def explain(self, line: str) -> str:
        """Return what is wrong with a line as evidence; empty where nothing is."""
        claim = self.find_claim(line)
        if claim or _ELEMENT.match(line):
            return claim
        words = _WORD.findall(_fold(_ADDRESS.sub(" ", line)))
        ends = {word for word in words if _ends().fullmatch(word)} - self.known
        if ends and ends.union(_lexicon()["fillers"]).issuperset(words):
            return "says only that something is over"
        size = len(self.opening)
        windows = (tuple(words[start : start + size]) for start in range(len(words) - size + 1))
        return "repeats the words of the task" if size and self.opening in windows else ""

    def find_claim(self, text: str) -> str:
        """Return what is wrong with a name or a part of a line; empty where nothing is."""
        folded = _fold(_ADDRESS.sub(" ", text))
        if self.addressees.search(folded):
            return "speaks to or of whoever judges"
        for sentence in _SENTENCE.split(folded):
            ends = [match.span() for match in _ends().finditer(sentence)]
            matters = [match.span() for match in self.matters.finditer(sentence)] if ends else []
            pairs = [sorted((matter, end)) for matter in matters for end in ends]
            # A word for the task and one for an ending stand apart and not far.
            if any(0 <= later[0] - earlier[1] <= _REACH for earlier, later in pairs):
                return "says how the task went"
        return ""

    def remove_claims(self, page: str) -> str:
        """Return the page without such lines."""
        return "\n".join(line for line in page.splitlines() if not self.explain(line))

    def is_off_topic(self, lines: Sequence[str], point: str) -> bool:
        """Return whether all lines are sentences that name nothing of the task and of the point.

        Names, numbers and elements are none: they may be what the task looks for.
        """
        matters = _pattern(tuple(_lexicon()["matters"]))
        named = _content_words(self.goal) | {
            word
            for word in _content_words(point)
            if not (matters.fullmatch(word) or _ends().fullmatch(word))
        }
        return all(
            _is_sentence(line)
            # Alike: one word but for an ending of the longer one's or two letters.
            and not any(
                word == other
                or Prefix.similarity(word, other) >= max(_STEM, min(len(word), len(other)) - 2)
                for word in _content_words(line)
                for other in named
            )
            for line in lines
        )


def _is_sentence(line: str) -> bool:
    """Return whether a text says something: mostly small letters, or a word for an ending."""
    if _ELEMENT.match(line):
        return False
    words = _LETTERS.findall(_ADDRESS.sub(" ", line))
    is_closed = line.rstrip().endswith((".", "!", "。", "！"))
    has_end = bool(_ends().search(_fold(line)))
    if any(_UNSPACED.search(_fold(word)) for word in words):
        return is_closed or has_end
    small = sum(not word[0].isupper() for word in words)
    is_long = len(line.split()) + is_closed >= _SHORTEST_RUN
    return has_end or (is_long and 2 * small + is_closed > len(words))


def _content_words(text: str) -> frozenset[str]:
    """Return the words of a text but for those that any text about pages has."""
    words = [
        part
        for word in _WORD.findall(_fold(text))
        for part in (word if _UNSPACED.search(word) else (word,))
    ]
    return frozenset(words).difference(_lexicon()["common"])


@cache
def _lexicon() -> dict[str, list[str]]:
    """Return words by kind; `*` stands for any ending. Accents are left out."""
    words: dict[str, list[str]] = json.loads(LEXICON.read_text(encoding="utf-8"))
    return words


@cache
def _ends() -> re.Pattern[str]:
    return _pattern(tuple(_lexicon()["ends"]))


@lru_cache(maxsize=2048)
def _pattern(entries: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of any entry; in scripts without spaces it matches inside words."""
    parts = []
    for entry in sorted(set(entries), key=len, reverse=True):
        folded = _fold(entry)
        words = re.escape(folded).replace(r"\*", r"\w*").replace(r"\ ", r"\W+")
        parts.append(words if _UNSPACED.search(folded) else rf"(?<!\w){words}(?!\w)")
    return re.compile("|".join(parts) or r"(?!)")


def _fold(text: str) -> str:
    """Return small letters without accents and invisible characters."""
    parts = unicodedata.normalize("NFKD", text.replace("\\n", "\n")).casefold()
    return "".join(each for each in parts if unicodedata.category(each) not in ("Mn", "Cf"))
