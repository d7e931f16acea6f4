"""What seeing costs: a traced forward pass against the plain one, and all heads at a glance.

To reach: traced ≤ 1.1 × untraced, memory ≤ 1.05 × the bytes of q, k and v, and the overview of
12 × 12 heads at n = 1,024 in ≤ 1 s on one thread.
"""

from __future__ import annotations

import torch

from model import zoo
from model.config import Config
from model.trace import Trace
from tests.bench import print_table, ratio, seconds

LENGTHS = (128, 256, 512, 1024)


def main() -> None:
    """Measure on a blank model of GPT-2's shape, one thread."""
    torch.set_num_threads(1)
    model = zoo.blank(Config(n_layers=12, n_heads=12, d_model=768, n_ctx=max(LENGTHS)))
    generator = torch.Generator().manual_seed(0)
    rows = []
    for n in LENGTHS:
        ids = torch.randint(model.net.config.vocab_size, (n,), generator=generator).tolist()
        rows.append([n, slowdown(model, ids), memory(model.trace_ids({"decoder": ids}))])
    print_table(
        "A traced forward pass, 12 layers of 12 heads, d_model 768",
        ["n", "time / untraced", "bytes held / bytes of q, k, v"],
        rows,
    )
    trace = model.trace_ids({"decoder": ids})
    forward = seconds(lambda: model.trace_ids({"decoder": ids}))
    overview = seconds(lambda: trace.overview("decoder"))
    print_table(
        f"All {12 * 12} heads at a glance, n = {n}",
        ["overview", "overview / forward pass"],
        [[f"{overview:.2f} s", overview / forward]],
    )


def slowdown(model: zoo.LanguageModel, ids: list[int]) -> float:
    """How many times as long as the plain forward pass the traced one takes."""

    def untraced() -> None:
        with torch.inference_mode():
            model.net(torch.tensor([ids]))

    return ratio(lambda: model.trace_ids({"decoder": ids}), untraced)


def memory(trace: Trace) -> float:
    """The bytes that a trace's attention holds, over the bytes of its q, k and v."""
    tensors = [(a.q, a.k, a.v, a.mask) for a in trace.attentions.values()]
    held = {
        t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for a in tensors for t in a
    }
    needed = sum(t.numel() * t.element_size() for a in tensors for t in a[:3])
    return sum(held.values()) / needed


if __name__ == "__main__":
    main()
