"""Parquet files written row by row, in bounded memory and to the same bytes each time."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from webagent.models.model import Message

Row: TypeAlias = Mapping[str, Any]

_GROUP_ROWS = 512
_GROUP_BYTES = 16 << 20
"""Of text and images, that are gathered before they are written."""
_FILE_BYTES = 1 << 30
"""Of text and images in one file, about; then the next is begun."""

TEXT, REAL, COUNT, FLAG = pa.string(), pa.float64(), pa.int64(), pa.bool_()
IMAGES = pa.list_(pa.struct([pa.field("bytes", pa.binary()), pa.field("path", pa.string())]))
"""A list of pictures, as `datasets` keeps them."""
BLOCKS = pa.list_(
    pa.struct(
        [
            pa.field("role", pa.string()),
            pa.field(
                "content",
                pa.list_(pa.struct([pa.field("type", pa.string()), pa.field("text", pa.string())])),
            ),
        ]
    )
)
"""Messages whose content is a list of typed blocks."""
PLAIN = pa.list_(pa.struct([pa.field("role", pa.string()), pa.field("content", pa.string())]))
"""Messages whose content is text."""


def schema_of(columns: Mapping[str, pa.DataType]) -> pa.Schema:
    """The schema; its metadata lets `datasets` open an `images` column as pictures."""
    schema = pa.schema([pa.field(name, kind) for name, kind in columns.items()])
    if "images" not in columns:
        return schema
    pictures = '{"_type": "List", "feature": {"_type": "Image"}}'
    return schema.with_metadata(
        {"huggingface": f'{{"info": {{"features": {{"images": {pictures}}}}}}}'}
    )


class Table:
    """Files `train-00000.parquet` and on in a folder, of one schema."""

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.rows = 0
        self._folder, self._schema = folder, schema
        self._writer: pq.ParquetWriter | None = None
        self._files = 0
        self._waiting: list[Row] = []
        self._waiting_bytes = self._file_bytes = 0

    def __enter__(self) -> "Table":
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            self._flush()
        if self._writer is not None:
            self._writer.close()

    def add(self, row: Row) -> None:
        """Take one row; it is on the disk when its group is full or the table is closed."""
        self.rows += 1
        self._waiting.append(row)
        self._waiting_bytes += _size(row)
        if len(self._waiting) >= _GROUP_ROWS or self._waiting_bytes >= _GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._writer is None:
            path = self._folder / f"train-{self._files:05}.parquet"
            self._writer = pq.ParquetWriter(path, self._schema, compression="zstd")
            self._files += 1
        if self._waiting:
            self._writer.write_table(pa.Table.from_pylist(self._waiting, schema=self._schema))
        self._file_bytes += self._waiting_bytes
        self._waiting, self._waiting_bytes = [], 0
        if self._file_bytes >= _FILE_BYTES:
            self._writer.close()
            self._writer, self._file_bytes = None, 0


def clean(text: str) -> str:
    """Text that UTF-8 can carry: a page may hold lone surrogates, which become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def blocks(messages: Iterable[Message]) -> list[Row]:
    """The messages with typed content: the text, then a place for each image."""
    return [
        {
            "role": message.role,
            "content": [
                {"type": "text", "text": clean(message.text)},
                *({"type": "image", "text": None} for _ in message.images),
            ],
        }
        for message in messages
    ]


def plain(messages: Iterable[Message]) -> list[Row]:
    """The messages as text alone."""
    return [{"role": message.role, "content": clean(message.text)} for message in messages]


def marked(messages: Iterable[Message]) -> list[Row]:
    """The messages as text with `<image>` where a picture goes.

    Such marks that a page wrote itself are broken up, or they would be counted as pictures.
    """
    return [
        {"role": message.role, "content": unmarked(message.text) + "<image>" * len(message.images)}
        for message in messages
    ]


def unmarked(text: str) -> str:
    """The text without the marks that stand for pictures, films and sounds."""
    text = clean(text)
    for name in ("image", "video", "audio"):
        text = text.replace(f"<{name}>", f"< {name}>")
    return text


def _size(value: Any) -> int:
    """Bytes of the text and images in a row, about."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(_size, value.values()))
    if isinstance(value, list | tuple):
        return sum(map(_size, value)) if value and not isinstance(value[0], int) else 8 * len(value)
    return 8
