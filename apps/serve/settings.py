"""Settings of `webagent serve`."""

from dataclasses import dataclass, field
from pathlib import Path

from tyro.conf import OmitArgPrefixes

from apps.listening import LOOPBACK
from loop.flat import Important
from loop.measurement.settings import (
    BenchmarkConfig,
    JudgeSettings,
    RunSettings,
    TaskSettings,
    check,
    judge_of,
)
from webagent.errors import SetupError, UsageError

_SHORTEST_TOKEN = 16


@dataclass(frozen=True)
class ServeConfig:
    """Serve tasks to trainers and evaluators over OpenEnv's protocol (docs/howto/serve.md)."""

    selection: OmitArgPrefixes[TaskSettings] = field(default_factory=TaskSettings)
    """Tasks, and the sites that they are played on."""
    split: Important[str] = "train"
    """Seeds to use if a client names none: `train`, `development` or `test`."""
    har: Path | None = None
    """HAR recording of a site's traffic that answers requests instead of the network."""
    observation: str = "text"
    """Form of `page`: `text`, `boxes`, `screenshot`, `set-of-marks`, `pruned`,
    `accessibility` or `html`."""
    max_tokens: int = 2000
    """Maximum estimated tokens of a page."""
    images: Important[bool] = False
    """Add a screenshot to every observation; a client may also request one."""
    judging: OmitArgPrefixes[JudgeSettings] = field(default_factory=JudgeSettings)
    """Judge of the episodes, and the model that it queries."""
    port: Important[int] = 8000
    """Port to listen on; 0 for any free one."""
    host: Important[str] = "127.0.0.1"
    """Address to listen on. Addresses other than this machine's need --token-file."""
    token_file: Important[Path | None] = None
    """File with the token that clients must send, at least 16 characters."""
    max_sessions: Important[int] = 16
    """Maximum number of open sessions; further requests get an error."""
    lease_minutes: float = 15.0
    """Minutes without a request after which a session is closed."""

    @property
    def played(self) -> BenchmarkConfig:
        """Return the same settings as a benchmark, for everything that prepares one."""
        return BenchmarkConfig(
            selection=self.selection,
            split=self.split,
            har=self.har,
            judging=self.judging,
            baselines=False,
            run=RunSettings(concurrency=self.max_sessions),
        )

    def check(self) -> None:
        """Check the settings. Raises `SetupError`."""
        if self.max_sessions < 1 or self.lease_minutes <= 0:
            raise UsageError(
                f"--max-sessions {self.max_sessions} --lease-minutes {self.lease_minutes:g}:"
                " expected at least one session, and a time above zero"
            )
        if self.max_tokens < 1:
            raise UsageError(f"--max-tokens {self.max_tokens}: must be at least 1")
        if not 0 <= self.port <= 65535:
            raise UsageError(f"--port {self.port} is not a port; expected 0 to 65535")
        if self.host not in LOOPBACK and self.token_file is None:
            raise UsageError(
                f"--host {self.host} can be reached by other machines: give --token-file"
                " with the token that clients must send"
            )
        check(self.played)
        self.token()

    def token(self) -> str:
        """Return the token that clients must send; empty if none is needed. Raises `SetupError`."""
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
