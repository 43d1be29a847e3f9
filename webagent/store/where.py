"""Which episodes are meant: conditions on their columns, as SQL."""

from collections.abc import Collection, Mapping
from typing import Any, Literal, TypeAlias, TypedDict

from webagent.errors import StoreError
from webagent.records import SET_APART, Ending

Kind: TypeAlias = Literal["played", "finished", "any"]
"""`played`: ended for a reason that says something about the agent. `finished`: ended at all,
infrastructure failures included. `any`: under way, too."""


class Where(TypedDict, total=False):
    """Conditions that must all hold; a collection means any one of its members."""

    id: str | Collection[str]
    task: str | Collection[str]
    seed: int | Collection[int]
    parent: str | Collection[str]
    world: str | Collection[str]
    run: str | Collection[str]
    arm: str | Collection[str]
    repeat: int | Collection[int]
    round: int | Collection[int]
    phase: str | Collection[str]
    index: int | Collection[int]
    attempt: int | Collection[int]
    ending: Ending | Collection[Ending]


_KINDS: dict[Kind, str] = {
    "played": "ending NOT IN ({})".format(
        ", ".join(f"'{ending}'" for ending in Ending if ending.is_infrastructure)
    ),
    "finished": "ending IS NOT NULL",
    "any": "1",
}


def conditions(where: Mapping[str, Any], kind: Kind) -> tuple[str, list[str | int]]:
    """The SQL condition on the table `episodes` with the values for its question marks.

    The phases `SET_APART` are left out unless `kind` is `any`, or phase or id are named.
    """
    parts, values = [_KINDS[kind]], list[str | int]()
    if kind != "any" and not {"phase", "id"} & where.keys():
        parts.append(f"phase NOT IN ({', '.join('?' * len(SET_APART))})")
        values.extend(SET_APART)
    for name, wanted in where.items():
        if name not in Where.__annotations__:
            known = ", ".join(Where.__annotations__)
            raise StoreError(f"episodes have no {name!r} to choose by; known: {known}")
        column = "idx" if name == "index" else name
        members = [wanted] if isinstance(wanted, str | int) else list(wanted)
        parts.append(f"episodes.{column} IN ({', '.join('?' * len(members))})")
        values.extend(members)
    return " AND ".join(parts), values
