"""The guard: what a policy says of requests and of actions, and whom it asks."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias
from urllib.parse import unquote

from tasks.task import Json
from webagent.action import Action, format_action
from webagent.action import actions as act
from webagent.errors import unknown_name
from webagent.guard.address import (
    WEB_PORTS,
    IpAddress,
    ParsedUrl,
    SitePattern,
    is_opened,
    kind_of,
    parse_ip,
    parse_url,
)
from webagent.guard.policy import (
    UNLIMITED,
    ActionRule,
    Confirm,
    Contract,
    GuardPolicy,
    SiteRule,
    read_policy,
)
from webagent.guard.secret import Secrets, find_placeholders, read_secret
from webagent.records import Node, Observation
from webagent.timing import uncounted


@dataclass(frozen=True, slots=True)
class GuardVerdict:
    """Allowed, refused for a reason, or a matter for a person."""

    outcome: Literal["allow", "deny", "ask"]
    reason: str = ""
    """Why it is refused or asked; made from the policy and from addresses, never from page text."""
    rule: str = ""
    """The part of the policy that decided, as `sites: evil.example`."""

    @property
    def is_allowed(self) -> bool:
        """Return whether it may be done without a further question."""
        return self.outcome == "allow"


ALLOWED = GuardVerdict("allow")


def refuse(reason: str, rule: str = "") -> GuardVerdict:
    """Return the verdict that says no."""
    return GuardVerdict("deny", reason, rule)


@dataclass(frozen=True, slots=True)
class GuardRefusal:
    """One thing that was not done."""

    what: str
    """The request or action, secrets masked: `GET http://evil.example/x` or `goto("...")`."""
    reason: str
    rule: str
    where: str
    """Where it was refused: `action`, `page` (before the browser sent it) or `proxy`."""
    step: int
    """How many actions the agent had begun; 0 while the first page loads."""

    def to_json(self) -> dict[str, Json]:
        """Return the refusal for the episode's evidence."""
        return asdict(self)


_INSIDE = ("data", "blob")
"""Schemes whose content comes from the page itself and reaches nothing."""
_BLANK = ("blank", "srcdoc")
_WEB_SOCKETS = ("ws", "wss")
_SCHEMES = ("http", "https", *_WEB_SOCKETS)


def decide_request(policy: GuardPolicy, url: str, method: str = "GET") -> GuardVerdict:
    """Return whether a request may be made, by whatever part of a page or by an action."""
    try:
        address = parse_url(url)
    except ValueError as error:
        return refuse(str(error), "addresses")
    if address.scheme in WEB_PORTS:
        verdict, ip = _decide_site(policy, address, method), parse_ip(address.host)
        if not verdict.is_allowed or ip is None:
            return verdict
        return decide_ip(policy, address.host, address.port, ip)
    if address.scheme == "file":
        return decide_file(policy, address)
    is_blank = address.scheme == "about" and address.path.partition("#")[0] in _BLANK
    if is_blank or address.scheme in _INSIDE:
        return ALLOWED
    return refuse(f"addresses with {address.scheme}: are closed", "schemes")


def decide_server(
    policy: GuardPolicy, host: str, port: int, schemes: tuple[str, ...] = ("https", "wss")
) -> GuardVerdict:
    """Return whether a connection may be made of which only host and port are known.

    Paths and methods are not: a rule for part of a server opens the connection to it.
    """
    rules = [rule for rule in policy.sites if rule.match.has_host(host, port, schemes)]
    for rule in rules:
        if rule.verdict == "deny" and rule.match.path == "/":
            return _denied(rule)
    if any(rule.verdict == "allow" for rule in rules) or policy.other_sites == "allow":
        ip = parse_ip(host)
        return ALLOWED if ip is None else decide_ip(policy, host, port, ip)
    return refuse(f"no rule opens {host}:{port}", "other_sites")


def decide_ip(policy: GuardPolicy, host: str, port: int, ip: IpAddress) -> GuardVerdict:
    """Return whether a host that was allowed by name may be reached at this address.

    An address written out in a rule, with its port, or given to the name in `hosts`, was opened
    by the user.
    """
    if policy.hosts.get(host) == str(ip) or is_opened(ip, policy.open_networks):
        return ALLOWED
    for rule in policy.sites:
        is_its = rule.match.host == host and rule.match.has_host(host, port, _SCHEMES)
        names_it = rule.verdict == "allow" and is_its
        is_local = host == "localhost" and kind_of(ip) == "loopback"
        if names_it and (is_local or host == str(ip)):
            return ALLOWED
    where = host if host == str(ip) else f"{host} at {ip}"
    return refuse(f"{where} is in a closed network ({kind_of(ip)})", "open_networks")


def decide_file(policy: GuardPolicy, address: ParsedUrl) -> GuardVerdict:
    """Return whether a file may be opened as a page or as part of one; links are followed first."""
    text = address.path.partition("#")[0].partition("?")[0].replace("\\", "/")
    host, _, path = text.removeprefix("//").partition("/")
    if not text.startswith("//"):
        host, path = "", text.lstrip("/")
    decoded = unquote(path)
    if host not in ("", "localhost") or "\0" in decoded:
        return refuse("only files of this machine can be opened", "open_folders")
    real = Path(f"/{decoded}").resolve()
    if any(real.is_relative_to(folder) for folder in policy.open_folders):
        return ALLOWED
    return refuse(f"{real} lies in no open folder", "open_folders")


def decide_download(policy: GuardPolicy, name: str, size: int | None = None) -> GuardVerdict:
    """Return whether a page may hand over a file of this name and, once known, size in bytes."""
    terms = policy.downloads
    if not terms.allowed:
        return refuse("downloads are closed", "downloads.allowed")
    if terms.types and Path(name).suffix.lower() not in terms.types:
        return refuse(f"only {', '.join(terms.types)} may be downloaded", "downloads.types")
    if size is not None and size > terms.max_bytes:
        return refuse(f"the file has {size} bytes", "downloads.max_bytes")
    return ALLOWED


def _decide_site(policy: GuardPolicy, address: ParsedUrl, method: str) -> GuardVerdict:
    """Return whether the rules on sites open an address. One that denies it closes it; of the
    others it is enough that one allows it."""

    def decide(rule: SiteRule) -> GuardVerdict:
        name = f"sites: {rule.match}"
        if not rule.match.covers(address):
            return refuse(f"{address.path[:80]} can be read as a path outside {rule.match}", name)
        if address.scheme in _WEB_SOCKETS:
            return ALLOWED if rule.web_sockets else refuse("web sockets are closed there", name)
        if rule.methods and method.upper() not in rule.methods:
            return refuse(f"{rule.match} is open for {', '.join(rule.methods)} only", name)
        return ALLOWED

    rules = [rule for rule in policy.sites if rule.match.touches(address)]
    for rule in rules:
        if rule.verdict == "deny":
            return _denied(rule)
    if rules:
        verdicts = [decide(rule) for rule in rules]
        return next((each for each in verdicts if each.is_allowed), verdicts[0])
    if policy.other_sites == "deny":
        return refuse(f"no rule opens {address.origin}", "other_sites")
    if address.scheme in _WEB_SOCKETS:
        return refuse("web sockets are closed but where a rule opens them", "other_sites")
    return ALLOWED


def _denied(rule: SiteRule) -> GuardVerdict:
    return refuse(f"{rule.match} is closed", f"sites: {rule.match}")


_WHERE_THE_FOCUS_IS = (
    act.Press | act.KeyboardDown | act.KeyboardUp | act.KeyboardType | act.KeyboardInsertText
)
_STRICTEST = ("deny", "ask", "allow")


def decide_action(policy: GuardPolicy, action: Action, seen: Observation) -> GuardVerdict:
    """Return whether an action may be done on the page as the agent saw it.

    Rules are tried on every element that the action may reach; the strictest verdict holds.
    """
    verdict = ALLOWED
    if not isinstance(action, act.Answer | act.GiveUp):
        names = {name for text in texts_of(action) for name in find_placeholders(text)}
        if unknown := sorted(names - policy.secrets.keys()):
            verdict = refuse(str(unknown_name("secret", unknown[0], policy.secrets)), "secrets")
        elif names and not isinstance(action, act.Fill):
            verdict = refuse("secrets are typed by fill only", "secrets")
    if verdict.is_allowed and isinstance(action, act.Goto):
        verdict = decide_request(policy, action.url)
    if not verdict.is_allowed:
        return verdict
    nodes = elements_of(action, seen) or (None,)
    verdicts = [_decide_by_rules(policy, action, seen.url, node) for node in nodes]
    verdicts += _broken_contracts(policy, action, seen, seen, "before")
    return min(verdicts, key=lambda each: _STRICTEST.index(each.outcome))


def decide_press(policy: GuardPolicy, verdict: GuardVerdict, url: str, node: Node) -> GuardVerdict:
    """Return the verdict on an action that presses this element, too, by a key or by its label: the
    stricter one, as if it had been clicked."""
    pressed = _decide_by_rules(policy, act.Click(node.mark), url, node)
    return min((verdict, pressed), key=lambda each: _STRICTEST.index(each.outcome))


def decide_outcome(
    policy: GuardPolicy, action: Action, seen: Observation, led_to: Observation
) -> list[GuardVerdict]:
    """Return a refusal for every contract that an action has broken by the page it led to."""
    return _broken_contracts(policy, action, seen, led_to, "after")


def _broken_contracts(
    policy: GuardPolicy,
    action: Action,
    seen: Observation,
    page: Observation,
    part: Literal["before", "after"],
) -> list[GuardVerdict]:
    """Return a refusal for every contract on this action whose part the page does not fulfil."""
    call = format_action(action).partition("(")[0]
    nodes = elements_of(action, seen) or (None,)
    text = "\n".join(" ".join(filter(None, (n.name, n.value))) for n in page.nodes)
    facts = {"url": page.url, "title": page.title, "text": text}
    broken = []
    for contract in policy.contracts:
        schema = contract.before if part == "before" else contract.after
        if not schema or not any(_speaks_of(contract, action, seen.url, node) for node in nodes):
            continue
        if not _compile(json.dumps(schema, sort_keys=True)).is_valid(facts):
            reason = contract.reason or f"the contract's `{part}` does not hold"
            broken.append(refuse(reason, f"contracts: {call if contract.actions else 'all'}"))
    return broken


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
        if node.mark
        and (
            node.mark in marks
            or any(
                0 <= x - node.box[0] <= node.box[2] and 0 <= y - node.box[1] <= node.box[3]
                for x, y in points
            )
        )
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


def _decide_by_rules(
    policy: GuardPolicy, action: Action, url: str, node: Node | None
) -> GuardVerdict:
    """Return what the first rule says that applies to an action on this element."""
    for rule in sorted(policy.actions, key=lambda each: -each.priority):
        if not _speaks_of(rule, action, url, node):
            continue
        call = format_action(action).partition("(")[0]
        named = f"actions: {call}" if rule.actions else "actions: all"
        reason = rule.reason or f"the policy says {rule.verdict}"
        return GuardVerdict(rule.verdict, reason, named)
    return ALLOWED


def _speaks_of(rule: ActionRule | Contract, action: Action, url: str, node: Node | None) -> bool:
    """Whether a rule or contract is about an action on this element."""
    call = format_action(action).partition("(")[0]
    if rule.actions and call not in rule.actions:
        return False
    if rule.sites and not is_on(url, rule.sites):
        return False
    facts = {**asdict(action), "action": call, "url": url}
    if node is not None:
        about = {"role": node.role, "name": node.name, "value": node.value, "kind": node.kind}
        facts |= about | {"states": list(node.states)}
    return not rule.when or _compile(json.dumps(rule.when, sort_keys=True)).is_valid(facts)


@lru_cache(maxsize=256)
def _compile(schema: str) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(schema))


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


class Approve(Protocol):
    """A person who can be asked, or who stands in for one."""

    async def approve(self, question: str) -> bool:
        """Return whether the action may be done."""


async def is_approved(approver: Approve | None, question: str, seconds: float) -> bool:
    """Return the answer; no where there is nobody to ask, or no answer in time."""
    if approver is None:
        return False
    try:
        with uncounted():
            async with asyncio.timeout(seconds):
                return await approver.approve(question)
    except TimeoutError:
        return False


def write_question(action: Action, seen: Observation, reason: str) -> str:
    """Return the question to a person; words of the page are quoted and short."""
    try:
        address = parse_url(seen.url)
        site = quote_short(address.origin if address.host else f"{address.scheme}:", 120)
    except ValueError:
        site = "none"
    lines = [
        f"May the agent do {quote_short(format_action(action), 120)}?",
        f"Site: {site}",
        *(
            f"Element {node.mark}: {node.role}, called by the page {quote_short(node.name)}"
            for node in elements_of(action, seen)[:3]
        ),
        f"Rule: {reason}",
    ]
    return "\n".join(lines)


Resolve: TypeAlias = Callable[[str, int], Awaitable[list[str]]]
"""IP addresses of a host for a port. Raises `OSError` when the name is not known."""


@dataclass(frozen=True, slots=True)
class Guard:
    """What a browser enforces; make one with `Guard.of` or `Guard.read`."""

    policy: GuardPolicy
    secrets: Secrets = field(default_factory=lambda: Secrets({}))
    approver: Approve | None = None
    """Who is asked; nobody means no."""
    resolve: Resolve | None = None
    """In place of the machine's own name server."""
    own_folders: tuple[Path, ...] = ()
    """Folders of ours, such as a benchmark's pages, whose plainly named files need no judging."""
    on_write: Callable[[str, str], None] | None = None
    """Called with method and address right before a request leaves that may change something."""

    @classmethod
    def of(cls, policy: GuardPolicy, approver: Approve | None = None) -> "Guard":
        """Return a guard with the values of the policy's secrets. Raises `SetupError`."""
        values = {name: read_secret(name, secret) for name, secret in policy.secrets.items()}
        return cls(policy, Secrets(values), approver)

    @classmethod
    def read(cls, path: Path, approver: Approve | None = None) -> "Guard":
        """Return the guard of a policy file. Raises `SetupError`."""
        return cls.of(read_policy(path), approver)

    @classmethod
    def chosen(
        cls, path: Path | None, confirm: Confirm = "off", approver: Approve | None = None
    ) -> "Guard | None":
        """Return the guard of a file with the changes confirmed that `confirm` or the file names;
        without a file it limits nothing else. None where there is nothing to do. Raises
        `SetupError`."""
        if path is None and confirm == "off":
            return None
        policy = read_policy(path) if path else UNLIMITED
        strictest = max(policy.confirm, confirm, key=("off", "risky", "all").index)
        return cls.of(replace(policy, confirm=strictest), approver)

    def opening(self, *folders: Path) -> "Guard":
        """Return the same guard with folders of ours opened, such as a benchmark's own pages."""
        own = tuple(folder.resolve() for folder in folders)
        policy = replace(self.policy, open_folders=(*self.policy.open_folders, *own))
        return replace(self, policy=policy, own_folders=(*self.own_folders, *own))
