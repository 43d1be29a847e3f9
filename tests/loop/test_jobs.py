"""Jobs in processes of their own: their order, their news and their failures."""

import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from loop.jobs import Job, JobError, JobProgress, ignore_interrupts, run_jobs, start_process
from tests.fakes.jobs import note


def job(folder: Path, name: str, how: str = "well", after: str = "") -> Job:
    """A job that leaves a file called by its name."""
    return Job(name, after, (folder, name, how))


def times(folder: Path, name: str) -> tuple[float, float]:
    """When a job began and ended."""
    began, ended = (folder / name).read_text(encoding="utf-8").split()
    return float(began), float(ended)


@pytest.mark.slow
def test_a_job_begins_when_the_one_it_waits_for_is_done(tmp_path: Path) -> None:
    news: list[JobProgress] = []
    run_jobs([job(tmp_path, "second", after="first"), job(tmp_path, "first")], note, 2, news.append)
    assert times(tmp_path, "first")[1] <= times(tmp_path, "second")[0]
    assert {(n.job, n.stage, n.done) for n in news} >= {
        ("first", "working", 0.0),
        ("second", "working", 1.0),
    }


@pytest.mark.slow
def test_a_job_that_is_ready_early_lets_the_next_begin_before_its_own_end(tmp_path: Path) -> None:
    news: list[JobProgress] = []
    jobs = [job(tmp_path, "first", "is ready early"), job(tmp_path, "second", after="first")]
    run_jobs(jobs, note, 2, news.append)
    assert times(tmp_path, "first")[1] >= times(tmp_path, "second")[1]
    assert {each.stage for each in news} == {"working"}


@pytest.mark.slow
def test_the_sentence_of_a_failed_job_comes_back_and_the_others_are_stopped(tmp_path: Path) -> None:
    jobs = [job(tmp_path, "slow", "hangs"), job(tmp_path, "bad", "fails")]
    with pytest.raises(JobError, match="bad: the page was gone"):
        run_jobs(jobs, note, 2, lambda news: None)
    assert not (tmp_path / "slow").exists()


@pytest.mark.slow
def test_a_defect_is_told_below_its_traceback(tmp_path, capfd):
    with pytest.raises(JobError, match="wrong: a defect; its traceback is above"):
        run_jobs([job(tmp_path, "wrong", "is wrong")], note, 1, lambda news: None)
    assert "IndexError: pop from empty list" in capfd.readouterr().err


@pytest.mark.slow
def test_a_job_that_dies_is_said_to_have_died(tmp_path: Path) -> None:
    with pytest.raises(JobError, match=r"dead ended without a word \(exit status 7\)"):
        run_jobs([job(tmp_path, "dead", "dies")], note, 1, lambda news: None)


def test_an_interrupt_while_a_process_starts_does_not_end_it(tmp_path: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(target=ignore_interrupts)
    start_process(process)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGINT)  # it is still importing what it runs
    process.join(60)
    assert process.exitcode == 0
