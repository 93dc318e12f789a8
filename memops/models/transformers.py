"""Sentence-transformers encoders, by folder or name, with their vectors kept on disk."""

import contextlib
import hashlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memops.errors import MemopsError
from memops.models.vectors import Encoder, Vectors, encoded, unit

_TOKENS = 256  # of a text that are read
_PICKLES = (".bin", ".pt", ".pth", ".pkl", ".ckpt")
ABSENT = ("sentence-transformers is not installed", "pip install 'memops[models]'")
_HINT = "give `lsa`, a folder with a sentence-transformers model, or the name of one"


class Model(Encoder):
    """A sentence-transformers model; vectors are cached by recipe and hash of the text.

    `steady` encodes each text by itself, in whole precision and on one thread, so that its vector is
    always the same to the last bit, at a third of the rate.
    """

    def __init__(
        self, name: str, cache: Path | None = None, instruction: str = "", steady: bool = False
    ) -> None:
        folder = Path(name).expanduser()
        self._steady, self._cache = steady, cache
        self._model = load_model(str(folder) if folder.exists() else name)
        # A model may bring the instruction that its queries were trained with.
        self.instruction = instruction or str((self._model.prompts or {}).get("query") or "")
        most = self._model.max_seq_length
        if most != math.inf:  # a static model reads texts whole, and cannot be told otherwise
            self._model.max_seq_length = min(_TOKENS, most or _TOKENS)
        self._revision = _revision(self._model, folder)

    def recipe(self) -> dict[str, Any]:
        """Return what its vectors depend on; the folder's name is not among it."""
        said = {"encoder": "sentence-transformers", "weights": self._revision, "tokens": _TOKENS}
        said |= {"steady": True} if self._steady else {}
        return said | ({"instruction": self.instruction} if self.instruction else {})

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text; what was encoded before is read from the cache."""
        recipe = {k: v for k, v in self.recipe().items() if k != "instruction"}
        return encoded(texts, self._encode, self._cache, recipe)

    def reads(self, texts: Sequence[str]) -> float:
        """Return the share of the texts' tokens that are in its vocabulary; 1 if it cannot tell."""
        tokenizer = self._model.tokenizer
        unknown = getattr(tokenizer, "unk_token_id", None)
        if unknown is None or not texts:
            return 1.0
        read = tokenizer(list(texts), add_special_tokens=False)["input_ids"]
        ids = [token for text in read for token in text]
        return 1.0 - ids.count(unknown) / max(1, len(ids))

    def _encode(self, texts: list[str]) -> Vectors:
        import torch

        if self._steady:
            with one_thread():
                return self._made(texts, 1)
        # Half-precision products keep cosines to 4 digits and double the rate on recent CPUs.
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self._made(texts, 64)

    def _made(self, texts: list[str], at_once: int) -> Vectors:
        import torch

        with torch.inference_mode():
            made = self._model.encode(
                texts, batch_size=at_once, normalize_embeddings=True, convert_to_numpy=True,
                show_progress_bar=False,
            )  # fmt: skip
        return unit(np.asarray(made, dtype=np.float32))


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let models compute on one thread meanwhile: sums of several differ in their last bits."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def load_model(name: str) -> Any:
    """Return the sentence-transformers model of a folder or name, of safetensors alone; raises MemopsError."""
    if (folder := Path(name).expanduser()).is_dir():
        refuse_code(folder, _HINT)
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise MemopsError(*ABSENT) from error
    if name.startswith(("/", ".", "~")) and not Path(name).expanduser().is_dir():
        raise MemopsError(f"the encoder {name!r} cannot be loaded: no such folder", _HINT)
    quieten()
    try:
        return SentenceTransformer(
            name, device="cpu", trust_remote_code=False, model_kwargs={"use_safetensors": True}
        )
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise MemopsError(f"the encoder {name!r} cannot be loaded: {first}", _HINT) from error


def refuse_code(folder: Path, hint: str) -> None:
    """Raise MemopsError for a folder that brings code, or weights only as a pickle."""
    if not any(folder.rglob("*.safetensors")):
        raise MemopsError(f"{folder}: no safetensors, and pickles are not read", hint)
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".py":
            raise MemopsError(f"{path}: a model's own code is not run", hint)
        if path.suffix in _PICKLES and not any(path.parent.glob("*.safetensors")):
            raise MemopsError(f"{path}: pickles are not read", hint)


def quieten() -> None:
    """Keep the libraries' progress and reports off a terminal that prints results."""
    import logging

    from transformers.utils import logging as transformers_logging

    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)


def _revision(model: Any, folder: Path) -> str:
    digest = hashlib.sha256()
    for name, tensor in _tensors(model, folder):
        digest.update(name.encode())
        digest.update(tensor.detach().float().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]


def _tensors(model: Any, folder: Path) -> Iterator[tuple[str, Any]]:
    """The weights in a folder's files: what they lack, a pooler say, is made at random at each load."""
    from safetensors import safe_open

    files = sorted(folder.rglob("*.safetensors"))
    for path in files:
        with safe_open(str(path), "pt") as held:
            for name in sorted(held.keys()):
                yield f"{path.relative_to(folder).as_posix()} {name}", held.get_tensor(name)
    if not files:
        yield from sorted(model.state_dict().items())
