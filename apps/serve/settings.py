"""Settings of `webagent serve`."""

from dataclasses import dataclass
from pathlib import Path

from loop.measurement.settings import BenchmarkConfig, check, judge_of
from loop.policies import ModelChoice
from webagent.errors import SetupError, UsageError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_SHORTEST_TOKEN = 16
_PLAYED = (
    *("benchmark", "tasks", "files", "split", "addresses", "sites", "logins", "har", "guard"),
    *("observation", "judge", "judge_policy", "judge_model", "judge_endpoint"),
)
"""Settings that mean what they mean when a policy is measured."""


@dataclass(frozen=True, slots=True)
class ServeConfig:
    """Serve tasks to trainers and evaluators over OpenEnv's protocol (docs/howto/serve.md)."""

    benchmark: str = "miniwob"
    """Whose tasks; `webagent serve NAME` says the same. `own` are those of a file of yours."""
    tasks: tuple[str, ...] = ()
    """Names of tasks or of groups of them; `all` for all. Without any, `twenty` where there is such
    a group, else all."""
    files: Path | None = None
    """The benchmark's task file or folder; for `own` a TOML file with a table [tasks.NAME] for each
    task, with `url` and `goal` (docs/collecting.md)."""
    split: str = "train"
    """Which seeds, where a client does not say: `train`, `development` or `test`."""
    addresses: Path | None = None
    """TOML file that says where the benchmark's sites are (docs/benchmarks.md)."""
    sites: tuple[Path, ...] = ()
    """TOML files that describe more sites than come with this program (docs/sites.md)."""
    logins: Path | None = None
    """Folder with the logins that tasks begin with; those of `webagent login` need none."""
    har: Path | None = None
    """Recording of a site's traffic (HAR) that answers in place of the network."""
    guard: Path | None = None
    """File with the limits that every episode is held to (docs/guard.md)."""
    observation: str = "text"
    """The form of `page`: `text`, `screenshot`, `set-of-marks`, `pruned`, `accessibility`, `html`
    or `markdown`."""
    max_tokens: int = 2000
    """Of a page, at most; estimated."""
    images: bool = False
    """Add a screenshot to every observation; a client may ask for it, too."""
    judge: str = "rules"
    """Who scores an episode when it is over: `rules`, the tasks' own checks, or any evaluator of
    `webagent judge --with`. Tasks without checks need one."""
    judge_policy: str = "endpoint"
    """The judge's model: `local:FOLDER`, or `endpoint` (OPENAI_BASE_URL)."""
    judge_model: str = ""
    """Name of the judge's model behind its endpoint."""
    judge_endpoint: Path | None = None
    """File whose table [endpoint] says where the judge's server is."""
    port: int = 8000
    """Where to listen; 0 for any free port."""
    host: str = "127.0.0.1"
    """The address to listen at. Others than this machine's need --token-file."""
    token_file: Path | None = None
    """File with the token that clients have to show, 16 characters or more."""
    max_sessions: int = 16
    """Sessions at once; one more is told so."""
    lease_minutes: float = 15.0
    """A session that asked for nothing for so long gives its place back."""
    step_timeout: float = 60.0
    """Seconds that a page may take for an action."""

    @property
    def played(self) -> BenchmarkConfig:
        """Return the same as a measurement, for everything that prepares one."""
        shared = {name: getattr(self, name) for name in _PLAYED}
        return BenchmarkConfig(
            **shared,
            asked=ModelChoice("oracle"),
            baselines=False,
            concurrency=self.max_sessions,
            judge_images=self.images,
        )

    def check(self) -> None:
        """Find what is wrong with the settings themselves. Raises `SetupError`."""
        if self.max_sessions < 1 or min(self.lease_minutes, self.step_timeout) <= 0:
            raise UsageError(
                f"--max-sessions {self.max_sessions} --lease-minutes {self.lease_minutes:g}"
                f" --step-timeout {self.step_timeout:g}: expected at least one session, and times"
                " above zero"
            )
        if self.max_tokens < 1:
            raise UsageError(f"--max-tokens {self.max_tokens}: at least 1 is needed")
        if not 0 <= self.port <= 65535:
            raise UsageError(f"--port {self.port} is no port; expected 0 to 65535")
        if self.host not in LOOPBACK and self.token_file is None:
            raise UsageError(
                f"--host {self.host} is for others than this machine: name with --token-file a file"
                " that holds the token which clients have to show"
            )
        check(self.played)
        self.token()

    def token(self) -> str:
        """Return what clients have to show; empty where nothing. Raises `SetupError`."""
        if self.token_file is None:
            return ""
        try:
            found = self.token_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SetupError(f"--token-file {self.token_file} cannot be read: {error}") from error
        if len(found) < _SHORTEST_TOKEN or not found.isascii() or not found.isprintable():
            raise SetupError(
                f"{self.token_file} holds {len(found)} characters; a token has {_SHORTEST_TOKEN} or"
                " more, of ASCII, as `openssl rand -hex 16` makes one"
            )
        return found

    @property
    def is_judged_by_sight(self) -> bool:
        """Return whether the judge is shown screenshots."""
        return self.images and judge_of(self.played).asks_a_model
