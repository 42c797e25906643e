"""The model: LLaMA in plain PyTorch. Norm by root mean square, rotary positions, SwiGLU, grouped queries.

Weights have the names of transformers' LlamaForCausalLM, so they are saved as they are.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F  # noqa: N812 (its usual name)
from torch import Tensor, nn

from pairity.lm.recipe import ModelShape


class RMSNorm(nn.Module):
    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float()
        normed = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)
        return self.weight * normed.to(x.dtype)


def rotary(shape: ModelShape) -> tuple[Tensor, Tensor]:
    """Cosine and sine of every position and every pair of channels: (context, head_size)."""
    half = torch.arange(0, shape.head_size, 2, dtype=torch.float32) / shape.head_size
    angles = torch.outer(torch.arange(shape.context, dtype=torch.float32), shape.rope_theta**-half)
    twice = torch.cat([angles, angles], -1)
    return twice.cos(), twice.sin()


def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate channel i together with channel i + half."""
    first, second = x.chunk(2, -1)
    return (x * cos + torch.cat([-second, first], -1) * sin).to(x.dtype)


class Attention(nn.Module):
    def __init__(self, shape: ModelShape) -> None:
        super().__init__()
        self.shape = shape
        inner, shared = shape.heads * shape.head_size, shape.kv_heads * shape.head_size
        self.q_proj = nn.Linear(shape.width, inner, bias=False)
        self.k_proj = nn.Linear(shape.width, shared, bias=False)
        self.v_proj = nn.Linear(shape.width, shared, bias=False)
        self.o_proj = nn.Linear(inner, shape.width, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        rows, length, _ = x.shape

        def heads(projected: Tensor) -> Tensor:
            return projected.view(rows, length, -1, self.shape.head_size).transpose(1, 2)

        q = rotated(heads(self.q_proj(x)), cos, sin)
        k = rotated(heads(self.k_proj(x)), cos, sin)
        v = heads(self.v_proj(x))
        if (group := self.shape.heads // self.shape.kv_heads) > 1:
            k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(rows, length, -1))


class MLP(nn.Module):
    def __init__(self, shape: ModelShape) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(shape.width, shape.hidden, bias=False)
        self.up_proj = nn.Linear(shape.width, shape.hidden, bias=False)
        self.down_proj = nn.Linear(shape.hidden, shape.width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, shape: ModelShape) -> None:
        super().__init__()
        self.input_layernorm = RMSNorm(shape.width, shape.norm_eps)
        self.self_attn = Attention(shape)
        self.post_attention_layernorm = RMSNorm(shape.width, shape.norm_eps)
        self.mlp = MLP(shape)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        return x + self.mlp(self.post_attention_layernorm(x))


class Trunk(nn.Module):
    def __init__(self, shape: ModelShape) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(shape.vocab_size, shape.width)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.norm = RMSNorm(shape.width, shape.norm_eps)
        cos, sin = rotary(shape)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embed_tokens(ids)
        cos, sin = self.cos[: ids.shape[1]], self.sin[: ids.shape[1]]
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.norm(x)


class Llama(nn.Module):
    """ids (rows x length) -> logits; with targets -> the mean loss in nats, or with `each` the loss of every token."""

    def __init__(self, shape: ModelShape) -> None:
        super().__init__()
        self.shape = shape
        self.model = Trunk(shape)
        if not shape.tied:
            self.lm_head = nn.Linear(shape.width, shape.vocab_size, bias=False)

    def forward(self, ids: Tensor, targets: Tensor | None = None, each: bool = False) -> Tensor:
        head = self.model.embed_tokens.weight if self.shape.tied else self.lm_head.weight
        logits = F.linear(self.model(ids), head)
        if targets is None:
            return logits
        losses = logits.flatten(0, 1).float(), targets.flatten()
        return F.cross_entropy(*losses, reduction="none").view_as(ids) if each else F.cross_entropy(*losses)

    def begin(self, seed: int) -> None:
        """Fresh weights, the same on every device: normal, smaller where they add to the residual stream."""
        random = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for name, weight in self.named_parameters():
                if weight.dim() == 1:
                    weight.fill_(1.0)
                    continue
                adds = name.endswith(("o_proj.weight", "down_proj.weight"))
                scale = 0.02 / math.sqrt(2 * self.shape.layers) if adds else 0.02
                weight.copy_(torch.randn(weight.shape, generator=random) * scale)
