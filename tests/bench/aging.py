"""Made-up stores that have aged: what a night of hygiene finds in a store that has had many.

Most records stand where they should; a few of every sort are due to rise, sink, lose confidence,
expire, be retired or go. A polluted store never had such a night: a third of it is due.
"""

from datetime import UTC, datetime

import numpy as np
import polars as pl

from memops.schema import PLACE, RECORDS, TOMBSTONE, conform

from .corpus import texts

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
_DAY = 86_400_000_000
_KINDS = {
    "fact": 0.33, "note": 0.2, "session": 0.1, "project_state": 0.1, "preference": 0.08,
    "entity": 0.07, "lesson": 0.05, "procedure": 0.05, "relationship": 0.02,
}  # fmt: skip
_OPENINGS = {
    "": 0.94,
    "The user is allergic to peanuts. ": 0.005,
    "工资在每月十号到账。": 0.005,
    "It was agreed that ": 0.02,
    "昨天已经定了：": 0.01,
    "TODO: clean ": 0.003,
    "待办：清理": 0.003,
    "TODO: send by 2026-05-20 ": 0.002,
    "待办：5月20日前交报告，": 0.002,
    "Done: clean ": 0.005,
    "已完成：清理": 0.005,
}


def aged(n: int, seed: int = 0, polluted: bool = False) -> pl.DataFrame:
    """Return n records of forty scopes, in English, Chinese and both."""
    rng = np.random.default_rng(seed)
    some = lambda share: rng.random(n) < share  # noqa: E731
    days = lambda least, most: rng.integers(least * _DAY, most * _DAY, n)  # noqa: E731
    kind, loose, live = _drawn(rng, _KINDS, n), some(0.6 if polluted else 0.05), some(0.9)
    working, kept = some(0.6), np.isin(kind, ["note", "session"])
    lately, years = days(0, 50), days(0, 1000)
    used = np.where(loose | ~working, years, lately)
    tier = np.where(some(0.1), "core", np.where(working, "working", "peripheral"))
    ids = np.char.add(np.char.zfill(rng.permutation(n).astype(str), 8), "-5b7e-8f1d-2c5a4d9b7e10")
    at = lambda back: pl.Series(int(NOW.timestamp() * 1e6) - back).cast(RECORDS["created_at"])  # noqa: E731
    frame = pl.DataFrame(
        {
            "id": ids,
            "scope": np.char.add("scope", rng.zipf(1.5, n).clip(1, 40).astype(str)),
            "kind": kind,
            "text": _texts(n, rng),
            "tier": tier,
            "importance": np.where(loose, rng.random(n), rng.choice([0.5, 0.6, 0.7], n)),
            "pinned": some(0.03),
            "access_count": rng.poisson(np.where(loose, 2.0, np.where(working, 3.0, 0.3))),
            "created_at": at(np.where(kept & ~loose, lately, years)),
            "updated_at": at(np.where(kept & ~loose, lately, np.minimum(years, used))),
            "accessed_at": at(np.where(kept & ~loose, lately, used)),
            "source": rng.choice(["user", "user", "tool", "extractor"], n),
            "origin": np.char.add("memories/", np.arange(n).astype(str)),
            "_link": np.where(some(0.3), TOMBSTONE, ids[rng.integers(0, n, n)]),
            "_hidden": at(np.where(loose, days(0, 200), days(0, 25))),
            "_until": at(np.where(loose, days(-200, 200), -days(0, 300))),
            "_loose": loose,
            "_live": live,
            "_ends": some(0.03),
            "_session": rng.integers(0, 1 + n // 50, n),
        }
    )
    halves = (
        (pl.lit(NOW) - pl.max_horizontal("created_at", "updated_at")).dt.total_days() / 180
    ).floor()
    sure = (pl.col("kind") == "preference") & ~pl.col("_loose")
    hidden = ~pl.col("_live")
    return conform(
        frame.with_columns(
            superseded_by=pl.when(hidden).then("_link"),
            valid_to=pl.when(hidden).then("_hidden"),
            updated_at=pl.when(hidden).then(pl.min_horizontal("updated_at", "_hidden")).otherwise("updated_at"),
            expires_at=pl.when(hidden | pl.col("_ends")).then("_until"),
            confidence=pl.when(sure).then(pl.lit(0.5).pow(halves).round(3)),
            extra=pl.concat_str(
                pl.lit('{"category": "daily", "namespace": "default", "session_id": "s-'), "_session", pl.lit('"}')
            ),
        ).select(n for n in RECORDS if n not in ("key", "valid_from", "sensitivity", "tags", *PLACE))
    )  # fmt: skip


def _drawn(rng: np.random.Generator, table: dict[str, float], n: int) -> np.ndarray:
    return rng.choice(np.array(list(table)), n, p=list(table.values()))


def _texts(n: int, rng: np.random.Generator) -> pl.Series:
    """An opening and notes: tasks, and what closes them, are short, the rest some 140 characters."""
    pool = pl.Series(texts(4000, seed=1)).str.slice(0, 80)
    brief = pool.str.replace_all(r"\s+", " ").str.slice(0, 25).str.replace(r" \S*$", "")
    first, second = (rng.integers(0, len(pool), n) for _ in range(2))
    whole = pl.DataFrame(
        {
            "opening": _drawn(rng, _OPENINGS, n),
            "brief": brief.gather(first),
            "long": pl.DataFrame([pool.gather(first), pool.gather(second).alias("b")]).select(
                pl.concat_str(pl.all(), separator=" ")
            ).to_series(),
        }
    )  # fmt: skip
    task = pl.col("opening").str.contains("clean|清理|by 2026|报告")
    return whole.select(
        text=pl.concat_str("opening", pl.when(task).then("brief").otherwise("long"))
    )["text"]
