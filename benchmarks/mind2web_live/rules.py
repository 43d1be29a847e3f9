"""Mind2Web-Live's key nodes: places, elements and values that every way to the goal passes.

As https://arxiv.org/abs/2406.12373 and its evaluator score them: each node counts once reached, in
whatever order, on any page that was seen and any element that was acted on.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlparse

from benchmarks.webvoyager.rules import asked_share
from evaluators.evaluator import FunctionEvaluator, Verdict, evaluator
from evaluators.rules.checks import Means, Rule, RuleQuestion, consulting_rule, rule
from tasks.task import Json
from webagent.models.prompt import fence, load_prompt
from webagent.records import Trajectory

PROMPT = Path(__file__).parent / "prompts" / "key_node.md"

PARENTS_COUNT = frozenset(
    {*("span", "div", "li", "ul", "p"), *("h1", "h2", "h3", "h4", "h5", "h6")}
)
"""Where a reference element is one of these, up to three of those around it do as well."""


@rule
def key_node_url(found: Json, expected: Json) -> Verdict:
    """Of the pages seen one has the `reference` in its address, or is it with `exact`.

    With a `key` the first value of that name in the query is looked at, else the address, without
    its scheme and query where it need not be exact.
    """
    node = _node(expected, {"reference"})
    reference, exact = str(node["reference"]), bool(node.get("exact", False))
    for url in _urls(found):
        part = _part(url, str(node.get("key") or ""), whole=exact)
        if part is not None and (part == reference if exact else reference in part):
            return Verdict(1.0, f"{url} was reached")
    place = f"under {node['key']!r} in its query" if node.get("key") else "in its address"
    return Verdict(0.0, f"no page had {reference!r} {place}")


@rule
def key_node_element(found: Json, expected: Json) -> Verdict:
    """Of the elements acted on, on the site `netloc`, one is what the CSS `selector` finds.

    Tried on the outline that was noted around each element; where none was, the rule abstains
    unless the noted selector is the same text.
    """
    node = _node(expected, {"selector", "netloc"})
    return _any_of(_is_element(note, node) for note in _on_site(found, node))


@rule
def key_node_value(found: Json, expected: Json) -> Verdict:
    """Of the elements acted on, on the site `netloc`, one has the `reference` as its value.

    With a `selector` it has to be that element too; with `included` the reference may be a part.
    """
    node = _node(expected, {"reference", "netloc"})
    reference = str(node["reference"])

    def fits(note: Mapping[str, Any]) -> Verdict:
        value = _value(note)
        if not (reference in value if node.get("included", False) else value == reference):
            return Verdict(0.0, f"{value!r} is not {reference!r}")
        return _is_element(note, node) if "selector" in node else Verdict(1.0, f"{value!r} matches")

    return _any_of(map(fits, _on_site(found, node)))


@consulting_rule
async def key_node_url_means(question: RuleQuestion) -> Verdict:
    """A model finds that an address seen, or its query at `key`, wholly meets the `reference`."""
    return _wholly(await _url_share(question))


@consulting_rule
async def key_node_value_means(question: RuleQuestion) -> Verdict:
    """A model finds that a value of an element acted on wholly meets the `reference`."""
    return _wholly(await _value_share(question))


_RULES: Mapping[str, Rule] = {
    "key_node_url": key_node_url,
    "key_node_element": key_node_element,
    "key_node_value": key_node_value,
}


def key_nodes_reached(means: Means | None = None, score: str = "key_nodes") -> FunctionEvaluator:
    """Return the evaluator that gives the share of a task's key nodes that were reached.

    A node that a model judges counts by the share that the model gives, as published. Abstains when
    a node cannot be told, and for a task without key nodes.
    """
    at_hand = means or Means()
    name = f"key_nodes[{at_hand.model.name}]" if at_hand.model else "key_nodes"

    @evaluator(name, score=score)
    async def judge(trajectory: Trajectory) -> Verdict:
        seen: list[Json] = [step.observation.url for step in trajectory.steps]
        seen += [trajectory.last.url] if trajectory.last is not None else []
        evidence: dict[str, Json] = {**trajectory.evidence, "episode.urls": seen}
        shares = []
        for check in trajectory.task.checks:
            if check.rule not in _RULES and check.rule not in _SHARES:
                continue
            if check.evidence not in evidence:
                return Verdict(None, f"evidence {check.evidence} was not captured")
            found = evidence[check.evidence]
            question = RuleQuestion(found, check.expected, trajectory.goal, at_hand)
            try:
                if check.rule in _SHARES:
                    verdict = await _SHARES[check.rule](question)
                else:
                    held = _RULES[check.rule](found, check.expected)
                    verdict = (
                        held if isinstance(held, Verdict) else Verdict(float(held), check.rule)
                    )
            except TypeError as error:
                return Verdict(None, f"{check.rule} cannot be compared ({error})")
            if verdict.value is None:
                return verdict
            shares.append(verdict.value)
        if not shares:
            return Verdict(None, "the task has no key nodes")
        return Verdict(sum(shares) / len(shares), f"{sum(shares):g} of {len(shares)} key nodes")

    return judge


async def _url_share(question: RuleQuestion) -> Verdict:
    node = _node(question.expected, {"reference"})
    parts = [_part(url, str(node.get("key") or ""), whole=True) for url in _urls(question.found)]
    return await _best_share(question, node, filter(None, parts))


async def _value_share(question: RuleQuestion) -> Verdict:
    node = _node(question.expected, {"reference", "netloc"})
    notes = _on_site(question.found, node)
    judged = [(note, _is_element(note, node)) for note in notes if "selector" in node]
    if any(verdict.value is None for _, verdict in judged):
        return next(verdict for _, verdict in judged if verdict.value is None)
    fitting = [note for note, verdict in judged if verdict.value] if "selector" in node else notes
    return await _best_share(question, node, filter(None, map(_value, fitting)))


_SHARES = {"key_node_url_means": _url_share, "key_node_value_means": _value_share}


async def _best_share(
    question: RuleQuestion, node: Mapping[str, Any], texts: Iterable[str]
) -> Verdict:
    """Return the highest share that the model gives one of the texts; asked no more after a 1."""
    best = Verdict(0.0, f"there is no text to compare with {node['reference']!r}")
    prompt = load_prompt(PROMPT)
    for text in dict.fromkeys(texts):
        slots = {"criterion": str(node["reference"]), "text": fence("text", text)}
        verdict = await asked_share(question.means.model, prompt, slots)
        if verdict.value is None or verdict.value >= 1.0:
            return verdict
        best = verdict if verdict.value >= (best.value or 0.0) else best
    return best


def _wholly(share: Verdict) -> Verdict:
    """Reached only where the share is whole."""
    return share if share.value is None else Verdict(float(share.value >= 1.0), share.reason)


def _any_of(verdicts: Iterable[Verdict]) -> Verdict:
    """Join verdicts: one that holds decides, then one that cannot be known."""
    given = list(verdicts)
    for value in (1.0, None):
        for verdict in given:
            if verdict.value == value:
                return verdict
    return Verdict(0.0, f"none of the {len(given)} elements acted on there matches")


def _is_element(note: Mapping[str, Any], node: Mapping[str, Any]) -> Verdict:
    """Return whether the element is the first that the selector finds, or lies close around it."""
    selector, outline = str(node["selector"]).strip(), note.get("outline")
    if not isinstance(outline, str):
        if str(note.get("selector", "")).strip() == selector:
            return Verdict(1.0, f"{selector} was acted on")
        return Verdict(None, f"the surroundings of {note.get('selector')!r} were not recorded")
    from bs4 import BeautifulSoup
    from soupsieve import SelectorSyntaxError

    page = BeautifulSoup(outline, "html.parser")
    try:
        wanted = page.select_one(selector)
    except SelectorSyntaxError:
        return Verdict(0.0, f"the reference {selector!r} is not a selector")
    if wanted is None:
        return Verdict(0.0, f"{selector} finds nothing there")
    around = list(wanted.parents)[:3] if wanted.name in PARENTS_COUNT else []
    acted = page.select_one("[data-acted]")
    fits = any(one is acted for one in (wanted, *around))
    return Verdict(float(fits), f"{selector} was {'' if fits else 'not '}acted on")


def _on_site(found: Json, node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the notes of elements on pages of the node's site. Raises `TypeError`."""
    if not isinstance(found, list) or not all(isinstance(note, dict) for note in found):
        raise TypeError("elements are a list of notes, one for each element acted on")
    notes = [note for note in found if isinstance(note, dict)]
    return [note for note in notes if site_name(str(note.get("url", ""))) == node["netloc"]]


def site_name(url: str) -> str:
    """Return the published name of a page's site: `google` of google.com and www.google.com.hk."""
    host = urlparse(url).netloc
    parts = host.split(".")
    if host.startswith("www"):
        return parts[1] if len(parts) > 2 else ""
    return parts[0] if len(parts) > 1 else ""


def _value(note: Mapping[str, Any]) -> str:
    """Return what stands in the element, else what is written on it."""
    return str(note.get("value") or note.get("text") or "")


def _part(url: str, key: str, *, whole: bool) -> str | None:
    """Return what of an address is compared; None where its query lacks the key."""
    parts = urlparse(url)
    if key:
        values = parse_qs(parts.query).get(key)
        return unquote(values[0]) if values else None
    if whole:
        return unquote(url)
    return unquote(parts.netloc + parts.path + (f"#{parts.fragment}" if parts.fragment else ""))


def _urls(found: Json) -> list[str]:
    if not isinstance(found, list):
        raise TypeError(f"pages seen are a list of addresses, found {found!r}")
    return [str(url) for url in found]


def _node(expected: Json, needed: set[str]) -> Mapping[str, Any]:
    """Return the key node. Raises `TypeError`."""
    if not isinstance(expected, dict) or needed - expected.keys():
        raise TypeError(f"a key node is an object with {', '.join(sorted(needed))}")
    return expected
