"""Vectors on disk: what a model has encoded once is not encoded again.

<folder>/<recipe>/<part>.parquet   hash (of the text), vector: a part for each batch of new texts

Nothing but hashes is kept of the texts. A folder may be deleted at any time.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from memops import files
from memops.progress import tracked

Vectors = npt.NDArray[np.float32]
Encode = Callable[[list[str]], Vectors]
_BATCH = 2048  # texts that are encoded before they are kept, so that a cut run loses little


class Encoder:
    """Turns texts into vectors; two encoders with one recipe give the same vectors."""

    speaks: ClassVar[bool] = True
    """Whether it reads sentences, so that a query should be put in the speaker's own voice."""
    instruction = ""
    """What stands before a query, as the model was trained."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text, shape (texts, dims); a text without content is zero."""
        raise NotImplementedError

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the same of queries, with the instruction before each."""
        return self.encode([self.instruction + text for text in texts])

    def reads(self, texts: Sequence[str]) -> float:
        """Return the share of what the texts are made of that it knows, 1 if it cannot tell."""
        return 1.0

    def recipe(self) -> dict[str, Any]:
        """Return what the vectors depend on, in JSON values."""
        raise NotImplementedError

    def fitted(self, texts: Sequence[str]) -> "Encoder":
        """Return the encoder fitted on these texts, or itself if it was trained elsewhere."""
        return self


def encoded(
    texts: Sequence[str], encode: Encode, cache: Path | None, recipe: Mapping[str, Any]
) -> Vectors:
    """Return the texts' vectors, those known to the cache as they are; raises Corrupt for a damaged cache."""
    if not texts:
        return np.zeros((0, 1), np.float32)
    asked = pl.DataFrame({"hash": [_hash(text) for text in texts], "text": list(texts)})
    folder = None if cache is None else cache / _hash(repr(sorted(recipe.items())))[:16]
    parts = [] if folder is None else [_read(path) for path in sorted(folder.glob("*.parquet"))]
    new = asked.unique("hash", maintain_order=True)
    for part in parts:
        new = new.join(part, on="hash", how="anti", maintain_order="left")
    # Texts of one length together: a batch is padded to its longest.
    new = new.sort(pl.col("text").str.len_chars(), "hash")
    starts = tracked("encoding texts", range(0, new.height, _BATCH))
    for batch in (new.slice(start, _BATCH) for start in starts):
        vectors = np.asarray(encode(batch["text"].to_list()), dtype=np.float32)
        held = pl.Series(vectors, dtype=pl.Array(pl.Float32, vectors.shape[1]))
        parts.append(batch.select("hash", vector=held))
        if folder is not None:
            _keep(folder, parts[-1])
    known = pl.concat(parts).unique("hash", keep="first", maintain_order=True)
    rows = asked.select("hash").join(known, on="hash", how="left", maintain_order="left")
    return np.asarray(rows["vector"].to_numpy(), dtype=np.float32)


def unit(vectors: Vectors) -> Vectors:
    """Return the vectors at length 1; zero stays zero."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1), dtype=np.float32)


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _read(path: Path) -> pl.DataFrame:
    again = "delete it; it is made again"
    return files.unpacked(path.read_bytes(), f"{path}: damaged vector cache", again)


def _keep(folder: Path, part: pl.DataFrame) -> None:
    files.folder(folder)
    draft = folder / f".{_hash(''.join(part['hash']))}.part"
    part.write_parquet(draft)
    # Two runs that encode the same batch write the same file.
    draft.replace(folder / f"{draft.stem[1:]}.parquet")
