"""Whether a request may leave the browser, from the policy and the address alone."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

from tasks.task import Json
from webagent.guard.address import (
    WEB_PORTS,
    IpAddress,
    ParsedUrl,
    is_opened,
    kind_of,
    parse_ip,
    parse_url,
)
from webagent.guard.policy import GuardPolicy, SiteRule


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
