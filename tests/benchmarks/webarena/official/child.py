"""Runs in an environment of its own: the official scorers on the cases of a file.

Only what surrounds the scoring is replaced: the browser by contents that are given, the helper
functions that ask a site likewise, and the language model by a comparison of texts.
"""

import importlib
import importlib.abc
import importlib.machinery
import json
import os
import sys
import tempfile
import types
from pathlib import Path

ABSENT = ("evaluate", "playwright", "transformers")
SURROUNDINGS = ("browser_env", "llms")
"""Packages that the scorers import from beside them, for types and for asking a model."""


HELPERS = ("shopping_", "gitlab_", "get_query", "reddit_get_latest", "reddit_get_parent")


class StandIn(types.ModuleType):
    """A module in which every name is a class; actions and states are dictionaries."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = dict if name in ("Action", "StateInfo") else type(name, (), {})
        setattr(self, name, made)
        return made


class StandInFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds stand-ins for what is absent."""

    def find_spec(self, name, path=None, target=None):
        inside = name.split(".")[1:2]
        if name.split(".")[0] not in ABSENT and inside not in [[one] for one in SURROUNDINGS]:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return StandIn(spec.name)

    def exec_module(self, module):
        return None


class Page:
    """A page whose scripts give what they are told to."""

    def __init__(self, case):
        self._case = case

    @property
    def context(self):
        return self

    def new_page(self):
        return pseudo(self._case)

    def goto(self, url):
        return None

    def close(self):
        return None

    def content(self):
        return self._case["content"]

    def evaluate(self, script):
        if self._case.get("throws"):
            raise RuntimeError("the script threw")
        return self._case["content"]

    def query_selector_all(self, selector):
        return [Picture(path) for path in self._case["pictures"]]


class Picture:
    """An image element."""

    def __init__(self, path):
        self._path = path

    def evaluate(self, script):
        return True

    def get_attribute(self, name):
        return f"http://pictures.test/{self._path}"


class Reply:
    """What a download gives."""

    def __init__(self, url):
        self.raw = open(os.environ["PICTURES"] + "/" + url.rsplit("/", 1)[-1], "rb")  # noqa: SIM115


def pseudo(case):
    """The page as the scorers accept it."""
    return MODULE.PseudoPage(Page(case), case.get("url", "http://page.test/"))


def says(pred, reference, question):
    """In place of a model: whether the reference stands in what was said."""
    return float(str(reference).lower() in str(pred).lower())


def load(name):
    """The scorers' module, with its surroundings replaced."""
    module = importlib.import_module(name)
    module.llm_fuzzy_match = module.llm_ua_match = says
    module.time = types.SimpleNamespace(sleep=lambda seconds: None)
    for helper in [one for one in vars(module) if one.startswith(HELPERS)]:
        setattr(module, helper, lambda *arguments: CONTENT[0])
    if hasattr(module, "requests"):
        module.requests = types.SimpleNamespace(get=lambda url, stream: Reply(url))
    return module


CONTENT = [""]


def score(case, folder):
    """The official score, or the name of what it raised."""
    config = Path(folder) / "config.json"
    config.write_text(json.dumps(case["config"]), encoding="utf-8")
    CONTENT[0] = case.get("content", "")
    trajectory = [{}, {"answer": case.get("answer", "")}]
    options = (
        {"captioning_fn": lambda images, prompts: case["captions"]} if case["captions"] else {}
    )
    made = MODULE.evaluator_router(config, **options)
    clients = {"client": None} if NAME == "webarena.evaluation_harness.evaluators" else {}
    try:
        return float(made(trajectory=trajectory, config_file=config, page=pseudo(case), **clients))
    except Exception as error:  # noqa: BLE001 - whatever the official scorer raises is its answer
        return f"{type(error).__name__}: {str(error)[:200]}"


def cut(texts):
    """The words of each text, by NLTK."""
    from nltk.tokenize import word_tokenize

    return [word_tokenize(text) for text in texts]


def likenesses(pairs):
    """The official similarity of each pair of pictures."""
    from PIL import Image

    measure = importlib.import_module("visualwebarena.evaluation_harness.image_utils")
    return [
        float(
            measure.get_image_ssim(*(Image.open(f"{os.environ['PICTURES']}/{one}") for one in pair))
        )
        for pair in pairs
    ]


def scored(cases):
    """The official score of each case."""
    with tempfile.TemporaryDirectory() as folder:
        return [score({"captions": None, **case}, folder) for case in cases]


if __name__ == "__main__":
    NAME, given, out = sys.argv[1:4]
    sys.meta_path.insert(0, StandInFinder())
    answering = {"words": cut, "likenesses": likenesses}.get(NAME, scored)
    if answering is scored:
        MODULE = load(NAME)
    lines = Path(given).read_text(encoding="utf-8").splitlines()
    Path(out).write_text(
        json.dumps(answering([json.loads(line) for line in lines])), encoding="utf-8"
    )
