"""Whoever reads an export: which kinds of example, in which columns, with which files beside."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from apps.export.examples import Example
from apps.export.table import IMAGES, Row

Columns: TypeAlias = Mapping[str, pa.DataType]

DATA = "data"
"""The folder of the Parquet files, where a consumer does not want another."""


@dataclass(frozen=True, slots=True)
class Form:
    """One kind of example as one consumer reads it."""

    columns: Callable[[bool], Columns]
    """Given whether there are pictures; a column `images` is filled with them."""
    row: Callable[[Example, bool], Row]
    """The other columns of one example."""
    takes_pictures: bool = True


@dataclass(frozen=True, slots=True)
class Consumer:
    """A trainer that reads files."""

    name: str
    forms: Mapping[str, Form]
    """By what is exported: `sft`, `preference`, `kto` or `rl`."""
    finish: Callable[[Path, str, bool], None]
    """Writes what it needs beside the data: given the folder, what, and whether with pictures."""
    data: Callable[[str], str] = lambda what: DATA
    """The folder of the Parquet files within the export's."""


def pictured(columns: Columns) -> Callable[[bool], Columns]:
    """These columns, with `images` where there are pictures."""
    return lambda is_pictured: {**columns, **({"images": IMAGES} if is_pictured else {})}


def said(text: str) -> dict[str, Any]:
    """The assistant's message, as plain text."""
    return {"role": "assistant", "content": text}
