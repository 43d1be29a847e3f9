"""Settings of `webagent mcp`."""

from dataclasses import dataclass, replace
from pathlib import Path

from apps.listening import LOOPBACK
from loop.flat import Important
from webagent.action import ACTIONS, ESSENTIAL
from webagent.browser.sessions.profile import Profile, named_profile
from webagent.errors import UsageError, unknown_name
from webagent.guard import Guard, GuardPolicy, SiteRule, parse_site, read_policy

FINAL = ("answer", "give_up")
"""Actions with which an agent ends an episode; an assistant closes its session instead."""
STEP_SECONDS = 60.0
"""Within which an action has to end, as in every other episode."""
OFFERED = tuple(name for name in ESSENTIAL if name not in FINAL)


@dataclass(frozen=True)
class McpConfig:
    """Give assistants a browser over the Model Context Protocol (docs/mcp.md)."""

    http: Important[int | None] = None
    """Port to listen on, 0 for any free one. Default: standard input and output instead of HTTP."""
    host: str = "127.0.0.1"
    """Address to listen on. Addresses other than this machine's need --allowed-hosts."""
    allowed_hosts: tuple[str, ...] = ()
    """Further host names by which clients may call the server, such as `browser.example:8931`."""
    guard: Important[Path | None] = None
    """File with the limits enforced in every session (docs/guard.md). Default: the public web is
    allowed; this machine, its files, private networks, downloads and uploads are blocked."""
    allow: Important[tuple[str, ...]] = ()
    """Additional sites to allow, such as `http://localhost:3000`."""
    actions: tuple[str, ...] = OFFERED
    """Actions offered as tools."""
    max_tokens: int = 2000
    """Maximum estimated tokens of a page in a reply. A call may request another number."""
    screenshots: bool = True
    """Offer a tool for screenshots; never if the guard has secrets, as images cannot be masked."""
    max_sessions: Important[int] = 8
    """Maximum number of open sessions."""
    idle_minutes: float = 15.0
    """Minutes without a call after which a session is closed, as is a browser without sessions."""
    store: Important[Path | None] = None
    """Run folder that stores every session as an episode; created if it does not exist."""
    store_screenshots: bool = False
    """With --store: keep a screenshot with every step."""
    profiles: str = ""
    """TOML file whose table [sites.<site>] says how the browser presents itself (docs/sites.md)."""
    site: str = ""
    """Name of the table in --profiles."""
    headed: Important[bool] = False
    """Show the browser's window."""
    model: Important[str] = ""
    """Model that performs whole tasks: the name of a model behind OPENAI_BASE_URL, `local:FOLDER`
    or `model:FOLDER`. Without it and without --endpoint, no tool for tasks is offered."""
    endpoint: Path | None = None
    """File whose table [endpoint] describes the model's server (docs/models.md)."""
    images: Important[bool] = False
    """Show that model screenshots."""
    max_steps: Important[int] = 30
    """Maximum number of actions per task."""
    max_cost: Important[float | None] = None
    """Maximum money per task."""
    max_tokens_total: int | None = None
    """Maximum tokens per task, input and output."""
    max_minutes: float | None = 10.0
    """Maximum minutes per task."""
    describe: bool = False
    """Print the tools as Markdown and exit."""

    def check(self) -> None:
        """Find what is wrong with the settings themselves. Raises `UsageError`."""
        for name in self.actions:
            if name not in ACTIONS:
                raise unknown_name("action", name, ACTIONS)
            if name in FINAL:
                raise UsageError(f"--actions {name}: an assistant ends with close_session instead")
        if self.max_tokens < 100 or self.max_sessions < 1 or self.idle_minutes <= 0:
            raise UsageError(
                f"--max-tokens {self.max_tokens} --max-sessions {self.max_sessions} --idle-minutes"
                f" {self.idle_minutes:g}: expected at least 100 tokens, one session, and a time"
                " above zero"
            )
        if self.host not in LOOPBACK and not self.allowed_hosts:
            raise UsageError(
                f"--host {self.host} is for others than this machine: say with --allowed-hosts by"
                " which names they call it, as browser.example:8931"
            )
        named_profile(self.profiles, self.site)

    @property
    def has_model(self) -> bool:
        """Return whether a model can perform whole tasks."""
        return bool(self.model or self.endpoint)

    def policy(self) -> GuardPolicy:
        """Return the guard policy enforced in every session. Raises `SetupError`."""
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
        """Return whether screenshots are withheld from the assistant."""
        return not self.screenshots or bool(guard.policy.secrets)

    def profile(self) -> Profile:
        """Return how the browser looks to sites; assistants answer dialogs. Raises `SetupError`."""
        found = named_profile(self.profiles, self.site)
        return replace(found, dialogs="ask", headed=self.headed or found.headed)
