"""What `pip install` of the built wheel takes: size and seconds of an empty environment, and the
start of what is in it.

    python perf/wheel.py                  # the core
    python perf/wheel.py --extra sites    # the core with an extra

Builds the wheel of this checkout, installs it into a folder that is removed again, without pip's
cache, and prints one JSON object. Pip asks the index that it is set up for. An extra that brings
torch is refused where pip would fetch it from an index of CUDA builds: name `--torch`, a wheel of
torch or its folder, to have it installed first.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TIMES = 5
MEGABYTE = 1_000_000
TORCH_EXTRAS = {"learn", "train", "trl", "all"}
BARS = {"megabytes": 300, "install_seconds": 60, "import_seconds": 0.3, "help_seconds": 0.5}


def timed(line: Sequence[str | Path], folder: Path) -> tuple[float, float]:
    """Run a command; return its seconds and its processor seconds. Raises where it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    subprocess.run(line, cwd=folder, check=True, capture_output=True)
    seconds = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, spent


def megabytes(folder: Path) -> float:
    """Return what files of a folder hold together, links left out."""
    sizes = [each.stat().st_size for each in folder.rglob("*") if not each.is_symlink()]
    return round(sum(sizes) / MEGABYTE, 1)


def bytecode(folder: Path) -> float:
    """Return what of it is bytecode, which pip writes and uv does not."""
    return round(sum(each.stat().st_size for each in folder.rglob("*.pyc")) / MEGABYTE, 1)


def started(line: Sequence[str | Path], folder: Path) -> tuple[float, float]:
    """Return the median of several starts, the first one, which compiles, left out."""
    timed(line, folder)
    times = [timed(line, folder) for _ in range(TIMES)]
    return round(median(wall for wall, _ in times), 3), round(median(cpu for _, cpu in times), 3)


def measure(folder: Path, extra: str, torch: Path | None) -> dict[str, Any]:
    """Install the wheel into a new environment under `folder`; return what that took."""
    wheel = build(folder)
    place = folder / "env"
    venv.create(place, with_pip=True)
    python, bare, compiled = place / "bin/python", megabytes(place), bytecode(place)
    pip = [python, "-m", "pip", "install", "-q", "--no-cache-dir", "--disable-pip-version-check"]
    if torch is not None:
        timed([*pip, torch], folder)
    wanted = f"{wheel}[{extra}]" if extra else str(wheel)
    seconds, spent = timed([*pip, wanted], folder)
    packages = next(place.glob("lib/*/site-packages"))
    sizes = {each.name: megabytes(each) for each in packages.iterdir() if each.is_dir()}
    largest = sorted(sizes.items(), key=lambda entry: -entry[1])[:8]
    imported = started([python, "-c", "import webagent"], folder)
    helped = started([place / "bin/webagent", "--help"], folder)
    return {
        "wheel_megabytes": round(wheel.stat().st_size / MEGABYTE, 2),
        "megabytes": round(megabytes(place) - bare, 1),
        "megabytes_with_pip": megabytes(place),
        "largest": dict(largest),
        "bytecode_megabytes": round(bytecode(place) - compiled, 1),
        "install_seconds": round(seconds, 1),
        "install_processor_seconds": round(spent, 1),
        "import_seconds": imported[0],
        "import_processor_seconds": imported[1],
        "help_seconds": helped[0],
        "help_processor_seconds": helped[1],
    }


def build(folder: Path) -> Path:
    """Build the wheel of this checkout into a folder; return its path."""
    out = folder / "dist"
    line = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(out), str(ROOT)]
    timed(line, folder)
    return next(out.glob("*.whl"))


def main() -> int:
    """Print the figures with the bars that they miss; 1 where they miss one."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--extra", default="", help="extras to bring, as learn,sites")
    parser.add_argument("--torch", type=Path, help="a wheel of torch that is installed first")
    options = parser.parse_args()
    if TORCH_EXTRAS & set(options.extra.split(",")) and options.torch is None:
        parser.error(f"--extra {options.extra} brings torch: name its wheel with --torch")
    with tempfile.TemporaryDirectory(prefix="wheel-") as folder:
        found = measure(Path(folder), options.extra, options.torch)
    missed = [name for name, bar in BARS.items() if not options.extra and found[name] > bar]
    line = ["git", "rev-parse", "HEAD"]
    commit = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True)
    facts = {
        "command": ["python", "perf/wheel.py", *sys.argv[1:]],
        "commit": commit.stdout.strip(),
        "machine": f"{os.cpu_count()} processors, {platform.platform()}",
        "load": round(os.getloadavg()[0], 1),
    }
    print(json.dumps({**facts, **found, "bars": BARS, "missed": missed}, indent=1))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
