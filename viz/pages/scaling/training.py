"""Training: pairs of models with and without the division by √d_k, trained while one looks on."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import streamlit as st

from model import measures
from model.config import NORMS
from model.twins import D_KS, Point, Setting, Twin, at_start, train_twins
from viz import jobs, show, state
from viz.cache import remembered
from viz.figures.twins import AtStart, Lines, twins
from viz.pages.sections import Numbers, Section, beside, lead, notice, picture, scaled, unscaled
from viz.theme import Palette

INITS = {"unit": "unit variance", "small": "GPT-2 (0.02)"}
STEPS = (50, 100, 200, 400)
MOST_PUBLIC_STEPS = 100  # where a server is shared by strangers (HEADLIGHT_PUBLIC=1)
TITLES = {
    "entropy": "entropy, as a share of the largest",
    "saturated": "share of saturated rows",
    "gradient": "gradient of the query and key weights",
    "gradient_all": "steepest gradient of all weights",
}
BELOW = {"start": "where they start", **TITLES}
POLL = 1.0  # seconds
HARDLY = 0.1  # nats: a gap below it is none to speak of

Points = Sequence[Mapping[Twin, Point]]


def draw(colours: Palette) -> Numbers | None:
    """Draws the section."""
    left, right = beside()
    with left:
        setting = _setting()
        job = jobs.find(repr(setting))
        watching = job is not None and job.state in jobs.UNFINISHED and _watched(setting)
        _start_or_stop(setting, job, watching)
        # What a fragment within a fragment has drawn is left standing when it is not run again:
        # this place is emptied in every run.
        place = st.empty()
        if watching:
            with place.container():
                st.fragment(_progress, run_every=POLL)(setting)
    with right:
        if watching:
            st.fragment(_follow, run_every=POLL)(setting, colours)
            return None
        points = job.found if job is not None else ()
        if job is not None and job.error:
            state.note(job.error)
        return _picture(setting, points or (_start(setting.init, setting.norm),), colours)


# --- controls ------------------------------------------------------------------------------------


def _setting() -> Setting:
    lead(
        "Pairs of models: same seed, same start, same texts. Only the factor 1/\u2060√d_k differs. "
        "2 layers of 2 heads."
    )
    st.segmented_control(
        "weights at the start",
        list(INITS),
        format_func=INITS.get,
        required=True,
        **state.widget("init"),
    )
    with st.container(horizontal=True):
        st.segmented_control("LayerNorm", NORMS, required=True, **state.widget("twin_norm"))
        steps = [n for n in STEPS if not _is_public() or n <= MOST_PUBLIC_STEPS]
        if state.get("steps") not in steps:
            state.fill(steps=steps[-1])
        st.segmented_control("steps", steps, required=True, **state.widget("steps"))
    st.selectbox("below the loss", list(BELOW), format_func=BELOW.get, **state.widget("below"))
    return Setting(init=state.get("init"), norm=state.get("twin_norm"), steps=state.get("steps"))


def _is_public() -> bool:
    return os.environ.get("HEADLIGHT_PUBLIC") == "1"


def _start_or_stop(setting: Setting, job: jobs.Job | None, watching: bool) -> None:
    if watching:
        st.button("Stop", on_click=_stop, args=(job,))
    elif job is not None and job.state == "done":
        # Training anew would give the same numbers, and take them away from whoever reads them.
        lead("Trained. Other settings can be trained too.")
    else:
        st.button("Train the pairs", type="primary", on_click=_train, args=(setting,))


def _train(setting: Setting) -> None:
    """Starts a job, or joins the one that somebody else has started with the same setting."""
    state.touch()
    before = st.session_state.get("twins watched")
    if before is not None and before != setting and (other := jobs.find(repr(before))) is not None:
        other.leave(_me())
    st.session_state["twins watched"] = setting
    job = jobs.find(repr(setting))
    if job is None or job.state not in (*jobs.UNFINISHED, "done"):
        job = jobs.start(repr(setting), lambda: _work(setting))
    job.seen(_me())


def _stop(job: jobs.Job) -> None:
    state.touch()
    st.session_state.pop("twins watched", None)
    job.leave(_me())


def _watched(setting: Setting) -> bool:
    return st.session_state.get("twins watched") == setting


def _me() -> str:
    return st.session_state.setdefault("twins viewer", uuid.uuid4().hex)


def _work(setting: Setting) -> Iterator[jobs.Progress]:
    for step, points in train_twins(setting):
        yield jobs.Progress(step / setting.steps, points)


# --- what is seen --------------------------------------------------------------------------------


def _follow(setting: Setting, colours: Palette) -> None:
    """While it trains: the curves so far."""
    job = jobs.find(repr(setting))
    found = job.found if job is not None else ()
    _picture(setting, found or (_start(setting.init, setting.norm),), colours)


def _progress(setting: Setting) -> None:
    """How far it is; at the end the page is drawn as it is without training."""
    job = jobs.find(repr(setting))
    if job is None or job.state not in jobs.UNFINISHED:
        st.rerun()
    job.seen(_me())
    st.progress(job.done, _how_far(job, setting))


def _how_far(job: jobs.Job, setting: Setting) -> str:
    ahead, seconds = job.ahead, job.seconds_left  # read once: they change while the page is drawn
    if ahead:
        others = f"{ahead} other{'' if ahead == 1 else 's'}"
        return f"Waiting for {others} to finish training on this server …"
    left = "" if seconds is None else f", about {seconds:.0f} s left"
    return f"Step {round(job.done * setting.steps)} of {setting.steps}{left}"


@remembered
def _start(init: str, norm: str) -> dict[Twin, Point]:
    return dict(at_start(Setting(init=init, norm=norm)))


def _picture(setting: Setting, points: Points, colours: Palette) -> Numbers:
    loss = _lines("loss", points, setting)
    below = state.get("below")
    second = _before(points[0]) if below == "start" else _lines(below, points, setting)
    picture(
        twins(D_KS, loss, second, colours),
        alt="Loss over the steps of three pairs of models, with and without the scale, "
        f"and below it {BELOW[below]}",
    )
    notice(what_to_notice(points, setting))
    columns = {
        f"{name}, d_k {d_k}, {'scaled' if divided else 'unscaled'}": np.array(
            [getattr(at[d_k, divided], name) for at in points]
        )
        for name in ("loss", *TITLES)
        for d_k in D_KS
        for divided in (True, False)
    }
    steps = [str(_step(at)) for at in points]
    return Numbers(
        table=lambda: show.columns_table(columns, steps, "step"),
        arrays=lambda: {"step": np.array(list(map(int, steps))), **columns},
        code=(train_twins, Setting, measures.jacobian_norm),
    )


def _step(points: Mapping[Twin, Point]) -> int:
    return next(iter(points.values())).step


def _lines(name: str, points: Points, setting: Setting) -> Lines:
    return Lines(
        TITLES.get(name, name),
        np.array([_step(at) for at in points]),
        {
            (d_k, divided): np.array([getattr(at[d_k, divided], name) for at in points])
            for d_k in D_KS
            for divided in (True, False)
        },
        setting.steps,
    )


def _before(points: Mapping[Twin, Point]) -> list[AtStart]:
    def of(name: str, title: str, form: str = ".2f") -> AtStart:
        return AtStart(title, {tuple(twin): getattr(p, name) for twin, p in points.items()}, form)

    return [
        of("largest", "largest weight, before training"),
        of("saturated", "saturated rows, before training", ".0%"),
        of("gradient", "gradient of W_q, W_k, at step 0"),
    ]


def what_to_notice(points: Points, setting: Setting) -> str:
    """What the missing factor costs, and what does and does not vanish without it."""
    first, last = points[0], points[-1]
    scaled_one, unscaled_one = first[D_KS[-1], True], first[D_KS[-1], False]
    if len(points) < 2:
        return (
            f"At d_k = {D_KS[-1]}, before any training, the unscaled scores spread by "
            f"{unscaled(unscaled_one.score_std, '.2f')}, the scaled ones by "
            f"{scaled(scaled_one.score_std, '.2f')}. There "
            f"{_gradients(scaled_one, unscaled_one)}: {_saturated(unscaled_one)}."
        )
    return (
        f"{_cost(first, last)}. At d_k = {D_KS[-1]} "
        f"{_gradients(scaled_one, unscaled_one)}: {_saturated(last[D_KS[-1], False])}."
    )


def _cost(first: Mapping[Twin, Point], last: Mapping[Twin, Point]) -> str:
    """How far apart the pairs are after the last step, and whether the unscaled ones learn."""
    gaps = [last[d_k, False].loss - last[d_k, True].loss for d_k in D_KS]
    losses = [last[d_k, True].loss for d_k in D_KS]
    steps = f"{_step(last)} step{'' if _step(last) == 1 else 's'}"
    stand = f"After {steps} the scaled models have a loss of {_to(losses, scaled)}"
    if max(map(abs, gaps)) < HARDLY:
        return f"{stand}; to leave the scale out has hardly mattered so far"
    fell = min(first[d_k, False].loss - last[d_k, False].loss for d_k in D_KS)
    learn = "though they all learn" if fell > HARDLY else "and they do not all learn"
    return f"{stand}, the unscaled ones {_gap(gaps)}, {learn}"


def _gap(gaps: Sequence[float]) -> str:
    """By how much the unscaled losses are larger, which need not be all of them."""
    low, high = round(min(gaps), 2), round(max(gaps), 2)
    if low >= 0:
        return f"of {_to(gaps, unscaled)} more"
    if high <= 0:
        return f"of {_to([-gap for gap in gaps], unscaled)} less"
    return f"between {unscaled(-low, '.2f')} less and {unscaled(high, '.2f')} more"


def _to(values: Sequence[float], colour: Callable[[float, str], str]) -> str:
    ends = dict.fromkeys(abs(round(end, 2)) for end in (min(values), max(values)))
    return " to ".join(colour(end, ".2f") for end in ends)


def _gradients(scaled_one: Point, unscaled_one: Point) -> str:
    """What becomes of the gradient of W_q and W_k at step 0."""
    size = f"{unscaled(unscaled_one.gradient, '.2g')} against {scaled(scaled_one.gradient, '.2g')}"
    if unscaled_one.gradient < scaled_one.gradient:
        return f"the weights’ gradient at step 0 is smaller without it ({size})"
    return f"the weights’ gradients do <i>not</i> vanish ({size} at step 0)"


def _saturated(unscaled_one: Point) -> str:
    """What becomes of the softmax's Jacobian."""
    if unscaled_one.saturated == 0:
        return "nor is any row saturated"
    share = unscaled(unscaled_one.saturated, "%")
    return f"what dies is the softmax’s Jacobian, in {share} of the rows"


SECTION = Section(
    "training",
    "Training",
    "Does it matter once the model trains?",
    draw,
    {
        "init": state.Field("unit", state.one_of(INITS)),
        "twin_norm": state.Field("pre", state.one_of(NORMS)),
        "steps": state.Field(100, state.one_of_numbers(STEPS)),
        "below": state.Field("start", state.one_of(BELOW)),
    },
)
