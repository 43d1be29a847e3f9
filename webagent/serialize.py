"""Records as compact JSON values and back, losslessly.

The form follows from the fields: a record is an object of the fields that differ from their
defaults, a tuple is an array, an action an array of its name and arguments. A field added to a
record later, with a default, needs no change here, and older data still reads.
"""

import dataclasses
import json
import types
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, TypeAlias, TypeVar, Union, cast, get_args, get_origin

from tasks.task import Json
from webagent.action import ACTIONS, Action
from webagent.action.actions import ACTION_NAMES, CustomAction
from webagent.action.custom import stored_action
from webagent.errors import StoreError
from webagent.records import Ending

Record = TypeVar("Record")
_Convert: TypeAlias = Callable[[Any], Any]


def to_json(record: Any) -> dict[str, Json]:
    """Return the JSON object of a record; fields that equal their defaults are left out."""
    return cast(dict[str, Json], _encoder(cast(Any, type(record)))(record))


def from_json(cls: type[Record], data: Json) -> Record:
    """Return the record that `to_json` was given.

    Missing fields take their defaults. Raises `StoreError` naming the field for one that is
    unknown, that is missing and has no default, or whose value is of the wrong kind.
    """
    return cast(Record, _decoder(cast(Any, cls))(data))


def dumps(value: Json) -> bytes:
    """Return compact ASCII JSON text, equal for equal values written in the same order.

    ASCII, because a page may hold lone surrogates, which UTF-8 cannot carry. Raises `StoreError`
    for a value that JSON has no form for.
    """
    try:
        return json.dumps(value, separators=(",", ":")).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(f"a record holds something that is not plain data: {error}") from error


def loads(text: bytes | str) -> Json:
    """Return the value of a JSON text. Raises `StoreError` when it is not one."""
    try:
        return cast(Json, json.loads(text))
    except (ValueError, RecursionError) as error:
        raise StoreError(f"stored JSON cannot be read, the data is damaged: {error}") from error


def _is_optional(hint: Any) -> bool:
    """Return whether the hint is `X | None`, X first."""
    return get_origin(hint) in (Union, types.UnionType) and hint != Json


def _plain(value: Any) -> Any:
    return value


@cache
def _encoder(hint: Any) -> _Convert:
    if dataclasses.is_dataclass(hint):
        plan = [(field.name, field.default, _encoder(field.hint)) for field in _fields(hint)]

        def encode(record: Any) -> dict[str, Json]:
            data = {}
            for name, default, encode_field in plan:
                value = getattr(record, name)
                if value != default:
                    data[name] = encode_field(value)
            return data

        return encode
    if hint == Action:
        return _encode_action
    if get_origin(hint) is Mapping:
        return dict
    if get_origin(hint) is tuple:
        encode_item = _encoder(get_args(hint)[0])
        if encode_item is _plain:
            return list
        return lambda value: [encode_item(item) for item in value]
    if _is_optional(hint):
        encode_some = _encoder(get_args(hint)[0])
        return lambda value: None if value is None else encode_some(value)
    return _plain


def _encode_action(action: Action) -> list[Json]:
    given = {field.name: getattr(action, field.name) for field in dataclasses.fields(action)}
    plain = {key: list(each) if isinstance(each, tuple) else each for key, each in given.items()}
    # Of a function the parameters are kept, too: whoever reads the record may not have it.
    values = [plain] if isinstance(action, CustomAction) else list(plain.values())
    return [ACTION_NAMES[type(action)], *values]


@cache
def _decoder(hint: Any) -> _Convert:
    if dataclasses.is_dataclass(hint):
        return _record_decoder(hint)
    if known := _DECODERS.get(hint):
        return known
    if _is_optional(hint):
        decode_some = _decoder(get_args(hint)[0])
        return lambda value: None if value is None else decode_some(value)
    if get_origin(hint) is tuple:
        arguments = get_args(hint)
        decode_item = _decoder(arguments[0])
        length = None if arguments[-1] is Ellipsis else len(arguments)

        def decode(value: Any) -> tuple[Any, ...]:
            if not isinstance(value, list) or length not in (None, len(value)):
                raise StoreError(f"found {value!r:.80}")
            return tuple([decode_item(item) for item in value])

        return decode
    kinds = _KINDS.get(hint) or _KINDS[get_origin(hint)]

    def check(value: Any) -> Any:
        if not isinstance(value, kinds):
            raise StoreError(f"found {value!r:.80}")
        return value

    return check


_KINDS: dict[Any, type | tuple[type, ...]] = {
    str: str,
    bool: bool,
    int: (int, float),  # a box from a page may hold fractions
    float: (int, float),
    Mapping: dict,
}


def _record_decoder(cls: Any) -> _Convert:
    decoders = {field.name: _decoder(field.hint) for field in _fields(cls)}
    required = {field.name for field in _fields(cls) if field.default is dataclasses.MISSING}

    def decode(data: Any) -> Any:
        if not isinstance(data, dict):
            raise StoreError(f"expected the fields of a {cls.__name__}, found {data!r:.80}")
        if not required <= data.keys():
            missing = ", ".join(sorted(required - data.keys()))
            raise StoreError(f"a stored {cls.__name__} lacks {missing}; it is cut short or too old")
        if not data.keys() <= decoders.keys():
            unknown = sorted(data.keys() - decoders.keys())
            close = get_close_matches(unknown[0], decoders, n=1, cutoff=0.5)
            meant = f"did you mean {close[0]}? If not, it" if close else "it"
            raise StoreError(
                f"a stored {cls.__name__} has the field {', '.join(unknown)}, which this version"
                f" does not know; {meant} was written by a newer one, so read it with that"
            )
        given = {}
        for name, value in data.items():
            try:
                given[name] = decoders[name](value)
            except StoreError as error:
                raise StoreError(f"{cls.__name__}.{name}: {error}") from error
        return cls(**given)

    return decode


def _decode_action(data: Any) -> Action:
    if isinstance(data, list) and len(data) == 2 and isinstance(data[1], dict):
        return stored_action(*data)
    if not isinstance(data, list) or not data or data[0] not in ACTIONS:
        raise StoreError(f"no such action here, written by a newer version? found {data!r:.80}")
    arguments: list[Any] = [tuple(each) if isinstance(each, list) else each for each in data[1:]]
    try:
        return ACTIONS[data[0]](*arguments)
    except TypeError as error:
        raise StoreError(f"{error}, found {data!r:.80}") from error


def _decode_ending(value: Any) -> Ending:
    try:
        return Ending(value)
    except ValueError as error:
        raise StoreError(f"{error}; known: {', '.join(Ending)}") from error


_DECODERS: dict[Any, _Convert] = {Action: _decode_action, Json: _plain, Ending: _decode_ending}


@dataclasses.dataclass(frozen=True, slots=True)
class _Field:
    name: str
    hint: Any
    default: Any


def _fields(cls: Any) -> list[_Field]:
    found = []
    for field in dataclasses.fields(cls):
        make = field.default_factory
        default = field.default if make is dataclasses.MISSING else make()
        found.append(_Field(field.name, field.type, default))
    return found
