"""Gymnasium environments: `gymnasium.register_envs(apps.environment)`, then
`gymnasium.make("webagent/miniwob.click-test-2-v1")`.

Importing this module makes the environments known to Gymnasium: one for each MiniWoB++ task,
`webagent/miniwob.NAME-v1`, and `webagent/Task-v1` for the argument `task`, which is a `Task` or a
name with its benchmark, as `fossil/ticket-close`. The same with `browsergym.` before the name speak
as BrowserGym does; where that is not installed its own names, as `browsergym/miniwob.click-test-2`,
stand for them too.
"""

from importlib.util import find_spec

import gymnasium

from benchmarks.miniwob import tasks as miniwob


def _register(name: str, arguments: dict[str, str]) -> None:
    gymnasium.register(
        f"webagent/{name}-v{miniwob.VERSION}",
        entry_point="apps.environment.env:WebEnv",
        vector_entry_point="apps.environment.env:WebVectorEnv",
        kwargs=arguments,
    )


def _register_compatible(identity: str, arguments: dict[str, str]) -> None:
    gymnasium.register(
        identity,
        entry_point="apps.environment.browsergym:BrowserGymEnv",
        kwargs=arguments,
        nondeterministic=True,  # the dictionary holds times, and numbers that the browser gives
    )


_register("Task", {})
_register_compatible(f"webagent/browsergym.Task-v{miniwob.VERSION}", {})
for _name in miniwob.NAMES:
    _register(f"miniwob.{_name}", {"task": _name})
    _register_compatible(f"webagent/browsergym.miniwob.{_name}-v{miniwob.VERSION}", {"task": _name})
    if find_spec("browsergym") is None:
        _register_compatible(f"browsergym/miniwob.{_name}", {"task": _name})
