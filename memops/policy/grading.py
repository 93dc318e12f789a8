"""Policy of grading: how recall is searched for, and when it counts as worse."""

from dataclasses import dataclass

from memops.policy.defaults import setting
from memops.policy.ranges import (
    Arms,
    AtLeastOne,
    Chars,
    Count,
    Days,
    Factor,
    Measured,
    Places,
    Section,
    Share,
    Tier,
)


@dataclass(frozen=True)
class Retrieval(Section):
    """How recall is graded: the reference retrievers' parameters (chosen on public chats and notes)."""

    k1_short: Factor = setting(0.9, "BM25 k1 where documents are short")
    k1_long: Factor = setting(2.0, "BM25 k1 where documents are long")
    b_short: Share = setting(0.4, "BM25 length normalisation where documents are short")
    b_long: Share = setting(1.0, "BM25 length normalisation where documents are long")
    short_chars: Chars = setting(300.0, "mean characters up to which documents are short")
    long_chars: Chars = setting(600.0, "mean characters from which documents are long")
    rrf_k: Count = setting(60, "reciprocal rank fusion's constant (Cormack et al. 2009)")
    depth: AtLeastOne = setting(100, "ranks of each arm that reciprocal rank fusion reads")
    weights: Arms = setting(
        {"words": 0.4, "grams": 0.3, "dense": 0.3}, "of the arms in `hybrid`, LSA as the dense one"
    )
    chinese_weights: Arms = setting(
        {"words": 0.3, "grams": 0.4, "dense": 0.3},
        "the same where most texts are Chinese; words are then ranked by their cosine",
    )
    model_weights: Arms = setting(
        {"words": 0.27, "grams": 0.18, "dense": 0.55},
        "the same, with a sentence model; `dense` counts by the share of the texts that it can read",
    )
    near: dict[Places, Share] = setting(
        {"1": 0.2, "2": 0.04}, "share of the score of turns so many places away that a turn gains"
    )
    named_speaker: Factor = setting(1.6, "factor for turns of the one speaker whom a query names")
    user_turns: Factor = setting(1.5, "factor for what a user, not an assistant, said")
    recency: Factor = setting(0.4, "added for the newest, where a query is asked as of a time")
    half_life_days: Days = setting(
        0.0, "days in which a score halves, counted back from the newest record; 0 is never"
    )
    tier_factors: dict[Tier, Factor] = setting(
        {"core": 1.0, "working": 1.0, "peripheral": 1.0}, "factor for records of a tier"
    )
    pinned_factor: Factor = setting(1.0, "factor for pinned records")
    importance: Factor = setting(0.0, "a score grows by this times (importance - 0.5)")
    diversity: Share = setting(0.3, "weight of likeness to what ranks before, in `mmr`")
    exact_vectors: Count = setting(
        1_000_000, "documents of a scope above which vectors are searched approximately"
    )
    approximate_recall: Share = setting(
        0.95, "share of the exact nearest that an approximate search must find, on a sample"
    )
    recency_steps: Factor = setting(30.0, "sessions after which that has fallen to 1/e")


@dataclass(frozen=True)
class Gate(Section):
    """When a loss of recall stops a change."""

    measure: Measured = setting(
        "R@10", "the measure that decides; the suite's first if it lacks this one"
    )
    minimum: Share = setting(0.02, "smallest mean loss worth stopping for")
    slice_minimum: Share = setting(0.10, "the same within one category or language")
    slice_queries: Count = setting(10, "queries from which a slice is judged by itself")
    confidence: Share = setting(0.90, "of the bootstrap interval: 5 % error on the side of a loss")
    alpha: Share = setting(0.01, "error rate, over all slices or other measures together (Holm)")
    unsure: Share = setting(0.10, "a pass must exclude a mean loss this large, or is inconclusive")
    resamples: AtLeastOne = setting(2000, "bootstrap resamples and sign flips")
    seed: Count = setting(7, "of both")
