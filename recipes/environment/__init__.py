"""Gymnasium environments: `gymnasium.register_envs(recipes.environment)`, then
`gymnasium.make("webagent/miniwob.click-test-2-v1")`.

Importing this module makes the environments known to Gymnasium: one for each MiniWoB++ task,
`webagent/miniwob.NAME-v1`, and `webagent/Task-v1` for a `Task` given as the argument `task`.
"""

import gymnasium

from tasks.benchmarks import miniwob


def _register(name: str, arguments: dict[str, str]) -> None:
    gymnasium.register(
        f"webagent/{name}-v{miniwob.VERSION}",
        entry_point="recipes.environment.env:WebEnv",
        vector_entry_point="recipes.environment.vector:WebVectorEnv",
        kwargs=arguments,
    )


_register("Task", {})
for _name in miniwob.NAMES:
    _register(f"miniwob.{_name}", {"task": _name})
