"""The app as Streamlit runs it, without a browser: opened by a link, and what its address says."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

TIMEOUT = 120


def run_with_link(app: AppTest, link: dict[str, str]) -> AppTest:
    """Runs an app that was opened by a link with these values; it shows no exception."""
    for name, value in link.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception, app.exception
    return app


def link_of(app: AppTest) -> dict[str, str]:
    """The address as it stands after the run."""
    given = dict(app.query_params.items())
    return {name: value if isinstance(value, str) else value[0] for name, value in given.items()}
