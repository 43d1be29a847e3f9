"""Settings of `webagent run`, checked before anything starts."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tyro.conf import OmitArgPrefixes, Positional

from loop.costs import Caps, check_cost_cap, load_prices
from loop.flat import Important
from loop.measurement.settings import PromptSettings
from loop.own_code import load_own, load_own_policy
from loop.policies import ModelChoice
from loop.restating import RestateChoice
from loop.student import BUILTIN, StudentChoice
from loop.world_models import WorldChoice, check_world
from webagent.action.custom import names_of
from webagent.agent import Agent, Asking
from webagent.agent.actor import ModelOptions, check_actor, name_of
from webagent.agent.agent import check_address
from webagent.agent.answer_form import check_schema
from webagent.errors import SetupError, UsageError
from webagent.guard import Approve, Confirm, Guard, read_policy
from webagent.models import Endpoint
from webagent.policy.knowledge import Knowledge, SiteMemory
from webagent.policy.policy import Policy
from webagent.records import STUDENT
from webagent.store import Store

if TYPE_CHECKING:
    from webagent.browser.sessions.profile import Profile


@dataclass(frozen=True)
class RunConfig:
    """Let an agent do a task, and watch it: webagent run "task" --url … --model NAME"""

    task: Important[Positional[str]] = ""
    """The task, in one sentence."""
    url: Important[str] = ""
    """URL where the task starts."""
    model: OmitArgPrefixes[ModelChoice] = field(default_factory=ModelChoice)
    """The policy that acts; `model:FOLDER` (built-in weights, or a run's memory) and
    `python:FILE.py:NAME` (your own policy) are accepted, too."""
    student: OmitArgPrefixes[StudentChoice] = field(default_factory=StudentChoice)
    """A student in front of the policy; the named folder is where it is stored."""
    restating: OmitArgPrefixes[RestateChoice] = field(default_factory=RestateChoice)
    """A model that puts the task in words that the policy's memory knows."""
    lookahead: OmitArgPrefixes[WorldChoice] = field(default_factory=WorldChoice)
    """World model to consult before acting."""
    headed: Important[bool] = False
    """Show the browser's window, in which you can take over."""
    guard: Important[Path | None] = None
    """File with the limits enforced on the agent (docs/guard.md); rules with `ask` request your
    approval in the terminal."""
    confirm: Important[Confirm] = "off"
    """Request your approval of what pages send to change something: `risky` where the task does not
    ask for it, `all` always (docs/guard.md)."""
    login: Important[str] = ""
    """Name of a login saved by `webagent login` to start with."""
    logins: Path | None = None
    """Folder with additional logins."""
    profiles: Path | None = None
    """TOML file whose table [sites.<site>] says how the browser presents itself (docs/sites.md)."""
    site: str = ""
    """Name of the table in --profiles."""
    profile: str = ""
    """Name of a session that persists between runs: it starts with the browser state of the
    previous run, or of `webagent login`, and is saved at the end."""
    proxy: str = ""
    """URL of a proxy, such as http://host:3128."""
    cdp: str = ""
    """DevTools address of a running browser, such as http://127.0.0.1:9222."""
    actions: tuple[str, ...] = ()
    """Additional actions for the model: FILE.py:NAME of your own functions, decorated with
    `custom_action`, and names of built-in ones, such as `read_file`."""
    downloads: Path | None = None
    """Folder for downloaded files. Default: `downloads` in the run folder."""
    schema: Path | None = None
    """File with a JSON Schema that the answer must match."""
    max_steps: Important[int] = 30
    """Maximum number of actions of the agent; yours do not count."""
    caps: OmitArgPrefixes[Caps] = field(default_factory=Caps)
    """Further limits at which the run stops; minutes during which you act do not count."""
    prompting: OmitArgPrefixes[PromptSettings] = field(default_factory=PromptSettings)
    """What a language model sees and how it is prompted."""
    temperature: float = 0.0
    """Sampling temperature of the model."""
    screenshots: bool = True
    """Store a screenshot of every page."""
    trace: bool = False
    """Store a Playwright trace in the run folder's `trace`."""
    name: Important[str] = ""
    """Name of the run's folder under `runs`; derived from the date if empty."""
    runs: Path = Path("runs")
    """Folder in which run folders are created."""


def check(config: RunConfig) -> None:
    """Check the settings; nothing is started or written. Raises `SetupError`."""
    if not config.task.strip():
        raise UsageError('expected a task: webagent run "What does it cost?" --url https://…')
    try:
        check_address(config.url)
    except SetupError as error:
        raise UsageError(str(error).replace("url=", "--url ")) from error
    if not config.model.is_named:
        raise UsageError(
            "no policy: give --model, as anthropic/NAME or by its name at OPENAI_BASE_URL,"
            " --endpoint FILE, --policy local:FOLDER for weights in this process, or"
            " --policy python:FILE.py:NAME"
        )
    check_actor(actor_of(config), ModelOptions(vision=config.prompting.images))
    config.student.check(config.model.policy, is_kept=True)
    config.caps.check()
    if config.max_steps < 1:
        raise UsageError(f"--max-steps {config.max_steps} must be at least 1")
    check_world(config.lookahead)
    config.restating.check(config.model.policy)
    others = (config.lookahead.paid, config.restating.paid)
    for paid in {name_of(actor_of(config)), *others} - {""} or {""}:
        check_cost_cap(config.caps, paid, load_prices())
    _check_together(config)
    own_actions(config)
    knowledge_of(config)
    Guard.chosen(config.guard, config.confirm)
    if config.login:
        from webagent.browser.sessions.login import Logins

        Logins(config.logins).named(config.login)
    if config.profiles or config.site or config.proxy:
        profile_of(config)
    schema_in(config)
    if config.headed:
        check_display()


def _check_together(config: RunConfig) -> None:
    """Raise `UsageError` for settings that do not go together."""
    if config.profile and config.login:
        raise UsageError("--profile and --login both name a login to begin with; give one of them")
    if config.cdp and (config.guard or config.confirm != "off" or config.headed):
        raise UsageError(
            "--cdp names a browser that runs already: it has its own window, and a guard needs a"
            " browser of its own; leave --guard, --confirm and --headed out"
        )


def check_display() -> None:
    """Check that a window can be shown. Raises `SetupError` with alternatives."""
    if sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return
    raise SetupError(
        "--headed needs a display, and neither DISPLAY nor WAYLAND_DISPLAY is set; run it on a"
        " desktop, by `ssh -X` or under `xvfb-run`, or leave --headed out"
    )


def actor_of(config: RunConfig) -> str | Endpoint | Policy:
    """Return the policy that acts. Raises `UsageError` if `python:` does not name a policy."""
    if config.model.policy.startswith("python:"):
        return load_own_policy(config.model.policy.removeprefix("python:"))
    return config.model.acting


def schema_in(config: RunConfig) -> dict[str, Any] | None:
    """Return the schema that the answer must match, if any. Raises `SetupError`."""
    if config.schema is None:
        return None
    try:
        schema: dict[str, Any] = json.loads(config.schema.read_text(encoding="utf-8"))
    except OSError as error:
        raise SetupError(f"--schema {config.schema} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise SetupError(f"--schema {config.schema} is not JSON: {error}") from error
    try:
        check_schema(schema)
    except SetupError as error:
        raise SetupError(f"--schema {config.schema}: {error}") from error
    return schema


def may_ask(config: RunConfig) -> bool:
    """Return whether the guard may request a person's approval."""
    if config.confirm != "off" or config.guard is None:
        return config.confirm != "off"
    return any(rule.verdict == "ask" for rule in read_policy(config.guard).actions)


def agent_of(config: RunConfig, folder: Path, store: Store, approver: Approve | None) -> Agent:
    """Return the agent described by the settings. Raises `SetupError`."""
    profile = profile_of(config)
    if config.trace:
        profile = replace(profile, trace=folder / "trace")
    student = None
    if named := config.student.student:
        from webagent.policy.student import Student

        place = folder / STUDENT if named == BUILTIN else Path(named)
        student = Student.at(place, config.student.student_confidence)
    return Agent(
        actor_of(config),
        student=student,
        restater=config.restating.acting,
        guard=Guard.chosen(config.guard, config.confirm, approver),
        login=config.profile or config.login,
        keep_login=bool(config.profile),
        cdp=config.cdp,
        knowledge=knowledge_of(config),
        actions=own_actions(config),
        logins=config.logins,
        profile=profile,
        downloads=config.downloads or profile.downloads or folder / "downloads",
        max_steps=config.max_steps,
        max_cost=config.caps.max_cost,
        max_tokens_total=config.caps.max_tokens_total,
        max_minutes=config.caps.max_minutes,
        prices=load_prices(),
        vision=config.prompting.images,
        asking=prompt_settings(config),
        temperature=config.temperature,
        max_tokens=config.prompting.max_tokens,
        headed=config.headed,
        store=store,
        screenshots=config.screenshots,
    )


def profile_of(config: RunConfig) -> "Profile":
    """Return how the browser presents itself. Raises `SetupError`."""
    from webagent.browser.sessions.profile import named_profile

    profile = named_profile(config.profiles, config.site)
    if config.profiles is None:
        profile = replace(profile, dialogs="ask")
    if config.proxy:
        profile = replace(profile, proxy=config.proxy)
        profile.context_options((1, 1))  # which says what is wrong with the address
    return profile


def own_actions(config: RunConfig) -> list[Callable[..., Any] | str]:
    """Return the additional actions. Raises `UsageError`."""
    found = [
        load_own(place, f"--actions {place}") if ":" in place else place for place in config.actions
    ]
    names_of(tuple(found))
    return found


def knowledge_of(config: RunConfig) -> tuple[Knowledge, ...]:
    """Return what is shown to the model. Raises `SetupError`."""
    if config.prompting.site_memory is None:
        return ()
    if config.model.policy.startswith(("model:", "python:")):
        raise UsageError(f"--site-memory: {config.model.policy} is not prompted")
    memory = SiteMemory.read(config.prompting.site_memory)
    memory.check_sites([config.url])
    return (memory,)


def prompt_settings(config: RunConfig) -> Asking | None:
    """Return how the model is prompted; None for the prompting of its training, or the default."""
    settings = Asking(observation=config.prompting.observation).switched(config.prompting.prompt)
    return None if settings == Asking() else settings
