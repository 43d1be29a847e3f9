"""The command `webagent`: finds the recipe that was asked for and hands it the rest of the line."""

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from webagent.errors import WebAgentError, unknown_name

Main = Callable[[Sequence[str]], int]


@dataclass(frozen=True, slots=True)
class Recipe:
    """A subcommand: where its `main(argv) -> int` is, and what it is for."""

    entry: str
    """As `module:function`, imported only when the recipe is asked for."""
    summary: str

    def load(self) -> Main:
        """The function, with everything it needs imported."""
        module, function = self.entry.split(":")
        return cast(Main, getattr(import_module(module), function))


RECIPES = {
    "improve": Recipe(
        "recipes.improve:main", "collect, judge, train, imagine and measure, round after round"
    ),
    "benchmark": Recipe("recipes.benchmark:main", "measure one policy on a suite of tasks"),
    "train": Recipe("recipes.train:main", "teach a language model what runs have stored"),
    "train-judge": Recipe(
        "recipes.train_judge:main", "teach a reward model on labelled episodes and measure it"
    ),
    "learn": Recipe("recipes.learn:main", "write hints on sites from failures and successes"),
    "attribute": Recipe("recipes.attribute:main", "say why episodes failed, and what to fix first"),
    "judge": Recipe(
        "recipes.judging.recipe:main", "score a run's episodes, and measure whoever scores them"
    ),
    "report": Recipe("recipes.report:main", "write a run's page again and print its tables"),
    "propose": Recipe(
        "recipes.propose:main", "find new tasks for a site, filter them and have them proven"
    ),
    "publish": Recipe("recipes.publish:main", "put a run's figures among the published ones"),
    "export": Recipe("recipes.export:main", "write a run's episodes for other people's trainers"),
    "import": Recipe("recipes.imports.command:main", "read episodes that others have recorded"),
    "site": Recipe("recipes.sites:main", "start, reset and look at the sites that tasks are on"),
    "record": Recipe("recipes.recording:main", "keep what a person does in a browser"),
    "replay": Recipe(
        "recipes.replay:main", "play stored episodes again without a model, healing as pages move"
    ),
    "login": Recipe("recipes.login:main", "log in at a site once, for agents to stay logged in"),
    "doctor": Recipe("recipes.doctor:main", "say what is present, what is missing, how to get it"),
}

INTERRUPTED = 130
"""Exit status after Ctrl-C, 128 + SIGINT."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `webagent <recipe> ...` and return the exit status.

    0: done; 1: failed, with one sentence on stderr; 2: the command line is wrong.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(usage())
        return 0 if arguments else 2
    if arguments[0] == "--version":
        print(_version())
        return 0
    name, *rest = arguments
    if name not in RECIPES:
        return _report(unknown_name("recipe", name, RECIPES), status=2)
    return _run(RECIPES[name], rest)


def usage() -> str:
    """The help text: one line for each recipe."""
    width = max(map(len, RECIPES))
    lines = [f"  {name:<{width}}  {recipe.summary}" for name, recipe in RECIPES.items()]
    return "\n".join(
        [
            "usage: webagent <recipe> [settings]",
            "",
            "Web agents that improve themselves.",
            "",
            *lines,
            "",
            "`webagent <recipe> --help` lists its settings. WEBAGENT_DEBUG=1 shows tracebacks.",
        ]
    )


def _run(recipe: Recipe, arguments: Sequence[str]) -> int:
    """The recipe's own status, or the one that stands for how it failed."""
    try:
        return recipe.load()(arguments)
    except WebAgentError as error:
        if os.environ.get("WEBAGENT_DEBUG") == "1":
            raise
        return _report(error, status=1)
    except KeyboardInterrupt:
        print("webagent: interrupted", file=sys.stderr)
        return INTERRUPTED


def _report(error: WebAgentError, status: int) -> int:
    print(f"webagent: {error}", file=sys.stderr)
    return status


def _version() -> str:
    from importlib.metadata import version

    return version("webagent-loop")


if __name__ == "__main__":
    sys.exit(main())
