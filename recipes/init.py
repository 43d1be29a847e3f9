"""`webagent init`: write a starter into a folder that runs without changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from loop.console.output import CommandResult
from recipes.settings import resolve
from webagent.errors import UsageError
from webagent.models.endpoint import PROVIDERS

STARTER = Path(__file__).parent / "starter"
NAMES = {
    "webagent.toml": "webagent.toml",
    "tasks.toml": "tasks.toml",
    "guard.toml": "guard.toml",
    "env.example": ".env.example",
}
"""Files of the starter, and their names in the new folder."""


@dataclass(frozen=True)
class InitConfig:
    """Write webagent.toml, tasks.toml, guard.toml and .env.example as a starting point."""

    folder: Path = Path()
    """Folder to write into; created if it does not exist."""
    model: str = "ollama/qwen3"
    """The model that acts, such as `anthropic/NAME`, written into webagent.toml."""


@dataclass(frozen=True, slots=True)
class Started:
    """What was written."""

    files: list[str]
    """Paths of the files."""


def main(argv: Sequence[str]) -> CommandResult:
    """Write the files and print the next commands. Raises `UsageError` if one already exists."""
    config = resolve(InitConfig, "init", argv)
    paths = {name: config.folder / target for name, target in NAMES.items()}
    if taken := [str(path) for path in paths.values() if path.exists()]:
        raise UsageError(f"{', '.join(taken)} already exists; give another --folder")
    config.folder.mkdir(parents=True, exist_ok=True)
    for name, path in paths.items():
        text = (STARTER / name).read_text(encoding="utf-8")
        path.write_text(text.replace("MODEL", config.model), encoding="utf-8")
        print(f"wrote {path}")
    provider = PROVIDERS.get(config.model.partition("/")[0])
    enter = f"cd {config.folder}\n" if config.folder != Path() else ""
    key = (
        f"cp .env.example .env    # and put {provider.keys[0]} in\n"
        if (provider and provider.keys)
        else ""
    )
    print(
        f"\nNext:\n{enter}{key}webagent doctor --model {config.model}\n"
        'webagent run "What is the heading of this page?" --url https://example.org\n'
        "webagent benchmark own"
    )
    return CommandResult(Started([str(path) for path in paths.values()]))
