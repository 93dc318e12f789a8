"""A judge of pairs: a local cross-encoder that tells what one text says of the other.

Only safetensors are read: no code, no pickle, no network. Each pair is read by itself on one thread, so
that its word does not depend on what is asked beside it.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memops.errors import Corrupt, MemopsError
from memops.models.transformers import ABSENT, one_thread, quieten, refuse_code
from memops.models.vectors import encoded
from memops.verdicts import BOTH_HOLD, CONFLICT, SAME, UNSURE, Pair, Verdict

WORDS = ("contradiction", "entailment", "neutral")
_VERDICTS = (CONFLICT, SAME, BOTH_HOLD)
_HINT = "set judge.model to the folder of a CrossEncoder with safetensors, or leave it empty"
_FILES = (".json", ".txt", ".safetensors", ".model")


class CrossEncoderJudge:
    """A sentence-transformers CrossEncoder, loaded when first asked; what it says is kept on disk.

    Its labels are contradiction, entailment and neutral, or it has one score: how much the two say the
    same. Asked both ways round, the weaker counts; below `confidence` it is unsure. Raises MemopsError
    for no such model.
    """

    name = "cross-encoder"

    def __init__(
        self, path: str, cache: Path | None = None, tokens: int = 256, confidence: float = 0.8
    ) -> None:
        from importlib.util import find_spec

        if find_spec("sentence_transformers") is None:
            raise MemopsError(*ABSENT)
        self._folder, self._cache, self._tokens = Path(path).expanduser(), cache, tokens
        self._confidence = confidence
        if not self._folder.is_dir():
            raise MemopsError(f"the judge {path!r} cannot be loaded: no such folder", _HINT)
        refuse_code(self._folder, _HINT)
        self._labels = _labels(self._folder / "config.json")
        self._digest = _digest(self._folder)
        self._model: Any = None

    def recipe(self) -> dict[str, object]:
        """Return what its words depend on; the folder's name is not among it."""
        return {"judge": "cross-encoder", "sha256": self._digest, "tokens": self._tokens}

    def __call__(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """Return one verdict a pair: contradiction is a conflict, entailment both ways the same."""
        there = self.probabilities([(pair.a.text, pair.b.text) for pair in pairs])
        back = self.probabilities([(pair.b.text, pair.a.text) for pair in pairs])
        return [self._verdict(row) for row in np.minimum(there, back).tolist()]

    def _verdict(self, row: Sequence[float]) -> Verdict:
        best = int(np.argmax(row))
        return Verdict(_VERDICTS[best] if row[best] >= self._confidence else UNSURE, row[best])

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> Any:
        """Return the probabilities (pairs, WORDS) that each first text gives its second; a score p is 0, p, 1 - p."""
        asked = [json.dumps(pair) for pair in pairs]
        if not asked:
            return np.zeros((0, len(WORDS)))
        kept = encoded(asked, self._answers, self._cache, self.recipe())
        return np.round(kept.astype(np.float64), 4)

    def _answers(self, asked: list[str]) -> Any:
        import torch

        self._model = self._model or _load(self._folder, self._tokens)
        with one_thread():
            logits = self._model.predict(
                [tuple(json.loads(pair)) for pair in asked], batch_size=1,
                activation_fn=torch.nn.Identity(), show_progress_bar=False,
            )  # fmt: skip
        z = np.asarray(logits, np.float64).reshape(len(asked), -1)
        if self._labels is None:
            same = 1 / (1 + np.exp(-z[:, 0]))
            return np.stack([np.zeros(len(asked)), same, 1 - same], axis=1)
        odds = np.exp(z - z.max(axis=1, keepdims=True))
        return (odds / odds.sum(axis=1, keepdims=True))[:, self._labels]


def _load(folder: Path, tokens: int) -> Any:
    from safetensors import SafetensorError
    from sentence_transformers import CrossEncoder

    quieten()
    most = json.loads((folder / "config.json").read_bytes()).get("max_position_embeddings")
    tokens = min(tokens, most - 2) if isinstance(most, int) else tokens
    try:
        return CrossEncoder(
            str(folder), device="cpu", local_files_only=True, trust_remote_code=False,
            max_length=tokens, model_kwargs={"use_safetensors": True},
        )  # fmt: skip
    except (OSError, ValueError, RuntimeError, KeyError, ImportError, SafetensorError) as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise MemopsError(f"the judge {str(folder)!r} cannot be loaded: {first}", _HINT) from error


def _labels(path: Path) -> list[int] | None:
    """The places of WORDS among the labels of a model; None for one with a single score."""
    try:
        said = json.loads(path.read_bytes())
        named = {int(n): str(name).lower() for n, name in (said.get("id2label") or {}).items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise Corrupt(f"{path}: no configuration of a model: {error}", _HINT) from error
    if len(named) == 1 or (not named and said.get("num_labels") == 1):
        return None
    try:
        return [next(n for n, name in named.items() if name.startswith(w[:6])) for w in WORDS]
    except StopIteration:
        known = ", ".join(named.values()) or "not named"
        hint = f"name them {', '.join(WORDS)} in id2label, or take a model with a single score"
        raise MemopsError(f"{path}: its labels are {known}", hint) from None


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.suffix in _FILES):
        digest.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as handle:
            digest.update(hashlib.file_digest(handle, "sha256").digest())
    return digest.hexdigest()
