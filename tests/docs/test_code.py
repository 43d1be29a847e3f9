"""Every Python block in the documentation runs, or at least names what there is."""

import ast
import asyncio
import inspect
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perf.documentation import Block, blocks, name_of, pages
from tests.docs.code import LOOKED_AT, RUNNING
from tests.docs.scenes import Place
from tests.docs.treated import HISTORY

FOUND = [
    block
    for page in pages()
    if page.exists() and not name_of(page).startswith(HISTORY)
    for block in blocks(page)
    if block.language == "python"
]


def keys_of(block: Block) -> list[tuple[str, str]]:
    """The entries of the tables that mean this block."""
    return [key for key in (*RUNNING, *LOOKED_AT) if key[0] == block.page and key[1] in block.text]


def place_of(block: Block) -> str:
    return block.place


RUN = [block for block in FOUND if any(key in RUNNING for key in keys_of(block))]
LOOKED = [block for block in FOUND if block not in RUN]


def test_every_block_is_run_or_said_why_not() -> None:
    unclear = [block.place for block in FOUND if len(keys_of(block)) != 1]
    assert unclear == [], "put these into RUNNING or LOOKED_AT of tests/docs/code.py, each once"


def test_the_tables_hold_no_block_that_no_page_has() -> None:
    assert {*RUNNING, *LOOKED_AT} == {key for block in FOUND for key in keys_of(block)}


@pytest.mark.sample(4)
@pytest.mark.browser
@pytest.mark.parametrize("block", RUN, ids=place_of)
def test_a_block_of_a_page_runs(block: Block, scratch: Path, small_run: Path, capsys) -> None:
    snippet = RUNNING[keys_of(block)[0]]
    if lacking := [name for name in snippet.needs if shutil.which(name) is None]:
        pytest.skip(f"needs {', '.join(lacking)}")
    for lay in snippet.lay:
        lay(Place(scratch, small_run))
    text = block.text
    for told, meant in snippet.swap.items():
        assert told in text
        text = text.replace(told, meant)
    names = run(text, block.place, snippet.given(scratch))
    for value in names.values():
        if type(value).__module__.startswith(("gymnasium", "apps.environment")):
            value.close()
    assert snippet.says in capsys.readouterr().out


def run(text: str, place: str, names: dict[str, Any]) -> dict[str, Any]:
    """What the block leaves; it may await at its top, as in a notebook."""
    code = compile(text, place, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if code.co_flags & inspect.CO_COROUTINE:
        asyncio.run(eval(code, names))
    else:
        exec(code, names)
    return names


@pytest.mark.parametrize("block", LOOKED, ids=place_of)
def test_a_block_of_a_page_names_what_there_is(block: Block) -> None:
    assert list(wrong(block)) == []


def wrong(block: Block) -> Iterator[str]:
    """Calls that what was imported does not take."""
    tree = ast.parse(block.text)
    names: dict[str, Any] = {}
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            exec(compile(ast.Module([node], []), block.place, "exec"), names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _refused(node, names)


def _refused(call: ast.Call, names: dict[str, Any]) -> Iterator[str]:
    parts = ast.unparse(call.func).split(".")
    if parts[0] not in names:
        return
    found = names[parts[0]]
    for part in parts[1:]:
        found = getattr(found, part)
    given = [argument for argument in call.args if not isinstance(argument, ast.Starred)]
    named = {keyword.arg: 0 for keyword in call.keywords if keyword.arg}
    try:
        inspect.signature(found).bind_partial(*given, **named)
    except ValueError:  # written in C, and without a signature
        return
    except TypeError as error:
        yield f"{ast.unparse(call)}: {error}"


def test_a_call_that_is_not_taken_is_found() -> None:
    text = "from tasks.task import Task\nTask(id='a/b@1', start_url='about:blank', gaol='x')\n"
    assert list(wrong(Block("page", 1, "python", text)))
