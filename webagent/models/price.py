"""What models ask for their tokens, from a file that a person keeps up."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date as Date
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from webagent.errors import SetupError

_MILLION = 1_000_000


class Price(BaseModel):
    """What a model asks for a million tokens, as it was on a day."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: float = Field(default=0.0, ge=0)
    output: float = Field(default=0.0, ge=0)
    cached_input: float | None = Field(default=None, ge=0)
    """For the part of the input that the server had read before; the full price where it is not
    given."""
    currency: str = ""
    date: Date | None = None
    source: str = ""
    own: bool = False
    """Own weights on an own machine: they cost tokens and seconds, and no money is told of."""

    def money(self, usage: Mapping[str, int]) -> float | None:
        """What so many tokens cost; None for own weights."""
        if self.own:
            return None
        cached = usage.get("cached_input_tokens", 0)
        fresh = usage.get("input_tokens", 0) - cached
        reread = self.input if self.cached_input is None else self.cached_input
        tokens = fresh * self.input + cached * reread
        return (tokens + usage.get("output_tokens", 0) * self.output) / _MILLION


@dataclass(frozen=True, slots=True)
class Prices:
    """The known prices by the name a model is asked for, in which `*` stands for anything."""

    models: Mapping[str, Price] = field(default_factory=dict)
    path: Path | None = None

    def of(self, model: str) -> Price | None:
        """Its price: under its very name, else under the longest pattern that fits; None where
        none is known."""
        if model in self.models:
            return self.models[model]
        fitting = [name for name in self.models if "*" in name and fnmatchcase(model, name)]
        return self.models[max(fitting, key=len)] if fitting else None

    def why_untold(self, model: str) -> str:
        """Why nobody can say what the model costs in money; empty where they can."""
        price = self.of(model)
        if price is None:
            where = f"{self.path} has none" if self.path else "there is no prices.toml"
            return (
                f"the price of {model!r} is not known, {where}; add"
                f' [models."{model}"] with input and output for a million tokens'
            )
        if price.own:
            return f"{self.path} says that {model!r} runs on own weights, which cost no money"
        return ""


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    currency: str = ""
    models: dict[str, Price] = Field(default_factory=dict)


def read_prices(path: Path) -> Prices:
    """The prices in a TOML file. Raises `SetupError` saying what is wrong with it, and where."""
    try:
        found = _File.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise SetupError(f"cannot read the prices in {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SetupError(f"{path} is not TOML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise SetupError(f"{path}: {place}: {first['msg']}; see docs/cost.md") from error
    return Prices(
        {
            name: _complete(path, name, price, found.currency)
            for name, price in found.models.items()
        },
        path,
    )


def _complete(path: Path, name: str, price: Price, currency: str) -> Price:
    """With the file's currency. Raises `SetupError` where the price is not whole."""
    whole = price if price.currency else price.model_copy(update={"currency": currency})
    if whole.own:
        return whole
    lacking = [key for key in ("input", "output") if key not in price.model_fields_set]
    lacking += ["currency"] * (not whole.currency)
    if lacking:
        raise SetupError(
            f'{path}: [models."{name}"] lacks {", ".join(lacking)}; a price left out would count as'
            " nothing: give it, write 0 where that is the price, or own = true for own weights"
        )
    return whole
