"""Words are cut as NLTK cuts them."""

import logging
import random
from pathlib import Path

import pytest

from benchmarks.webarena.rules.words import words
from tests.benchmarks.webarena.official import environment

log = logging.getLogger(__name__)

MARKS = [
    *".,;:!?'\"()[]{}<>-*&#@$%`«»“”‘’„/\\",
    *("--", "...", ". . .", "\n", "\t", "  ", "``", "''", " 5. ", "vs.", "u.s.", "a. ", "p.m."),
    *("cannot", "gonna", "'tis", "don't", "x's", "3.5", "1,000", "2:30", "administrators", "日本"),
    *("é.", "mr.", "e.g.", "no.", "1.", "the", "answer", "is", "red", "b-week", "polo shirt"),
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the answer is 5.", ["the", "answer", "is", "5", "."]),
        ("it is 5. it was 4.", ["it", "is", "5.", "it", "was", "4", "."]),
        ("it is red. it was not", ["it", "is", "red", ".", "it", "was", "not"]),
        ("5 vs. 6", ["5", "vs.", "6"]),
        (
            "isn't $5.00, or (maybe) 6",
            ["is", "n't", "$", "5.00", ",", "or", "(", "maybe", ")", "6"],
        ),
        ("cannot", ["can", "not"]),
        ('he said "yes." then left', ["he", "said", "``", "yes", ".", "''", "then", "left"]),
        ("", []),
    ],
)
def test_a_text_falls_into_words_and_marks(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.very_slow
@pytest.mark.timeout(900)
def test_ten_thousand_texts_are_cut_as_nltk_cuts_them(tmp_path: Path) -> None:
    rng = random.Random(2)
    texts = [
        "".join(
            rng.choice(MARKS) + rng.choice((" ", " ", "", ". ")) for _ in range(rng.randint(1, 12))
        )
        for _ in range(10_000)
    ]

    cut = environment.run("words", texts, tmp_path)

    differ = [text for text, expected in zip(texts, cut, strict=True) if words(text) != expected]
    log.info("%d texts, %d differ", len(texts), len(differ))
    assert differ == []
