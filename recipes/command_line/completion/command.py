"""The recipe `webagent completion`: prints a script, fast enough for a shell's start-up file."""

from collections.abc import Sequence
from dataclasses import dataclass

from loop.console.outcome import CommandResult
from recipes.command_line.completion.bash import bash
from recipes.command_line.completion.fish import fish

SHELLS = {"bash": bash, "zsh": lambda: bash(zsh=True), "fish": fish}


@dataclass(frozen=True, slots=True)
class Script:
    """What completes a shell's lines."""

    shell: str
    script: str


def main(argv: Sequence[str]) -> CommandResult:
    """Print the script; nothing heavy is imported for it."""
    shell = argv[0] if len(argv) == 1 and argv[0] in SHELLS else _asked(argv)
    script = SHELLS[shell]()
    print(script)
    return CommandResult(Script(shell, script))


def _asked(argv: Sequence[str]) -> str:
    """The shell, where the line is more than its name. Raises `UsageError`."""
    from recipes.command_line.completion.settings import CompletionConfig
    from recipes.command_line.config import resolve
    from webagent.errors import unknown_name

    shell = resolve(CompletionConfig, "completion", argv).shell
    if shell not in SHELLS:
        raise unknown_name("shell", shell, SHELLS)
    return shell
