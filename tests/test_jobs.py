"""Long work in the page: it tells how far it is, waits its turn, and ends when nobody wants it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from model.errors import HeadlightError
from viz import jobs
from viz.jobs import Job, Line, Progress


class Clock:
    """A clock that stands still until it is moved."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Steps:
    """Work of n steps, each of which waits until it is let go."""

    def __init__(self, n: int) -> None:
        self.n, self._gate = n, threading.Semaphore(0)
        self.closed = threading.Event()

    def __call__(self) -> Iterator[Progress]:
        try:
            for step in range(1, self.n + 1):
                assert self._gate.acquire(timeout=5)
                yield Progress(step / self.n, f"result {step}")
        finally:
            self.closed.set()

    def go(self, n: int = 1) -> None:
        self._gate.release(n)


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 5
    while not holds():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.002)


def ended(job: Job) -> Job:
    until(lambda: job.state not in jobs.UNFINISHED)
    return job


def quick(*found: object) -> Callable[[], Iterator[Progress]]:
    return lambda: (Progress((i + 1) / len(found), each) for i, each in enumerate(found))


def failing(error: Exception) -> Callable[[], Iterator[Progress]]:
    def work() -> Iterator[Progress]:
        yield Progress(0.5, "half")
        raise error

    return work


def test_a_job_gives_its_results_in_order_and_ends_at_one():
    job = ended(Line().start("me", quick("a", None, "b")))
    assert (job.state, job.done, job.found, job.error) == ("done", 1.0, ("a", "b"), None)


def test_a_running_job_shows_what_it_has_so_far():
    work = Steps(4)
    job = Line().start("me", work)
    assert (job.state, job.found, job.ahead) == ("running", (), 0)
    work.go()
    until(lambda: job.found)
    assert (job.state, job.done, job.found) == ("running", 0.25, ("result 1",))
    work.go(3)
    assert len(ended(job).found) == 4


def test_the_time_left_follows_from_the_pace_since_the_first_step():
    clock, work = Clock(), Steps(4)
    job = Line(clock).start("me", work)
    clock.now = 20.0  # getting ready, which says nothing of the pace
    work.go()
    until(lambda: job.done == 0.25)
    assert job.seconds_left is None
    clock.now = 23.0
    work.go()
    until(lambda: job.done == 0.5)
    assert job.seconds_left == pytest.approx(6.0)
    work.go(2)
    assert ended(job).seconds_left is None


def test_a_stopped_job_keeps_what_it_found_and_its_work_ends_at_the_next_step():
    work = Steps(9)
    job = Line().start("me", work)
    work.go()
    until(lambda: job.found)
    job.stop()
    assert job.state == "stopped"
    assert not work.closed.is_set()
    work.go()
    assert work.closed.wait(5)
    assert (job.state, job.done, job.found, job.error) == ("stopped", 1 / 9, ("result 1",), None)


def test_a_job_that_is_done_cannot_be_stopped():
    job = ended(Line().start("me", quick("a")))
    job.stop()
    assert job.state == "done"


def test_a_refusal_is_told_in_its_own_words():
    job = ended(Line().start("me", failing(HeadlightError("take fewer steps"))))
    assert (job.state, job.error, job.found) == ("failed", "take fewer steps", ("half",))


def test_a_mistake_of_ours_is_told_plainly_and_logged(caplog: pytest.LogCaptureFixture):
    job = ended(Line().start("me", failing(KeyError("w_q"))))
    assert job.state == "failed"
    assert "w_q" not in job.error
    assert "KeyError: 'w_q'" in caplog.text


def test_one_job_runs_at_a_time_and_the_others_wait_in_order():
    line, works = Line(), [Steps(1) for _ in range(3)]
    first, second, third = (line.start(f"owner {i}", work) for i, work in enumerate(works))
    works[1].go()
    works[2].go()  # they could, if it were their turn
    assert [job.state for job in (first, second, third)] == ["running", "waiting", "waiting"]
    assert [job.ahead for job in (first, second, third)] == [0, 1, 2]
    second.stop()
    assert third.ahead == 1
    works[0].go()
    assert ended(third).state == "done"
    assert (first.state, second.state, second.found) == ("done", "stopped", ())


def test_the_next_one_runs_after_a_failure():
    line, work = Line(), Steps(1)
    line.start("me", failing(HeadlightError("no")))
    other = line.start("you", work)
    work.go()
    assert ended(other).state == "done"


def test_a_new_job_of_an_owner_stops_the_old_one_and_never_runs_beside_it():
    line, old_work = Line(), Steps(9)
    old = line.start("me", old_work)
    new = line.start("me", quick("new"))
    assert (old.state, new.state, new.ahead) == ("stopped", "waiting", 1)  # up to its next step
    assert line.find("me") is new
    old_work.go()
    assert ended(new).found == ("new",)
    assert old_work.closed.is_set()


def test_a_job_that_nobody_looks_at_stops_and_says_why():
    clock, seen, unseen = Clock(), Steps(3), Steps(3)
    looked_at, forgotten = Line(clock).start("me", seen), Line(clock).start("you", unseen)
    clock.now = jobs.PATIENCE + 1
    looked_at.seen()
    seen.go(3)
    unseen.go(1)
    assert ended(looked_at).state == "done"
    assert ended(forgotten).state == "stopped"
    assert "no page was looking" in forgotten.error
    assert unseen.closed.wait(5)


def test_a_waiting_job_that_nobody_looks_at_is_not_waited_for():
    clock = Clock()
    line, work = Line(clock), Steps(1)
    running, gone, here = (line.start(owner, work) for owner in ("a", "b", "c"))
    clock.now = jobs.PATIENCE + 1
    running.seen()
    here.seen()
    assert here.ahead == 1
    assert gone.state == "stopped"
    running.stop()
    work.go(2)
    assert ended(here).state == "done"


def test_finished_jobs_are_forgotten_oldest_first_and_running_ones_never():
    line, work = Line(), Steps(1)
    running = line.start("running", work)
    for i in range(jobs.MOST_KEPT + 2):
        line.start(f"owner {i}", quick("a")).stop()
    line.start("last", quick("a"))
    assert line.find("running") is running
    assert line.find("owner 0") is line.find("owner 1") is None
    assert line.find("owner 2") is not None
    work.go()
    assert ended(line.find("last")).state == "done"


def test_the_server_has_one_line():
    job = jobs.start("test of the one line", quick("a"))
    assert jobs.find("test of the one line") is job
    assert ended(job).found == ("a",)


def test_one_viewer_of_two_may_leave_and_the_work_goes_on():
    steps = Steps(2)
    job = Line().start("the class", steps)
    job.seen("a student")
    job.seen("another")
    job.leave("a student")
    assert job.state == "running"
    job.leave("another")
    assert job.state == "stopped"
    steps.go()
