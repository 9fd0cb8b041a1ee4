"""Codes of few bits, packed: the bits of one token's channels, one after the other, eight to a
byte. Channels may have different numbers of bits."""

from __future__ import annotations

import numpy as np

from headwright.trained.library import torch
from headwright.types import Array, Int

_BYTE = 8


class Packing:
    """How the codes of one layer lie in bytes, (b, 1, n, bytes): `bits[h, d]` of each channel,
    lowest bit first."""

    def __init__(self, bits: Int[np.ndarray, "h d"]) -> None:
        flat = bits.reshape(-1)
        self.shape = bits.shape
        self.bits_per_token = int(flat.sum())
        # One entry per stored bit: its channel, and its place in the channel's code.
        self._channel = torch.from_numpy(np.repeat(np.arange(flat.size), flat))
        places = [np.arange(count) for count in flat]
        self._place = torch.from_numpy(np.concatenate(places).astype(np.int32))

    @property
    def bytes_per_token(self) -> int:
        return -(-self.bits_per_token // _BYTE)

    def pack(self, codes: Int[Array, "b h n d"]) -> Array:
        batch, heads, n, width = codes.shape
        rows = codes.transpose(1, 2).reshape(batch, n, heads * width)
        channel = self._channel.to(codes.device)
        stored = (rows[..., channel] >> self._place.to(codes.device)) & 1
        missing = self.bytes_per_token * _BYTE - self.bits_per_token
        stored = torch.nn.functional.pad(stored, (0, missing))
        stored = stored.reshape(batch, n, self.bytes_per_token, _BYTE)
        packed = (stored << _places(codes)).sum(dim=-1)
        return packed.to(torch.uint8)[:, None]

    def unpack(self, packed: Array) -> Int[Array, "b h n d"]:
        batch, _, n, size = packed.shape
        heads, width = self.shape
        wide = packed[:, 0, :, :, None].to(torch.int32)
        stored = ((wide >> _places(wide)) & 1).reshape(batch, n, size * _BYTE)
        stored = stored[..., : self.bits_per_token] << self._place.to(packed.device)
        codes = torch.zeros((batch, n, heads * width), dtype=torch.int32, device=packed.device)
        codes.index_add_(-1, self._channel.to(packed.device), stored)
        return codes.reshape(batch, n, heads, width).transpose(1, 2)


def _places(like: Array) -> Int[Array, "8"]:
    return torch.arange(_BYTE, dtype=torch.int32, device=like.device)
