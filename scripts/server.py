"""Start the app on a free port, wait until it answers, and end it again."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
APP = "app.py"
START_TIMEOUT = 120  # seconds; a loaded machine with a cold disk needs some of them


def free_port(wanted: int = 0) -> int:
    """`wanted` if nothing listens there, else the next port that is free; 0 asks for any."""
    for port in range(wanted, wanted + 100) if wanted else (0,):
        with socket.socket() as probe:
            # As for a server, a port whose last connections are still closing counts as free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("", port))
            except OSError:
                continue
            return probe.getsockname()[1]
    raise OSError(f"no port is free from {wanted} to {wanted + 99}")


class Server:
    """`streamlit run` of one script as a process of its own; `with Server() as server:` ends it.

    script: what to run, relative to the project's folder; the app starts warm (scripts/serve.py)
    port: 0 takes any free one
    options: further options for `streamlit run`
    log: an open file for what it prints; None leaves it on the terminal
    python_options: options for Python itself, such as ("-X", "importtime")
    """

    def __init__(
        self,
        script: str | Path = APP,
        *,
        port: int = 0,
        options: Sequence[str] = (),
        log: IO[bytes] | None = None,
        python_options: Sequence[str] = (),
    ) -> None:
        self.port = port or free_port()
        self.url = f"http://localhost:{self.port}"
        start = ["scripts.serve"] if script == APP else ["streamlit", "run"]
        command = [sys.executable, *python_options, "-m", *start, str(script)]
        command += ["--server.port", str(self.port), *options]
        stderr = subprocess.STDOUT if log else None
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=stderr)

    def wait_until_healthy(self, timeout: float = START_TIMEOUT) -> float:
        """Wait for the health check's first answer and return when it came (perf_counter)."""
        deadline = time.perf_counter() + timeout
        while time.perf_counter() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(f"streamlit ended at once, with code {self.process.returncode}")
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=5):
                    return time.perf_counter()
            except (urllib.error.URLError, OSError):
                time.sleep(0.05)
        raise TimeoutError(f"{self.url} did not answer within {timeout:.0f} s")

    def stop(self, patience: float = 0) -> None:
        """Give the process `patience` seconds to end by itself, then end it, kindly at first."""
        for end in (None, self.process.terminate, self.process.kill):
            if end:
                end()
            try:
                self.process.wait(timeout=10 if end else patience)
                return
            except subprocess.TimeoutExpired:
                continue

    def __enter__(self) -> Server:
        try:
            self.wait_until_healthy()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()
