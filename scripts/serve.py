"""`streamlit run`, with what the first page needs loaded while the server starts.

Torch, Plotly and the writer take seconds to load, and so do the server, the browser and the page's
own JavaScript; a person waits for the longer of the two instead of for their sum. The page finds
everything in place, or waits for what is still being loaded.

Arguments are those of `streamlit run`: python -m scripts.serve app.py --server.port 8501
"""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress

from streamlit import runtime
from streamlit.web import cli


def warm_up() -> None:
    """Imports the first page and runs the opening text, so that the cache holds both."""
    from model.errors import HeadlightError
    from viz import cache, state
    from viz.pages import PAGES

    with suppress(HeadlightError):  # the page will say it, with the remedy
        cache.run(cache.ModelChoice(state.FIELDS["model"].default), state.OPENING_TEXT)
    while not runtime.exists():  # its caches would warn that there is none
        time.sleep(0.05)
    PAGES[0].load()


if __name__ == "__main__":
    # Threads take turns more often than every 5 ms: else each of the page's hundred files waits for
    # the imports several times, and later one session for the other.
    sys.setswitchinterval(0.0005)
    threading.Thread(target=warm_up, daemon=True).start()
    sys.argv[1:1] = ["run"]
    cli.main(prog_name="streamlit")
