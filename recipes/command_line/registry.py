"""Every recipe there is: where it is, how it is set and what it says, by group, with examples."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias, cast

if TYPE_CHECKING:
    from loop.console.outcome import CommandResult

Main: TypeAlias = "Callable[[Sequence[str]], CommandResult]"


@dataclass(frozen=True, slots=True)
class Recipe:
    """A subcommand: where its `main(argv) -> Outcome` is, and what it is for.

    Places are written `module:name` and imported only when they are asked for.
    """

    entry: str
    """The function that does it."""
    settings: str
    """The dataclass of its settings; the docstrings of the fields are the help."""
    facts: str
    """The dataclass or TypedDict that `--json` prints; the docstrings of the fields say what it
    holds."""
    group: str
    """Under which heading of GROUPS it is listed."""
    summary: str
    examples: tuple[str, ...]
    """Command lines as one would type them; they stand at the end of its help."""
    leads: str = ""
    """The setting that words which stand first are for, so that they need no flag."""

    def line(self, words: Sequence[str]) -> list[str]:
        """What was typed behind the recipe's name, with the flag for words that stand first."""
        leads = bool(self.leads and words and not words[0].startswith("-"))
        return [*[f"--{self.leads}"] * leads, *words]

    def load(self) -> Main:
        """The function, with everything it needs imported."""
        return cast(Main, imported(self.entry))


def imported(place: str) -> object:
    """What is at `module:name`."""
    module, name = place.split(":")
    return getattr(import_module(module), name)


GROUPS = {
    "agents": "Run and measure agents",
    "learning": "Have them learn",
    "judging": "Judge what they did",
    "tasks": "Make tasks and data",
    "around": "Around it",
}

RECIPES = {
    "run": Recipe(
        entry="recipes.run:main",
        settings="apps.live.settings:RunConfig",
        facts="apps.live.outcome:Ran",
        group="agents",
        summary="do one task live: watch, pause, take over, keep it",
        examples=(
            "webagent run 'What does it cost?' --url https://shop.example --model NAME",
            "webagent run 'Buy it' --url https://shop.example --model NAME --headed"
            " --guard guard.toml",
        ),
    ),
    "benchmark": Recipe(
        entry="recipes.benchmark:main",
        settings="loop.measurement.settings:BenchmarkConfig",
        facts="loop.measurement.told:Measured",
        group="agents",
        summary="measure one policy on a suite of tasks",
        examples=(
            "webagent benchmark miniwob --tasks click-test login-user --seeds 2",
            "webagent benchmark webarena --policy endpoint --model NAME --preview",
        ),
        leads="benchmark",
    ),
    "collect": Recipe(
        entry="recipes.collect:main",
        settings="loop.collecting.settings:CollectConfig",
        facts="recipes.collect:Collected",
        group="agents",
        summary="play a policy on tasks and keep the episodes as data",
        examples=(
            "webagent collect miniwob --tasks click-test login-user --seeds 20",
            "webagent collect own --files tasks.toml --policy endpoint --model NAME --count 50",
        ),
        leads="benchmark",
    ),
    "improve": Recipe(
        entry="recipes.improve:main",
        settings="loop.settings:ImproveConfig",
        facts="loop.summary.shape:RunSummary",
        group="learning",
        summary="collect, judge, train, imagine and measure, round after round",
        examples=(
            "webagent improve --preset demo",
            "webagent improve --resume runs/NAME",
        ),
    ),
    "dream": Recipe(
        entry="recipes.dream:main",
        settings="recipes.dream:DreamConfig",
        facts="recipes.dream:Dreamt",
        group="learning",
        summary="imagine episodes from real pages of a run, by its world model",
        examples=("webagent dream runs/NAME --count 200", "webagent dream runs/NAME --count 0"),
    ),
    "train": Recipe(
        entry="recipes.train:main",
        settings="loop.training.settings:TrainSettings",
        facts="recipes.train:Trained",
        group="learning",
        summary="teach a language model what runs have stored",
        examples=(
            "webagent train runs/NAME --model FOLDER --lora 16 --out trained",
            "webagent train runs/NAME --role world --out world",
        ),
        leads="runs",
    ),
    "learn": Recipe(
        entry="recipes.learn:main",
        settings="recipes.learn:LearnConfig",
        facts="recipes.learn:Learnt",
        group="learning",
        summary="write hints on sites from failures and successes",
        examples=("webagent learn runs/NAME --hints hints --model NAME",),
    ),
    "judge": Recipe(
        entry="recipes.judge:main",
        settings="loop.judging.settings:JudgeConfig",
        facts="recipes.judge:Judgements",
        group="judging",
        summary="score a run's episodes, and measure whoever scores them",
        examples=(
            "webagent judge runs/NAME --with rules",
            "webagent judge runs/NAME --with judge:webvoyager --model NAME --against labels.csv",
        ),
    ),
    "train-judge": Recipe(
        entry="recipes.train_judge:main",
        settings="loop.judge_training.settings:TrainJudgeSettings",
        facts="loop.judge_training.report:Report",
        group="judging",
        summary="teach a reward model on labelled episodes and measure it",
        examples=("webagent train-judge runs/NAME --out judge",),
        leads="runs",
    ),
    "attribute": Recipe(
        entry="recipes.attribute:main",
        settings="recipes.attribute:AttributeConfig",
        facts="recipes.attribute:Attributed",
        group="judging",
        summary="say why episodes failed, and what to fix first",
        examples=("webagent attribute runs/NAME --phase evaluate",),
    ),
    "view": Recipe(
        entry="recipes.view:main",
        settings="recipes.view:ViewConfig",
        facts="recipes.view:Served",
        group="judging",
        summary="look at runs in a browser, live while they go on",
        examples=("webagent view runs", "webagent view runs/NAME --port 8000 --open"),
    ),
    "report": Recipe(
        entry="recipes.report:main",
        settings="recipes.report:ReportConfig",
        facts="recipes.report:Reported",
        group="judging",
        summary="write a run's page or pictures again and print its tables",
        examples=("webagent report runs/NAME --html report.html", "webagent report --png plots"),
    ),
    "propose": Recipe(
        entry="recipes.propose:main",
        settings="loop.proposers.settings:ProposeConfig",
        facts="loop.proposers.report:Proposed",
        group="tasks",
        summary="find new tasks for a site, filter them and have them proven",
        examples=(
            "webagent propose --site fossil --policy endpoint --model NAME",
            "webagent propose --site fossil --model NAME --preview",
        ),
    ),
    "record": Recipe(
        entry="recipes.record:main",
        settings="recipes.record:RecordConfig",
        facts="recipes.record:Recorded",
        group="tasks",
        summary="keep what a person does in a browser",
        examples=("webagent record https://example.org --goal 'Find the contact page'",),
    ),
    "replay": Recipe(
        entry="recipes.replay:main",
        settings="apps.replay.settings:ReplayConfig",
        facts="recipes.replay:Replays",
        group="tasks",
        summary="play stored episodes again without a model, healing as pages move",
        examples=(
            "webagent replay runs/NAME",
            "webagent replay runs/NAME 3f2a --seed 77 --headed",
            "webagent replay runs/NAME 3f2a --to-script again.py",
        ),
    ),
    "import": Recipe(
        entry="recipes.imports:main",
        settings="recipes.imports:ImportConfig",
        facts="recipes.imports:Imported",
        group="tasks",
        summary="read episodes that others have recorded",
        examples=("webagent import webvoyager results/examples --run runs/recorded",),
    ),
    "export": Recipe(
        entry="recipes.export:main",
        settings="apps.export.request:ExportConfig",
        facts="recipes.export:Exported",
        group="tasks",
        summary="write a run's episodes for other people's trainers",
        examples=(
            "webagent export runs/NAME --out episodes",
            "webagent export runs/NAME --to trl --what preference --out pairs",
        ),
    ),
    "publish": Recipe(
        entry="recipes.publish:main",
        settings="recipes.publish:PublishConfig",
        facts="recipes.publish:Published",
        group="around",
        summary="put a run's figures among the published ones",
        examples=("webagent publish runs/NAME --name miniwob-twenty",),
    ),
    "site": Recipe(
        entry="recipes.site:main",
        settings="recipes.site:SiteConfig",
        facts="recipes.site:SiteFacts",
        group="around",
        summary="start, reset and look at the sites that tasks are on",
        examples=("webagent site list", "webagent site start fossil --detach"),
    ),
    "login": Recipe(
        entry="recipes.login:main",
        settings="recipes.login:LoginConfig",
        facts="recipes.login:LoggedIn",
        group="around",
        summary="log in at a site once, for agents to stay logged in",
        examples=(
            "webagent login https://example.org/login --site example",
            "webagent login --list",
        ),
    ),
    "mcp": Recipe(
        entry="recipes.mcp:main",
        settings="apps.mcp.settings:McpConfig",
        facts="recipes.mcp:Served",
        group="agents",
        summary="give assistants a browser, by the Model Context Protocol",
        examples=(
            "webagent mcp --allow http://localhost:3000 --store runs/assistant",
            "webagent mcp --http 8931 --guard guard.toml",
            "webagent mcp --describe",
        ),
    ),
    "completion": Recipe(
        entry="recipes.command_line.completion.command:main",
        settings="recipes.command_line.completion.settings:CompletionConfig",
        facts="recipes.command_line.completion.command:Script",
        group="around",
        summary="print the script that completes lines in a shell",
        examples=("webagent completion bash",),
    ),
    "doctor": Recipe(
        entry="recipes.doctor:main",
        settings="recipes.doctor:DoctorConfig",
        facts="recipes.doctor:Examined",
        group="around",
        summary="say what is present, what is missing, how to get it",
        examples=("webagent doctor", "webagent doctor --json"),
    ),
}
