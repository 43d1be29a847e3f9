"""What an episode may do: the limits that code enforces, as plain values."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Literal
from urllib.parse import unquote

from webagent.action import ACTIONS
from webagent.errors import SetupError, unknown_name
from webagent.files import read_toml
from webagent.guard.address import (
    ANY_PORT,
    KINDS,
    WEB_PORTS,
    SitePattern,
    check_network,
    parse_host,
    parse_ip,
    parse_url,
    site_at,
)

Outcome = Literal["allow", "deny", "ask"]
Confirm = Literal["off", "risky", "all"]
_STRICT: dict[str, str] = {"extra": "forbid"}


@dataclass(frozen=True, slots=True)
class SiteRule:
    """Opens or closes a site."""

    __pydantic_config__: ClassVar[dict[str, str]] = _STRICT
    match: SitePattern
    verdict: Literal["allow", "deny"] = "allow"
    """A site that any rule denies is closed, whatever the others say."""
    methods: tuple[str, ...] = ()
    """HTTP methods that are open; empty for every method."""
    web_sockets: bool = False

    def __post_init__(self) -> None:
        for method in self.methods:
            if not method.isalpha() or not method.isupper():
                raise ValueError(f"{method!r} is not an HTTP method; write GET, POST, ...")


@dataclass(frozen=True, slots=True)
class ActionRule:
    """Says of actions that fulfil a condition whether they may be done."""

    __pydantic_config__: ClassVar[dict[str, str]] = _STRICT
    verdict: Outcome
    actions: tuple[str, ...] = ()
    """Names such as `click`; empty for every action."""
    sites: tuple[SitePattern, ...] = ()
    """Pages the rule speaks of; empty for every page."""
    when: Mapping[str, object] = field(default_factory=dict)
    """JSON Schema (2020-12) on the action's arguments and its element; empty: always."""
    priority: int = 0
    """Rules with a higher one are looked at first; then the order of the file counts."""
    reason: str = ""

    def __post_init__(self) -> None:
        for name in self.actions:
            if name not in ACTIONS:
                raise ValueError(f"no action called {name!r}; known: {', '.join(ACTIONS)}")


@dataclass(frozen=True, slots=True)
class Contract:
    """Says what must hold of the page before some actions are done, and after.

    Pre- and postconditions as in "Applying Design by Contract" (Meyer 1992), for agents after
    "Agent Behavioral Contracts" (Bhardwaj 2026, arXiv 2602.22302). There a contract also has
    invariants and recovers; here it refuses, tells and counts.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = _STRICT
    actions: tuple[str, ...] = ()
    """Names such as `click`; empty for every action."""
    sites: tuple[SitePattern, ...] = ()
    """Pages the contract speaks of; empty for every page."""
    when: Mapping[str, object] = field(default_factory=dict)
    """JSON Schema (2020-12) on the action's arguments and its element; empty: always."""
    before: Mapping[str, object] = field(default_factory=dict)
    """JSON Schema on the page's `url`, `title` and `text`; where it fails the action is refused."""
    after: Mapping[str, object] = field(default_factory=dict)
    """The same on the page that the action led to; where it fails, the contract is broken."""
    reason: str = ""

    def __post_init__(self) -> None:
        for name in self.actions:
            if name not in ACTIONS:
                raise ValueError(f"no action called {name!r}; known: {', '.join(ACTIONS)}")
        if not self.before and not self.after:
            raise ValueError("a contract needs `before` or `after`")


@dataclass(frozen=True, slots=True)
class DownloadLimits:
    """Which files a page may hand to the agent."""

    __pydantic_config__: ClassVar[dict[str, str]] = _STRICT
    allowed: bool = False
    types: tuple[str, ...] = ()
    """Endings such as `.pdf`; empty for every type."""
    max_bytes: int = 50_000_000


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """Which files the agent may hand to a page."""

    __pydantic_config__: ClassVar[dict[str, str]] = _STRICT
    folders: tuple[Path, ...] = ()
    """A file must lie in one of them once all links are followed; empty for no uploads."""
    types: tuple[str, ...] = ()
    """Endings such as `.pdf`; empty for every type."""
    max_bytes: int = 50_000_000


@dataclass(frozen=True, slots=True)
class Secret:
    """Something the model writes as `<secret:name>` and never sees."""

    __pydantic_config__: ClassVar[dict[str, str]] = _STRICT
    sites: tuple[SitePattern, ...]
    """The only sites it is typed on."""
    env: str = ""
    """Environment variable that holds it."""
    file: Path | None = None
    """File that holds it; a line break at its end is dropped."""
    strict: bool = False
    """Whether the episode reaches no other site any more once it was typed."""

    def __post_init__(self) -> None:
        if bool(self.env) == (self.file is not None):
            raise ValueError("a secret comes either from `env` or from `file`")
        if not self.sites:
            raise ValueError("a secret needs `sites`, the only ones it is typed on")


@dataclass(frozen=True, slots=True)
class GuardPolicy:
    """All limits of an episode; as it stands, it opens nothing but the site a task starts on."""

    __pydantic_config__: ClassVar[dict[str, str]] = _STRICT
    on_refusal: Literal["tell", "end"] = "tell"
    """`tell` goes on and says so in the outcome; `end` ends the episode as *guard refused*."""
    max_refusals: int | None = None
    """Most refused actions and broken contracts; one more ends it as *guard refused*. None: any."""
    other_sites: Literal["allow", "deny"] = "deny"
    """What holds for sites that no rule names."""
    sites: tuple[SiteRule, ...] = ()
    hosts: Mapping[str, str] = field(default_factory=dict)
    """Name to IP address, in place of asking the name server; such addresses are open."""
    open_networks: tuple[str, ...] = ()
    """Networks open besides the public one: `loopback`, `private`, `10.1.0.0/16`, ..."""
    open_folders: tuple[Path, ...] = ()
    """Folders whose files may be opened as pages."""
    downloads: DownloadLimits = DownloadLimits()
    uploads: UploadLimits = UploadLimits()
    actions: tuple[ActionRule, ...] = ()
    contracts: tuple[Contract, ...] = ()
    secrets: Mapping[str, Secret] = field(default_factory=dict)
    unsearchable: Literal["allow", "deny"] = "deny"
    """What holds for requests and messages to other sites than a secret's own that cannot be
    searched for it: bodies that are too long, compressed or unknown, and sockets inside TLS."""
    inspect_tls: bool = False
    """Whether the proxy reads what is inside TLS, as well; sites then meet another client."""
    authorities: Path | None = None
    """PEM file of certificate authorities to trust besides the machine's, with `inspect_tls`."""
    confirm: Confirm = "off"
    """Which requests that may change something need a person's yes: `risky` for those that carry
    what the goal does not ask for, `all` for each. Nobody to ask means no."""
    ask_seconds: float = 30.0
    """How long a person may take to answer before the answer is no."""

    def __post_init__(self) -> None:
        if self.max_refusals is not None and self.max_refusals < 0:
            raise ValueError(f"max_refusals is {self.max_refusals}; expected 0 or more")
        for network in self.open_networks:
            check_network(network)
        for host, ip in self.hosts.items():
            if parse_host(host) != host:
                raise ValueError(f"hosts: write {host!r} as {parse_host(host)!r}")
            if parse_ip(ip) is None:
                raise ValueError(f"hosts: {ip!r} is not an IP address")


UNLIMITED = GuardPolicy(
    other_sites="allow",
    sites=(SiteRule(SitePattern("*", port=ANY_PORT), web_sockets=True),),
    open_networks=KINDS,
    open_folders=(Path("/"),),
    downloads=DownloadLimits(allowed=True, max_bytes=sys.maxsize),
    uploads=UploadLimits(folders=(Path("/"),), max_bytes=sys.maxsize),
    unsearchable="allow",
)
"""Limits nothing; for those who want changes confirmed and nothing else."""


def open_for_task(policy: GuardPolicy, start_url: str, site: str = "") -> GuardPolicy:
    """Return the policy with what the task itself names opened: its origin, or for a file its
    folder.

    Rules that name the task's own server, or its `site` as `shop@1`, take the place of that
    opening; those on the site hold for this server, whatever port it was started on. Raises
    `SetupError` for an address that cannot be read.
    """
    try:
        address = parse_url(start_url)
    except ValueError as error:
        raise SetupError(f"the task starts at no address: {error}") from error
    if address.scheme == "file":
        folder = Path(unquote(address.path.partition("?")[0].removeprefix("//"))).resolve().parent
        return replace(policy, open_folders=(*policy.open_folders, folder))
    if site:

        def served(patterns: tuple[SitePattern, ...]) -> tuple[SitePattern, ...]:
            return tuple(p.served_at(address) if p.host == site else p for p in patterns)

        policy = replace(
            policy,
            sites=tuple(replace(rule, match=served((rule.match,))[0]) for rule in policy.sites),
            actions=tuple(replace(rule, sites=served(rule.sites)) for rule in policy.actions),
            contracts=tuple(replace(each, sites=served(each.sites)) for each in policy.contracts),
            secrets={
                k: replace(each, sites=served(each.sites)) for k, each in policy.secrets.items()
            },
        )
    if address.scheme not in WEB_PORTS or any(r.match.has_server(address) for r in policy.sites):
        return policy
    return replace(policy, sites=(*policy.sites, SiteRule(site_at(address), web_sockets=True)))


_TABLES: dict[str, type[Any]] = {
    "sites": SiteRule,
    "actions": ActionRule,
    "contracts": Contract,
    "downloads": DownloadLimits,
    "uploads": UploadLimits,
    "secrets": Secret,
}


def read_policy(path: Path) -> GuardPolicy:
    """Return the policy a file holds. Raises `SetupError` naming the file, the key and what is
    wrong.

    Relative folders and files are meant from the folder of the policy file.
    """
    return make_policy(read_toml(path), str(path), path.resolve().parent)


def make_policy(table: dict[str, Any], source: str, base: Path) -> GuardPolicy:
    """Return the policy a table spells out; `source` names it in errors. Raises `SetupError`."""
    from jsonschema import Draft202012Validator, SchemaError
    from pydantic import TypeAdapter, ValidationError

    try:
        policy = TypeAdapter(GuardPolicy).validate_python(table)
    except ValidationError as invalid:
        errors = invalid.errors()
        # A misspelt key goes before what is missing because of it.
        misspelt = (each for each in errors if each["type"] == "unexpected_keyword_argument")
        error = next(misspelt, errors[0])
        *places, key = [str(part) for part in error["loc"]] or [""]
        where = f"{source} [{'.'.join(places)}]" if places else source
        if error["type"] == "unexpected_keyword_argument":
            shape = _TABLES[places[0]] if places else GuardPolicy
            names = [field.name for field in fields(shape)]
            raise unknown_name(f"key in {where}", key, names) from invalid
        message = error["msg"].removeprefix("Value error, ")
        where = f"{where}: {key}" if key else where
        raise SetupError(f"{where}: {message}") from invalid
    schemas = {f"actions.{n}.when": rule.when for n, rule in enumerate(policy.actions)}
    for n, each in enumerate(policy.contracts):
        parts = {"when": each.when, "before": each.before, "after": each.after}
        schemas |= {f"contracts.{n}.{name}": schema for name, schema in parts.items()}
    for place, schema in schemas.items():
        try:
            Draft202012Validator.check_schema(schema)
        except SchemaError as error:
            raise SetupError(f"{source}: {place} is not a JSON Schema: {error.message}") from error

    def absolute(folders: tuple[Path, ...]) -> tuple[Path, ...]:
        return tuple((base / folder.expanduser()).resolve() for folder in folders)

    def lower(endings: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(str.lower, endings))

    uploads, downloads = policy.uploads, policy.downloads
    return replace(
        policy,
        open_folders=absolute(policy.open_folders),
        authorities=policy.authorities and base / policy.authorities.expanduser(),
        uploads=replace(uploads, folders=absolute(uploads.folders), types=lower(uploads.types)),
        downloads=replace(downloads, types=lower(downloads.types)),
        secrets={
            name: replace(secret, file=secret.file and base / secret.file.expanduser())
            for name, secret in policy.secrets.items()
        },
    )
