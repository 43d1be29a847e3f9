"""Texts are alike by the words they share, rare ones first."""

import subprocess
import sys

import numpy as np
import pytest

from webagent.similarity import TermVectors, normalize_rows


def test_rare_words_weigh_more_and_vectors_have_length_one() -> None:
    texts = ["open the red lamp", "open the blue lamp", "open the wiki"]
    vectors = TermVectors(texts, str.split).transform(["red lamp", "open the", "nothing known"])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 0])
    known = TermVectors(texts, str.split).transform(texts)
    assert int(np.argmax(known @ vectors[0])) == 0


def test_texts_without_terms_have_no_vectors() -> None:
    assert TermVectors(["", ""], str.split).transform(["a", "b"]).shape == (2, 0)
    assert normalize_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist() == [[0.6, 0.8], [0.0, 0.0]]


def test_importing_it_does_not_load_scikit_learn() -> None:
    heavy = "{'sklearn', 'scipy'}"
    code = f"import sys, webagent.similarity; print({heavy} & {{*sys.modules}})"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"
