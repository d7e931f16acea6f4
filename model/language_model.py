"""A compact Transformer with its tokenizer: text in, trace out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from model.config import Config
from model.edits import Edits
from model.errors import HeadlightError
from model.info import HeadRef, ModelInfo
from model.recorder import recording
from model.tokenizer import Tokenizer
from model.trace import MAX_LOGITS_BYTES, Readout, Trace
from model.transformer import Transformer, count_parameters

if TYPE_CHECKING:
    from model.roles import HeadRole

OBJECTIVES = {"decoder": "causal", "encoder": "masked", "encoder-decoder": "seq2seq"}


class LanguageModel:
    """A model that can be asked what its heads do with a text.

    roles: what each head was measured to do, by HeadRef; empty for an untrained model.
    """

    def __init__(
        self,
        name: str,
        net: Transformer,
        tokenizer: Tokenizer,
        roles: Mapping[HeadRef, HeadRole] | None = None,
        licence: str | None = None,
    ) -> None:
        if net.config.vocab_size != tokenizer.vocab_size:
            raise HeadlightError(
                f"vocab_size={net.config.vocab_size} of the model is not the tokenizer's "
                f"{tokenizer.vocab_size}: they do not belong together"
            )
        self.net = net.eval()
        self.tokenizer = tokenizer
        self.roles = roles or {}
        self.info = describe(name, net, licence)

    def trace(self, text: str, target: str | None = None, *, edits: Edits | None = None) -> Trace:
        """Runs the model on a text and returns all that its heads saw.

        A text longer than n_ctx is cut at its end, and `trace.cut` says what was dropped. `target`
        is what the decoder of an encoder-decoder reads; None: the model's own greedy output, at
        most min(n_ctx, 2 · n_source + 16) tokens. Raises HeadlightError if nothing is left to run,
        if a target is given to a one-stack model, or if an edit names a head that is not there.
        """
        (edits or Edits()).check(self.info)
        stacks = self.net.config.stacks
        if len(stacks) == 1:
            if target is not None:
                raise HeadlightError(f"{self.info.name} has one stack and takes no target text")
            ids, rest = self._fit(text, start=stacks == ("decoder",))
            return self.trace_ids({stacks[0]: ids}, {stacks[0]: rest}, edits=edits)
        source, source_rest = self._fit(text, start=False)
        if target is None:
            output, target_rest = self._greedy(source, edits), ""
        else:
            output, target_rest = self._fit(target, start=True)
        return self.trace_ids(
            {"encoder": source, "decoder": output},
            {"encoder": source_rest, "decoder": target_rest},
            edits=edits,
        )

    def trace_ids(
        self,
        ids: Mapping[str, list[int]],
        cut: Mapping[str, str] | None = None,
        *,
        edits: Edits | None = None,
    ) -> Trace:
        """Runs the model on token ids by stack ("encoder", "decoder"), exactly as they are.

        Raises HeadlightError for ids that the model cannot run.
        """
        edits = edits or Edits()
        edits.check(self.info)
        self._check_ids(ids)
        with torch.no_grad(), recording(edits) as run:
            states = self.net.states(
                *(torch.tensor([ids[stack]]) for stack in self.net.config.stacks)
            )
            readout = Readout(states[0], self.net.unembedding.weight.detach())
        return Trace(
            info=self.info,
            tokens={s: tuple(self.tokenizer.pieces[i] for i in ids[s]) for s in ids},
            labels={s: tuple(self.tokenizer.labels(ids[s])) for s in ids},
            marks={s: tuple(self.tokenizer.marks(ids[s])) for s in ids},
            cut=cut or dict.fromkeys(ids, ""),
            attentions=run.attentions,
            hidden={stack: torch.stack(states) for stack, states in run.hidden.items()},
            logits=readout.logits() if readout.n_bytes <= MAX_LOGITS_BYTES else None,
            readout=readout if readout.n_bytes > MAX_LOGITS_BYTES else None,
            vocabulary=self.tokenizer.vocabulary,
        )

    def losses(self, text: str, *, edits: Edits | None = None) -> np.ndarray:
        """How much each next token of a text surprises the model: -log p, natural logarithm.

        Entry r belongs to row r, which predicts token r + 1. Returns float64 (n - 1,), in nats.
        Raises HeadlightError for a model that does not predict the next token, or if nothing is
        left to predict.
        """
        if self.info.objective != "causal":
            raise HeadlightError(f"{self.info.name} does not predict next tokens: take a decoder")
        return self.losses_of_ids(self.ids(text), edits=edits)

    def ids(self, text: str) -> list[int]:
        """The ids that a one-stack model reads for a text, cut at n_ctx."""
        return self._fit(text, start=self.net.config.stacks == ("decoder",))[0]

    def losses_of_ids(self, ids: list[int], *, edits: Edits | None = None) -> np.ndarray:
        """`losses` of the ids that a decoder reads, the start token first."""
        edits = edits or Edits()
        edits.check(self.info)
        self._check_ids({"decoder": ids})
        if len(ids) < 2:
            raise HeadlightError("There is no next token to predict: type a sentence")
        with torch.no_grad(), recording(edits):
            logits = self.net(torch.tensor([ids[:-1]]))[0]  # (n - 1, vocab_size)
        return torch.nn.functional.cross_entropy(
            logits.double(), torch.tensor(ids[1:]), reduction="none"
        ).numpy()

    def _check_ids(self, ids: Mapping[str, list[int]]) -> None:
        config = self.net.config
        if set(ids) != set(config.stacks):
            stacks = " and ".join(config.stacks)
            raise HeadlightError(f"{self.info.name} runs ids of {stacks}, not of {list(ids)}")
        for stack, row in ids.items():
            if not 1 <= len(row) <= config.n_ctx:
                raise HeadlightError(
                    f"{len(row)} {stack} tokens cannot be run: give 1 to {config.n_ctx}"
                )
            if not all(0 <= i < config.vocab_size for i in row):
                raise HeadlightError(f"{stack} ids must be 0 to {config.vocab_size - 1}")

    def _fit(self, text: str, start: bool) -> tuple[list[int], str]:
        """The ids that are run, the start token first if there is one, and the text left over."""
        first = [self.tokenizer.start_id] if start else []
        ids, rest = self.tokenizer.fit(text, self.net.config.n_ctx - len(first))
        if not first and not ids:
            raise HeadlightError("There is no token to look at: type a sentence")
        return first + ids, rest

    def _greedy(self, source: list[int], edits: Edits | None) -> list[int]:
        """The likeliest output for a source, from the start token up to the end token."""
        longest = min(self.net.config.n_ctx, 2 * len(source) + 16)
        output = [self.tokenizer.start_id]
        with torch.no_grad(), recording(edits):
            memory = self.net.read("encoder", torch.tensor([source]))
            while len(output) < longest:
                states = self.net.read("decoder", torch.tensor([output]), memory)
                likeliest = int(self.net.unembedding(states[0, -1]).argmax())
                if likeliest == self.tokenizer.end_id:
                    break
                output.append(likeliest)
        return output


def describe(name: str, net: Transformer, licence: str | None = None) -> ModelInfo:
    """The facts of a compact Transformer, in the form in which every model states them."""
    config: Config = net.config
    kinds = ("encoder", "decoder", "cross") if len(config.stacks) == 2 else config.stacks
    weight: Tensor = net.embedding.weight
    return ModelInfo(
        name=name,
        family="compact Transformer",
        kinds=kinds,
        captured="qkv",
        n_layers=dict.fromkeys(kinds, config.n_layers),
        n_heads=dict.fromkeys(kinds, config.n_heads),
        n_kv_heads=config.n_kv_heads,
        d_model=config.d_model,
        d_k=config.d_k,
        d_v=config.d_v,
        d_ff=config.d_ff,
        n_ctx=config.n_ctx,
        vocab_size=config.vocab_size,
        n_parameters=count_parameters(net),
        dtype=str(weight.dtype).removeprefix("torch."),
        objective=OBJECTIVES[config.architecture],
        licence=licence,
    )
