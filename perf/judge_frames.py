"""How many pixels and image tokens key frames save on screenshots of MiniWoB++ episodes.

`python perf/judge_frames.py --seeds 2` has the oracles play the multi-step tasks of the everyday
twenty with screenshots, and counts whole screenshots against what `key_frames` keeps of them.
"""

import argparse
import asyncio
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.miniwob import tasks as miniwob
from benchmarks.oracles import ORACLES, OraclePolicy
from evaluators.reward.language import FrameSettings, KeyFrame, select_key_frames
from webagent.browser import Browser
from webagent.records import Provenance, Trajectory
from webagent.rollout import collect, plan_episodes
from webagent.store import ImageFolder

SETTINGS = {
    "last page whole": FrameSettings(most=99),
    "changes only": FrameSettings(most=99, whole_last=False),
    "six frames, last whole": FrameSettings(),
}


async def measure(seeds: int, names: tuple[str, ...]) -> None:
    """Print what is kept, by setting."""
    with tempfile.TemporaryDirectory() as folder:
        images = ImageFolder(Path(folder))
        tasks = [miniwob.task(n, i, "test") for i in range(seeds) for n in names if n in ORACLES]
        async with Browser() as browser:

            async def world() -> object:
                return await browser.world(images.add)

            played = await collect(
                plan_episodes(tasks, Provenance(phase="frames")),
                OraclePolicy(),
                world,  # type: ignore[arg-type]
                concurrency=2,
            )
        episodes = [shots for t in played if len(shots := _shots(t, images)) > 2]
    print(f"{len(episodes)} episodes of more than one step, {sum(map(len, episodes))} screenshots")
    for name, settings in SETTINGS.items():
        sums: defaultdict[str, int] = defaultdict(int)
        for shots in episodes:
            nothing = replace(settings, tolerance=-1.0, most=10**6, whole_last=True)
            for kind, how in (("whole", nothing), ("kept", settings)):
                frames = select_key_frames(shots, how)
                sums[f"{kind} frames"] += len(frames)
                sums[f"{kind} pixels"] += sum(frame.pixels for frame in frames)
                sums[f"{kind} patches"] += _count_patches(frames, how.patch)
        for what in ("frames", "pixels", "patches"):
            whole, kept = sums[f"whole {what}"], sums[f"kept {what}"]
            print(f"{name:<24} {what:<8} {whole:>9,} to {kept:>9,}: {1 - kept / whole:.1%} saved")


def _count_patches(frames: Sequence[KeyFrame], side: int) -> int:
    """Tokens that a model that gives each patch one would spend on them."""
    boxes = [frame.box for frame in frames]
    return sum(-(-(r - le) // side) * -(-(b - t) // side) for le, t, r, b in boxes)


def _shots(trajectory: Trajectory, images: ImageFolder) -> list[bytes]:
    pages = [step.observation for step in trajectory.steps]
    pages += [trajectory.last] if trajectory.last else []
    return [images.get(page.screenshot) for page in pages if page.screenshot]


def main() -> None:
    """Read the line and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--tasks", nargs="*", default=["twenty"])
    arguments = parser.parse_args()
    asyncio.run(measure(arguments.seeds, miniwob.select(tuple(arguments.tasks))))


if __name__ == "__main__":
    main()
