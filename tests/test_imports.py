"""The house stays in order: numbers, pictures and pages import each other in one direction only."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OURS = {"app", "model", "viz", "scripts", "tests"}
FILES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in [ROOT / "app.py", *ROOT.glob("model/**/*.py"), *ROOT.glob("viz/**/*.py")]
    if path.exists()
)

MAY_IMPORT_STREAMLIT = ("app.py", "viz/state.py", "viz/cache.py", "viz/show.py")
MAY_IMPORT_STREAMLIT_BELOW = ("viz/components/", "viz/pages/")
FIGURES_MAY_IMPORT = ("model.trace", "model.measures", "viz.theme", "viz.figures")


def imports(source: str, package: str) -> Iterator[str]:
    """The full names of all that a module imports directly, wherever in the file it does."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:  # from . import x
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base]).rstrip(".")
            # Whether `b` of `from a import b` is a module or a name in one, "a.b" says it all.
            yield from (f"{base}.{alias.name}" for alias in node.names)


def imported(file: str) -> set[str]:
    path = ROOT / file
    package = ".".join(path.relative_to(ROOT).parent.parts)
    return set(imports(path.read_text(encoding="utf-8"), package))


def is_within(name: str, module: str) -> bool:
    return name == module or name.startswith(module + ".")


def test_imports_are_read_in_every_form():
    source = (
        "import a.b\nfrom c import d\nfrom . import e\nfrom ..f import g\ndef h():\n    import i"
    )
    assert set(imports(source, "viz.pages")) == {"a.b", "c.d", "viz.pages.e", "viz.f.g", "i"}


@pytest.mark.parametrize("file", [f for f in FILES if f.startswith("model/")])
def test_numbers_know_nothing_of_pictures(file: str):
    for name in imported(file):
        top = name.split(".")[0]
        assert top not in OURS - {"model"}, f"{file} imports {name}: model stands alone"
        assert top not in {"plotly", "streamlit"}, f"{file} imports {name}: a picture's package"


@pytest.mark.parametrize("file", [f for f in FILES if f.startswith("viz/figures/")])
def test_figures_take_plain_data(file: str):
    for name in imported(file):
        top = name.split(".")[0]
        assert top not in {"torch", "streamlit"}, f"{file} imports {name}, not plain data"
        if top in OURS:
            assert any(is_within(name, module) for module in FIGURES_MAY_IMPORT), (
                f"{file} imports {name}; figures import only {', '.join(FIGURES_MAY_IMPORT)}"
            )


@pytest.mark.parametrize("file", FILES)
def test_streamlit_stays_in_its_rooms(file: str):
    if file in MAY_IMPORT_STREAMLIT or file.startswith(MAY_IMPORT_STREAMLIT_BELOW):
        return
    assert not any(is_within(name, "streamlit") for name in imported(file))


@pytest.mark.parametrize("file", FILES)
def test_transformers_is_imported_by_one_module_alone(file: str):
    if file == "model/huggingface.py":
        return
    assert not any(is_within(name, "transformers") for name in imported(file))


def test_the_first_page_starts_without_transformers_and_pandas():
    """Importing them takes seconds, for those who want such a model and those who open a table."""
    program = (
        "import sys, threading\n"
        "from streamlit.testing.v1 import AppTest\n"
        "app = AppTest.from_file('app.py', default_timeout=120).run()\n"
        "for thread in threading.enumerate():\n"
        "    if thread is not threading.current_thread() and not thread.daemon: thread.join()\n"
        "assert not app.exception, app.exception\n"
        "print({'transformers', 'pandas'} & set(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.stdout.split("\n")[-2:] == ["set()", ""], done.stdout + done.stderr
