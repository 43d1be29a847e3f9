"""What is done with every command of the documentation: run, or only read and why.

A command that is new in a page has to be put into one of the two tables: by its words into the
first, which is looked into first, by its beginning into the second.
"""

from dataclasses import dataclass, field

from tests.docs import scenes
from tests.docs.scenes import SMALL, Lay


@dataclass(frozen=True, slots=True)
class Play:
    """How a command is run."""

    says: tuple[str, ...] = ()
    """Words that it has to print, on either stream."""
    swap: dict[str, str] = field(default_factory=dict)
    """Words of the page to others: for what only the reader can fill in."""
    more: tuple[str, ...] = ()
    """Words put behind the line, for what only a person would end."""
    status: int = 0
    apart: bool = False
    """In a process of its own, for what leaves another one behind."""
    slow: bool = False
    """Only with the slow tests."""


@dataclass(frozen=True, slots=True)
class Scene:
    """In which folder a page's commands are run."""

    lay: tuple[Lay, ...] = ()
    benchmark: dict[str, str] = field(default_factory=lambda: SMALL)
    """Settings that `webagent benchmark` takes from the environment where the page has no flag."""
    needs: tuple[str, ...] = ()
    """Programs without which the page's commands are not run."""


OWN = "webagent benchmark own --files mysite/tasks.jsonl --sites mysite/sites.toml"
ONE = "webagent benchmark --tasks click-test --seeds 1"
SERVED = "--policy endpoint --model NAME"

SCENES: dict[str, Scene] = {
    "docs/benchmarks.md": Scene((scenes.prices, scenes.run("runs/FOLDER"))),
    "docs/cost.md": Scene(
        (scenes.page_block("toml", "prices.toml", "docs/cost.md"),), SMALL | {"NAME": "NAME"}
    ),
    "docs/export.md": Scene((scenes.run("runs/NAME"),)),
    "docs/guard.md": Scene((scenes.page_block("toml", "guard.toml", "docs/guard.md"),)),
    "docs/judging/README.md": Scene((scenes.run("RUN"), scenes.labels)),
    "docs/judging/agreement.md": Scene((scenes.run("runs/NAME"), scenes.labels)),
    "docs/judging/attribution.md": Scene((scenes.run("runs/NAME"),)),
    "docs/oscar.md": Scene(benchmark={}),
    "docs/tutorial.md": Scene((scenes.example("mysite"),), benchmark={}),
    "docs/howto/own-benchmark.md": Scene((scenes.example("mysite"),), benchmark={}),
    "docs/howto/own-model.md": Scene(
        (scenes.weights("FOLDER"), scenes.endpoint_file), {"BASELINES": "false"}
    ),
    "docs/howto/own-judge.md": Scene((scenes.run("runs/NAME"), scenes.labels)),
    "docs/sites.md": Scene((scenes.example("mysite"),), needs=("fossil",)),
}

PLAYED: dict[str, Play] = {
    "webagent benchmark miniwbo --json": Play(
        says=("did you mean miniwob, mind2web-live?", "kind"), status=2
    ),
    "webagent --help": Play(says=("usage: webagent",)),
    "webagent improve --help": Play(says=("--rounds",)),
    "webagent benchmark": Play(says=("oracle succeeds in 100.0 % of 1",)),
    "webagent benchmark NAME --preview": Play(says=("episodes",), swap={"NAME": "miniwob"}),
    "webagent benchmark NAME --policy endpoint --model big-1 --max-cost 5": Play(
        says=("USD",), swap={"NAME": "miniwob"}
    ),
    "webagent benchmark --resume runs/FOLDER": Play(says=("report:",)),
    "webagent benchmark --policy endpoint --model big-1 --max-cost 5 --max-tokens-total 2000000"
    " --max-minutes 60": Play(says=("USD",)),
    "webagent benchmark --resume runs/NAME --max-cost 10": Play(says=("USD",)),
    "webagent export runs/NAME --out FOLDER": Play(says=("rows: 4",)),
    "webagent benchmark --guard guard.toml": Play(says=("100.0",)),
    "webagent judge RUN --with rules judge:evidence --model NAME --against labels.csv": Play(
        says=("precision",)
    ),
    "webagent report RUN --failures": Play(says=("login-user",)),
    "webagent report runs/NAME --failures": Play(says=("login-user",)),
    "webagent report runs/NAME --failures --phase collect --json": Play(says=("{",)),
    "webagent site list": Play(says=("fossil@1",)),
    "webagent site check fossil": Play(says=("reset",)),
    "webagent site start fossil": Play(says=("http://127.0.0.1:",), more=("--detach",), apart=True),
    "webagent site reset fossil": Play(says=("is reset",)),
    "webagent site stop fossil": Play(),
    "webagent doctor": Play(says=("chromium",)),
    "webagent benchmark --tasks click-test login-user --seeds 2 --name first": Play(
        says=("oracle succeeds in 100.0 % of 4", "blind replay", "runs/first/report.html")
    ),
    "webagent replay runs/first": Play(says=("login-user", "completed, checks hold")),
    "webagent report runs/first": Play(says=("click-test",)),
    "webagent report runs/first --failures": Play(
        says=("none of 4 evaluation episodes with a verdict failed",)
    ),
    "webagent site check notes --files mysite/sites.toml": Play(says=("healthy            True",)),
    "webagent mcp --help": Play(says=("--",)),
    "webagent serve --help": Play(says=("--max-sessions",)),
    "webagent improve --benchmark own --files mysite/practice.jsonl --sites mysite/sites.toml"
    " --arms none self --rounds 1 --steps 150 --round-tokens 20000 --repeats 1 --evaluate 1"
    " --name learned": Play(says=("self succeeds in 100.0 % of 3",), slow=True),
    "webagent site list --files mysite/sites.toml": Play(says=("notes@1",)),
    f"{OWN} --preview": Play(says=("steps at most   18",)),
    "webagent site start notes --files mysite/sites.toml --port 8123 --detach": Play(
        says=("notes@1 is at http://127.0.0.1:8123",), apart=True
    ),
    'webagent run Add the note "buy milk". --url http://127.0.0.1:8123/ --model NAME': Play(
        says=('fill(1, "buy milk")', "answered in 3 steps", "webagent view runs/")
    ),
    "webagent site stop notes --files mysite/sites.toml": Play(says=("notes@1 is stopped",)),
    f"{OWN} {SERVED} --name own": Play(says=("NAME succeeds in 66.7 % of 3",)),
    "webagent report runs/own --failures": Play(says=("count 1",)),
    f"{OWN} {SERVED} --split train --seeds 4 --temperature 1 --name practice": Play(
        says=("66.7 % of 12",), slow=True
    ),
    "webagent memory runs/practice --site-memory site-memory --model NAME": Play(
        says=("12 episodes", "failures compared with a success", "notes.test.md"), slow=True
    ),
    f"{OWN} {SERVED} --site-memory site-memory --name again": Play(
        says=("66.7 % of 3",), slow=True
    ),
    f"{OWN} {SERVED} --seeds 3 --name measured": Play(
        says=("do nothing", "66.7 % of 9"), slow=True
    ),
    f"{ONE} --policy endpoint --model NAME": Play(says=("100.0 % of 1",)),
    f"{ONE} --policy endpoint --endpoint server.toml": Play(says=("100.0 % of 1",)),
    f"{ONE} --policy local:FOLDER --max-tokens 64": Play(says=("of 1 held-out",)),
    "webagent judge runs/NAME --with rules --against labels.csv": Play(says=("precision",)),
    "webagent benchmark oscar --preview": Play(says=("oscar@1",)),
}

READ: dict[str, tuple[str, ...]] = {
    "minutes of training and of real browser steps": (
        *("scripts/demo", "webagent improve", "webagent train"),
    ),
    "hundreds of episodes": (
        *("webagent collect", "webagent benchmark --policy oracle", "webagent benchmark fossil"),
        *("webagent benchmark --policy endpoint --model NAME", "webagent benchmark webshop"),
    ),
    "weights that a training of minutes makes; tests/recipes/test_world_figures.py makes some": (
        *("webagent benchmark --policy local:", f"{OWN} --policy local:"),
        *("webagent benchmark --policy model:", "webagent benchmark oscar --policy model:"),
        *("webagent judge runs/NAME --with reward:", "webagent judge runs/NAME --with cascade["),
        *("webagent judge runs/NAME --with rules reward:", "webagent world runs/fossil --measure"),
    ),
    "a policy with a memory and a model; tests/recipes/test_restate.py plays one": (
        *("webagent benchmark oscar-paraphrased", "webagent run Put Alice's order on hold"),
    ),
    "a run of minutes; tests/recipes/test_memory.py and test_world.py make one in small": (
        *("webagent memory runs/demo", "webagent memory runs/mine", "webagent world runs/oscar"),
        *("webagent run Cancel my order", "webagent run Put a kayak into the basket"),
        *("webagent memory runs/practice --site-memory site-memory --model NAME --entries",),
    ),
    "runs of an array; tests/recipes/test_merge.py joins some": ("webagent report runs/repeat-0",),
    "serves until a signal; tests/apps/serve plays through it": ("webagent serve",),
    "serves until Ctrl-C; tests/apps/view opens every page": ("webagent view",),
    "an episode of a run of the reader's; tests/apps/replay plays them": (
        "webagent replay runs/NAME",
    ),
    "recordings of the reader's; tests/apps/repeat learns from some and does a table": (
        "webagent do",
    ),
    "files that the page shows; tests/test_additions.py plays and judges with such": (
        *("webagent benchmark miniwob --tasks click-test --seeds 1 --policy python:",),
        *(
            "webagent run Press the button",
            "webagent judge runs/NAME --with cascade(rules, python:",
        ),
    ),
    "a run of WebShop's; tests/benchmarks/webshop judges by its rules": (
        "webagent judge runs/NAME --with rules:reward",
    ),
    "labels that somebody gave in the viewer; tests/apps/view gives some": (
        "webagent judge runs/NAME --against runs/NAME",
    ),
    "the tests themselves": ("scripts/test", "scripts/check"),
    "tests/test_setup_script.py runs it": ("scripts/setup",),
    "continuous integration runs it": ("scripts/docs",),
    "a model's provider; tests/recipes/test_init.py asks one": (
        *("webagent doctor --model", "webagent show RUN"),
    ),
    "published task files, live sites or sites that the reader hosts": (
        *("webagent benchmark webarena", "webagent benchmark visualwebarena"),
        *("webagent benchmark webvoyager", "webagent benchmark online-mind2web"),
        *("webagent benchmark mind2web-live", "webagent benchmark gaia-web"),
        "webagent run What does the blue kayak cost?",
    ),
    "a person at a window, or recordings of other systems": ("webagent record", "webagent login"),
    "environments of other programs": ("python perf/export_readers.py --home FOLDER",),
    "a model that can really sort and write": (
        *("webagent propose", "webagent benchmark proposed"),
    ),
    "needs failures beside successes, or imagined episodes; tests/apps/export has both": (
        *("webagent export runs/NAME --to trl", "webagent export runs/imagined"),
    ),
}
"""Beginnings of commands."""
ONLY_READ = 129
"""How many commands of all pages are only read: whoever adds one decides whether it can be run."""

HISTORY = ("docs/log/", "docs/results/", "docs/decisions/")
"""Pages that tell what was done once, with the commands of that day."""
