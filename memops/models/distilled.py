"""Distilling: a static model from a local sentence-transformers model, and what that costs.

The method of Model2Vec (Tulkens and van Dongen 2024): each token is encoded by itself, the vectors
reduced by PCA and weighted as by Zipf's law; a text is the mean of its tokens, so encoding is a
look-up.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memops.errors import MemopsError, NoSpace
from memops.models.transformers import Model, load_model
from memops.models.vectors import Vectors


def distil(path: str, out: Path, dims: int = 256) -> Model:
    """Write a static model of the model at `path` into `out`, and return it opened.

    Raises MemopsError for a model without a tokenizer of its own, NoSpace where `out` is taken.
    """
    if out.exists() and any(out.iterdir()):
        raise NoSpace(f"{out}: not empty", "name a new folder")
    teacher = load_model(path)
    tokenizer = getattr(teacher.tokenizer, "backend_tokenizer", None)
    if tokenizer is None:
        raise MemopsError(f"{path}: its tokenizer is no fast one", "distil another model")
    words = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    reduced = _reduced(_encoded(teacher, [_bare(word) for word, _ in words]), dims)
    vectors = np.zeros((words[-1][1] + 1, reduced.shape[1]), dtype=np.float32)
    for (word, at), vector in zip(words, reduced, strict=True):
        # A vocabulary is written in the order of frequency; special tokens say nothing.
        vectors[at] = 0 if word.startswith(("[", "<")) else vector * np.log(1 + at)
    _write(tokenizer, vectors, out)
    return Model(str(out))


def compared(teacher: Model, student: Model, texts: Sequence[str]) -> dict[str, Any]:
    """Return what is lost and gained: rates, sizes and how far the cosines of texts agree."""
    sides = {}
    for name, model in (("model", teacher), ("static", student)):
        begun = time.process_time()
        vectors = model.encode(texts)
        taken = max(time.process_time() - begun, 1e-6)
        sides[name] = {
            "dims": vectors.shape[1],
            "texts_per_cpu_second": round(len(texts) / taken, 1),
        }
        sides[name]["cosines"] = vectors @ vectors.T
    rows, columns = np.triu_indices(len(texts), 1)
    pairs = [sides[name].pop("cosines")[rows, columns] for name in ("model", "static")]
    from scipy.stats import spearmanr

    agree = float(spearmanr(*pairs).statistic) if len(rows) > 2 else 1.0
    return {**sides, "texts": len(texts), "agreement": round(agree, 4)}


def _encoded(teacher: Any, words: list[str]) -> Vectors:
    import torch

    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
        made = teacher.encode(
            words, batch_size=256, normalize_embeddings=False, convert_to_numpy=True,
            show_progress_bar=False,
        )  # fmt: skip
    return np.asarray(made, dtype=np.float32)


def _reduced(vectors: Vectors, dims: int) -> Vectors:
    from sklearn.decomposition import PCA

    rank = min(dims, *vectors.shape)
    return np.asarray(PCA(rank, random_state=0).fit_transform(vectors), dtype=np.float32)


def _bare(word: str) -> str:
    """A token as a word: without the marks of what continues a word, or begins one."""
    return word.removeprefix("##").lstrip("▁Ġ") or word


def _write(tokenizer: Any, vectors: Vectors, out: Path) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    student = SentenceTransformer(
        modules=[StaticEmbedding(tokenizer, embedding_weights=vectors)], device="cpu"
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    student.save(str(out), create_model_card=False)
