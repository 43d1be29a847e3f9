"""What people said of episodes: label files of several layouts, and labels kept with a run."""

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from webagent.errors import SetupError, StoreError
from webagent.serialize import from_json, to_json

FILE = "labels.jsonl"
"""In a run folder: a line for each label, the latest of an annotator on an episode counts."""

SCORES = ("success", "side_effect", "optimality", "looping")
"""What AgentRewardBench has its annotators say; the columns are named `trajectory_…`."""
_COLUMNS = (
    *("episode", "success", "annotator", "note", "time", "benchmark", "agent", "task"),
    "first_error",
)
_ARB = ("benchmark", "task_id", "model_name", "trajectory_success")
_WORDS = {
    **dict.fromkeys(("1", "true", "yes", "y", "success", "successful", "pass", "passed"), 1.0),
    **dict.fromkeys(("0", "false", "no", "n", "failure", "unsuccessful", "fail", "failed"), 0.0),
}

TRUTH_RULES = ("majority", "first", "unanimous")
"""How the labels of several annotators become one truth."""


@dataclass(frozen=True, slots=True)
class Label:
    """What one person said of one episode."""

    episode: str
    """The episode's id; of AgentRewardBench's `benchmark/agent/task`."""
    value: float | None
    """In [0, 1]; None where the person was not sure."""
    score: str = "success"
    annotator: str = ""
    note: str = ""
    time: str = ""
    """When it was given, as ISO 8601; empty where that is not known."""
    benchmark: str = ""
    agent: str = ""
    task: str = ""
    first_error: int | None = None
    """Index of the step where the person says that it first went wrong, counted from 0."""


def read_labels(path: Path) -> tuple[Label, ...]:
    """Return the labels in a file, or those that were given in a run folder.

    A CSV with the columns `episode` and `success` (and, where wanted, `annotator`, `note`, `time`,
    `benchmark`, `agent`, `task`, `first_error`), AgentRewardBench's CSV, or
    `.jsonl` as a run keeps it. Raises `SetupError` naming the line for a missing column,
    an unreadable value and an episode that an annotator labelled twice.
    """
    if path.is_dir():
        path = path / FILE
        if not path.is_file():
            raise SetupError(f"{path.parent} holds no labels: none have been given yet")
    if path.suffix == ".jsonl":
        latest: dict[tuple[str, str, str], Label] = {}
        lines = read_text(path).split("\n")
        for number, line in enumerate(lines[:-1], start=1):
            try:
                label = from_json(Label, json.loads(line))
            except (ValueError, StoreError) as error:
                raise SetupError(f"{path}, line {number}: {error}; expected a label") from error
            key = label.episode, label.annotator, label.score
            latest.pop(key, None)
            latest[key] = label
        return tuple(latest.values())
    if path.suffix == ".json":
        raise SetupError(f"{path}: labels are read from CSV; write its rows as such a file")
    text = read_text(path)
    rows = read_csv(path, text)
    if not rows:
        raise SetupError(f"{path} holds no label: there is no row below the header")
    is_arb = "trajectory_success" in rows[0][1]
    for _, row in rows:
        wanted = _ARB if is_arb else ("episode", "success")
        missing = [name for name in wanted if name not in row]
        if missing:
            raise SetupError(
                f"{path} has no column {' and no '.join(map(repr, missing))}; found"
                f" {', '.join(row) or 'none'}; a label file needs episode and success, or"
                f" AgentRewardBench's {', '.join(_ARB)}"
            )
    labels = [
        (line, label)
        for line, row in rows
        for label in _read_row(f"{path}, line {line}", row, is_arb)
    ]
    _refuse_repeats(path, labels)
    return tuple(label for _, label in labels)


def add_label(run_folder: Path, label: Label) -> Label:
    """Append a label to those of a run, with the time where it has none, and return it.

    An earlier label of the same annotator stays in the file and no longer counts. Raises
    `SetupError` for a value outside [0, 1], `StoreError` when the folder cannot be written.
    """
    if label.value is not None and not 0.0 <= label.value <= 1.0:
        raise SetupError(f"the label {label.value} of {label.episode} is not between 0 and 1")
    if not label.episode:
        raise SetupError("a label without an episode")
    kept = label if label.time else replace(label, time=datetime.now(UTC).isoformat())
    line = json.dumps(to_json(kept)) + "\n"
    try:
        with (run_folder / FILE).open("a+b") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 1))
            if size and file.read(1) != b"\n":
                # A kill has left a line without its end.
                file.seek(0)
                file.truncate(file.read().rfind(b"\n") + 1)
            file.write(line.encode("ascii"))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise StoreError(f"the label cannot be kept in {run_folder}: {error}") from error
    return kept


def format_csv(labels: Iterable[Label]) -> str:
    """Return the labels as the CSV that `read_labels` takes, with `unsure` for no value."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    for label in labels:
        value = "unsure" if label.value is None else f"{label.value:g}"
        error = "" if label.first_error is None else str(label.first_error)
        more = [getattr(label, name) for name in _COLUMNS[2:-1]]
        writer.writerow([label.episode, value, *more, error])
    return text.getvalue()


def select_score(labels: Iterable[Label], score: str = "success") -> tuple[Label, ...]:
    """Return the labels of one score."""
    return tuple(label for label in labels if label.score == score)


def read_text(path: Path) -> str:
    """Return what a file written by people holds, in UTF-8 or UTF-16. Raises `SetupError`."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise SetupError(f"the labels {path} cannot be read: {error.strerror}") from error
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise SetupError(
            f"{path} is not {encoding.removesuffix('-sig').upper()}: byte"
            f" 0x{raw[error.start]:02x} at {error.start}; save it as UTF-8"
        ) from error


def read_csv(path: Path, text: str) -> list[tuple[int, Mapping[str, str]]]:
    """Return rows with the numbers of their lines; separated by commas, semicolons or tabs.

    Names of columns are in small letters. Raises `SetupError` for a row of another width.
    """
    body = text.lstrip("\r\n ")
    skipped = text[: len(text) - len(body)].count("\n")
    header = body.partition("\n")[0]
    reader = csv.DictReader(
        io.StringIO(body, newline=""), delimiter=max(",;\t", key=header.count), strict=True
    )
    rows: list[tuple[int, Mapping[str, str]]] = []
    try:
        reader.fieldnames = [name.strip().lower() for name in reader.fieldnames or ()]
        if not any(reader.fieldnames):
            raise SetupError(f"{path} is empty; expected a header and a row for each label")
        for row in reader:
            line = skipped + reader.line_num
            if None in row or None in row.values():
                wide = len(reader.fieldnames)
                raise SetupError(
                    f"{path}, line {line}: not the {wide} fields of the header; put a"
                    " field with a comma or a line break in double quotes"
                )
            rows.append((line, {name: text.strip() for name, text in row.items()}))
    except csv.Error as error:
        raise SetupError(f"{path}, line {skipped + reader.line_num}: no CSV: {error}") from error
    return rows


def _read_row(place: str, row: Mapping[str, str], is_arb: bool) -> list[Label]:
    """Return a person's label of one episode, from AgentRewardBench's rows those in all scores."""
    if is_arb:
        benchmark, agent, task = row["benchmark"], row["model_name"], row["task_id"]
        episode, annotator = f"{benchmark}/{agent}/{task}", row.get("annotator_name", "")
        given = {score: row.get(f"trajectory_{score}") for score in SCORES}
        return [
            Label(
                *(episode, _value(place, score, text), score, annotator),
                benchmark=benchmark,
                agent=agent,
                task=task,
            )
            for score, text in given.items()
            if text is not None
        ]
    if not row["episode"]:
        raise SetupError(f"{place}: the episode is missing")
    more = {name: row.get(name, "") for name in ("note", "time", "benchmark", "agent", "task")}
    value = _value(place, "success", row["success"])
    annotator, error = row.get("annotator", ""), row.get("first_error", "")
    if error and not error.isdecimal():
        raise SetupError(
            f"{place}: first_error is {error!r}; expected the index of a step, counted from 0"
        )
    step = int(error) if error else None
    return [Label(row["episode"], value, annotator=annotator, first_error=step, **more)]


def _value(place: str, score: str, text: str) -> float | None:
    """Return the value in a cell; of a scale such as `3. Somewhat Optimal` the place on it."""
    word = text.strip().lower()
    if word in ("", "unsure", "unknown", "cannot tell", "n/a"):
        return None
    if score == "optimality" and word[:2] in ("1.", "2.", "3.", "4."):
        return (int(word[0]) - 1) / 3
    try:
        value = _WORDS[word] if word in _WORDS else float(word.replace(",", "."))
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise SetupError(
            f"{place}: {score} is {text!r}; expected 1 or 0, yes or no, success or failure, a"
            " number between them, or unsure"
        )
    return value


def _refuse_repeats(path: Path, labels: Iterable[tuple[int, Label]]) -> None:
    seen: dict[tuple[str, str, str], int] = {}
    for line, label in labels:
        key = label.episode, label.annotator, label.score
        if key in seen:
            who = f"annotator {label.annotator!r}" if label.annotator else "one annotator"
            raise SetupError(
                f"{path}: lines {seen[key]} and {line} are both on {label.episode} by {who}; keep"
                " one of them, or say in a column annotator who gave which"
            )
        seen[key] = line
