"""Encoders behind an OpenAI-compatible endpoint: `POST URL/embeddings`, vectors kept on disk."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memops.errors import Incomplete, MemopsError
from memops.models.endpoint import Endpoint, Manners
from memops.models.vectors import Vectors, encoded, unit

_BATCH = 64
_MANNERS = Manners(
    "MEMOPS_ENCODER",
    "the endpoint",
    "see whether it is well, or grade with another --encoder",
    "start it, or give its address up to /v1",
)


class Remote:
    """One model of an endpoint, `URL#MODEL`; `instruction` comes before each query.

    Texts are sent to the machine itself, or to a host named in MEMOPS_ENCODER_HOSTS.
    """

    speaks = True

    def __init__(self, name: str, cache: Path | None = None, instruction: str = "") -> None:
        self.url, _, self.model = name.partition("#")
        if not self.model:
            raise MemopsError(
                f"{name}: no model named", "write URL#MODEL, as in http://127.0.0.1:8080/v1#bge-m3"
            )
        self.cache, self.instruction = cache, instruction
        Endpoint(self.url, _MANNERS)

    def fitted(self, texts: Sequence[str]) -> "Remote":
        """Return itself: it was trained elsewhere."""
        return self

    def reads(self, texts: Sequence[str]) -> float:
        """Return 1: an endpoint does not say what it knows."""
        return 1.0

    def recipe(self) -> dict[str, Any]:
        """Return model and instruction; what the endpoint runs under that name is its word."""
        return {"encoder": "endpoint", "model": self.model, "instruction": self.instruction}

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text; what was encoded before is read from the cache."""
        recipe = {"encoder": "endpoint", "model": self.model}
        return encoded(texts, self._encode, self.cache, recipe)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the same of queries, with the instruction that the model was trained with."""
        return self.encode([self.instruction + text for text in texts])

    def _encode(self, texts: list[str]) -> Vectors:
        endpoint = Endpoint(self.url, _MANNERS)
        batches = (texts[at : at + _BATCH] for at in range(0, len(texts), _BATCH))
        return unit(np.concatenate([self._asked(endpoint, batch) for batch in batches]))

    def _asked(self, endpoint: Endpoint, texts: list[str]) -> Vectors:
        # An empty input is an error to some endpoints.
        given = [text if text.strip() else "." for text in texts]
        answer = endpoint.post("/embeddings", {"model": self.model, "input": given})
        try:
            rows = sorted(answer["data"], key=lambda row: int(row["index"]))
            vectors = np.array([row["embedding"] for row in rows], dtype=np.float32)
        except (KeyError, TypeError, ValueError) as error:
            raise Incomplete(
                f"{self.url}: its answer holds no embeddings", _MANNERS.again
            ) from error
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise Incomplete(
                f"{self.url}: {len(rows)} embeddings for {len(texts)} texts, or broken ones",
                _MANNERS.again,
            )
        return vectors
