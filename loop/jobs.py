"""Workers: jobs in separate processes, a limited number in parallel, which end with this
process."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from webagent.errors import WebAgentError


@dataclass(frozen=True, slots=True)
class Job:
    """One call to make in a separate process."""

    name: str
    after: str = ""
    """Name of the job that must be done, or ready, first."""
    arguments: tuple[Any, ...] = ()


NEWS = "news"
"""The stage of what stays on the screen when the job goes on."""
READY = "ready"
"""The stage at which those that wait for the job may begin, though it goes on."""


@dataclass(frozen=True, slots=True)
class JobProgress:
    """Progress reported by a job."""

    job: str
    stage: str
    done: float = 0.0
    """Share of the stage that is done, in [0, 1]."""
    note: str = ""


ReportProgress = Callable[[str, float, str], None]
"""Stage, fraction done, note."""
Work = Callable[..., None]
"""Called as `work(say, *job.arguments)` in the process; must be importable by name."""


class JobError(WebAgentError):
    """A job failed; the message is the job's."""


def run_jobs(
    jobs: Sequence[Job], work: Work, workers: int, on_news: Callable[[JobProgress], None]
) -> None:
    """Run every job, each after the one it waits for. Raises `JobError` if one fails.

    The processes end with this call: on an error or an interrupt they are stopped (SIGTERM), given
    ten seconds and then killed; if this process is killed, they notice and exit.
    """
    context = multiprocessing.get_context("spawn")
    waiting, done = list(jobs), set[str]()
    running: dict[Connection, tuple[Job, SpawnProcess]] = {}
    try:
        while waiting or running:
            for job in [j for j in waiting if not j.after or j.after in done]:
                if len(running) >= workers:
                    break
                waiting.remove(job)
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(
                    target=_serve, args=(theirs, work, job.name, job.arguments), name=job.name
                )
                start_process(process)
                theirs.close()
                running[ours] = (job, process)
            for connection in wait(list(running), timeout=1.0):
                assert isinstance(connection, Connection)
                job, process = running[connection]
                message = _listen(connection, process, job)
                if isinstance(message, JobProgress) and message.stage != READY:
                    on_news(message)
                    continue
                done.add(job.name)
                if message is None:
                    del running[connection]
    finally:
        stop_processes([process for _, process in running.values()])


def start_process(process: SpawnProcess) -> None:
    """Start a process that Ctrl-C leaves alone until it calls `ignore_interrupts`."""
    resource_tracker.ensure_running()  # starting it would let signals through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore_interrupts() -> None:
    """Ignore Ctrl-C in this process, which its parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _listen(connection: Connection, process: SpawnProcess, job: Job) -> JobProgress | None:
    """Return a job's message, None where it is done. Raises `JobError` if it failed."""
    try:
        message = connection.recv()
    except EOFError:
        process.join()
        raise JobError(
            f"{job.name} ended without a word (exit status {process.exitcode})"
        ) from None
    if isinstance(message, JobProgress):
        return message
    process.join()
    if message:
        raise JobError(f"{job.name}: {message}")
    return None


def _serve(connection: Connection, work: Work, name: str, arguments: tuple[Any, ...]) -> None:
    """Run the job in its process: pass on its progress, then its error or an empty text."""
    threading.Thread(target=end_with_parent, daemon=True).start()
    ignore_interrupts()
    last_report = [0.0]

    def say(stage: str, done: float, note: str) -> None:
        if time.monotonic() - last_report[0] > 0.25 or done in (0.0, 1.0):
            last_report[0] = time.monotonic()
            connection.send(JobProgress(name, stage, done, note))

    failure = "a defect; its traceback is above"
    try:
        work(say, *arguments)
        failure = ""
    except WebAgentError as error:
        failure = str(error) or type(error).__name__
    finally:
        connection.send(failure)
        connection.close()


def end_with_parent() -> None:
    """Wait for the process that started this one to end, and end."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def stop_processes(processes: Iterable[SpawnProcess]) -> None:
    """Ask them to stop, and kill after ten seconds what still runs."""
    running = [process for process in processes if process.is_alive()]
    for process in running:
        process.terminate()
    deadline = time.monotonic() + 10
    for process in running:
        process.join(max(0.0, deadline - time.monotonic()))
        if process.is_alive():
            process.kill()
            process.join()
