"""What is done with every command of the documentation: run, or only read and why.

A command that is new in a page has to be put into one of the two tables, by its words.
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
        says=("66.7 % of 12",)
    ),
    "webagent memory runs/practice --site-memory site-memory --model NAME": Play(
        says=("12 episodes", "failures compared with a success", "notes.test.md")
    ),
    f"{OWN} {SERVED} --site-memory site-memory --name again": Play(says=("66.7 % of 3",)),
    f"{OWN} {SERVED} --seeds 3 --name measured": Play(says=("do nothing", "66.7 % of 9")),
    f"{ONE} --policy endpoint --model NAME": Play(says=("100.0 % of 1",)),
    f"{ONE} --policy endpoint --endpoint server.toml": Play(says=("100.0 % of 1",)),
    f"{ONE} --policy local:FOLDER --max-tokens 64": Play(says=("of 1 held-out",)),
    "webagent judge runs/NAME --with rules --against labels.csv": Play(says=("precision",)),
    "webagent benchmark oscar --preview": Play(says=("oscar@1",)),
}

READ: dict[str, tuple[str, ...]] = {
    "minutes of training and of real browser steps": (
        "scripts/demo",
        "webagent improve --preset demo",
        "webagent improve --benchmark miniwob --tasks twenty --arms none self",
        "webagent improve --arms none self lookahead best_of_k --world map --candidates 5",
        "webagent train --runs runs/demos --prompt brief direct --out tiny",
        "webagent improve --policy local:tiny/model --max-tokens 192 --learning-rate 5e-4",
        "webagent improve --policy local:FOLDER --lora 16 --objective grpo --samples 4",
        "webagent improve --policy endpoint --model NAME --steps 200 --max-cost 10",
        "webagent improve --judge reward:trained/model",
        "webagent improve --benchmark own --files tasks.toml --judge judge:evidence"
        " --measured-by judge:webvoyager --judge-model NAME",
        "webagent improve --judge cascade(reward:trained/model, judge:evidence)"
        " --judge-model NAME --max-cost 5",
        "webagent improve --benchmark own --files docs/example/practice.jsonl"
        " --sites docs/example/sites.toml",
        "webagent improve --benchmark own --files tasks.toml --held-out 0.5",
        "webagent improve --benchmark fossil --proposals runs/NAME/proposals.jsonl",
        "webagent improve --benchmark fossil --proposer endpoint --proposer-model NAME"
        " --judge judge:evidence --judge-model NAME",
        "webagent improve --benchmark fossil --proposer failures --proposer-model NAME"
        " --proposals-solved-by policy",
        "webagent improve --preset webevolver --policy local:FOLDER --benchmark fossil"
        " --judge-model NAME",
        "webagent improve --preset pae --policy local:FOLDER --benchmark fossil --judge-model NAME"
        " --proposer-model NAME",
        "webagent improve --preset webrl --policy local:FOLDER --benchmark fossil"
        " --proposer-model NAME",
        "webagent improve --preset go-browse --policy local:FOLDER --benchmark fossil",
        "webagent improve --preset early-experience --policy local:FOLDER --benchmark fossil",
        "webagent train runs/NAME --role reward --model FOLDER --lora 16 --out trained",
        "webagent train runs/NAME --track wandb",
        "webagent improve --preset demo --track mlflow tensorboard",
        "webagent train --runs runs/demos --model Qwen/Qwen3-0.6B --lora 16 --out trained",
        "webagent train --runs runs/practice --model FOLDER --lora 16 --out trained",
        "webagent improve --arms none control self --seed $SLURM_ARRAY_TASK_ID --workers 1"
        " --runs runs --name repeat-$SLURM_ARRAY_TASK_ID",
    ),
    "a policy with a memory and a model; tests/recipes/test_restate.py plays one": (
        "webagent benchmark oscar-paraphrased --policy model:runs/NAME/weights/none-0/0/policy"
        " --restate NAME",
        "webagent run Put Alice's order on hold --url https://shop.example/"
        " --policy model:runs/NAME/weights/none-0/0/policy --restate NAME",
    ),
    "a run before it; tests/recipes/test_improve_endpoint.py plays them in small": (
        "webagent benchmark --policy endpoint --model NAME --split train --seeds 4 --temperature 1"
        " --name practice",
        "webagent memory runs/practice --site-memory site-memory --model NAME"
        " --entries rules examples",
        "webagent benchmark --policy endpoint --model NAME --site-memory site-memory",
        "webagent improve --policy endpoint --model NAME --site-memory site-memory",
    ),
    "a cluster; tests/loop/executors/test_cluster.py has one of three nodes": (
        "webagent benchmark fossil --executor ray --workers 16",
        "webagent improve --executor ray --workers 16",
    ),
    "a server with a GPU; tests/recipes/test_improve_served.py has a small one": (
        "webagent improve --policy local:FOLDER --lora 16 --server http://gpu-node:8000",
        "webagent benchmark --policy local:runs/NAME/weights/self-0/3/policy"
        " --server http://gpu-node:8000",
    ),
    "runs of an array; tests/recipes/test_merge.py joins some": (
        "webagent report runs/repeat-0 runs/repeat-1 runs/repeat-2 --into all",
    ),
    "goes on with a run of minutes": (
        "webagent improve --resume runs/NAME",
        "webagent improve --resume runs/repeat-3",
        "webagent benchmark --policy local:trained/model",
        f"{OWN} --policy local:trained/model",
    ),
    "hundreds of episodes": (
        "webagent collect --policy endpoint --model NAME --student builtin --seeds 15"
        " --name lessons",
        "webagent benchmark --policy endpoint --model NAME --student runs/lessons/student"
        " --seeds 10",
        "webagent improve --policy endpoint --model NAME --student builtin",
        "webagent benchmark --policy oracle --split train --seeds 60 --name demos",
        "webagent collect --seeds 60 --name demos",
        "webagent benchmark fossil --concurrency 8",
        "webagent collect miniwob --tasks all --workers 4",
        "webagent benchmark oscar --policy model:runs/NAME/weights/none-0/0/policy --seeds 2",
        "webagent benchmark oscar-paraphrased"
        " --policy model:runs/NAME/weights/none-0/0/policy --seeds 2",
        "webagent benchmark --policy endpoint --model NAME --concurrency 16",
    ),
    "serves until a signal; tests/apps/serve plays through it": (
        "webagent serve miniwob --tasks click-test-2 login-user",
        "webagent serve own --files tasks.toml --max-sessions 64",
        "webagent serve miniwob --tasks click-dialog login-user --max-sessions 64",
    ),
    "serves until Ctrl-C; tests/apps/view opens every page": (
        "webagent view runs/first",
        "webagent view runs/NAME",
        "webagent view runs",
        "webagent view runs --port 8000 --no-open",
    ),
    "an episode of a run of the reader's; tests/apps/replay plays them": (
        "webagent replay runs/NAME",
        "webagent replay runs/NAME 3f2a --headed",
        "webagent replay runs/NAME 3f2a --url http://localhost:8080/",
    ),
    "recordings of the reader's; tests/apps/repeat learns from some and does a table": (
        'webagent record https://desk.example/ --goal Add the ticket "Broken lamp" of "Ann".'
        " --name first",
        'webagent record https://desk.example/ --goal Add the ticket "Old chair" of "Ben".'
        " --name second",
        'webagent record https://desk.example/ --goal Add the ticket "Loose shelf" of "Cleo".'
        " --name third",
        "webagent do --learn runs/first runs/second runs/third --out ticket.toml",
        "webagent do ticket.toml --table rows.csv --out results.csv",
        "webagent do ticket.toml --set title=Lamp customer=Ann",
    ),
    "a run of minutes; tests/recipes/test_world.py maps one": (
        "webagent world runs/oscar",
        "webagent world runs/oscar --to Write a review",
        "webagent world runs/oscar --measure figures.json",
    ),
    "a run of minutes; tests/recipes/test_memory.py explains one and acts by one": (
        "webagent memory runs/demo",
        "webagent memory runs/demo 7ab5e0219cfb --step 3",
        "webagent memory runs/mine --rebuild",
        'webagent run Cancel my order "10050". --url https://shop.example/'
        " --policy model:runs/mine",
    ),
    "files that the page shows; tests/test_additions.py plays and judges with such": (
        "webagent benchmark miniwob --tasks click-test --seeds 1"
        " --policy python:mine.py:FirstButton",
        "webagent run Press the button --url https://example.org"
        " --policy python:mine.py:FirstButton",
        "webagent judge runs/NAME --with cascade(rules, python:judges.py:was_short)",
    ),
    "a run of WebShop's; tests/benchmarks/webshop judges by its rules": (
        "webagent judge runs/NAME --with rules:reward",
    ),
    "a checkout of another project; tests/benchmarks/webarena_infinity plays one like it": (
        "webagent benchmark webarena-infinity --tasks gmail-easy --policy endpoint --model NAME",
    ),
    "labels that somebody gave in the viewer; tests/apps/view gives some": (
        "webagent judge runs/NAME --against runs/NAME",
    ),
    "hundreds of episodes, and models of minutes": (
        "webagent collect --tasks click-dialog-2 focus-text-2 click-tab identify-shape"
        " --seeds 60 --name demos",
        "webagent train --runs runs/demos --prompt brief direct --actions click"
        " --shape.width 96"
        " --shape.layers 2 --shape.vocabulary 1000 --learning-rate 1e-6"
        " --updates 1 --out tiny",
        "webagent improve --policy local:tiny/model --tasks click-dialog-2 focus-text-2"
        " click-tab identify-shape --demonstrations 1 --base-tokens 15000 --max-tokens"
        " 128 --rounds 3 --steps 500 --round-tokens 300000 --temperature 10"
        " --learning-rate 1.5e-3 --batch 4",
        "webagent benchmark webshop --policy endpoint --model NAME --seeds 500",
        "webagent collect miniwob --tasks twenty --seeds 20 --policy endpoint --model NAME"
        " --samples 4",
        "webagent collect --resume runs/NAME --count 2000",
        "webagent improve --policy local:FOLDER --arms none self imagined --judge judge:evidence"
        " --judge-model NAME --name imagined",
        "webagent export runs/imagined --imagined --out FOLDER",
    ),
    "the tests themselves": (
        "scripts/test",
        "scripts/check",
        "scripts/test --fast",
        "scripts/test tests/recipes -k export",
        "scripts/test --all",
    ),
    "tests/test_setup_script.py runs it": ("scripts/setup",),
    "continuous integration runs it": ("scripts/docs",),
    "a model's provider; tests/recipes/test_init.py asks one": (
        "webagent doctor --model anthropic/NAME",
        "webagent doctor --model NAME",
        "webagent show RUN EPISODE --step 1 --raw",
    ),
    "published task files, live sites or sites that the reader hosts": (
        "webagent benchmark webarena --addresses sites.toml --logins logins --judge consulted"
        " --judge-model big-1",
        "webagent benchmark webarena-verified-hard --addresses sites.toml --logins logins",
        "webagent benchmark visualwebarena --files visualwebarena/ --addresses sites.toml --images"
        " --judge consulted --judge-model seeing-1",
        "webagent benchmark webvoyager --judge judge:webvoyager --judge-model seeing-1",
        "webagent benchmark online-mind2web --judge judge:webjudge --judge-model seeing-1",
        "webagent benchmark mind2web-live --judge consulted --judge-model big-1",
        "webagent benchmark gaia-web",
        "webagent run What does the blue kayak cost? --url https://shop.example/ --model NAME",
        "webagent run What does the blue kayak cost? --url https://shop.example/ --model NAME"
        " --student kayaks",
        "webagent propose --site https://shop.example.com --source pages --pages 0 --model MODEL",
    ),
    "a person at a window": (
        "webagent record https://shop.example/ --goal Put the cheapest blue kayak into the basket.",
        "webagent record https://shop.example/ --goal What does the blue kayak cost? --answer",
        "webagent login https://shop.example/login --site shop",
    ),
    "environments of other programs": ("python perf/export_readers.py --home FOLDER",),
    "recordings of other systems, which are not part of this repository": (
        "webagent record --import agentrewardbench trajectories/cleaned --into runs/recorded",
    ),
    "runs and models of the reader's; tests/recipes/test_lookahead.py asks a server": (
        "webagent benchmark --policy model:runs/demo/weights/self/0/1/policy --world map"
        " --world-run runs/demo",
        "webagent benchmark fossil --policy endpoint --model NAME --world"
        " endpoint:NAME --world-run runs/fossil",
        "webagent collect --policy endpoint --model NAME --world local:tiny/model",
        "webagent run Put a kayak into the basket --url http://shop.test/ --model NAME --world map"
        " --world-run runs/oscar",
    ),
    "weights that a training of minutes makes": (
        "webagent train --runs runs/fossil --role world --shape.width 96 --shape.layers 2"
        " --shape.vocabulary 2000 --learning-rate 1.5e-3 --batch 4 --out tiny",
        "webagent world runs/fossil --measure figures.json --world local:tiny/model",
        "webagent world runs/fossil --measure figures.json --world endpoint:NAME",
        "webagent benchmark fossil --policy model:runs/fossil/weights/none-0/0/policy"
        " --world local:tiny/model --world-run runs/fossil",
        "webagent judge runs/NAME --with rules reward:weights/reward --against labels.csv",
        "webagent judge runs/NAME --with reward:trained/model chance:trained/model"
        " --against labels.csv",
        "webagent judge runs/NAME --with cascade[2](rules, unsure[0.1,0.9](chance:weights/reward),"
        " judge) --model big-1 --max-cost 5 --concurrency 8",
    ),
    "a model that can really sort and write": (
        "webagent propose --site fossil --source pages --model MODEL",
        "webagent propose --site fossil --source failures --run runs/RUN --model MODEL",
    ),
    "minutes of exploring": ("webagent benchmark proposed --files runs/propose-…/proposals.jsonl",),
    "needs failures beside successes on training seeds; tests/apps/export runs it": (
        "webagent export runs/NAME --to trl --what preference --out FOLDER",
    ),
}

HISTORY = ("docs/log/", "docs/results/", "docs/decisions/")
"""Pages that tell what was done once, with the commands of that day."""
