"""Encoders: texts to unit vectors, by a fitted LSA, or by a sentence-transformers model."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from memops.errors import Corrupt, MemopsError
from memops.models.vectors import Encoder, Vectors, unit

S = TypeVar("S", bound=np.generic)


def open_encoder(name: str, cache: Path | None = None, instruction: str = "") -> Encoder:
    """Return `lsa`, an endpoint's model (`URL#MODEL`), or a sentence-transformers model by folder or name.

    `cache` keeps a model's vectors, `instruction` stands before queries. Raises MemopsError for one not
    to be had.
    """
    if name == "lsa":
        return Lsa()
    if name.startswith(("http://", "https://")):
        from memops.models.endpoint import Remote

        return Remote(name, cache, instruction)
    from memops.models.transformers import Model

    return Model(name, cache, instruction=instruction)


@dataclass(frozen=True)
class Lsa(Encoder):
    """Latent semantic analysis: TF-IDF over words and character n-grams, reduced by TruncatedSVD."""

    dims: int = 256
    features: int = 60_000
    sample: int = 20_000
    codes: npt.NDArray[np.uint64] | None = field(default=None, repr=False, compare=False)
    idf: npt.NDArray[np.float32] | None = field(default=None, repr=False, compare=False)
    axes: Vectors | None = field(default=None, repr=False, compare=False)
    speaks: ClassVar[bool] = False

    def fitted(self, texts: Sequence[str]) -> "Lsa":
        """Return it fitted on at most `sample` of the texts, evenly taken."""
        distinct = sorted({text for text in texts if text})
        step = max(1, -(-len(distinct) // self.sample))
        terms = _terms(distinct[::step])
        count = len(distinct[::step])
        least = 2 if count >= 50 else 1
        known = (
            terms.unique().group_by("code").agg(df=pl.len()).filter(pl.col("df") >= least)
            .sort("df", "code", descending=[True, False]).head(self.features).sort("code")
        )  # fmt: skip
        idf = (np.log((1 + count) / (1 + known["df"].to_numpy())) + 1).astype(np.float32)
        base = replace(self, codes=known["code"].to_numpy(), idf=idf)
        return replace(base, axes=base._axes(terms, count))

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text; raises MemopsError before it is fitted."""
        axes = self._learnt(self.axes)
        out = np.zeros((len(texts), axes.shape[1]), dtype=np.float32)
        for start in range(0, len(texts), 50_000):
            part = texts[start : start + 50_000]
            reduced = self._weighted(_terms(part), len(part)) @ axes
            out[start : start + len(part)] = unit(reduced)
        return out

    def recipe(self) -> dict[str, Any]:
        """Return its settings and the digest of what it learnt."""
        settings = {name: getattr(self, name) for name in ("dims", "features", "sample")}
        settings = {"encoder": "lsa", **settings}
        if self.axes is None or self.codes is None or self.idf is None:
            return settings
        learnt = hashlib.sha256(self.codes.tobytes() + self.idf.tobytes())
        learnt.update(self.axes.astype(np.float16).tobytes())
        return settings | {"fitted": learnt.hexdigest()[:16]}

    def save(self, path: Path) -> None:
        """Write what it learnt to an .npz file, to be frozen for later comparisons."""
        settings = np.array(json.dumps([self.dims, self.features, self.sample]))
        codes, idf = self._learnt(self.codes), self._learnt(self.idf)
        axes = self._learnt(self.axes).astype(np.float16)
        with path.open("wb") as handle:
            np.savez_compressed(handle, settings=settings, codes=codes, idf=idf, axes=axes)

    @staticmethod
    def load(path: Path) -> "Lsa":
        """Return the encoder that `save` wrote; raises Corrupt for anything else."""
        try:
            with np.load(path, allow_pickle=False) as held:
                dims, features, sample = json.loads(str(held["settings"]))
                axes = held["axes"].astype(np.float32)
                return Lsa(dims, features, sample, held["codes"], held["idf"], axes)
        except (OSError, ValueError, KeyError) as error:
            raise Corrupt(f"{path}: not a fitted encoder: {error}") from error

    @staticmethod
    def _learnt(part: npt.NDArray[S] | None) -> npt.NDArray[S]:
        if part is None:
            raise MemopsError("the LSA encoder is not fitted", "call fitted(texts) first")
        return part

    def _axes(self, terms: pl.DataFrame, count: int) -> Vectors:
        from sklearn.decomposition import TruncatedSVD
        from threadpoolctl import threadpool_limits

        matrix = self._weighted(terms, count)
        rank = min(self.dims, min(matrix.shape) - 1)
        if rank < 1:
            return np.eye(matrix.shape[1], max(1, matrix.shape[1]), dtype=np.float32)
        with threadpool_limits(1):  # sums that several threads add up differ in their last bits
            svd = TruncatedSVD(rank, n_iter=3, random_state=0).fit(matrix)
        # Half precision and back, so that a saved encoder is the one that was in use.
        return np.asarray(svd.components_.T.astype(np.float16).astype(np.float32))

    def _weighted(self, terms: pl.DataFrame, count: int) -> Any:
        """Sparse texts x features: (1 + log tf) * idf, each block of unit length."""
        from scipy.sparse import csr_array

        codes, idf = self._learnt(self.codes), self._learnt(self.idf)
        known = pl.DataFrame({"code": codes}).with_row_index("at")
        held = terms.join(known, on="code", how="inner")
        places = held["row"].cast(pl.Int32).to_numpy(), held["at"].cast(pl.Int32).to_numpy()
        tf = csr_array((np.ones(held.height, np.float32), places), shape=(count, len(codes)))
        tf.sort_indices()
        rows = np.repeat(np.arange(count), np.diff(tf.indptr))
        values = (1 + np.log(tf.data.astype(np.float64))) * idf[tf.indices]
        block = 2 * rows + (codes[tf.indices] & np.uint64(1)).astype(np.int64)
        length = np.sqrt(np.bincount(block, weights=values**2, minlength=2 * count))
        values = values / np.maximum(length[block], 1e-12)
        return csr_array((values.astype(np.float32), tf.indices, tf.indptr), shape=tf.shape)


def _terms(texts: Sequence[str]) -> pl.DataFrame:
    """(row u32, code u64) of every word and character n-gram, as often as it stands there."""
    from memops.language.terms import grams, words

    column = pl.Series("text", list(texts), dtype=pl.String)
    # The two kinds of code share one space: the lowest bit tells them apart.
    return pl.concat(
        table.select("row", code=pl.col("code") // 2 * 2 + block)
        for block, table in enumerate((words(column), grams(column)))
    )
