"""The slow twin of the audit: all weights of a layer at once, every measure straight from its
definition."""

from __future__ import annotations

import numpy as np

from headwright.result import to_numpy
from headwright.trained.rows.tokens import PATTERNS


def full_logits(heads):
    k = np.repeat(to_numpy(heads.k).astype(float), heads.group, axis=0)
    z = heads.scale * to_numpy(heads.q).astype(float) @ k.transpose(0, 2, 1)
    if heads.softcap is not None:
        z = heads.softcap * np.tanh(z / heads.softcap)
    if heads.bias is not None:
        z = z + to_numpy(heads.bias).astype(float)
    seen = np.ones(z.shape, dtype=bool)
    if heads.mask is not None:
        seen &= to_numpy(heads.mask)
    if heads.causal:
        seen &= np.tri(*z.shape[1:], dtype=bool)
    return np.where(seen, z, -np.inf)


def full_weights(heads):
    """Of the keys: a learned sink is one more column of the softmax, which is then left out."""
    z = full_logits(heads)
    n = z.shape[-1]
    blind = np.isneginf(z).all(axis=-1, keepdims=True)
    z = np.where(blind, 0.0, z)
    if heads.sinks is not None:
        sinks = to_numpy(heads.sinks).astype(float)[:, None, None]
        z = np.concatenate([z, np.broadcast_to(sinks, (*z.shape[:2], 1))], axis=-1)
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True))[..., :n]


def measures(heads, tokens, leak):
    """One number per head and measure, from the full maps."""
    z, p = full_logits(heads), full_weights(heads)
    v = np.repeat(to_numpy(heads.v).astype(float), heads.group, axis=0)
    rows = tokens.real_queries
    z, p = z[:, rows], p[:, rows]
    n = np.isfinite(z).sum(axis=-1)
    ordered = np.sort(z, axis=-1)[..., ::-1]
    top, two = p.max(axis=-1), n[0] >= 2
    sink = 1 - p.sum(axis=-1) if heads.sinks is not None else np.zeros(p.shape[:2])
    rivals = n if heads.sinks is not None else n - 1
    everything = np.concatenate([p, sink[..., None]], axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        surprise = np.where(everything > 0, everything * np.log(everything), 0.0)
        entropy = -np.sum(surprise, axis=-1)
        margin = (ordered[..., 0] - ordered[..., 1])[:, two]
        others = np.sort(p, axis=-1)[..., :-1].sum(axis=-1) + sink
        sharpness = np.log(rivals * top / others)[:, two]
    needed = np.log(rivals[:, two] * (1 - leak) / leak)
    out = {
        "entropy": entropy.mean(axis=1),
        "effective_keys": np.exp(entropy).mean(axis=1),
        "largest": top.mean(axis=1),
        "margin": margin.mean(axis=1),
        "first": p[..., tokens.first].mean(axis=1),
        "separators": p[..., tokens.separators].sum(axis=-1).mean(axis=1),
        "average": (1 / everything.max(axis=-1) / np.exp(entropy)).mean(axis=1),
        "sharpness": sharpness.mean(axis=1),
        "sharpness_needed": needed.mean(axis=1),
        "horizon": 1 + leak / (1 - leak) * np.exp(np.median(margin, axis=1)),
    }
    if heads.sinks is not None:
        out["sink_share"] = sink.mean(axis=1)
    c = p @ v
    chosen = np.take_along_axis(v, p.argmax(axis=-1)[..., None], axis=1)
    mean = v[:, tokens.real_keys].mean(axis=1, keepdims=True)
    distance = [np.sum((x - chosen) ** 2, axis=(1, 2)) for x in (c, mean)]
    out["copy"] = 1 - np.sqrt(distance[0] / distance[1])
    for name in tokens.patterns:
        M = PATTERNS[name](tokens.ids, np.flatnonzero(rows)) & tokens.real_keys
        out[name] = (p * M).sum(axis=(1, 2)) / M.any(axis=1).sum()
    return out


def redundancy(p):
    """Mean cosine between rows of two heads; the largest over the other heads."""
    unit = p / np.linalg.norm(p, axis=-1, keepdims=True)
    alike = np.einsum("grn,hrn->gh", unit, unit) / p.shape[1]
    np.fill_diagonal(alike, -1)
    return alike.max(axis=1)
