"""The compact Transformer: an encoder, a decoder or both (Vaswani et al. 2017, section 3).

Read from the top: one attention layer, one feed-forward layer, a block of them, a stack of blocks,
and the whole from token ids to logits. Shapes are in the comments at the end of the lines.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from model import initialise, masks
from model.config import Config
from model.errors import HeadlightError
from model.positions import SCHEMES, Positions
from model.recorder import watch_hidden, watched_attend

LAYER_NORM_EPS = 1e-5


class Linear(nn.Linear):
    """x Wᵀ + b. Its numbers are left open: model.initialise draws all of them, from a seed."""

    def reset_parameters(self) -> None:
        """Draws nothing, where PyTorch would draw what is thrown away."""


class Embedding(nn.Embedding):
    """One vector a token; drawn by model.initialise, as in `Linear`."""

    def reset_parameters(self) -> None:
        """Draws nothing, where PyTorch would draw what is thrown away."""


class MultiHeadAttention(nn.Module):
    """n_heads attentions side by side, each with its own view of the tokens (section 3.2.2).

    head_h = attention(x W_q, y W_k, y W_v)      output = concat(head_0 … head_n) W_o
    Self-attention has y = x; cross-attention has y = memory, the encoder's output.
    """

    def __init__(self, config: Config, kind: str, layer: int) -> None:
        super().__init__()
        self.config, self.kind, self.layer = config, kind, layer
        self.predicate = masks.causal if kind == "decoder" else masks.full
        self.w_q = Linear(config.d_model, config.n_heads * config.d_k)
        self.w_k = Linear(config.d_model, config.n_kv_heads * config.d_k)
        self.w_v = Linear(config.d_model, config.n_kv_heads * config.d_v)
        self.w_o = Linear(config.n_heads * config.d_v, config.d_model)

    def forward(self, x: Tensor, y: Tensor, positions: Positions | None = None) -> Tensor:
        """x: (batch, n_query, d_model) looks at y: (batch, n_key, d_model) → as x."""
        q = self._split(self.w_q(x), self.config.n_heads)  # (batch, n_heads, n_query, d_k)
        k = self._split(self.w_k(y), self.config.n_kv_heads)  # (batch, n_kv_heads, n_key, d_k)
        v = self._split(self.w_v(y), self.config.n_kv_heads)  # (batch, n_kv_heads, n_key, d_v)
        n_query, n_key = q.shape[-2], k.shape[-2]
        bias = None
        if positions is not None:
            q, k = positions.rotate(q), positions.rotate(k)
            bias = positions.bias(n_query, n_key)
        mask = masks.build(self.predicate, n_query, n_key)  # (n_query, n_key)
        heads = watched_attend(
            self.kind, self.layer, q, k, v, scale=self.config.scale, mask=mask, bias=bias
        )  # (batch, n_heads, n_query, d_v)
        return self.w_o(heads.transpose(1, 2).flatten(2))  # (batch, n_query, d_model)

    def _split(self, x: Tensor, n_heads: int) -> Tensor:
        """(batch, n, n_heads · width) → (batch, n_heads, n, width)."""
        return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


class FeedForward(nn.Module):
    """The same two-layer network for every token alone (section 3.3): w_out(f(w_in(x)))."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.w_in = Linear(config.d_model, config.d_ff)
        self.w_out = Linear(config.d_ff, config.d_model)
        self.activation = nn.GELU() if config.activation == "gelu" else nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        """x: (batch, n, d_model) → as x."""
        return self.w_out(self.activation(self.w_in(x)))


class Block(nn.Module):
    """One layer: self-attention, cross-attention if there is an encoder to look at, feed-forward.

    Each is added to what came in. LayerNorm stands after the sum as in the paper, x ← LN(x + f(x)),
    or before the sublayer as in GPT-2, x ← x + f(LN(x)) (Xiong et al. 2020).
    """

    def __init__(self, config: Config, kind: str, layer: int, cross: bool) -> None:
        super().__init__()
        self.pre_norm = config.norm == "pre"
        self.attention = MultiHeadAttention(config, kind, layer)
        self.attention_norm = nn.LayerNorm(config.d_model, LAYER_NORM_EPS)
        self.cross = MultiHeadAttention(config, "cross", layer) if cross else None
        self.cross_norm = nn.LayerNorm(config.d_model, LAYER_NORM_EPS) if cross else None
        self.feed_forward = FeedForward(config)
        self.feed_forward_norm = nn.LayerNorm(config.d_model, LAYER_NORM_EPS)

    def forward(self, x: Tensor, positions: Positions, memory: Tensor | None = None) -> Tensor:
        """x: (batch, n, d_model), memory: (batch, n_source, d_model) → as x."""
        x = self._add(x, self.attention_norm, lambda y: self.attention(y, y, positions))
        if self.cross is not None:
            x = self._add(x, self.cross_norm, lambda y: self.cross(y, memory))
        return self._add(x, self.feed_forward_norm, self.feed_forward)

    def into_residual(self) -> list[nn.Linear]:
        """The matrices whose results are added to the residual stream."""
        attentions = [self.attention] if self.cross is None else [self.attention, self.cross]
        return [*(attention.w_o for attention in attentions), self.feed_forward.w_out]

    def _add(self, x: Tensor, norm: nn.LayerNorm, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        return x + sublayer(norm(x)) if self.pre_norm else norm(x + sublayer(x))


class Stack(nn.Module):
    """Positions, then n_layers blocks. A pre-norm stack ends in one more LayerNorm."""

    def __init__(self, config: Config, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self.positions = SCHEMES[config.positions](config)
        cross = kind == "decoder" and "encoder" in config.stacks
        self.blocks = nn.ModuleList(
            Block(config, kind, layer, cross) for layer in range(config.n_layers)
        )
        final = nn.LayerNorm(config.d_model, LAYER_NORM_EPS)
        self.final_norm = final if config.norm == "pre" else nn.Identity()

    def forward(self, x: Tensor, memory: Tensor | None = None) -> Tensor:
        """x: token embeddings (batch, n, d_model) → what the last block leaves, normalised."""
        added = self.positions.embed(x.shape[1])  # (n, d_model)
        x = x if added is None else x + added
        watch_hidden(self.kind, x)
        for block in self.blocks:
            x = block(x, self.positions, memory)
            watch_hidden(self.kind, x)
        return self.final_norm(x)


class Transformer(nn.Module):
    """From token ids to logits over the vocabulary, in any of the three architectures.

    A new one has queries and keys of unit variance (initialise.unit_variance), drawn from `seed`.
    seed=None leaves every weight open, for whoever loads them from a file.
    """

    def __init__(self, config: Config, seed: int | None = 0) -> None:
        super().__init__()
        self.config = config
        self.embedding = Embedding(config.vocab_size, config.d_model)
        self.stacks = nn.ModuleDict({kind: Stack(config, kind) for kind in config.stacks})
        self.unembedding = Linear(config.d_model, config.vocab_size, bias=False)
        if config.tied:
            self.unembedding.weight = self.embedding.weight
        if seed is not None:
            initialise.unit_variance(self, seed)

    def forward(self, ids: Tensor, target_ids: Tensor | None = None) -> Tensor:
        """ids: (batch, n) → logits (batch, n, vocab_size), row i of them about the token after i.

        An encoder-decoder reads `ids` with its encoder and `target_ids` with its decoder, and
        returns the decoder's logits. Raises HeadlightError if one of the two is missing.
        """
        return self.unembedding(self.states(ids, target_ids))

    def states(self, ids: Tensor, target_ids: Tensor | None = None) -> Tensor:
        """What the last stack leaves, (batch, n, d_model); the logits are this times W_unembed."""
        if (target_ids is not None) != (len(self.stacks) == 2):
            raise HeadlightError(
                f"the {self.config.architecture} reads {len(self.stacks)} sequence(s) of ids: "
                "give target_ids to an encoder-decoder, and to no other"
            )
        first, *second = self.stacks
        x = self.read(first, ids)
        return self.read(*second, target_ids, memory=x) if second else x

    def read(self, stack: str, ids: Tensor, memory: Tensor | None = None) -> Tensor:
        """One stack alone: ids (batch, n) → (batch, n, d_model). memory: what the encoder left."""
        return self.stacks[stack](self.embedding(ids), memory)


def count_parameters(net: nn.Module) -> int:
    """How many numbers a network has learned; shared ones count once."""
    return sum(parameter.numel() for parameter in net.parameters())
