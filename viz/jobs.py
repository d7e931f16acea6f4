"""Long work in the page: it runs beside the page, says how far it is and can be stopped.

The work is an iterator that yields after each small step; a thread consumes it while the page polls
the job. One job runs at a time on the whole server, the others wait in order, so that training
leaves the other sessions a core. Nobody tells a server that a browser window was closed: a job that
no page has looked at for a while stops by itself.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from model.errors import HeadlightError

PATIENCE = 90.0  # seconds for which a job goes on unseen; browsers let hidden tabs ask rarely
MOST_KEPT = 32  # finished jobs whose results are kept, of all sessions
UNFINISHED = ("waiting", "running")
_NOBODY = ""

_log = logging.getLogger(__name__)


class Progress(NamedTuple):
    """One step of some work. done: how much of the whole, 0 to 1. found: a result, or None."""

    done: float
    found: Any = None


Work = Callable[[], Iterator[Progress]]


class Job:
    """Some work of one owner, as the page sees it; made by `start`.

    state: "waiting" for its turn, "running", "done", "stopped" or "failed"
    done: 0 to 1   error: a sentence where it failed or stopped by itself, or None
    """

    def __init__(self, owner: str, work: Work, line: Line) -> None:
        self.owner, self.state, self.done = owner, "waiting", 0.0
        self.error: str | None = None
        self._work, self._line = work, line
        self._found: list[Any] = []
        self._first: tuple[float, float] | None = None  # when the first step was done, and how much
        self._looked_at = {_NOBODY: line.clock()}  # by viewer, none of whom has looked yet

    @property
    def found(self) -> tuple[Any, ...]:
        """All results so far, in order."""
        with self._line.lock:
            return tuple(self._found)

    @property
    def ahead(self) -> int:
        """How many jobs stand before this one, the running one among them; 0 once it runs."""
        return self._line.before(self)

    @property
    def seconds_left(self) -> float | None:
        """An estimate from the pace so far; None where there is none yet, or nothing is left."""
        with self._line.lock:
            if self.state != "running" or self._first is None:
                return None
            began, share = self._first
            if self.done <= share:
                return None
            return (self._line.clock() - began) / (self.done - share) * (1 - self.done)

    def seen(self, viewer: str = "somebody") -> None:
        """A viewer is still looking: to be called at each poll."""
        with self._line.lock:
            self._looked_at[viewer] = self._line.clock()
            self._looked_at.pop(_NOBODY, None)

    def leave(self, viewer: str) -> None:
        """One viewer has seen enough; it stops unless others are still looking."""
        with self._line.lock:
            self._looked_at.pop(viewer, None)
            if not self._is_watched():
                self.stop()

    def stop(self) -> None:
        """Ends it with what it has found so far; the thread notices at its next step."""
        with self._line.lock:
            if self.state in UNFINISHED:
                self.state = "stopped"

    def _run(self) -> None:
        """The thread: takes one step after another while the state allows it."""
        try:
            for progress in self._work():
                if not self._goes_on(progress):
                    break
            self._end("done")
        except HeadlightError as refusal:
            self._end("failed", str(refusal))
        except Exception:
            _log.exception("The work of a page failed")
            self._end("failed", "Something went wrong here, and the server's log says what.")
        finally:
            self._line.leave()

    def _goes_on(self, progress: Progress) -> bool:
        with self._line.lock:
            if self.state == "running":
                self.done = progress.done
                self._first = self._first or (self._line.clock(), progress.done)
                if progress.found is not None:
                    self._found.append(progress.found)
                self._stop_if_abandoned()
            return self.state == "running"

    def _stop_if_abandoned(self) -> None:
        if not self._is_watched():
            self._end("stopped", "It stopped, as no page was looking at it: start it again.")

    def _is_watched(self) -> bool:
        now = self._line.clock()
        return any(now - looked < PATIENCE for looked in self._looked_at.values())

    def _end(self, state: str, error: str | None = None) -> None:
        with self._line.lock:
            if self.state in UNFINISHED:
                self.state, self.error = state, error
                self.done = 1.0 if state == "done" else self.done


class Line:
    """Who runs and who waits; the server has one. clock: seconds, for tests."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock, self.lock = clock, threading.RLock()
        self._running: Job | None = None
        self._jobs: dict[str, Job] = {}  # the last one of each owner, in the order of their start

    def start(self, owner: str, work: Work) -> Job:
        """Puts work at the end of the line. It replaces the owner's last job, which is stopped."""
        with self.lock:
            last = self._jobs.pop(owner, None)
            if last is not None:
                last.stop()
            job = self._jobs[owner] = Job(owner, work, self)
            self._forget()
            self._advance()
            return job

    def find(self, owner: str) -> Job | None:
        """The last job of an owner; None if there is none, or it ended so long ago."""
        return self._jobs.get(owner)

    def before(self, job: Job) -> int:
        """How many have their turn before a waiting job; 0 for any other."""
        with self.lock:
            waiting = self._waiting()
            if job not in waiting:
                return 0
            one_runs = self._running is not None  # even a stopped one, up to the end of its step
            return waiting.index(job) + one_runs

    def leave(self) -> None:
        """The running job has ended: the next may begin."""
        with self.lock:
            self._running = None
            self._advance()

    def _advance(self) -> None:
        waiting = self._waiting()
        if self._running is None and waiting:
            job = self._running = waiting[0]
            job.state = "running"
            threading.Thread(target=job._run, name=f"job of {job.owner}", daemon=True).start()

    def _waiting(self) -> list[Job]:
        for job in self._jobs.values():
            job._stop_if_abandoned()
        return [job for job in self._jobs.values() if job.state == "waiting"]

    def _forget(self) -> None:
        ended = [owner for owner, job in self._jobs.items() if job.state not in UNFINISHED]
        for owner in ended[: max(0, len(ended) - MOST_KEPT)]:
            del self._jobs[owner]


_line = Line()
start, find = _line.start, _line.find
