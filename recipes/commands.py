"""The table of commands: the purpose of each, its function and its settings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from loop.console.output import CommandResult

Main: TypeAlias = "Callable[[Sequence[str]], CommandResult]"

GROUPS = {
    "agents": "Run and evaluate agents",
    "learning": "Train agents",
    "judging": "Judge and inspect episodes",
    "tasks": "Create tasks and data",
    "around": "Set up and other",
}


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand of `webagent`.

    Places are written `module:name` and imported only when needed: the list of commands must not
    wait for their imports.
    """

    name: str
    summary: str
    group: str
    """Heading in GROUPS under which it is listed."""
    settings: str
    """The dataclass of its settings; the field docstrings are the help."""
    facts: str | tuple[str, ...]
    """The dataclass or TypedDict that `--json` prints; several where that depends on a setting."""
    examples: tuple[str, ...]
    """Example command lines, shown at the end of its help."""
    entry: str = ""
    """Its function `main(argv) -> CommandResult`, if it is not in `recipes/NAME.py`."""
    presets: str = ""
    """The dictionary of its presets, if it has any."""
    leads: str = ""
    """The setting that leading words belong to, so that they need no flag."""
    waits: bool = False
    """Whether it waits for people or programs, so that silence is no sign of a fault."""

    def line(self, words: Sequence[str]) -> list[str]:
        """Return the words typed after the command's name, with the flag for leading words."""
        leads = bool(self.leads and words and not words[0].startswith("-"))
        return [*[f"--{self.leads}"] * leads, *words]

    def load(self) -> Main:
        """Import the command and return its function."""
        main: Main = load(self.entry or f"recipes.{self.name.replace('-', '_')}:main")
        return main


def load(place: str) -> Any:
    """Return the object at `module:name`."""
    module, name = place.split(":")
    return getattr(import_module(module), name)


REPLACED = {
    "publish": "webagent report RUN, and copy the run's summary.json",
    "merge": "webagent report RUN RUN --into NAME",
    "attribute": "webagent report RUN --failures",
    "grounding": "webagent report RUN --failures, which counts wrong elements",
    "promote": "webagent view to compare runs, and copy the folder of weights to use",
    "import": "webagent record --import FORMAT SOURCE --into RUN",
    "map": "webagent world RUN",
    "dream": "webagent world RUN to measure and serve, webagent improve --arms imagined to imagine",
    "learn": "webagent memory RUN --site-memory FOLDER",
}
"""Names of earlier commands, and what to call instead."""
_TABLE = (
    Command(
        "run",
        "perform one task live: watch, pause, take over",
        "agents",
        settings="apps.live.settings:RunConfig",
        facts="apps.live.live:RunResult",
        waits=True,
        examples=(
            "webagent run 'What does it cost?' --url https://shop.example --model NAME",
            "webagent run 'Buy it' --url https://shop.example --model NAME --headed"
            " --guard guard.toml",
        ),
    ),
    Command(
        "benchmark",
        "evaluate a policy on a benchmark",
        "agents",
        settings="loop.measurement.settings:BenchmarkConfig",
        facts="loop.summary.schema:BenchmarkResult",
        leads="benchmark",
        examples=(
            "webagent benchmark miniwob --tasks click-test login-user --seeds 2",
            "webagent benchmark webarena --policy endpoint --model NAME --preview",
        ),
    ),
    Command(
        "collect",
        "play a policy on tasks and store the episodes as training data",
        "agents",
        settings="loop.measurement.collecting:CollectConfig",
        facts="recipes.collect:Collected",
        leads="benchmark",
        examples=(
            "webagent collect miniwob --tasks click-test login-user --seeds 20",
            "webagent collect own --files tasks.toml --policy endpoint --model NAME --count 50",
        ),
    ),
    Command(
        "improve",
        "improve an agent in rounds: collect, judge, train, imagine, evaluate",
        "learning",
        settings="loop.settings:ImproveConfig",
        presets="loop.presets:PRESETS",
        facts="loop.summary.schema:RunSummary",
        examples=("webagent improve --preset demo", "webagent improve --resume runs/NAME"),
    ),
    Command(
        "train",
        "train a language model on stored episodes",
        "learning",
        settings="loop.training.settings:TrainSettings",
        facts="recipes.train:Trained",
        leads="runs",
        examples=(
            "webagent train runs/NAME --model FOLDER --lora 16 --out trained",
            "webagent train runs/NAME --role world --out world",
        ),
    ),
    Command(
        "judge",
        "score a run's episodes, and evaluate the judges",
        "judging",
        settings="loop.judging.settings:JudgeConfig",
        facts="recipes.judge:Judgements",
        examples=(
            "webagent judge runs/NAME --with rules",
            "webagent judge runs/NAME --with judge:webvoyager --model NAME --against labels.csv",
        ),
    ),
    Command(
        "view",
        "view runs in a browser, live while they are in progress",
        "judging",
        settings="recipes.view:ViewConfig",
        facts="recipes.view:Served",
        waits=True,
        examples=("webagent view runs", "webagent view runs/NAME --port 8000 --no-open"),
    ),
    Command(
        "show",
        "list episodes with verdicts, or print one with its prompts and replies",
        "judging",
        settings="recipes.show:ShowConfig",
        facts="recipes.show:Shown",
        examples=(
            "webagent show runs/NAME --failed",
            "webagent show runs/NAME 3f2a --step 2 --raw",
        ),
    ),
    Command(
        "memory",
        "show what a run remembers and why it acts; write what it teaches about sites",
        "learning",
        settings="recipes.memory:MemoryConfig",
        facts=("recipes.memory:Remembered", "recipes.site_memory:Learnt"),
        examples=(
            "webagent memory runs/oscar",
            "webagent memory runs/oscar 7ab5e0219cfb --step 3",
            "webagent memory runs/collected --rebuild",
            "webagent memory runs/practice --site-memory site-memory --model NAME",
        ),
    ),
    Command(
        "world",
        "map a run's site, measure how well its pages are predicted, serve them",
        "learning",
        settings="recipes.world:WorldConfig",
        facts=("recipes.world:MapShown", "recipes.world:PredictionFacts"),
        examples=(
            "webagent world runs/NAME",
            "webagent world runs/NAME --to 'Add a review'",
            "webagent world runs/NAME --measure figures.json",
        ),
    ),
    Command(
        "report",
        "print a run's tables, join runs, explain failures",
        "judging",
        settings="recipes.report:ReportConfig",
        facts=("loop.summary.schema:RunSummary", "recipes.report:Attributed"),
        examples=(
            "webagent report runs/NAME --html report.html",
            "webagent report runs/NAME --failures",
            "webagent report runs/repeat-0 runs/repeat-1 runs/repeat-2 --into all",
        ),
    ),
    Command(
        "propose",
        "propose new tasks for a site, filter them and prove them",
        "tasks",
        settings="loop.proposers.settings:ProposeConfig",
        facts="loop.proposers.records:ProposeSummary",
        examples=(
            "webagent propose --site fossil --policy endpoint --model NAME",
            "webagent propose --site fossil --model NAME --preview",
        ),
    ),
    Command(
        "record",
        "record what a person does in a browser, or import other systems' episodes",
        "tasks",
        settings="recipes.record:RecordConfig",
        facts=("recipes.record:Recorded", "recipes.imports:Imported"),
        waits=True,
        examples=(
            "webagent record https://example.org --goal 'Find the contact page'",
            "webagent record --import agentrewardbench trajectories/cleaned --into runs/recorded",
        ),
    ),
    Command(
        "replay",
        "replay stored episodes without a model, adapting to changed pages",
        "tasks",
        settings="apps.replay.recordings:ReplayConfig",
        facts="recipes.replay:Replays",
        examples=("webagent replay runs/NAME", "webagent replay runs/NAME 3f2a --headed"),
    ),
    Command(
        "do",
        "learn a task from recordings, and do it for every row of a table",
        "agents",
        settings="recipes.do:DoConfig",
        facts=("recipes.do:Repeated", "recipes.do:LearntTask"),
        examples=(
            "webagent do --learn runs/first runs/second runs/third --out task.toml",
            "webagent do task.toml --table rows.csv --out results.csv",
        ),
    ),
    Command(
        "export",
        "export a run's episodes for other trainers",
        "tasks",
        settings="apps.export.request:ExportConfig",
        facts="recipes.export:Exported",
        examples=(
            "webagent export runs/NAME --out episodes",
            "webagent export runs/NAME --to trl --what preference --out pairs",
        ),
    ),
    Command(
        "site",
        "list, start, reset and check the sites that tasks are played on",
        "around",
        settings="recipes.site:SiteConfig",
        facts="recipes.site:SiteFacts",
        waits=True,
        examples=("webagent site list", "webagent site start fossil --detach"),
    ),
    Command(
        "login",
        "log in to a site once, so that agents stay logged in",
        "around",
        settings="recipes.login:LoginConfig",
        facts="recipes.login:LoggedIn",
        waits=True,
        examples=(
            "webagent login https://example.org/login --site example",
            "webagent login --list",
        ),
    ),
    Command(
        "mcp",
        "give assistants a browser over the Model Context Protocol",
        "agents",
        settings="apps.mcp.settings:McpConfig",
        facts="recipes.mcp:AssistantServed",
        waits=True,
        examples=(
            "webagent mcp --allow http://localhost:3000 --store runs/assistant",
            "webagent mcp --http 8931 --guard guard.toml",
            "webagent mcp --describe",
        ),
    ),
    Command(
        "serve",
        "serve tasks to trainers and evaluators over OpenEnv's protocol",
        "agents",
        settings="apps.serve.settings:ServeConfig",
        facts="recipes.serve:TasksServed",
        leads="benchmark",
        waits=True,
        examples=(
            "webagent serve miniwob --tasks click-test-2 login-user",
            "webagent serve own --files tasks.toml --port 8001 --max-sessions 64",
        ),
    ),
    Command(
        "init",
        "write starter files: settings, tasks, limits, API keys",
        "around",
        settings="recipes.init:InitConfig",
        facts="recipes.init:Started",
        examples=("webagent init", "webagent init --model anthropic/NAME"),
    ),
    Command(
        "doctor",
        "check what is installed, what is missing, how to get it",
        "around",
        settings="recipes.doctor:DoctorConfig",
        facts="recipes.doctor:Examined",
        examples=("webagent doctor", "webagent doctor --model NAME"),
    ),
)

COMMANDS = {command.name: command for command in _TABLE}
"""Commands by name, in the order of the help."""
