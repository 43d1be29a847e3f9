"""Every prompt of the product: each of its sections is filled somewhere, with just its slots."""

import ast
import importlib
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.webagent.policy.scenes import HOME, SEARCHED, asked
from webagent.agent.asking import prompt_named
from webagent.models.prompt import Prompt, load_prompt
from webagent.policy.prompting import Prompting

ROOT = Path(__file__).parent.parent
PACKAGES = ("webagent", "evaluators", "worldmodel", "benchmarks", "loop", "apps", "recipes")
FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("prompts/*.md"))
_SLOT = re.compile(r"\{\{(\w+)\}\}")


def find_fills() -> Iterator[tuple[str, str, str, set[str]]]:
    """Yield place, file, section and slots of each `fill` of a prompt that a module holds."""
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            source = path.read_text(encoding="utf-8")
            if ".fill(" not in source:
                continue
            module = importlib.import_module(
                ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            )
            for call in ast.walk(ast.parse(source)):
                if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                    continue
                held = call.func.value
                prompt = getattr(module, held.id, None) if isinstance(held, ast.Name) else None
                is_plain = all(each.arg for each in call.keywords) and call.args
                first = call.args[0] if is_plain else None
                if isinstance(prompt, Prompt) and isinstance(first, ast.Constant):
                    slots = {str(each.arg) for each in call.keywords}
                    yield f"{path}:{call.lineno}", prompt.name, str(first.value), slots


@pytest.mark.slow
def test_what_fills_a_section_gives_just_its_slots() -> None:
    by_name = {path.stem: load_prompt(path) for path in FILES}
    found = defaultdict(set)
    for place, name, section, slots in find_fills():
        assert section in by_name[name].sections, place
        assert slots == set(_SLOT.findall(by_name[name].sections[section])), place
        found[name].add(section)
    assert len(found) >= 3, "the prompts of several modules were found"


@pytest.mark.parametrize("form", ["message", "conversation"])
@pytest.mark.parametrize("name", ["act", "brief"])
async def test_every_section_of_a_policys_prompt_can_be_filled(name: str, form: str) -> None:
    replies = ["Let me think.", "Action: click(2)"]

    decision, requests = await asked(
        SEARCHED, HOME, replies, prompt=prompt_named(name), prompting=Prompting(form=form)
    )

    assert decision.usage["requests"] == 2
    assert "no action in the reply 'Let me think.'" in requests[1].messages[-1].text
    assert not any("{{" in message.text for message in requests[1].messages)
