"""The pages as Streamlit runs them, without a browser: wiring, links, and any text."""

from __future__ import annotations

from urllib.parse import parse_qs, quote, urlsplit

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import zoo
from model.trace import HeadRef
from tests.app import TIMEOUT, link_of, run_with_link
from viz import cache, state
from viz.examples import EXAMPLES
from viz.pages import PAGES
from viz.pages.head_views import VIEWS


def opened(**link: str) -> AppTest:
    """The app, opened by a link with these values."""
    return run_with_link(AppTest.from_file("../app.py", default_timeout=TIMEOUT), link)


def html_of(app: AppTest) -> str:
    return " ".join(element.proto.body for element in app.get("html"))


def test_the_first_page_asks_its_question():
    assert PAGES[0].question in html_of(opened())


@pytest.mark.parametrize("name", zoo.names())
def test_every_model_opens(name: str):
    app = opened(model=name)
    assert link_of(app)["model"] == name
    assert "Next token after" in html_of(app)


@pytest.mark.parametrize("view", state.VIEWS)
def test_every_view_opens_from_a_link(view: str):
    assert link_of(opened(view=view)).get("view", "Map") == view


def test_each_view_has_the_table_of_its_own_numbers():
    shown = {}
    for view in state.VIEWS:
        app = opened(view=view, query="6")
        app.session_state["tools-table"] = True
        app.run()
        shown[view] = app.dataframe[0].value
    assert shown["Map"].equals(shown["Lines"])
    assert list(shown["Stages"].columns) == ["q·k", "score", "weight"]
    assert shown["Stages"]["weight"].sum() == pytest.approx(1, abs=1e-5)
    row = shown["Map"].iloc[6].to_numpy(float)
    np.testing.assert_allclose(shown["Stages"]["weight"], row, atol=1e-6)


def test_each_view_has_the_file_of_its_own_numbers():
    run = cache.run(cache.ModelChoice("writer"), "The dog sleeps.")
    view = run.head(HeadRef("decoder", 2, 1))
    n = len(view.query_tokens)
    files = {name: each.csv(run, view) for name, each in VIEWS.items()}
    np.testing.assert_array_equal(files["Map"].to_numpy()[view.mask], view.weights[view.mask])
    lines = files["Lines"]
    assert len(lines) == view.mask.sum()
    for head in range(4):
        other = run.head(HeadRef("decoder", 2, head)).weights[view.mask]
        np.testing.assert_array_equal(lines[f"head {head}"], other)
    stages = files["Stages"]
    assert len(stages) == n * n
    np.testing.assert_array_equal(stages["q·k"], view.raw_scores.flatten())
    assert stages["weight"].isna().sum() == (~view.mask).sum()


def test_a_link_gives_the_view_back():
    wanted = {"model": "writer", "text": "The dog sleeps.", "layer": "3", "head": "1", "query": "2"}
    assert link_of(opened(**wanted)) == wanted


@pytest.mark.parametrize(
    ("name", "value"),
    [("model", "nonsense"), ("layer", "-1"), ("head", "x"), ("query", "1e3"), ("view", "<b>")],
)
def test_a_bad_value_in_a_link_falls_back(name: str, value: str):
    link = link_of(opened(**{name: value}))
    assert link.get(name) != value


@pytest.mark.parametrize(("name", "value"), [("layer", "99"), ("head", "99"), ("query", "99")])
def test_a_number_that_does_not_exist_here_falls_back_to_the_last(name: str, value: str):
    assert int(link_of(opened(**{name: value}))[name]) < 20


@pytest.mark.parametrize(
    "text", ["", "   ", "a", "💩", "שלום עולם", "<s> </s> <b>x</b>", "$x^2$", "\n\n", "x" * 100_000]
)
@pytest.mark.parametrize("view", state.VIEWS)
def test_any_text_gives_a_picture_or_a_sentence(text: str, view: str):
    app = opened(text=text, view=view)
    assert not app.error


def go_back(app: AppTest, link: dict[str, str]) -> AppTest:
    """What the Back button does: another address, and a run that nothing on the page asked for."""
    app.query_params.clear()
    for name, value in link.items():
        app.query_params[name] = value
    return app.run()


def test_back_brings_the_last_view_and_stays_on_its_address():
    app = opened(model="blank", text="The dog sleeps.", d_k="5")
    before = link_of(app)
    app.slider(key="d_k").set_value(7).run()
    assert link_of(app)["d_k"] == "7"
    go_back(app, before)
    assert app.slider(key="d_k").value == 5
    assert link_of(app) == before


def test_back_to_an_address_without_a_view_shows_the_opening_one():
    app = opened(text="The dog sleeps.", view="Lines")
    link = link_of(go_back(app, {}))
    assert link["text"] == state.OPENING_TEXT and "view" not in link


def test_a_text_that_no_link_can_hold_comes_back_too():
    app = opened(text="word " * 1000)
    long = link_of(app)
    app.session_state["examples"] = True
    app.run().button(key=f"example-{EXAMPLES[0].title}").click().run()
    assert link_of(app)["text"] == EXAMPLES[0].text
    go_back(app, long)
    assert app.session_state["view.text"] == "word " * 1000


def test_a_click_that_comes_with_the_address_before_is_not_taken_for_back():
    app = opened(model="blank", text="The dog sleeps.", d_k="5")
    before = link_of(app)
    app.slider(key="d_k").set_value(7).run()
    app.query_params["d_k"] = before["d_k"]
    app.slider(key="layers").set_value(2).run()
    assert (link_of(app)["d_k"], link_of(app)["layers"]) == ("7", "2")


def test_a_text_too_long_for_a_link_stays_out_of_it():
    assert "text" not in link_of(opened(text="word " * 1000))


def test_blank_is_built_in_the_shape_of_the_link():
    app = opened(model="blank", layers="2", heads="3", d_model="48", d_k="5", positions="rope")
    link = link_of(app)
    assert (link["layers"], link["heads"], link["d_model"], link["d_k"]) == ("2", "3", "48", "5")
    assert link["positions"] == "rope"
    app.slider(key="d_k").set_value(7).run()
    assert not app.exception
    assert link_of(app)["d_k"] == "7"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.title)
def test_every_example_opens_on_its_token(example):
    app = opened()
    app.session_state["examples"] = True  # the popover is open
    app.run().button(key=f"example-{example.title}").click().run()
    assert not app.exception
    link = link_of(app)
    assert link["text"] == example.text
    assert f"<code>{example.token}</code>" in html_of(app)


def test_the_address_is_one_that_the_app_reads_back():
    text = 'a & b = "c" #1 – ü'
    address = f"http://localhost/?text={quote(text)}"
    assert parse_qs(urlsplit(address).query)["text"] == [text]
    assert link_of(opened(text=text))["text"] == text
