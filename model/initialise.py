"""How the weights of a compact Transformer are drawn. Every number comes from the seed given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from model.transformer import Stack, Transformer

CALIBRATION_TOKENS = 96


def unit_variance(net: Transformer, seed: int) -> None:
    """Draws weights so that the entries of q and k have variance 1, as the √d_k argument assumes.

    Every matrix is N(0, 1 / fan_in), biases are 0, and what enters block 0 has variance 1. That
    alone gives variance 1 on average over draws; a narrow head (d_k = 1) may still be far off, so
    W_q and W_k are then scaled, layer by layer, to variance 1 on a made-up text (after the
    layer-sequential unit variance of Mishkin & Matas 2016).
    Source of the assumption: Vaswani et al. 2017, footnote 4.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        _draw_linear(net, generator, std=None)
        for stack in net.stacks.values():
            _normal(net.embedding.weight, generator, (1 - stack.positions.variance) ** 0.5)
            _draw_position_table(stack, generator, stack.positions.variance**0.5)
        if not net.config.tied:
            _normal(net.unembedding.weight, generator, net.config.d_model**-0.5)
        _calibrate_queries_and_keys(net, generator)


def small_normal(net: Transformer, seed: int, std: float = 0.02) -> None:
    """Draws every weight from N(0, std²), as GPT-2 does, which trains well.

    What a block adds to the residual stream is shrunk by 1 / √(2 · n_layers), so that the stream's
    size does not grow with depth. Source: Radford et al. 2019, section 2.3.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        _draw_linear(net, generator, std)
        _normal(net.embedding.weight, generator, std)
        for stack in net.stacks.values():
            _draw_position_table(stack, generator, std)
            for block in stack.blocks:
                for into_residual in block.outputs():
                    into_residual.weight.mul_((2 * len(stack.blocks)) ** -0.5)


def _draw_linear(net: nn.Module, generator: torch.Generator, std: float | None) -> None:
    for module in net.modules():
        if isinstance(module, nn.Linear):
            _normal(module.weight, generator, std or module.in_features**-0.5)
            if module.bias is not None:
                module.bias.zero_()


def _draw_position_table(stack: Stack, generator: torch.Generator, std: float) -> None:
    for table in stack.positions.parameters():
        _normal(table, generator, std)


def _normal(weight: Tensor, generator: torch.Generator, std: float) -> None:
    weight.normal_(0.0, std, generator=generator)


def _calibrate_queries_and_keys(net: Transformer, generator: torch.Generator) -> None:
    """One forward pass in which each attention layer, as its turn comes, rescales W_q and W_k."""

    def rescale(attention: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        for linear, read in zip((attention.w_q, attention.w_k), inputs[:2], strict=True):
            linear.weight.div_(linear(read).std(correction=0).clamp_min(1e-6))

    attentions = [m for m in net.modules() if hasattr(m, "w_q")]
    handles = [attention.register_forward_pre_hook(rescale) for attention in attentions]
    n = min(net.config.n_ctx, CALIBRATION_TOKENS)
    ids = torch.randint(net.config.vocab_size, (1, n), generator=generator)
    net(*[ids] * len(net.stacks))
    for handle in handles:
        handle.remove()
