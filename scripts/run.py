"""Start Headlight and open it in the browser: python -m scripts.run [PORT]"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys

from scripts.server import Server, free_port

DEFAULT_PORT = 8501


def main() -> int:
    """Run the app until it ends or Ctrl-C is pressed; return the exit code."""
    parser = argparse.ArgumentParser(description="Start Headlight and open it in the browser.")
    parser.add_argument("port", nargs="?", type=int, default=DEFAULT_PORT)
    wanted = parser.parse_args().port
    try:
        port = free_port(wanted)
    except (OSError, OverflowError) as error:
        parser.error(str(error))
    if port != wanted:
        print(f"Port {wanted} is taken; using {port}.", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    # One line of our own greets instead of Streamlit's three.
    options = ["--logger.hideWelcomeMessage", "true", "--logger.level", "warning"]
    return serve(Server(port=port, options=options))


def serve(server: Server) -> int:
    """Announce the server once it answers, and stay until it ends; return its exit code."""
    try:
        server.wait_until_healthy()
        print(f"Headlight is at {server.url} (Ctrl-C ends it)", flush=True)
        open_in_browser(server.url)
        return server.process.wait()
    except KeyboardInterrupt:
        # Ctrl-C reached the server as well; a second one, pressed in impatience, changes nothing.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return 0
    except (RuntimeError, TimeoutError) as error:
        print(f"headlight: {error}", file=sys.stderr)
        return 1
    finally:
        server.stop(patience=3)


def open_in_browser(url: str) -> None:
    """Open a page where there is a display; say nothing where there is none, or if it fails."""
    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        return
    # A process of its own: what a missing or broken browser prints stays out of the terminal.
    quiet = subprocess.DEVNULL
    subprocess.Popen(
        [sys.executable, "-m", "webbrowser", url], stdin=quiet, stdout=quiet, stderr=quiet
    )


if __name__ == "__main__":
    sys.exit(main())
