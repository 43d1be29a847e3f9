"""Every error of ours, one class for each boundary it can be raised at.

    WebAgentError
    ├── ActionError     an action could not be read from text
    ├── PolicyError     the policy gave no usable reply
    │   └── AnswerError     there is no answer, or not one in the form that was asked for
    ├── StoppedError    a task was ended before its end: by a limit, or by somebody
    ├── GuardError      an action was refused by a limit set in code
    ├── ModelError      a model or its endpoint failed (infrastructure, never a reward)
    │   └── PromptTooLongError  what it is sent does not fit its context
    ├── WorldError      the world failed under the episode (infrastructure, never a reward)
    │   ├── CaptchaError    a site shows a captcha in place of its content
    │   └── ServerError     a site's server failed at something that it was sent
    ├── StoreError      a run folder cannot be read or written
    ├── CallError       an assistant's call names what is not there or not allowed
    └── SetupError      something the user must install, name or configure
        └── UsageError      the command line, or a setting, asks for what cannot be

A message says what was found, what was expected and what to do next.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

EXTRAS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("torch", "transformers", "tokenizers", "safetensors"), "learn"),
        **dict.fromkeys(("scipy", "sklearn", "pyarrow", "gymnasium", "miniwob", "numpy"), "learn"),
        **dict.fromkeys(("peft", "accelerate"), "train"),
        **dict.fromkeys(("django", "oscar", "treebeard", "waitress", "whitenoise"), "sites"),
        "PIL": "vision",
        "inspect_ai": "inspect",
        "llguidance": "llm",
        "ray": "scale",
        "mlflow": "mlflow",
        "opentelemetry": "otel",
        "tensorboard": "tensorboard",
        "trl": "trl",
        "wandb": "wandb",
    }
)
"""The extra of webagent-loop that brings a module which the core does without."""


class WebAgentError(Exception):
    """The root, so that one clause catches everything that is ours."""

    next: str = ""
    """What to do next, where the message does not end with it."""


class ActionError(WebAgentError):
    """Text that was meant as an action is not one."""


class PolicyError(WebAgentError):
    """The policy gave no usable action, repair attempt included."""


class AnswerError(PolicyError):
    """The agent gave no answer, or none in the form that was asked for."""


class StoppedError(WebAgentError):
    """A limit on steps, money, tokens or time, or somebody, ended the task before its end."""


class GuardError(WebAgentError):
    """A limit enforced in code refused the action."""


class ModelError(WebAgentError):
    """A model or the endpoint behind it failed."""

    attempts: tuple[Any, ...] = ()
    """Every request that was made, an `Attempt` each."""


class PromptTooLongError(ModelError):
    """The prompt, or the prompt and the tokens asked for, do not fit the model's context."""


class WorldError(WebAgentError):
    """The world (browser, page, imagination) failed; nothing was learnt about the agent."""


class CaptchaError(WorldError):
    """A site wants a person; nothing was learnt about the agent."""


class ServerError(WorldError):
    """A site's own server failed at what it was sent; nothing was learnt about the agent."""


class StoreError(WebAgentError):
    """A run folder is of another version, cut short, full or not ours."""


class CallError(WebAgentError):
    """An assistant's call cannot be done as it stands; the message says how it could."""


class SetupError(WebAgentError):
    """Something is missing or misnamed; the message carries the next step."""


class UsageError(SetupError):
    """A flag, a name or settings that do not go together; nothing is missing, but something is
    asked for that cannot be."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """Return the error for a name that is not in `known`, with the close matches in its message."""
    options = sorted(known)
    close = get_close_matches(name, options, n=3, cutoff=0.5)
    hint = f"did you mean {', '.join(close)}?" if close else f"known: {', '.join(options[:20])}"
    return UsageError(f"unknown {kind} {name!r}; {hint}")


def missing_package(error: ModuleNotFoundError, what: str) -> SetupError | None:
    """Return the error that says which extra `what` needs; None where no extra brings it."""
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        return None
    return SetupError(
        f"{what} needs {package}, which is not installed;"
        f" pip install 'webagent-loop[{EXTRAS[package]}]'"
    )


def check_package(package: str, what: str) -> None:
    """Raise the error that says which extra `what` needs, where the package is not installed."""
    if find_spec(package) is None:
        raise missing_package(ModuleNotFoundError(name=package), what) or SetupError(
            f"{what} needs {package}, which is not installed"
        )
