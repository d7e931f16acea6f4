"""A classroom: 50 sessions that each choose another head once a second.

To reach on two cores: p95 ≤ 300 ms from the message to the end of the rerun, no error, memory flat.
The clients speak Streamlit's own protocol over websockets and share the machine with the server.
"""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
from pathlib import Path
from time import perf_counter

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from scripts.server import Server
from tests.bench import p50_p95, print_table

SESSIONS = 50
ROUNDS = 20
PACE = 1.0  # seconds between two choices of one session
LAYERS, HEADS = 4, 4


def main() -> None:
    """Measure one session alone, then all together, on the same server."""
    with tempfile.TemporaryFile() as log, Server(log=log) as server:
        asyncio.run(classroom(server, 1, 3))  # the model loads
        rows = []
        for sessions in (1, SESSIONS):
            before = resident_megabytes(server)
            times, errors = asyncio.run(classroom(server, sessions, ROUNDS))
            grown = resident_megabytes(server) - before
            rows.append([sessions, *p50_p95(times), errors, grown])
    print_table(
        "Milliseconds from the choice of a head to the end of the rerun",
        ["sessions", "p50", "p95", "errors", "memory grown, MB"],
        rows,
    )


async def classroom(server: Server, sessions: int, rounds: int) -> tuple[list[float], int]:
    """The times of all sessions in ms, without each one's first, and the number of errors."""
    students = [Student(server.port, number) for number in range(sessions)]
    await asyncio.gather(*(student.attend(rounds) for student in students))
    times = [time for student in students for time in student.times]
    return times, sum(student.errors for student in students)


class Student:
    """One session: it opens the page, then chooses heads at random."""

    def __init__(self, port: int, seed: int) -> None:
        self.address = f"ws://localhost:{port}/_stcore/stream"
        self.random = random.Random(seed)
        self.times: list[float] = []
        self.errors = 0
        self.grid = ""  # the identity that Streamlit gave to the grid of heads
        self.link = ""  # what the address bar would show

    async def attend(self, rounds: int) -> None:
        """Open the page and choose a head `rounds` times, not in step with the others."""
        async with websockets.connect(self.address, max_size=None) as socket:
            await self.rerun(socket, None)
            await asyncio.sleep(self.random.uniform(0, PACE))
            for _ in range(rounds):
                layer, head = self.random.randrange(LAYERS), self.random.randrange(HEADS)
                start = perf_counter()
                await self.rerun(socket, [layer, head])
                self.times.append(1000 * (perf_counter() - start))
                self.errors += f"layer={layer}&head={head}" not in self.link
                await asyncio.sleep(max(0, PACE - (perf_counter() - start)))

    async def rerun(self, socket: websockets.ClientConnection, head: list[int] | None) -> None:
        """Ask for a run of the script, as the browser does, and read all that it sends."""
        message = BackMsg()
        message.rerun_script.query_string = ""
        if head is not None:
            widgets = message.rerun_script.widget_states.widgets
            widgets.add(id=self.grid, json_value="{}")
            event = json.dumps([{"event": "head", "value": head}])
            trigger = f"$$STREAMLIT_INTERNAL_KEY_{self.grid}__events"
            widgets.add(id=trigger, json_trigger_value=event)
        await socket.send(message.SerializeToString())
        async for payload in socket:
            answer = ForwardMsg.FromString(payload)
            self.read(answer)
            if (
                answer.WhichOneof("type") == "script_finished"
                and answer.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
            ):
                return

    def read(self, answer: ForwardMsg) -> None:
        """Notice the grid, the address, and whatever went wrong."""
        element = answer.delta.new_element
        if element.WhichOneof("type") == "exception":
            self.errors += 1
        if element.bidi_component.component_name.endswith("headlight_grid"):
            self.grid = element.bidi_component.id
        if answer.WhichOneof("type") == "page_info_changed":
            self.link = answer.page_info_changed.query_string


def resident_megabytes(server: Server) -> float:
    """The memory of the server's process (Linux)."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


if __name__ == "__main__":
    main()
