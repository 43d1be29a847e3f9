"""Settings of `webagent completion`, apart, as reading them takes longer than the script."""

from dataclasses import dataclass

from tyro.conf import Positional


@dataclass(frozen=True)
class CompletionConfig:
    """Print the script that makes a shell complete recipes, flags, names and run folders.

    Put `eval "$(webagent completion bash)"` into ~/.bashrc, the same with zsh into ~/.zshrc, or
    `webagent completion fish | source` into ~/.config/fish/config.fish.
    """

    shell: Positional[str] = "bash"
    """`bash`, `zsh` or `fish`."""
