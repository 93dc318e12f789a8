"""Packed: many numbers as a text, as lexicons of what was fitted hold them."""

import base64
import zlib

import numpy as np

_SIGNS = base64.b85encode(b"".join(n.to_bytes(4) for n in range(85))).decode()[4::5]
_VALUE = np.zeros(128, np.uint64)
_VALUE[np.frombuffer(_SIGNS.encode(), np.uint8)] = np.arange(85)
_PLACES = 85 ** np.arange(4, -1, -1).astype(np.uint64)  # five characters are four bytes


def packed(data: bytes) -> str:
    """Return bytes as a text: compressed, to base 85."""
    return base64.b85encode(zlib.compress(data, 9)).decode()


def unpacked(text: str) -> bytes:
    """Return the bytes of such a text; Python's own, sign by sign, takes several times as long."""
    more = -len(text) % 5
    signs = np.frombuffer((text + "~" * more).encode(), np.uint8)
    data = (_VALUE[signs].reshape(-1, 5) @ _PLACES).astype(">u4").tobytes()
    return zlib.decompress(data[: len(data) - more])
