"""What the Heads page looks at: from the view's values to a model, a run, a head and a row."""

from __future__ import annotations

from model import roles
from model.config import Config
from model.errors import HeadlightError
from model.language_model import LanguageModel
from model.trace import HeadRef, HeadView, Trace
from viz import cache, state
from viz.examples import EXAMPLES, Example

PROMPT = "Type a sentence, or take one of the examples."


def model_choice() -> cache.ModelChoice:
    """The model that the view asks for, with its shape if it is a blank one."""
    name = state.get("model")
    if name != "blank":
        return cache.ModelChoice(name)
    config = Config(
        n_layers=state.get("layers"),
        n_heads=state.get("heads"),
        d_model=state.get("d_model"),
        d_k=state.get("d_k"),
        positions=state.get("positions"),
        norm=state.get("norm"),
        scaled=state.get("scale") == "on",
    )
    return cache.ModelChoice(name, config, state.get("seed"))


def run_text(choice: cache.ModelChoice) -> cache.Run | None:
    """The typed text, run; None, with a sentence on the page, where there is nothing to run."""
    text = state.get("text")
    if not text.strip():
        state.note(PROMPT)
        return None
    try:
        return cache.run(choice, text)
    except HeadlightError as error:
        state.note(str(error))
        return None


def view_of(run: cache.Run, ref: HeadRef) -> HeadView | None:
    """The chosen head; None, with a sentence on the page, if its numbers cannot be shown."""
    try:
        return run.head(ref)
    except HeadlightError as error:
        state.note(str(error))
        return None


def chosen(model: LanguageModel, run: Trace) -> tuple[HeadRef, int]:
    """The head and the row to show: those of the link, else those that show the model at its best.

    What does not exist here (another model, a shorter text) falls back, with a note.
    """
    (kind,) = run.kinds
    n_layers, n_heads = model.info.n_layers[kind], model.info.n_heads[kind]
    layer, head, query = (state.get(name) for name in ("layer", "head", "query"))
    opening = _opening_example(state.get("text"))
    if layer is None or head is None:
        best = best_head(model, opening.role)
        layer = best.layer if layer is None else layer
        head = best.head if head is None else head
    n_rows = len(run.labels[kind])
    if query is None:
        row = _last_row(run, opening.token) if opening.text == state.get("text") else None
        query = n_rows - 1 if row is None else row
    layer = _within("layer", layer, n_layers, model.info.name)
    head = _within("head", head, n_heads, model.info.name)
    query = _within("token", query, n_rows, "this text")
    state.fill(layer=layer, head=head, query=query)
    return HeadRef(kind, layer, head), query


def _within(name: str, number: int, count: int, owner: str) -> int:
    if number < count:
        return number
    state.note(f"There is no {name} {number} in {owner}: its {name}s go from 0 to {count - 1}.")
    return count - 1


def _opening_example(text: str) -> Example:
    return next((example for example in EXAMPLES if example.text == text), EXAMPLES[0])


def best_head(model: LanguageModel, role: str) -> HeadRef:
    """The head that does best in a role; the first head of a model without measured roles."""
    (kind,) = model.info.kinds
    return roles.best_head(model.roles, role) or HeadRef(kind, 0, 0)


def _last_row(run: Trace, label: str) -> int | None:
    (kind,) = run.kinds
    rows = [row for row, shown in enumerate(run.labels[kind]) if shown == label]
    return rows[-1] if rows else None


def use_example(example: Example, model: LanguageModel) -> None:
    """Takes an example's text, with the head that does best in its role."""
    best = best_head(model, example.role)
    state.put(text=example.text, layer=best.layer, head=best.head, query=None)
