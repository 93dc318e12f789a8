"""Parts: the pairs of a store's statements, found and judged scope by scope on a runner.

Nothing crosses scopes but counts: how many statements the store has, and how many texts hold an
item. They are added up between the steps, so the parts come to what the whole comes to.

    said-P.parquet     the statements of some whole scopes; codes-P.parquet, their codes
    dense-P.parquet    pairs of them that an encoder places near, found before the parts are made
    near-P-FROM        pairs of a shard of them, near-P-FROM.parquet
    text-S.parquet     texts to read; read-S.parquet, what they say
    pairs-P.parquet    pairs of a part; used-P.parquet, what their statements say
    verdict-P-FROM     what a shard of the pairs is
"""

import itertools
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from memops import files
from memops.context import Context
from memops.judge.candidates.neighbours_dense import dense_neighbours
from memops.judge.candidates.similarity import beside, near, whole_scopes
from memops.judge.candidates.worth import WORTH, nearest, worth_reading
from memops.judge.comparing import Keep, read_once, to_ask, used_in, verdicts
from memops.judge.known import VERDICTS
from memops.language.codes import Codes, codes
from memops.policy import Candidates, Conflicts, Policy
from memops.spread import Spread
from memops.statements.readings import readings
from memops.statements.taken import counted, taken_apart

_ROUND = itertools.count()
PAIRS_A_JOB = 8
"""Pairs that a job judges, by the statements of a part."""


def judged_in_parts(
    table: pl.DataFrame, ctx: Context, keep: Keep
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the pairs of statements worth comparing, and what each is, as the whole would."""
    assert ctx.spread is not None
    spread = ctx.spread
    here = files.folder(spread.folder / f"round-{next(_ROUND)}")
    parts = whole_scopes(table, spread.size)
    dense = dense_neighbours(table, ctx)
    for p, part in enumerate(parts):
        _write(part, here / f"said-{p}.parquet")
        if (close := beside(dense, part)) is not None:
            _write(close, here / f"dense-{p}.parquet")
    names = [str(here)]
    spread.map(codes_of, [(*names, p) for p in range(len(parts))])
    limits = {name: asdict(getattr(ctx.policy, name)) for name in ("candidates", "conflicts")}
    whole = (table.height, limits, to_ask(ctx))
    shards = [(p, *s) for p, part in enumerate(parts) for s in _shards(part.height, spread.size)]
    jobs = [(*names, *shard, *whole) for shard in shards]
    spread.map(near_of, jobs)
    found = [_collected(here, "near", p) for p in range(len(parts))]
    once = [f.unique(["a", "b"], keep="first").sort("a", "b") for f in found]
    pairs = [keep(nearest(f, ctx.policy, to_ask(ctx))) for f in once]
    every = pl.concat(pairs).sort("a", "b")
    if every.is_empty():
        return WORTH.to_frame(), VERDICTS.to_frame()
    _read_out(table, pairs, ctx, here)
    return every, _judge(pairs, every, spread, here)


def codes_of(folder: str, p: int) -> None:
    """Leave the codes of a part's statements."""
    found = codes(_read(folder, f"said-{p}")["text"], unigrams=True)
    _write(pl.DataFrame(found._asdict()), Path(folder) / f"codes-{p}.parquet")


def near_of(
    folder: str, p: int, start: int, end: int, whole: int, limits: dict[str, Any], asked: int
) -> None:
    """Leave the pairs of a shard of a part with any statement of the part."""
    said = Codes(*(c.to_numpy() for c in _read(folder, f"codes-{p}").get_columns()))
    policy = Policy(
        candidates=Candidates(**limits["candidates"]), conflicts=Conflicts(**limits["conflicts"])
    )
    dense = Path(folder, f"dense-{p}.parquet").exists()
    close = _read(folder, f"dense-{p}") if dense else None
    part = _read(folder, f"said-{p}")
    found = near(part, said, whole, policy.candidates, (start, end), close)
    kept = worth_reading(found, part, policy, asked)
    _write(kept, Path(folder) / f"near-{p}-{start}.parquet")


def read_of(folder: str, s: int) -> None:
    """Leave what some texts say."""
    taken = taken_apart(_read(folder, f"text-{s}")["text"].to_list())
    _write(taken, Path(folder) / f"read-{s}.parquet")


def verdict_of(folder: str, p: int, start: int, end: int, texts: int) -> None:
    """Leave what a shard of a part's pairs is."""
    pairs, taken = _read(folder, f"pairs-{p}")[start:end], _read(folder, f"used-{p}")
    used = taken["statement"].to_numpy()
    mine = np.isin(used, used_in(pairs))
    said = readings(taken.filter(pl.Series(mine)), _read(folder, "held"), texts)
    _write(verdicts(pairs, said, used[mine]), Path(folder) / f"verdict-{p}-{start}.parquet")


def _read_out(table: pl.DataFrame, pairs: list[pl.DataFrame], ctx: Context, here: Path) -> None:
    """Have every text read once, and lay what a part's statements say beside its pairs."""
    spread = ctx.spread
    assert spread is not None
    used = [pl.Series("statement", used_in(part), pl.UInt32) for part in pairs]
    texts = table["text"].gather(pl.concat(used))

    def take(new: list[str]) -> pl.DataFrame:
        shards = _shards(len(new), spread.size)
        for s, (start, end) in enumerate(shards):
            _write(pl.DataFrame({"text": new[start:end]}), here / f"text-{s}.parquet")
        spread.map(read_of, [(str(here), s) for s in range(len(shards))])
        return pl.concat(_read(str(here), f"read-{s}") for s in range(len(shards)))

    taken = read_once(texts, ctx, take)  # type: ignore[arg-type]
    _write(counted(taken), here / "held.parquet")
    at = 0
    for p, statement in enumerate(used):
        mine = taken[at : at + statement.len()].drop("text").with_columns(statement)
        _write(mine, here / f"used-{p}.parquet")
        at += statement.len()


def _judge(
    pairs: list[pl.DataFrame], every: pl.DataFrame, spread: Spread, here: Path
) -> pl.DataFrame:
    for p, part in enumerate(pairs):
        _write(part, here / f"pairs-{p}.parquet")
    texts = sum(len(used_in(part)) for part in pairs)
    size = PAIRS_A_JOB * spread.size
    shards = [(p, *s) for p, part in enumerate(pairs) for s in _shards(part.height, size)]
    spread.map(verdict_of, [(str(here), *shard, texts) for shard in shards])
    judged = pl.concat(_collected(here, "verdict", p) for p in range(len(pairs)))
    keyed = pl.concat([pl.concat(pairs).select("a", "b"), judged], how="horizontal")
    return keyed.sort("a", "b").drop("a", "b")


def _shards(height: int, size: int) -> list[tuple[int, int]]:
    return [(start, min(start + size, height)) for start in range(0, height, size)]


def _collected(here: Path, what: str, p: int) -> pl.DataFrame:
    """The shards of a part, in order."""
    found = sorted(here.glob(f"{what}-{p}-*.parquet"), key=lambda f: int(f.stem.rsplit("-", 1)[1]))
    empty = WORTH.to_frame() if what == "near" else VERDICTS.to_frame()
    return pl.concat([empty, *(_read(str(here), f.stem) for f in found)])


def _read(folder: str, name: str) -> pl.DataFrame:
    return pl.read_parquet((Path(folder) / f"{name}.parquet").read_bytes())


def _write(table: pl.DataFrame, path: Path) -> None:
    """Write a part whole or not at all, so that a worker that died can be replaced."""
    import io

    out = io.BytesIO()
    table.write_parquet(out, compression="zstd")
    files.write(path, out.getvalue())
