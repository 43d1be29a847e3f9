"""Coordinates, names of places and postal addresses of the United States."""

import math
import re
from collections.abc import Mapping, Sequence

from benchmarks.webarena.rules.verified.text import plain

Coordinates = tuple[float, float]
Address = tuple[str, str, str, str, str]

DEGREES_APART = 1e-5
"""About a metre at the equator."""
NAMES_ALIKE = 80
"""Out of 100."""

_FLOAT = r"\d+(?:\.\d+)?"
_MINUTES = rf"(?:(?:\s[ ]*)(?:({_FLOAT})['m][ ]*)?(?:({_FLOAT})[\"s][ ]*)?)?"
_GAP = r"\s*[,;/\s]\s*"
_POINT = re.compile(
    rf".*?([+-]?{_FLOAT}){_MINUTES}{_GAP}([+-]?{_FLOAT}){_MINUTES}"
    rf"(?:{_GAP}[+-]?{_FLOAT}[ ]*(?:km|m|mi|ft|nm|nmi))?\s*"
)

_FIELDS = ("city", "state", "street", "house_number", "postcode")
_STREET_WORDS = {
    "alley": "aly", "avenue": "ave", "av": "ave", "boulevard": "blvd", "bridge": "brg",
    "bypass": "byp", "center": "ctr", "centre": "ctr", "circle": "cir", "court": "ct",
    "cove": "cv", "creek": "crk", "crescent": "cres", "crossing": "xing", "drive": "dr",
    "expressway": "expy", "extension": "ext", "freeway": "fwy", "gardens": "gdns", "grove": "grv",
    "heights": "hts", "highway": "hwy", "hill": "hl", "hills": "hls", "junction": "jct",
    "lake": "lk", "landing": "lndg", "lane": "ln", "mount": "mt", "mountain": "mtn",
    "parkway": "pkwy", "place": "pl", "plaza": "plz", "point": "pt", "ridge": "rdg", "road": "rd",
    "route": "rte", "square": "sq", "station": "sta", "street": "st", "str": "st", "summit": "smt",
    "terrace": "ter", "trail": "trl", "turnpike": "tpke", "valley": "vly", "view": "vw",
    "village": "vlg", "north": "n", "south": "s", "east": "e", "west": "w", "northeast": "ne",
    "northwest": "nw", "southeast": "se", "southwest": "sw", "apartment": "apt", "suite": "ste",
    "floor": "fl", "building": "bldg", "room": "rm",
}  # fmt: skip
_STATES = {
    "alabama": "al", "alaska": "ak", "arizona": "az", "arkansas": "ar", "california": "ca",
    "colorado": "co", "connecticut": "ct", "delaware": "de", "district of columbia": "dc",
    "florida": "fl", "georgia": "ga", "hawaii": "hi", "idaho": "id", "illinois": "il",
    "indiana": "in", "iowa": "ia", "kansas": "ks", "kentucky": "ky", "louisiana": "la",
    "maine": "me", "maryland": "md", "massachusetts": "ma", "michigan": "mi", "minnesota": "mn",
    "mississippi": "ms", "missouri": "mo", "montana": "mt", "nebraska": "ne", "nevada": "nv",
    "new hampshire": "nh", "new jersey": "nj", "new mexico": "nm", "new york": "ny",
    "north carolina": "nc", "north dakota": "nd", "ohio": "oh", "oklahoma": "ok", "oregon": "or",
    "pennsylvania": "pa", "puerto rico": "pr", "rhode island": "ri", "south carolina": "sc",
    "south dakota": "sd", "tennessee": "tn", "texas": "tx", "utah": "ut", "vermont": "vt",
    "virginia": "va", "washington": "wa", "west virginia": "wv", "wisconsin": "wi",
    "wyoming": "wy",
}  # fmt: skip


def coordinates(value: object) -> Coordinates:
    """Latitude and longitude from an object, a pair or a text. Raises `ValueError`."""
    if isinstance(value, Mapping):
        return _checked(_field(value, "latitude"), _field(value, "longitude"))
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2:
        return _checked(value[0], value[1])
    found = _POINT.fullmatch(value.replace("''", '"')) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"{value!r} is not a pair of coordinates")
    latitude, minutes, seconds, longitude, minutes_east, seconds_east = found.groups()
    return _checked(
        _degrees(latitude, minutes, seconds), _degrees(longitude, minutes_east, seconds_east)
    )


def same_point(one: Coordinates, other: Coordinates) -> bool:
    """Whether both coordinates are within a metre or so."""
    return all(abs(a - b) <= DEGREES_APART for a, b in zip(one, other, strict=True))


def same_place(one: str, other: str) -> bool:
    """Whether two names are alike, their words sorted first.

    The measure is twice the length of the longest common subsequence over the lengths together.
    """
    if not one or not other:
        return one == other
    first, second = _sorted_words(one), _sorted_words(other)
    if not first and not second:
        return True
    row = [0] * (len(second) + 1)
    for letter in first:
        diagonal = 0
        for column, there in enumerate(second, 1):
            above = row[column]
            row[column] = diagonal + 1 if letter == there else max(above, row[column - 1])
            diagonal = above
    common = row[-1]
    return round(200 * common / (len(first) + len(second))) >= NAMES_ALIKE


def address(value: object) -> Address:
    """City, state, street, house number and postcode from an object. Raises `ValueError`.

    Words for kinds of streets and for directions are abbreviated as the postal service does; a
    name given besides is passed over.
    """
    if not isinstance(value, Mapping):
        raise ValueError(f"an address is an object with {', '.join(_FIELDS)}, found {value!r}")
    city, state, street, house, postcode = (plain(str(value.get(key) or "")) for key in _FIELDS)
    digits = re.sub(r"\D", "", postcode)
    words = [_STREET_WORDS.get(word, word) for word in street.replace(".", "").split()]
    found = (city, _STATES.get(state, state), " ".join(words), house, digits)
    if not all(found) or len(digits) not in (5, 9) or found[1] not in _STATES.values():
        raise ValueError(f"{value!r} is not a whole address: {', '.join(_FIELDS)} are needed")
    return found


def _field(value: Mapping[object, object], whole: str) -> object:
    """The value under a short form of the word of at least two letters."""
    for key in value:
        short = key.lower() if isinstance(key, str) else ""
        if (len(short) >= 2 and whole.startswith(short)) or (short, whole) == ("lng", "longitude"):
            return value[key]
    raise ValueError(f"no {whole} in {dict(value)!r}")


def _checked(latitude: object, longitude: object) -> Coordinates:
    north, east = _angle(latitude), _angle(longitude)
    if abs(north) > 90 or not math.isfinite(north) or not math.isfinite(east):
        raise ValueError(f"there is no point at {north}, {east}")
    if abs(east) > 180:
        east = (east + 180) % 360 - 180
    return north, east


def _angle(value: object) -> float:
    if not isinstance(value, str | int | float):
        raise ValueError(f"{value!r} is not an angle")
    return float(value or 0.0)


def _degrees(degrees: str, minutes: str | None, seconds: str | None) -> float:
    whole = float(degrees)
    part = float(minutes or 0) / 60 + float(seconds or 0) / 3600
    return whole - part if whole < 0 else whole + part


def _sorted_words(name: str) -> str:
    return " ".join(sorted(re.sub(r"\W", " ", name.lower()).split()))
