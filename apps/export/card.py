"""The card by which `datasets.load_dataset` finds the files of a folder."""

from collections.abc import Mapping
from pathlib import Path


def write_card(folder: Path, tables: Mapping[str, str], title: str) -> None:
    """Write README.md: each table's name with the pattern of its files."""
    lines = ["---", "configs:"]
    for name, pattern in tables.items():
        lines += [f"- config_name: {name}", "  data_files:", "  - split: train"]
        lines += [f"    path: {pattern}"]
    lines += ["---", "", f"# {title}", "", "Written by `webagent export`; meta/ says from what."]
    (folder / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
