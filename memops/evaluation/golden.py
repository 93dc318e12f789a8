"""Golden queries: a folder with `suite.toml`, `queries.jsonl` and a recorded `baseline.json`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from memops.errors import Corrupt, MemopsError, StoreNotFound
from memops.evaluation.format import DEFAULT_MEASURES, check_row, graded, head_of, rows_of
from memops.files import digest
from memops.language.lexicon import resource
from memops.schema import INSTANT, instant

QUERIES = pl.Schema(
    dict.fromkeys(("query_id", "text", "scope", "category", "lang"), pl.String())
    | {"as_of": INSTANT, "answerable": pl.Boolean()}
)
"""A scope of null asks the whole store."""
EVIDENCE = pl.Schema({"query_id": pl.String(), "id": pl.String(), "grade": pl.Int64()})
NUGGETS = pl.Schema({"query_id": pl.String(), "nugget": pl.String()})


@dataclass(frozen=True)
class Suite:
    """Golden queries and how they are graded.

    `relevant` names records, `nuggets` are regular expressions that a right answer matches, `avoid`
    names records or patterns that must not come back. `floors` are the least values of the deciding
    measure, over all or by slice.
    """

    name: str
    queries: pl.DataFrame
    relevant: pl.DataFrame
    nuggets: pl.DataFrame
    avoid: pl.DataFrame
    measures: tuple[str, ...] = DEFAULT_MEASURES
    retriever: str = "hybrid"
    k: int = 10
    encoder: str = "lsa"
    floors: Mapping[str, float] = field(default_factory=dict)
    folder: Path | None = None

    def digest(self) -> str:
        """Return the SHA-256 of what is asked and what is right, in the order of the ids."""
        rest = (t.sort(t.columns) for t in (self.relevant, self.nuggets, self.avoid))
        return digest("".join(t.write_ndjson() for t in (self.queries.sort("query_id"), *rest)))

    def settings(self) -> dict[str, Any]:
        """Return how it is graded."""
        return {"retriever": self.retriever, "k": self.k, "measures": list(self.measures)}


def suite_folder(name: str) -> Path:
    """Return where a suite is: a path, or a name below `evals` (the sample suites are bundled)."""
    places = (Path(name), Path("evals") / name, resource(f"evals/{name}"))
    for place in places:
        if (place / "suite.toml").is_file():
            return place
    looked = f"looked in {', '.join(str(p) for p in places)}"
    raise MemopsError(f"no suite {name!r}", f"{looked}; `memops recall suite init STORE` makes one")


def load(folder: Path) -> Suite:
    """Return the suite of a folder; raises StoreNotFound, Corrupt or MemopsError."""
    head, lines = folder / "suite.toml", folder / "queries.jsonl"
    for path in (head, lines):
        if not path.is_file():
            hint = "a suite is a folder with suite.toml and queries.jsonl"
            raise StoreNotFound(f"{path}: no such file", hint)
    table = head_of(head)
    try:
        queries = tables(rows_of(lines), str(lines))
    except OverflowError as error:
        raise Corrupt(f"{lines}: {error}") from error
    floors = table.get("floors", {})
    asked = {f"{n}:{v}" for n in ("category", "lang") for v in queries[0][n].unique()}
    for name in floors:
        if name.startswith(("category:", "lang:")) and name not in asked and asked:
            said = f"{head}: no query is in {name!r}, which has a floor"
            raise MemopsError(said, f"there are {', '.join(sorted(asked))}")
    return Suite(
        folder.name, *queries, measures=tuple(table["measures"]), retriever=table["retriever"],
        k=table["k"], encoder=table["encoder"], floors=floors, folder=folder,
    )  # fmt: skip


def places(folder: Path) -> dict[str, tuple[str, int]]:
    """Return where each query of a suite's folder stands: its file and line, from 1."""
    path = folder / "queries.jsonl"
    lines = enumerate(path.read_text(encoding="utf-8-sig").split("\n"), 1)
    return {json.loads(line)["query_id"]: (str(path), nth) for nth, line in lines if line.strip()}


def as_rows(suite: Suite) -> list[dict[str, Any]]:
    """Return the suite's queries as they stand in `queries.jsonl`."""
    lists: dict[str, dict[str, Any]] = {"relevant": relevant_of(suite)}
    lists |= {
        name: dict(table.group_by("query_id", maintain_order=True).agg("nugget").rows())
        for name, table in (("nuggets", suite.nuggets), ("avoid", suite.avoid))
    }
    at = pl.col("as_of").dt.strftime("%Y-%m-%dT%H:%M:%S%.fZ")
    rows = [
        row | {name: held.get(row["query_id"]) for name, held in lists.items()}
        for row in suite.queries.with_columns(at).to_dicts()
    ]
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def relevant_of(suite: Suite) -> dict[str, dict[str, int]]:
    """Return the grades of each query's evidence, by record."""
    held = suite.relevant.group_by("query_id", maintain_order=True).agg("id", "grade")
    return {query: dict(zip(ids, grades, strict=True)) for query, ids, grades in held.rows()}


def tables(
    rows: Sequence[Mapping[str, Any]], where: str
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return (queries, relevant, nuggets, avoid) of rows; raises Corrupt, naming the line."""
    for nth, row in enumerate(rows, 1):
        check_row(row, f"{where}: line {nth}")
    ids = [row["query_id"] for row in rows]
    if twice := sorted({i for i in ids if ids.count(i) > 1} if len(set(ids)) != len(ids) else ()):
        raise Corrupt(f"{where}: query {twice[0]!r} stands twice")
    queries = pl.DataFrame([_query(row) for row in rows], schema=QUERIES)
    named = ((r["query_id"], graded(r.get("relevant")).items()) for r in rows)
    relevant = [(query, i, int(g)) for query, held in named for i, g in held]
    texts = (
        [(r["query_id"], text) for r in rows for text in r.get(name) or ()]
        for name in ("nuggets", "avoid")
    )
    nuggets, avoid = (pl.DataFrame(table, NUGGETS, orient="row") for table in texts)
    return queries, pl.DataFrame(relevant, EVIDENCE, orient="row"), nuggets, avoid


def _query(row: Mapping[str, Any]) -> dict[str, Any]:
    from memops.language.text import language

    lang = row.get("lang") or pl.select(language(pl.lit(row["text"]))).item()
    return {
        "query_id": row["query_id"], "text": row["text"], "scope": row.get("scope"),
        "category": row.get("category") or "other", "lang": lang,
        "as_of": instant(row.get("as_of")), "answerable": bool(row.get("answerable", True)),
    }  # fmt: skip
