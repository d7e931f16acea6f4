"""How the weights of a compact Transformer are drawn. Every number comes from the seed given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from model.transformer import Stack, Transformer

CALIBRATION_TOKENS = 128  # in one made-up text; a short n_ctx takes more texts
CALIBRATION_ENTRIES = 8_192  # of k in one layer: narrow heads take more texts, up to MOST_TOKENS
MOST_TOKENS = 512  # enough that a single head of width 1 is right to a few per cent


def unit_variance(net: Transformer, seed: int) -> None:
    """Draws weights so that the entries of q and k have mean 0 and variance 1.

    That is what the argument for √d_k assumes (Vaswani et al. 2017, footnote 4). Every matrix is
    N(0, 1 / fan_in), biases are 0, what enters block 0 has variance 1, and what a block adds is
    shrunk as in `small_normal`, without which the tokens of a deep stack grow alike. That is right
    on average over draws; a narrow head (d_k = 1) may still be far off, so W_q and W_k are then
    centred and scaled, layer by layer, on made-up texts (after the layer-sequential unit variance
    of Mishkin & Matas 2016).
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        _draw_linear(net, generator, std=None)
        # All stacks read the one embedding, and have their positions by one scheme.
        of_positions = next(iter(net.stacks.values())).positions.variance
        _normal(net.embedding.weight, generator, (1 - of_positions) ** 0.5)
        for stack in net.stacks.values():
            _draw_position_table(stack, generator, of_positions**0.5)
            _shrink_outputs(stack)
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
            _shrink_outputs(stack)


def _shrink_outputs(stack: Stack) -> None:
    """Scales what is added to the residual stream, so that the sum keeps its size with depth."""
    for block in stack.blocks:
        for linear in block.into_residual():
            linear.weight.mul_((2 * len(stack.blocks)) ** -0.5)


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
    """One forward pass in which each attention layer, as its turn comes, adjusts W_q and W_k."""

    def adjust(attention: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        for linear, read in zip((attention.w_q, attention.w_k), inputs[:2], strict=True):
            mean = read.flatten(0, -2).mean(dim=0)  # (d_model,)
            along_mean = linear.weight @ mean / mean.square().sum().clamp_min(1e-12)
            linear.weight.sub_(along_mean[:, None] * mean)  # now the mean of q, or of k, is 0
            linear.weight.div_(linear(read).std(correction=0).clamp_min(1e-3))

    attentions = [m for m in net.modules() if hasattr(m, "w_q")]
    handles = [attention.register_forward_pre_hook(adjust) for attention in attentions]
    width = min(net.config.n_kv_heads * net.config.d_k, net.config.d_model)
    n_tokens = min(max(CALIBRATION_TOKENS, CALIBRATION_ENTRIES // width), MOST_TOKENS)
    n = min(net.config.n_ctx, CALIBRATION_TOKENS)
    ids = torch.randint(net.config.vocab_size, (-(-n_tokens // n), n), generator=generator)
    net.states(*[ids] * len(net.stacks))
    for handle in handles:
        handle.remove()
