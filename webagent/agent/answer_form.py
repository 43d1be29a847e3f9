"""Answers as data: held to a JSON Schema, asked for once more where they do not fit."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_origin

from pydantic import PydanticUserError, TypeAdapter, ValidationError

from tasks.task import Json
from webagent.action import Answer
from webagent.errors import AnswerError, UsageError
from webagent.policy.policy import Policy
from webagent.records import Decision, Observation, Step, Trajectory

Schema = Mapping[str, Any]
_FENCED = re.compile(r"^```(?:json)?\s*\n(.*?)\n?```$", re.DOTALL)
_SHOWN = 200


def read_form_type(form: Any) -> tuple[Schema, Callable[[Json], Any]]:
    """Return the JSON Schema of a form, and what makes the answer of data that fits it.

    A form is a JSON Schema, for which data stays data, or a type: a pydantic model, a dataclass,
    `list[Model]`. Raises `UsageError` for a type that has no schema.
    """
    if not isinstance(form, type) and get_origin(form) is None:
        return form, lambda value: value
    try:
        adapter = TypeAdapter(form)
        schema = adapter.json_schema()
    except PydanticUserError as error:
        raise UsageError(f"schema={form!r} has no JSON Schema: {error.message}") from error

    def convert(value: Json) -> Any:
        try:
            return adapter.validate_python(value)
        except ValidationError as error:
            first = error.errors()[0]
            where = "/".join(map(str, first["loc"])) or "the top"
            raise AnswerError(f"the answer does not fit at {where}: {first['msg']}") from error

    return schema, convert


def check_schema(schema: Schema) -> None:
    """Raise `SetupError` saying what is wrong where it is no JSON Schema (2020-12)."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    if not isinstance(schema, Mapping):
        raise UsageError(f"a JSON Schema is an object; found {json.dumps(schema)[:_SHOWN]}")
    try:
        Draft202012Validator.check_schema(dict(schema))
        json.dumps(schema)
    except SchemaError as error:
        where = "/".join(map(str, error.absolute_path)) or "its top"
        raise UsageError(f"the JSON Schema is wrong at {where}: {error.message}") from error
    except (TypeError, ValueError) as error:
        raise UsageError(f"the JSON Schema cannot be written as JSON: {error}") from error


def add_schema(task: str, schema: Schema) -> str:
    """Return the task with the form its answer is to have."""
    written = json.dumps(schema, ensure_ascii=False, sort_keys=True)
    return f"{task}\n\nThe answer is to be JSON, and nothing else, that fits this schema: {written}"


def read_answer(text: str, schema: Schema) -> Json:
    """Return the answer as data; a Markdown fence around it is taken off.

    Raises `AnswerError` saying what does not fit, and where.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError, best_match
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    fenced = _FENCED.match(text.strip())
    try:
        value: Json = json.loads(fenced.group(1) if fenced else text)
    except ValueError as error:
        raise AnswerError(f"the answer {text[:_SHOWN]!r} is not JSON: {error}") from error
    validator = Draft202012Validator(dict(schema), registry=Registry())
    try:
        wrong: ValidationError | None = best_match(validator.iter_errors(value))
    except Unresolvable as error:
        raise AnswerError(f"the JSON Schema refers to what is not in it: {error}") from error
    if wrong is not None:
        where = "/".join(map(str, wrong.absolute_path)) or "the top"
        raise AnswerError(f"the answer does not fit its schema at {where}: {wrong.message}")
    return value


class StructuredPolicy:
    """The policy; an answer of its that does not fit is sent back once with what is wrong."""

    def __init__(
        self, policy: Policy, schema: Schema, convert: Callable[[Json], Any] = lambda value: value
    ) -> None:
        self.value: Any = None
        """The answer that was accepted."""
        self.misfit = ""
        """What was wrong with the second answer, where that did not fit either."""
        self._policy = policy
        self._schema, self._convert = schema, convert
        self._has_asked = False

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """As the policy's. Raises `AnswerError` for a second answer that does not fit, too."""
        decision = await self._policy.act(trajectory, observation)
        if not isinstance(decision.action, Answer):
            return decision
        try:
            self.value = self._convert(read_answer(decision.action.text, self._schema))
        except AnswerError as error:
            if self._has_asked:
                self.misfit = str(error)
                raise
            self._has_asked = True
            outcome = f"the answer was not accepted: {error}; answer again"
            tried = replace(trajectory, steps=(*trajectory.steps, Step(observation, decision)))
            again = await self.act(tried, replace(observation, outcome=outcome))
            usage = {
                name: decision.usage.get(name, 0) + again.usage.get(name, 0)
                for name in (*decision.usage, *again.usage)
            }
            return replace(again, usage=usage, seconds=decision.seconds + again.seconds)
        return decision

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """As the policy's; answers are looked at when they are given."""
        return await self._policy.propose(trajectory, observation, n)
