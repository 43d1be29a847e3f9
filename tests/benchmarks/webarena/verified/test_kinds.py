"""Each type of value that a schema may name: what is the same in other spellings, and what not."""

import json

import pytest

from benchmarks.rules import RULES

pytestmark = [pytest.mark.very_slow, pytest.mark.usefixtures("scorer")]

SAME = [
    ("string", "Quest Lumaflex™ Band", "quest  lumaflex band."),
    ("string", "Buffalo–Niagara", "buffalo niagara"),
    ("string", "^.*jaw bruxism$", "Jaw Bruxism"),
    ("string", "Müller & Söhne", "muller & sohne"),
    ("string", "北京", " 北京 "),
    ("string", "see http://git.test:8023/a", "see __GITLAB__/a"),
    ("string", ["yes", "ok"], "OK"),
    ("string", "12", 12),
    ("number", 1234.5, "1,234.5"),
    ("number", 123, "one hundred and twenty-three"),
    ("number", 2_000_005, "two million five"),
    ("number", 3.14, "three point one four"),
    ("integer", 0, "zero"),
    ("boolean", True, "Yes"),
    ("boolean", False, 0),
    ("currency", 1234.56, "$1,234.56"),
    ("currency", 1234.56, "1.234,56 €"),
    ("currency", 12, "12.05 USD"),
    ("currency", -50, "-$50"),
    ("currency", 0, "Free"),
    ("date", "2023-05-13", "May 13th, 2023"),
    ("date", "2023-05-13", "5/13/2023"),
    ("date", "May 2023", "2023 May"),
    ("month", "January", "01"),
    ("month", "Sep", 9),
    ("duration", "3h 30min", "3 hours, 30 minutes"),
    ("duration", "1:30:00", "90 min"),
    ("duration", "1:35 hours", "95 minutes"),
    ("duration", "60 min", "63 minutes"),
    ("duration", "10 h", "9.2 hours"),
    ("distance", "2km", "2,000 m"),
    ("distance", "5 miles", "8.05 kilometers"),
    ("distance", "375m", "380 metres"),
    ("coordinates", {"latitude": "40.44242", "longitude": "-79.93974"}, [40.442419, -79.939739]),
    ("coordinates", "40.4443, -79.94889", {"lat": 40.4443, "lng": -79.94889}),
    ("coordinates", "40.5, 190", (40.5, -170)),
    ("coordinates", "40 30m 0s, -79 30m", [40.5, -79.5]),
    ("location-name", "Apple Store Shadyside", "Shadyside Apple Store"),
    ("location-name", "Carnegie Mellon University", "Carnegie Mellon Univ"),
    ("url", "git@__SSH_HOST__:a/b.git", "ssh://git@somewhere:2222/a/b.git"),
    ("url", "http://git.test:8023/a?x=1&y=2", "HTTP://GIT.test:8023/a/?y=2&x=1"),
    ("string_list", "632,64,86", " 86, 632,64"),
    ("json", '{"b": 1, "a": [2]}', '{"a":[2],"b":1}'),
    ("markdown", "# A\n\n* one\n* two", "#  A\n\n\n\n- one  \n+ two"),
    ("markdown", "[a\n b](http://x)", "[a b]( http://x )"),
    ("base64", "^.*World$", "SGVsbG8gV29ybGQ="),
    ("null", None, "N / A"),
    (
        "full_address",
        {"city": "Pittsburgh", "state": "PA", "street": "North Main Street", "house_number": "5",
         "postcode": "15213"},
        {"city": "pittsburgh", "state": "Pennsylvania", "street": "N Main St.", "house_number": 5,
         "postcode": 15213, "name": "Ann"},
    ),
]  # fmt: skip

DIFFERENT = [
    ("string", "abc", "abcd"),
    ("string", "^a$", "ba"),
    ("number", 3, "3 items"),
    ("number", 3, 3.1),
    ("currency", 50, "50%"),
    ("currency", 50, 50.2),
    ("date", "2023-05-13", "May 2023"),
    ("date", "2023-05-13", "13 June 2023"),
    ("month", "January", "13"),
    ("duration", "60 min", "67 min"),
    ("duration", "60 min", 60),
    ("duration", "60 min", "an hour or so"),
    ("distance", "2km", 2000),
    ("distance", "2km", "2.1 km"),
    ("currency", 5, "9" * 400),
    ("coordinates", [40, -79], [40.0001, -79]),
    ("coordinates", [40, -79], [100, -79]),
    ("location-name", "Grano", "Beefsteak"),
    ("url", "git@__SSH_HOST__:a/b.git", "https://git.test/a/b.git"),
    ("url", "http://git.test:8023/a?x=1", "http://git.test:8023/a"),
    ("string_list", "1,2", "1,2,2"),
    ("json", "[1,2]", "[2,1]"),
    ("markdown", "# A", "# a"),
    ("null", None, 0),
]


def is_same(kind, expected, found, rule="agent_response"):
    check = {
        "task_type": "retrieve",
        "status": "SUCCESS",
        "retrieved_data": [expected],
        "results_schema": {"type": "array", "items": {"type": "string", "format": kind}},
        "sites": {"gitlab": ["http://git.test:8023"]},
    }
    said = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": [found]}
    return RULES[rule](json.dumps(said), check).value == 1.0


def test_other_spellings_are_the_same_and_other_values_are_not():
    unlike = [case for case in SAME if not is_same(*case)]
    alike = [case for case in DIFFERENT if is_same(*case)]

    assert (unlike, alike) == ([], [])


def test_an_endless_distance_passes_only_the_published_rule():
    case = ("distance", "2km", "1e99999999999999999999 km")

    assert is_same(*case)
    assert not is_same(*case, "agent_response_corrected")
