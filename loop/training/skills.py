"""Training units by the skill or the site that an adapter is trained for."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from webagent.errors import SetupError
from webagent.policy.skills import Grouping, name_skill
from webagent.records import Trajectory
from webagent.training.language.run import TrainReport
from webagent.training.language.units import TrainingUnit

OTHERS = "others"
"""Name of the adapter that skills with few rows share."""


@dataclass(frozen=True, slots=True)
class SkillUnits:
    """What one adapter is trained on."""

    name: str
    folder: str
    """Name of the adapter's folder, which no other skill has."""
    units: tuple[TrainingUnit, ...]
    episodes: tuple[Trajectory, ...]
    """Of the units."""


def group_units(
    units: Sequence[TrainingUnit], episodes: Sequence[Trajectory], by: Grouping, least: int
) -> tuple[list[SkillUnits], str]:
    """Return the units of each adapter, and a sentence on them.

    Skills of fewer than `least` units share one adapter, which is left out where even together they
    have fewer. Raises `SetupError` where that leaves one adapter or none.
    """
    by_id = {one.id: one for one in episodes}
    names = {one.id: name_skill(one.task, by) for one in episodes}
    found: defaultdict[str, list[TrainingUnit]] = defaultdict(list)
    for unit in units:
        found[names[unit.rows[0].episode]].append(unit)
    few = sorted(name for name, own in found.items() if len(own) < least)
    shared = [unit for name in few for unit in found.pop(name)]
    said = ""
    if shared and len(shared) >= least:
        found[OTHERS] += shared
        said = f"; {', '.join(few)} have fewer than {least} units each and share {OTHERS!r}"
    elif shared:
        said = f"; {', '.join(few)} are left out, with {len(shared)} units of the {least} needed"
    if len(found) < 2:
        raise SetupError(
            f"--skills {by} needs two adapters at least, and the runs give"
            f" {', '.join(found) or 'none'}{said}; leave --skills out to train one adapter on all,"
            " or lower --skill-rows"
        )
    groups, taken = [], set[str]()
    for name, own in sorted(found.items()):
        slug = re.sub(r"[^\w]+", "-", name).strip("-") or "skill"
        while slug in taken:
            slug += "-2"
        taken.add(slug)
        ids = dict.fromkeys(unit.rows[0].episode for unit in own)
        groups.append(SkillUnits(name, slug, tuple(own), tuple(by_id[each] for each in ids)))
    return groups, f"{len(groups)} adapters, one for each {by}{said}"


def sum_reports(reports: Sequence[TrainReport]) -> TrainReport:
    """Return what the trainings took together; the loss and the imagined share are the means."""
    dropped: defaultdict[str, int] = defaultdict(int)
    for report in reports:
        for reason, count in report.dropped.items():
            dropped[reason] += count
    return replace(
        reports[-1],
        updates=sum(report.updates for report in reports),
        tokens=sum(report.tokens for report in reports),
        seconds=sum(report.seconds for report in reports),
        loss=sum(report.loss for report in reports) / len(reports),
        skipped=sum(report.skipped for report in reports),
        dropped=dict(dropped),
        imagined=sum(report.imagined for report in reports) / len(reports),
        resumed=sum(report.resumed for report in reports),
    )
