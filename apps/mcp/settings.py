"""Settings of `webagent mcp`."""

from dataclasses import dataclass, replace
from pathlib import Path

from webagent.action import ACTIONS, ESSENTIAL
from webagent.browser.sessions.profile import Profile, read_profile
from webagent.errors import UsageError, unknown_name
from webagent.guard import Guard, GuardPolicy, SiteRule, parse_site, read_policy

FINAL = ("answer", "give_up")
"""How an agent ends an episode; an assistant closes its session."""
OFFERED = tuple(name for name in ESSENTIAL if name not in FINAL)


@dataclass(frozen=True)
class McpConfig:
    """Give assistants a browser over the Model Context Protocol (docs/mcp.md)."""

    http: int | None = None
    """Port to listen on, 0 for any free one; without it the client speaks by standard input."""
    host: str = "127.0.0.1"
    """Address to listen on. Others than this machine's need --allowed-hosts."""
    allowed_hosts: tuple[str, ...] = ()
    """Names by which clients may call the server, as `browser.example:8931`, besides this
    machine's."""
    guard: Path | None = None
    """File with the limits that every session is held to (docs/guard.md). Without it the public web
    is open; this machine, its files, closed networks, downloads and uploads are not."""
    allow: tuple[str, ...] = ()
    """Sites to open besides, as `http://localhost:3000`."""
    actions: tuple[str, ...] = OFFERED
    """Which actions are tools."""
    max_tokens: int = 2000
    """Of a page in a reply, at most; estimated. A call may ask for another number."""
    screenshots: bool = True
    """Offer a tool for screenshots; where the guard has secrets there is none, as pictures cannot
    be masked."""
    max_sessions: int = 8
    """Sessions open at once."""
    idle_minutes: float = 15.0
    """After so long without a call a session is closed, and the browser without sessions, too."""
    step_timeout: float = 60.0
    """Seconds that an action may take."""
    store: Path | None = None
    """Run folder that keeps every session as an episode; made where there is none."""
    images: bool = False
    """Keep a screenshot with every step that is stored."""
    profiles: str = ""
    """TOML file whose table [sites.<site>] says how the browser presents itself (docs/sites.md)."""
    site: str = ""
    """Which table of it."""
    headed: bool = False
    """Show the browser's window."""
    model: str = ""
    """Who does whole tasks: the name of a model behind OPENAI_BASE_URL, `local:FOLDER` or
    `model:FOLDER`. Without it, and without --endpoint, there is no tool for that."""
    endpoint: Path | None = None
    """File whose table [endpoint] says where the model's server is (docs/models.md)."""
    vision: bool = False
    """Show that model screenshots."""
    max_steps: int = 30
    """Actions a task may take."""
    max_cost: float | None = None
    """Money a task may cost."""
    max_tokens_total: int | None = None
    """Tokens a task may take, read and written."""
    max_minutes: float | None = 10.0
    """Minutes a task may take."""
    prices: Path | None = None
    """File with what models cost (docs/cost.md)."""
    describe: bool = False
    """Print the tools as Markdown and end."""

    def check(self) -> None:
        """Find what is wrong with the settings themselves. Raises `UsageError`."""
        for name in self.actions:
            if name not in ACTIONS:
                raise unknown_name("action", name, ACTIONS)
            if name in FINAL:
                raise UsageError(f"--actions {name}: an assistant ends with close_session instead")
        if (
            self.max_tokens < 100
            or self.max_sessions < 1
            or min(self.idle_minutes, self.step_timeout) <= 0
        ):
            raise UsageError(
                f"--max-tokens {self.max_tokens} --max-sessions {self.max_sessions} --idle-minutes"
                f" {self.idle_minutes:g} --step-timeout {self.step_timeout:g}: expected at least"
                " 100 tokens, one session, and times above zero"
            )
        if self.host not in LOOPBACK and not self.allowed_hosts:
            raise UsageError(
                f"--host {self.host} is for others than this machine: say with --allowed-hosts by"
                " which names they call it, as browser.example:8931"
            )
        if bool(self.profiles) != bool(self.site):
            raise UsageError("--profiles and --site go together: the file, and which of its tables")

    @property
    def has_model(self) -> bool:
        """Whether there is anybody to do whole tasks."""
        return bool(self.model or self.endpoint)

    def policy(self) -> GuardPolicy:
        """Return what every session is held to. Raises `SetupError`."""
        policy = read_policy(self.guard) if self.guard else GuardPolicy(other_sites="allow")
        rules = []
        for site in self.allow:
            try:
                rules.append(SiteRule(parse_site(site), web_sockets=True))
            except ValueError as error:
                raise UsageError(
                    f"--allow {site}: {error}; expected one as http://localhost:3000"
                ) from error
        return replace(policy, sites=(*policy.sites, *rules))

    def held(self, guard: Guard) -> bool:
        """Return whether screenshots are kept from the assistant."""
        return not self.screenshots or bool(guard.policy.secrets)

    def profile(self) -> Profile:
        """Return how the browser presents itself; dialogs are the assistant's to answer. Raises
        `SetupError`."""
        found = read_profile(Path(self.profiles), self.site) if self.profiles else Profile()
        return replace(found, dialogs="ask", headed=self.headed or found.headed)


LOOPBACK = ("127.0.0.1", "localhost", "::1")
