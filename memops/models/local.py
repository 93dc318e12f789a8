"""The models that a policy names for planning, opened."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from memops import files
from memops.context import Models
from memops.errors import MemopsError
from memops.policy import Policy
from memops.policy.models import Judge
from memops.schema import LIVE
from memops.verdicts import Decider

if TYPE_CHECKING:
    from memops.models.vectors import Encoder


def local_models(policy: Policy, state: Path, records: pl.DataFrame) -> Models:
    """Return the encoder and the judge that the policy names, answers kept in the state folder; LSA is fitted.

    Raises MemopsError for a local model that cannot be had; no network is asked but `judge.endpoint`.
    """
    recipes: dict[str, Any] = {}
    encode, judge = None, decider(policy.judge, state)
    if policy.dense.encoder:
        texts = records.filter(LIVE)["text"].to_list()
        encoder = _encoder(policy.dense.encoder, files.folder(state / "vectors"), texts)
        encode, recipes["encoder"] = encoder.encode, encoder.recipe()
    if judge is not None:
        recipes["judge"] = judge.recipe()
    return Models(encode, judge, recipes)


def decider(policy: Judge, state: Path) -> Decider | None:
    """Return the judge that the policy names, or None; what it answers is kept in the state folder."""
    if policy.endpoint:
        from memops.models.endpoint_judge import EndpointJudge

        return EndpointJudge(policy, files.folder(state / "verdicts"))
    if policy.model:
        from memops.models.judge import CrossEncoderJudge

        kept = files.folder(state / "vectors")
        return CrossEncoderJudge(policy.model, kept, policy.window, policy.confidence)
    return None


def _encoder(name: str, cache: Path, texts: Sequence[str]) -> "Encoder":
    if name == "lsa":
        from memops.models.encode import Lsa

        return Lsa().fitted(texts)
    if not Path(name).expanduser().is_dir():
        a_model = "`lsa`, the folder of a sentence-transformers model, or leave it empty"
        said = f"the encoder {name!r} cannot be loaded: no such folder"
        raise MemopsError(said, f"set dense.encoder to {a_model}")
    from memops.models.transformers import Model

    return Model(name, cache, steady=True)
