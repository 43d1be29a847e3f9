"""Constraints in the words of a server, and whether a reply keeps to one."""

import json
import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from webagent.errors import ModelError, SetupError
from webagent.models.endpoint.server import Server
from webagent.models.model import Constraint

_START_WITH: Mapping[str, str] = MappingProxyType(
    {
        "vllm": "start it with --structured-outputs-config.backend guidance",
        "sglang": "start it with --grammar-backend llguidance",
        "llama.cpp": "build it with -DLLAMA_LLGUIDANCE=ON",
    }
)
"""What makes a server read Lark as llguidance does."""
_LARK = "%llguidance {}\n"
"""Written before a Lark grammar, so that it is not taken for one of another kind."""
_QUOTED = re.compile(r'"(?:\\.|[^"\\\n])*"|/(?:\\.|[^/\\\n])+/')
_UNSAFE = re.compile(r"\\\\|\\[bf]|[\x7f-\x9f\u2028\u2029]")
"""In a JSON string: pairs of backslashes, to be passed over, and what is not safe elsewhere."""
_ESCAPES = MappingProxyType(
    {"\\b": "\\u0008", "\\f": "\\u000c"}
    | {chr(code): f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029)}
)
_SPECIAL_TOKEN = re.compile(r"<[\[|\w]")


def say(constraint: Constraint, server: Server) -> dict[str, Any]:
    """The parameters that make the server hold its replies to the constraint.

    Raises `SetupError` where it cannot be told so, and for a grammar that is none.
    """
    if not server.dialect:
        raise SetupError(
            f"a {server.kind} server is not declared to hold its replies to a constraint; give the"
            " endpoint a server with a dialect, or ask without the constraint"
        )
    try:
        "".join((*constraint.choices, constraint.grammar)).encode("utf-8")
    except UnicodeEncodeError as error:
        raise SetupError(
            f"a constraint holds half a character, {error.object[error.start]!r}, which can be"
            " neither sent nor sampled; leave it out"
        ) from None
    if constraint.grammar:
        return _say_grammar(constraint.grammar, server)
    choices = list(constraint.choices)
    if server.dialect == "vllm":
        return {"structured_outputs": {"choice": choices}}
    if server.dialect == "json_schema":
        return {"response_format": _schema(choices)}
    head = f"{_LARK}start: " if server.grammars else "root ::= "
    return {_grammar_key(server): head + " | ".join(map(_literal, choices))}


def _say_grammar(grammar: str, server: Server) -> dict[str, Any]:
    if server.dialect == "json_schema":
        raise SetupError(
            f"a {server.kind} server can be held to a list of choices, not to a grammar; serve the"
            " model with vLLM, SGLang or llama.cpp for that, or load its weights in this process"
        )
    if not server.grammars:
        raise SetupError(
            f"a {server.kind} server reads Lark grammars only where it is set up for them:"
            f" {_START_WITH[server.dialect]}, then declare grammars = true"
        )
    text = _lark(grammar)
    if not _names_tokens(text):
        _matcher(text)
    if server.dialect == "vllm":
        return {"structured_outputs": {"grammar": text}}
    return {_grammar_key(server): text}


def _lark(grammar: str) -> str:
    return grammar if grammar.startswith("%llguidance") else _LARK + grammar


def _grammar_key(server: Server) -> str:
    return "ebnf" if server.dialect == "sglang" else "grammar"


def _literal(text: str) -> str:
    """A literal of a grammar: as in JSON, but for escapes and bare controls not all can read."""
    quoted = json.dumps(text, ensure_ascii=False)
    return _UNSAFE.sub(lambda found: _ESCAPES.get(found[0], found[0]), quoted)


def _schema(choices: list[str]) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"reply": {"type": "string", "enum": choices}},
        "required": ["reply"],
        "additionalProperties": False,
    }
    return {
        "type": "json_schema",
        "json_schema": {"name": "reply", "strict": True, "schema": schema},
    }


def unwrap(text: str, server: Server) -> str:
    """The reply out of the object in which this dialect has it written, or the text as it is."""
    if server.dialect != "json_schema":
        return text
    try:
        return str(json.loads(text)["reply"])
    except (ValueError, KeyError, TypeError):
        return text


def keeps_to(text: str, constraint: Constraint, *, cut: bool) -> bool:
    """Whether the text is what the constraint allows, or where it was cut a beginning of it."""
    if constraint.choices:
        if cut:
            return any(choice.startswith(text) for choice in constraint.choices)
        return text in constraint.choices
    if _names_tokens(constraint.grammar):
        return True
    matcher = _matcher(_lark(constraint.grammar))
    read = bool(matcher.consume_tokens(list(text.encode("utf-8"))))
    return read and (cut or bool(matcher.is_accepting()))


def _names_tokens(grammar: str) -> bool:
    """Whether it has special tokens, which stand in no text, so that none can be held to it."""
    return bool(_SPECIAL_TOKEN.search(_QUOTED.sub("", grammar)))


def _matcher(grammar: str) -> Any:
    """Follows text byte by byte. Raises `SetupError` for a grammar that is none."""
    try:
        from llguidance import LLMatcher
    except ImportError as error:
        raise SetupError(
            "a grammar needs the llguidance package: pip install 'webagent-loop[llm]'"
        ) from error
    compiled = LLMatcher.grammar_from_lark(grammar)
    problem = LLMatcher.validate_grammar(compiled, _bytes())
    if problem:
        raise SetupError(f"not a Lark grammar as llguidance reads it: {problem.strip()[:300]}")
    return LLMatcher(_bytes(), compiled, log_level=0)


@cache
def _bytes() -> Any:
    """A tokenizer of which each byte is an id."""
    from llguidance import LLTokenizer

    return LLTokenizer("byte")


def require_kept(text: str, constraint: Constraint, *, cut: bool, where: str) -> None:
    """Raise `ModelError` for a reply that the constraint does not allow."""
    if not keeps_to(text, constraint, cut=cut):
        raise ModelError(
            f"{where}: declared to hold replies to a constraint, but this one breaks it:"
            f" {text[:120]!r}; check the server's structured output, or declare dialect = ''"
        )
