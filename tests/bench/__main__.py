"""Run every benchmark, one after the other: python -m tests.bench"""

from __future__ import annotations

from importlib import import_module

BENCHMARKS = ("trace", "first_thumbnail", "interaction", "sessions", "sweep")

if __name__ == "__main__":
    for name in BENCHMARKS:
        import_module(f"tests.bench.{name}").main()
