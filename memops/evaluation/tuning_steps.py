"""Tuning and distilling as steps: how to search a store, and with which model."""

import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from memops import files
from memops.evaluation import golden
from memops.evaluation.grading import frozen, grade, texts_of
from memops.models.encode import Encoder, open_encoder
from memops.schema import LIVE
from memops.settings import Settings
from memops.state.lineage import kept_lineage
from memops.state.sources import open_or_take

_TEXTS = 400  # of a store by which two models are compared


def tuned(
    store: str, suite: str, settings: Settings, encoders: Sequence[str], now: datetime | None = None
) -> dict[str, Any]:
    """Try ways of searching a store by a suite; returns the figures."""
    from memops.evaluation import tuning

    taken = open_or_take(store, settings, now, to_grade=True)
    records = taken.records()
    loaded = golden.load(golden.suite_folder(suite))
    tried: dict[str, Encoder] = {loaded.encoder: frozen(loaded, records)}
    for name in encoders:
        made = open_encoder(name, files.folder(settings.state / "vectors"), settings.instruction)
        tried.setdefault(name, made.fitted(texts_of(records)))
    edges = kept_lineage(settings.state, taken.manifest["store"])
    found = tuning.tune(records, loaded, settings.policy, tried, time.perf_counter, edges)
    return {"suite": suite, "store": taken.address, **found.to_json()}


def distilled(
    path: str,
    out: Path,
    dims: int,
    settings: Settings,
    store: str | None,
    suite: str | None,
    now: datetime | None,
) -> dict[str, Any]:
    """Make a static model of a model, and say what it loses and gains on a store's texts."""
    from memops.models.distilled import compared, distil
    from memops.models.transformers import Model

    student, teacher = distil(path, out, dims), Model(path)
    records = open_or_take(store, settings, now, to_grade=True).records() if store else None
    texts = _SAID if records is None else records.filter(LIVE)["text"].unique().sort().to_list()
    said = compared(teacher, student, texts[:: max(1, len(texts) // _TEXTS)][:_TEXTS])
    if suite and records is not None:
        loaded = golden.load(golden.suite_folder(suite))
        said["measure"] = loaded.measures[0]
        for name, model in (("model", teacher), ("static", student)):
            means = grade(records, loaded, settings.policy, model).means()
            said[name]["recall"] = round(means[said["measure"]], 4)
    return {"path": str(out), **said}


_SAID = [
    "The user lives in Berlin", "The user moved to Berlin last year", "Deploys happen on Fridays",
    "The build server has 64 GB of memory", "The cat is called Miso", "Her cat's name is Miso",
    "Alice prefers tea to coffee", "The meeting was moved to Monday", "The office is closed on Monday",
    "Backups are written every night", "The database runs on port 5432", "He is allergic to peanuts",
]  # fmt: skip
