"""Whether the agent may do an action, from the policy, the action and the elements it is on."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from webagent.action import Action, format_action
from webagent.action import actions as act
from webagent.errors import unknown_name
from webagent.guard.address import SitePattern, parse_url
from webagent.guard.decide import ALLOWED, GuardVerdict, decide_request, refuse
from webagent.guard.policy import GuardPolicy
from webagent.guard.secret import find_placeholders
from webagent.records import Node, Observation

_WHERE_THE_FOCUS_IS = (
    act.Press | act.KeyboardDown | act.KeyboardUp | act.KeyboardType | act.KeyboardInsertText
)
_STRICTEST = ("deny", "ask", "allow")


def decide_action(policy: GuardPolicy, action: Action, seen: Observation) -> GuardVerdict:
    """Return whether an action may be done on the page as the agent saw it.

    Rules are tried on every element that the action may reach; the strictest verdict holds.
    """
    verdict = _decide_secrets_in(policy, action)
    if verdict.is_allowed and isinstance(action, act.Goto):
        verdict = decide_request(policy, action.url)
    if not verdict.is_allowed:
        return verdict
    nodes = elements_of(action, seen) or (None,)
    verdicts = [_decide_by_rules(policy, action, seen.url, node) for node in nodes]
    return min(verdicts, key=lambda each: _STRICTEST.index(each.outcome))


def elements_of(action: Action, seen: Observation) -> tuple[Node, ...]:
    """Return the elements an action may reach: by mark, by point or by focus."""
    marks = [
        getattr(action, name) for name in ("mark", "source", "target") if hasattr(action, name)
    ]
    pairs = (("x", "y"), ("to_x", "to_y"))
    points = [(getattr(action, x), getattr(action, y)) for x, y in pairs if hasattr(action, x)]
    if not any(marks) and isinstance(action, _WHERE_THE_FOCUS_IS):
        marks.append(seen.focus)
    return tuple(
        node
        for node in seen.nodes
        if node.mark and (node.mark in marks or any(_holds(node.box, point) for point in points))
    )


def texts_of(action: Action) -> tuple[str, ...]:
    """Return every text among the arguments."""
    values = [getattr(action, field.name) for field in fields(action)]
    nested = [value if isinstance(value, tuple) else (value,) for value in values]
    return tuple(text for each in nested for text in each if isinstance(text, str))


def decide_secret(policy: GuardPolicy, name: str, origins: Sequence[str]) -> GuardVerdict:
    """Return whether a secret may be typed into a document of these origins, outer included."""
    sites = policy.secrets[name].sites
    for origin in origins:
        if not is_on(origin, sites):
            return refuse(f"the secret {name} is not for {origin[:100]}", f"secrets.{name}.sites")
    return ALLOWED if origins else refuse("the page has no origin", f"secrets.{name}.sites")


def is_on(url: str, sites: Iterable[SitePattern]) -> bool:
    """Return whether an address or origin can be read and belongs to one of the sites."""
    try:
        address = parse_url(url)
    except ValueError:
        return False
    return any(site.covers(address) for site in sites)


def decide_upload(policy: GuardPolicy, path: Path) -> GuardVerdict:
    """Return whether a file, its links already followed, may be handed to a page."""
    terms = policy.uploads
    if not any(path.is_relative_to(folder) for folder in terms.folders):
        return refuse("the file lies in no folder that is open for uploads", "uploads.folders")
    if not path.is_file():
        return refuse("there is no such file", "uploads.folders")
    if terms.types and path.suffix.lower() not in terms.types:
        return refuse(f"only {', '.join(terms.types)} may be uploaded", "uploads.types")
    if path.stat().st_size > terms.max_bytes:
        return refuse(f"the file has {path.stat().st_size} bytes", "uploads.max_bytes")
    return ALLOWED


def _decide_secrets_in(policy: GuardPolicy, action: Action) -> GuardVerdict:
    if isinstance(action, act.Answer | act.GiveUp):
        return ALLOWED
    names = {name for text in texts_of(action) for name in find_placeholders(text)}
    for name in names:
        if name not in policy.secrets:
            return refuse(str(unknown_name("secret", name, policy.secrets)), "secrets")
    if names and not isinstance(action, act.Fill):
        return refuse("secrets are typed by fill only", "secrets")
    return ALLOWED


def _decide_by_rules(
    policy: GuardPolicy, action: Action, url: str, node: Node | None
) -> GuardVerdict:
    """Return what the first rule says that applies to an action on this element."""
    call = format_action(action).partition("(")[0]
    facts = {**asdict(action), "action": call, "url": url}
    if node is not None:
        about = {"role": node.role, "name": node.name, "value": node.value, "kind": node.kind}
        facts |= about | {"states": list(node.states)}
    for rule in sorted(policy.actions, key=lambda each: -each.priority):
        if rule.actions and call not in rule.actions:
            continue
        if rule.sites and not is_on(url, rule.sites):
            continue
        if rule.when and not _compile(json.dumps(rule.when, sort_keys=True)).is_valid(facts):
            continue
        named = f"actions: {call}" if rule.actions else "actions: all"
        reason = rule.reason or f"the policy says {rule.verdict}"
        return GuardVerdict(rule.verdict, reason, named)
    return ALLOWED


@lru_cache(maxsize=256)
def _compile(schema: str) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(schema))


def _holds(box: tuple[int, int, int, int], point: tuple[int, int]) -> bool:
    left, top, width, height = box
    return left <= point[0] <= left + width and top <= point[1] <= top + height


def quote_short(text: str, longest: int = 60) -> str:
    """Return words of a page for a question to a person: one line, quoted and shortened."""
    plain = re.sub(r"\s+", " ", text).strip()
    cut = plain if len(plain) <= longest else plain[: longest - 1] + "…"
    return ascii(cut) if not cut.isprintable() else repr(cut)


_PASTED_WITH = ("v", "keyv", "insert")
_DRAGGING = act.DragAndDrop | act.MouseDrag | act.MouseDown | act.MouseUp


class TransferTracker:
    """Which keys the agent holds, as they count for the keys that follow."""

    def __init__(self) -> None:
        self._held: set[str] = set()

    def may_carry(self, action: Action) -> bool:
        """Return whether an action may put what was copied or selected before somewhere else."""
        if isinstance(action, _DRAGGING) or getattr(action, "button", "left") == "middle":
            return True
        if isinstance(action, act.KeyboardUp):
            self._held.discard(action.key.lower())
        if not isinstance(action, act.Press | act.KeyboardDown):
            return False
        *modifiers, key = action.key.lower().split("+")
        with_others = bool(modifiers or self._held)
        may_paste = key == "paste" or (key in _PASTED_WITH and with_others)
        if isinstance(action, act.KeyboardDown):
            self._held.add(key)
        return may_paste
