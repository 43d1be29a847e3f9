"""Rows of one episode joined where the earlier one's prompt and reply begin the later prompt."""

from collections.abc import Iterable

from webagent.training.language.rows import TokenRow


def merge(rows: Iterable[TokenRow]) -> list[TokenRow]:
    """As few rows as teach the same: each is read once, with all its replies.

    A row is joined to the latest one before it, of the same episode and sampled alike, whose ids
    and images begin its prompt; one that begins otherwise, because old pages were left out or a
    repair was asked for, stays a row of its own. Losses per token, per step and per episode are
    the same before and after; one per row is not.
    """
    merged: list[TokenRow] = []
    open_ones: dict[object, list[int]] = {}
    for row in rows:
        places = open_ones.setdefault(_alike(row), [])
        found = next((i for i in reversed(places) if _continues(row, merged[i])), None)
        if found is None or not row.episode:
            places.append(len(merged))
            merged.append(row)
        else:
            before = merged[found]
            size = len(before.ids)
            merged[found] = TokenRow(
                ids=row.ids,
                weights=before.weights + row.weights[size:],
                log_probs=before.log_probs + row.log_probs[size:],
                temperature=row.temperature,
                allowed=before.allowed + row.allowed,
                images=row.images,
                advantages=before.advantages + row.advantages[size:],
                imagined=row.imagined,
                group=row.group,
                episode=row.episode,
                steps=before.steps + row.steps,
                spans=before.spans + row.spans,
                weights_version=row.weights_version,
            )
    return merged


def _alike(row: TokenRow) -> object:
    """What rows must have in common to be one."""
    what = (row.episode, row.group, row.weights_version, row.imagined)
    return (*what, row.temperature, row.has_behaviour, bool(row.advantages))


def _continues(row: TokenRow, before: TokenRow) -> bool:
    size = len(before.ids)
    return (
        bool(row.spans)
        and size <= row.spans[0][0]
        and row.ids[:size] == before.ids
        and row.images[: len(before.images)] == before.images
    )
