"""An export's settings, completed and checked before anything is written."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tyro.conf import Positional

from apps.export.examples import LEARNT_FROM
from apps.export.trainers import AXOLOTL, LLAMAFACTORY, TRL, VERL, Consumer
from loop.folder import RunFolder
from webagent.errors import UsageError, unknown_name
from webagent.observation.variants import variant_named

PLAIN_FORM = "datasets"
CONSUMERS: dict[str, Consumer] = {each.name: each for each in (TRL, VERL, LLAMAFACTORY, AXOLOTL)}
_OTHER_NAMES = {"parquet": PLAIN_FORM, "dpo": "preference", "grpo": "rl"}
"""What formats and kinds of examples are also called."""
_TO_BE_JUDGED = ("preference", "kto", "rl")


@dataclass(frozen=True)
class ExportConfig:
    """Write a run's episodes as files for other trainers."""

    run: Positional[Path | None] = None
    """The run folder."""
    to: str = PLAIN_FORM
    """Format: `datasets` (plain Parquet), `trl`, `verl`, `llamafactory` or `axolotl`."""
    out: Path | None = None
    """Folder to write; it must not exist yet."""
    push: str = ""
    """Also upload the export to a hub as this dataset: `OWNER/NAME`. The hub is Hugging Face unless
    HF_ENDPOINT names another; a new dataset is private."""
    public: bool = False
    """Make the uploaded dataset public."""
    what: str = ""
    """Kind of examples: `episodes` (all steps and episodes, for `datasets`), or for a trainer
    `sft`, `preference`, `kto` or `rl`. Default: `episodes` or `sft`."""
    phases: tuple[str, ...] = ()
    """Phases of the run to export, such as `collect`, `evaluate`, `practice` (evaluations on
    training seeds) or `single` (no plan). Default: all for `episodes`; for a trainer all except
    evaluations on held-out seeds, those of `development` and `test`."""
    arms: tuple[str, ...] = ()
    """Arms of the run to export. Default: all."""
    judge: str = ""
    """First characters of the id of the judge whose `success` counts. Default: the run's."""
    imagined: bool = False
    """Include imagined episodes; they are marked."""
    imagined_share: float = 0.3
    """Maximum share of imagined rows, if they are included."""
    observation: str = ""
    """Form of the pages in prompts. Default: the form in which the run was played."""
    images: bool = True
    """Include the screenshots that the model was shown, if any."""


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """An export that can be made."""

    run: Path
    out: Path
    to: str
    what: str
    config: ExportConfig
    """With nothing left empty but what means all."""
    played_as: str
    """The form in which the run showed pages to its model."""
    origin: dict[str, Any]
    """Command and commits of the run, as far as they are known."""

    @property
    def consumer(self) -> Consumer | None:
        """The trainer it is for; None for the plain form."""
        return CONSUMERS.get(self.to)


def complete_request(config: ExportConfig) -> ExportRequest:
    """Return the export with every setting filled in.

    Raises `SetupError` where it cannot be done.
    """
    if config.run is None or config.out is None:
        raise UsageError("name the run and the folder to write: webagent export RUN --out FOLDER")
    to = _OTHER_NAMES.get(config.to, config.to)
    if to != PLAIN_FORM and to not in CONSUMERS:
        raise unknown_name("format", to, [PLAIN_FORM, *CONSUMERS])
    if not 0 <= config.imagined_share < 1:
        raise UsageError(f"--imagined-share {config.imagined_share:g} must be a share below 1")
    consumer = CONSUMERS.get(to)
    known = list(consumer.forms) if consumer else ["episodes"]
    what = _OTHER_NAMES.get(config.what, config.what) or known[0]
    if what not in known:
        others = [each.name for each in CONSUMERS.values() if what in each.forms]
        others += [PLAIN_FORM] * (what == "episodes")
        hint = f"; {what} can be had for {', '.join(others)}" if others else ""
        raise UsageError(f"{to} is written {', '.join(known)}, not {what!r}{hint}")
    if config.imagined and what in _TO_BE_JUDGED:
        raise UsageError(
            f"--imagined is for episodes and sft: no judge saw an imagined episode, so {what} has"
            " nothing to tell of it"
        )
    # A store that no command made has no settings.
    has_settings = (config.run / "run.json").exists()
    settings = RunFolder.open(config.run).settings() if has_settings else {}
    played = settings.get("config", {})
    played_as = str(played.get("observation", "text"))
    variant = variant_named(config.observation or played_as)
    shown = bool(played.get("images") or variant.image)
    complete = replace(
        config,
        phases=config.phases or (LEARNT_FROM if consumer else ()),
        observation=variant.name,
        images=config.images and shown and (not consumer or consumer.forms[what].takes_pictures),
    )
    origin = {name: value for name, value in settings.items() if name in ("command", "origins")}
    return ExportRequest(config.run, config.out, to, what, complete, played_as, origin)
