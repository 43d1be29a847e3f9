"""Likeness of pictures and picture queries beside VisualWebArena's own code."""

import logging
import random
from pathlib import Path
from typing import Any

import pytest

from benchmarks.webarena import visualwebarena
from benchmarks.webarena.rules.pictures import likeness
from benchmarks.webarena.schema import Setup
from tests.benchmarks.webarena.official import environment
from tests.benchmarks.webarena.official.scored import Case, compared

pytestmark = [pytest.mark.very_slow, pytest.mark.timeout(900)]
log = logging.getLogger(__name__)

CAPTIONS = ("yes", "No.", "yes, a red one", "a polo shirt", "")


@pytest.fixture
def pictures(tmp_path: Path) -> list[str]:
    """Pictures of several sizes, modes and formats, some of them like one another."""
    import numpy as np
    from PIL import Image, ImageFilter

    rng, names = np.random.default_rng(3), []
    for number in range(6):
        width, height = (int(side) for side in rng.integers(40, 90, 2))
        sharp = Image.fromarray(rng.integers(0, 256, (height, width, 3), dtype=np.uint8))
        base = sharp.filter(ImageFilter.GaussianBlur(3))
        variants = {
            "sharp.png": sharp,
            "plain.png": base,
            "small.png": base.resize((width // 2, height // 2)),
            "jpeg.jpg": base,
            "blur.png": base.filter(ImageFilter.GaussianBlur(2)),
            "palette.gif": base.quantize(32),
            "clear.png": base.convert("RGBA"),
            "grey.png": base.convert("L"),
        }
        for kind, picture in variants.items():
            names.append(f"{number}-{kind}")
            picture.save(tmp_path / names[-1])
    return names


def test_likeness_is_what_the_official_code_measures(pictures: list[str], tmp_path: Path) -> None:
    rng = random.Random(5)
    pairs = [[rng.choice(pictures), rng.choice(pictures)] for _ in range(150)]
    pairs += [[one, other] for one in pictures[:7] for other in pictures[:7]]

    measured = environment.run("likenesses", pairs, tmp_path)

    ours = [likeness(*((tmp_path / name).read_bytes() for name in pair)) for pair in pairs]
    worst = max(abs(one - other) for one, other in zip(ours, measured, strict=True))
    log.info("%d pairs from %.2f to 1, off by at most %.1e", len(pairs), min(ours), worst)
    assert worst < 1e-6
    assert min(ours) < 0.3 < 0.8 < sorted(ours)[len(pairs) // 2]


def query(rng: random.Random, pictures: list[str]) -> dict[str, Any]:
    """One picture query, with questions, a reference or both."""
    made: dict[str, Any] = {"eval_image_url": "last", "eval_image_class": ".photo"}
    kind = rng.choice(("questions", "reference", "both"))
    if kind != "reference":
        answers = ("yes", "NO", "polo")
        made["eval_vqa"] = [
            {"question": f"Is it {n}?", "answer": rng.choice(answers)}
            for n in range(rng.randint(1, 2))
        ]
    if kind != "questions":
        names = rng.sample(pictures, rng.randint(1, 2))
        made["eval_fuzzy_image_match"] = " |OR| ".join(
            f"http://pictures.test/{name}" for name in names
        )
        if rng.random() < 0.5:
            made["ssim_threshold"] = rng.choice((0.2, 0.6))
    return made


async def test_picture_queries_score_as_the_official_scorer_has_them(pictures, tmp_path):
    rng = random.Random(11)
    cases = []
    for number in range(400):
        shown = rng.sample(pictures, rng.choice((0, 1, 1, 2, 3)))
        queries = [query(rng, pictures) for _ in range(rng.choice((1, 1, 2, 3)))]
        evaluation = {"eval_types": ["page_image_query"], "page_image_query": queries}
        config = {"intent": "look", "eval": evaluation}
        captions = {name: rng.choice(CAPTIONS[:4]) for name in pictures}
        cases.append(Case(number, config, pictures=tuple(shown), captions=captions))

    differences, ones, raised = await compared(
        "visualwebarena", visualwebarena.SCORER_RULES, Setup({}), cases, tmp_path
    )

    log.info("%d picture queries, %d score 1", len(cases), ones)
    told = [f"{d.case.task}: {d.official} {d.ours} {d.reason[:300]}" for d in differences[:20]]
    assert not differences, f"{len(differences)} of {len(cases)}:\n" + "\n".join(told)
    assert not raised
    assert 40 < ones < 360
