"""Texts are alike by the words they share, rare ones first, or by their letters."""

import subprocess
import sys

import numpy as np
import pytest

from webagent.similarity import TermVectors, find_most_similar, normalize_rows


def test_rare_words_weigh_more_and_vectors_have_length_one() -> None:
    texts = ["open the red lamp", "open the blue lamp", "open the wiki"]
    vectors = TermVectors(texts, str.split).transform(["red lamp", "open the", "nothing known"])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 0])
    known = TermVectors(texts, str.split).transform(texts)
    assert int(np.argmax(known @ vectors[0])) == 0


def test_texts_without_terms_have_no_vectors() -> None:
    assert TermVectors(["", ""], str.split).transform(["a", "b"]).shape == (2, 0)
    assert normalize_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist() == [[0.6, 0.8], [0.0, 0.0]]


def test_the_most_similar_text_is_found_by_its_letters() -> None:
    others = ["copper harbour", "copper harbor map", "silver lake"]
    assert find_most_similar("coper harbour", others, 0.72) == "copper harbour"
    assert find_most_similar("granite", others, 0.72) is None


def test_importing_it_loads_neither_scikit_learn_nor_rapidfuzz() -> None:
    heavy = "{'sklearn', 'scipy', 'rapidfuzz'}"
    code = f"import sys, webagent.similarity; print({heavy} & {{*sys.modules}})"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"
