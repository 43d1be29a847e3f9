"""llms.txt, after llmstxt.org: the index of the documentation for whoever reads it as a model."""

import re
import tomllib

from recipes.reference.source import ROOT

_LINK = re.compile(r"\]\((?!https?://|#)([^)]+)\)")


def llms_text() -> str:
    """Name, summary, and the sections of docs/README.md with links from the root."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    index = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    _, _, sections = index.partition("\n## ")
    lines = [
        _LINK.sub(lambda found: f"]({_from_root(found[1])})", line)
        for line in f"## {sections}".splitlines()
    ]
    kept = [line for line in lines if line.startswith(("## ", "- ")) or not line]
    head = [f"# {project['name']}", "", f"> {project['description']}", "", _DETAILS, ""]
    return "\n".join([*head, *kept]).rstrip() + "\n"


_DETAILS = (
    "Start with README.md. AGENTS.md says how to work on this repository. Every command and every "
    "block of Python in these pages is run or read by a test."
)


def _from_root(link: str) -> str:
    return link.removeprefix("../") if link.startswith("../") else f"docs/{link}"
