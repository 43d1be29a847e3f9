"""Whether other trainers' own loaders read what `webagent export` writes for them.

    python perf/export_readers.py --home FOLDER [--only llamafactory verl axolotl] [--json]

Makes an environment for each reader under FOLDER (about 2 GB each, kept for the next time), the
processor's build of torch first. A tiny run is exported in every form with and without pictures;
under the reader's Python its own loader reads the export with a tiny model's tokenizer, and the
replies it would train on are held against those that were stored. Exit status 1 when any differs.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

ROOT = Path(__file__).parent.parent
# tests.fakes is installed nowhere: this checkout must be found first.
sys.path.insert(0, str(ROOT))

from apps.export import CONSUMERS  # noqa: E402
from recipes import cli  # noqa: E402
from tests.fakes import tiny_models  # noqa: E402
from tests.fakes.played import play, run_folder  # noqa: E402
from webagent.store import Store  # noqa: E402

CHILD = Path(__file__).with_name("export_child.py")
TORCH = "torch==2.13.0"
LIGHT = (
    "typing_extensions",
    "sympy",
    "networkx",
    "jinja2",
    "fsspec",
    "filelock",
    "numpy",
    "pillow",
)
"""What torch needs; asked for by itself, it would bring gigabytes of CUDA."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A trainer's release, with what its loader needs and no more."""

    package: str
    needs: tuple[str, ...]
    note: str = ""
    stand_in: str = ""
    """A module its loader imports for what is not exported; it has no build for this torch."""
    unread: tuple[tuple[str, bool], ...] = ()
    """Forms, with or without pictures, that its loader cannot read in this environment."""


READERS = {
    "llamafactory": Reader(
        "llamafactory==0.9.5",
        (
            *("transformers==5.6.0", "trl==0.24.0", "accelerate<=1.11.0", "peft<=0.18.1"),
            *("datasets<=4.0.0", "torchdata<=0.11.0", "tyro<0.9.0", "av<=16.0.0", "einops", "fire"),
            *("omegaconf", "pandas", "scipy", "sentencepiece", "pydantic", "tiktoken", "protobuf"),
            "matplotlib",
        ),
        "torchaudio stands in empty",
        "torchaudio",
    ),
    "verl": Reader(
        "verl==0.9.1",
        (
            *("transformers==5.10.*", "tensordict==0.10.0", "hydra-core", "codetiming", "dill"),
            *("pandas", "peft", "accelerate", "datasets", "torchdata", "ray>=2.41", "pyarrow>=19"),
        ),
        "pictures of sft need qwen_vl_utils, whose torchvision has no build for this torch",
        unread=(("sft", True),),
    ),
    "axolotl": Reader(
        "axolotl==0.21.0",
        (
            *("transformers==5.20.1", "datasets==5.0.1", "trl==1.14.1", "peft==0.21.2"),
            *("accelerate==1.15.0", "pydantic==2.13.5", "addict", "colorama", "einops", "PyYAML"),
            *("scipy", "python-dotenv", "sentencepiece", "fire", "typer", "art", "zstandard"),
            *("numba", "posthog==6.7.11", "schedulefree==1.4.1", "fastcore", "requests"),
        ),
        "asks for Python 3.12; its loader was run on this one",
    ),
}


def environment(home: Path, name: str) -> Path:
    """The reader's Python, made when it is not there yet."""
    reader, place = READERS[name], home / name
    python, stamp = place / "bin" / "python", place / ".ready"
    if stamp.exists() and stamp.read_text() == repr(reader):
        return python
    print(f"making {place}", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], check=True)
    for packages in (["--no-deps", TORCH], [*LIGHT, *reader.needs], _alone(reader.package)):
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--progress-bar", "off", *packages], check=True)
    if reader.stand_in:
        site = next((place / "lib").glob("python*")) / "site-packages"
        (site / f"{reader.stand_in}.py").write_text('"""Stands in for what is not exported."""\n')
    stamp.write_text(repr(reader))
    return python


def _alone(package: str) -> list[str]:
    return ["--no-deps", "--ignore-requires-python", package]


def make_run(folder: Path, *, pictures: bool) -> Path:
    """Two tasks, each won once and lost once."""
    form = "screenshot" if pictures else "text"
    run = run_folder(folder, observation=form).path
    with Store.open(run) as store:
        for seed in range(2):
            play(store, seed, index=2 * seed, variant=form)
            play(store, seed, index=2 * seed + 1, right=False, variant=form)
    return run


def export(run: Path, to: str, what: str, out: Path) -> Path:
    """What `webagent export` writes, its talk put aside."""
    with redirect_stdout(sys.stderr):
        done = cli.main(["export", str(run), "--to", to, "--what", what, "--out", str(out)])
    if done:
        raise SystemExit(f"the export for {to} as {what} failed")
    return out


def expected(run: Path, what: str, out: Path) -> dict[str, Any]:
    """What is in the same examples as they are written for TRL."""
    folder = export(run, "trl", what, out) / "data"
    rows = [
        row for path in sorted(folder.glob("*.parquet")) for row in pq.read_table(path).to_pylist()
    ]
    found: dict[str, Any] = {"rows": len(rows)}
    for ours, theirs in (("completion", "teach"), ("chosen", "teach"), ("rejected", "reject")):
        if rows and ours in rows[0]:
            found[theirs] = [_text(row[ours][0]["content"]) for row in rows]
    if what == "kto":
        found["labels"] = [row["label"] for row in rows]
    if what == "rl":
        found["seeds"] = [json.loads(row["origin"])["seed"] for row in rows]
    return found


def _text(content: Any) -> str:
    return str(content) if isinstance(content, str) else str(content[0]["text"])


def differences(found: dict[str, Any], wanted: dict[str, Any], *, pictures: bool) -> list[str]:
    """What the reader made otherwise; the end of a turn is its own affair."""
    wrong = []
    for name, value in wanted.items():
        seen = found.get(name)
        if isinstance(value, list) and value and isinstance(value[0], str) and seen is not None:
            seen = [str(text).strip().removesuffix("<|end|>").strip() for text in seen]
        if seen != value:
            wrong.append(f"{name}: {seen!r:.200} for {value!r:.200}")
    if pictures and "pictures" in found and found["pictures"] != [1] * wanted["rows"]:
        wrong.append(f"pictures: {found['pictures']}")
    return wrong


def read(python: Path, to: str, what: str, out: Path, model: Path, *, pictures: bool) -> Any:
    """What the child says, or how it failed."""
    command = [str(python), str(CHILD), to, what, str(out), str(model)]
    done = subprocess.run(
        [*command, *["--pictures"] * pictures],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["no word"])[-1]
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    """Make, export, read, compare; a line for each form."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=list(READERS), choices=READERS)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    lines = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        models = {
            False: tiny_models.causal(folder / "text"),
            True: tiny_models.llava(folder / "vision"),
        }
        runs = {p: make_run(folder / f"run-{p}", pictures=p) for p in (False, True)}
        for to in asked.only:
            python = environment(asked.home.resolve(), to)
            for what, form in CONSUMERS[to].forms.items():
                for pictures in (False, True)[: 1 + form.takes_pictures]:
                    name = f"{to}-{what}-{pictures}"
                    out = export(runs[pictures], to, what, folder / name)
                    wanted = expected(runs[pictures], what, folder / f"{name}-trl")
                    if (what, pictures) in READERS[to].unread:
                        lines.append([to, what, pictures, "not read", READERS[to].note])
                        continue
                    found = read(python, to, what, out, models[pictures], pictures=pictures)
                    wrong = (
                        [found]
                        if isinstance(found, str)
                        else differences(found, wanted, pictures=pictures)
                    )
                    rows = "" if isinstance(found, str) else f"{found['rows']} rows"
                    lines.append([to, what, pictures, "WRONG" if wrong else "equal", rows, *wrong])
                    print(*lines[-1], sep="\t", file=sys.stderr)
    if asked.json:
        print(json.dumps(lines))
    else:
        for to, what, pictures, *rest in lines:
            shown = "with pictures" if pictures else "text"
            print(f"{READERS[to].package:<22} {what:<11} {shown:<14} {'; '.join(rest)}")
    return int(any(line[3] == "WRONG" for line in lines))


if __name__ == "__main__":
    sys.exit(main())
