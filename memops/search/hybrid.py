"""Hybrid: arms as one convex combination, then what stands near a turn, then optional priors."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from memops.models.nearest import Ints, Scores
from memops.search.arms import ARMS, Arms
from memops.search.collection import FOREVER, Block
from memops.search.fuse import convex


@dataclass
class Hybrid:
    """The recommended retriever over a collection's arms."""

    arms: Arms
    _near_rows: dict[int, Ints] = field(default_factory=dict, repr=False)

    def scores(self, block: Block) -> Scores:
        """Return the block's scores; 0 is no match."""
        settings = self.arms.policy.retrieval
        encoder = self.arms.encoder
        chinese = bool(self.arms.chinese[block.part])
        weights = settings.chinese_weights if chinese else settings.weights
        if encoder is not None and encoder.speaks:
            weights = dict(settings.model_weights)
            weights["dense"] = weights.get("dense", 0) * float(self.arms.readable[block.part])
        asked = {
            n: self.arms.scores("cosines" if n == "words" and chinese else n, block)
            for n in ARMS
            if weights.get(n) and (n != "dense" or encoder)
        }
        fused = convex(asked, weights, self.arms.collection.seen(block))
        found = self._aged(self._spoken(self._near(fused, block), block), block)
        prior = self.prior[block.documents]
        return found if (prior == 1).all() else np.asarray(found * prior, dtype=np.float32)

    @cached_property
    def prior(self) -> Scores:
        """Return each document's factor: its age, tier, pin and importance, as the policy says."""
        settings, documents = self.arms.policy.retrieval, self.arms.collection.documents
        days = (pl.col("created_at").max() - pl.col("created_at")).dt.total_seconds() / 86_400
        factors = {
            "created_at": 0.5 ** (days.fill_null(0) / (settings.half_life_days or np.inf)),
            "tier": pl.col("tier").replace_strict(
                settings.tier_factors, default=1.0, return_dtype=pl.Float64
            ),
            "pinned": pl.when("pinned").then(settings.pinned_factor).otherwise(1.0),
            "importance": 1 + settings.importance * (pl.col("importance").fill_null(0.5) - 0.5),
        }
        known = [f for name, f in factors.items() if name in documents.columns]
        product = documents.select(p=pl.reduce(lambda a, b: a * b, [pl.lit(1.0), *known]))["p"]
        return np.asarray(product.to_numpy(), dtype=np.float32)

    def _near(self, scores: Scores, block: Block) -> Scores:
        """Each turn gains a share of the scores of the turns around it in its session."""
        gained = scores.copy()
        for step, share in self.arms.policy.retrieval.near.items():
            for places in (-int(step), int(step)):
                other = self.neighbours(places)[block.documents]
                has = other >= 0
                gained[:, has] += np.float32(share) * scores[:, other[has] - block.documents.start]
        return gained

    def neighbours(self, places: int) -> Ints:
        """Return for each document the row of the one so many places on in its session, or -1."""
        if places not in self._near_rows:
            documents = self.arms.collection.documents
            order = (
                documents.select("part", "session", "nth", "stored", "id").with_row_index("row")
                .sort("part", "session", "nth", "stored", "id", nulls_last=True)
                .with_columns(other=pl.col("row").shift(-places).over("part", "session"))
                .with_columns(other=pl.when(pl.col("session").is_not_null()).then(pl.col("other").cast(pl.Int64)))
                .sort("row")
            )  # fmt: skip
            self._near_rows[places] = order["other"].fill_null(-1).to_numpy()
        return self._near_rows[places]

    def _spoken(self, scores: Scores, block: Block) -> Scores:
        settings = self.arms.policy.retrieval
        speakers = self.arms.collection.documents["speaker"][block.documents]
        if speakers.null_count() == len(speakers):
            return scores
        users = (speakers.str.to_lowercase() == "user").fill_null(False).to_numpy()
        factor = np.where(users, settings.user_turns, 1.0)
        factors = np.broadcast_to(factor, block.shape).copy()
        asked = self.arms.named_speakers[block.queries]
        for name in {name for name in asked if name is not None}:
            rows = np.array([other == name for other in asked])
            said = (speakers == name).fill_null(False).to_numpy()
            factors[np.ix_(rows, said)] *= settings.named_speaker
        return np.asarray(scores * factors, dtype=np.float32)

    def _aged(self, scores: Scores, block: Block) -> Scores:
        """Where a query is asked as of a time, adds recency: exp(-sessions since / steps)."""
        settings = self.arms.policy.retrieval
        collection = self.arms.collection
        asked = collection.queries["asked"][block.queries].to_numpy()
        clocked = asked < FOREVER
        if not clocked.any() or not settings.recency:
            return scores
        stored = collection.documents["stored"][block.documents].to_numpy()
        times = np.unique(stored[stored > -FOREVER])
        since = np.searchsorted(times, asked, side="right")[:, None] - 1
        age = since - np.searchsorted(times, stored)[None, :]
        fresh = settings.recency * np.exp(-np.maximum(age, 0) / settings.recency_steps)
        fresh[:, stored <= -FOREVER] = 0
        fresh[~clocked] = 0
        return np.asarray(scores + fresh * (scores > 0), dtype=np.float32)
