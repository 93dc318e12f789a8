"""Proposing golden queries from a store, without a model; a person keeps or drops each of them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from memops.evaluation import questions
from memops.evaluation.format import Query
from memops.evaluation.questions import Statement, known_item, value_question
from memops.files import digest
from memops.hygiene.chatter import chatter
from memops.judge.places import MOMENTS, RANKS, placed, touchable
from memops.language.detection import spoken_share
from memops.language.packs import spaced
from memops.language.text import language, normalised, tokens
from memops.safety.hostile import injected
from memops.safety.looked import found as secrets_in
from memops.safety.masks import MASK
from memops.schema import LIVE, SHARED, SUBJECT
from memops.state.lineage import superseded

CATEGORIES = ("known-item", "value", "stale", "no-answer")
_READ = 4000  # statements that are read, evenly taken
_PART, _SPOKEN = 0.25, 0.12
"""Shares: of the texts of a store, in a language that its owner would ask in, and of their words, the
function words of that language where they stand between spaces.
"""
_CHARS = (6, 400)  # of a text that is asked about
_MORE = 3  # times as many are looked at for whether another record says the same
_MOST = 0.6  # of the words of what a question asks for, in a record that says it as well
_BROKEN = r"…$|\.\.\.$|```|<[a-z/!]|\[SUPERSEDED|^(User|Assistant|用户|助手) ?[:：]|^#"
_BLANK = r"^_.*_$|^\W*\[[^\]]*\]\W*$|[:：][\W_]*(?:[\[(（【][^\])）】]*[\])）】][\W_]*)?$"
"""A place of a template that is to be filled in."""


def propose(
    records: pl.DataFrame, each: int = 20, links: pl.DataFrame | None = None
) -> list[Query]:
    """Return proposals as rows of `queries.jsonl`, with a `note`; at most `each` a category."""
    texts = _askable(records)
    asked = texts.select("text", "lang").rows()
    said = {statement.text: statement for statement in questions.stated_many(asked)}
    standing = [text for text, one in said.items() if one.standing]
    texts = texts.filter(pl.col("text").is_in(standing))
    holders = _holders(texts, said)
    rarity = Counter(c for s in said.values() for c in {t.concept for t in s.reading.tokens})
    made: dict[str, list[Query]] = {name: [] for name in CATEGORIES}
    ranks: dict[str, int] = {}
    for row in texts.iter_rows(named=True):
        statement = said[row["text"]]
        same, others = holders(row["scope"], statement)
        ids = sorted({*row["ids"], *same})
        clear = bool(statement.answer) and not others
        *over, under = (row["subject"] or "").split(SUBJECT)[-2:]
        asked_of = questions.labelled(row["text"], under, *over) if row["block"] else None
        if not row["block"] and clear:
            asked_of = value_question(statement)
        for category, text in (
            # A piece of a document's line is nothing that a person asks.
            ("known-item", None if row["block"] else known_item(statement, rarity)),
            ("value", asked_of),
        ):
            if text:
                made[category].append(_row(category, text, row["scope"], ids))
                ranks[made[category][-1]["query_id"]] = row["rank"]
    held = superseded(records)
    chains = held if links is None else pl.concat([held, links.select("old", "new")])
    live = records.filter(LIVE)
    for name in ("known-item", "value"):
        some = _spread(made[name], _MORE * each, ranks)
        made[name] = [row for row, again in zip(some, _again(some, live), strict=True) if not again]
    made["stale"] = list(_stale(chains.unique(), texts, said))
    made["no-answer"] = list(_unanswerable(live))
    return [row for name in CATEGORIES for row in _spread(made[name], each, ranks)]


def _again(rows: Sequence[Query], live: pl.DataFrame) -> list[bool]:
    """Whether a record that is no evidence of a question holds its words, or most of its evidence's."""
    if not rows:
        return []
    held = tokens(live["text"]).select(at="row", token="token").unique()
    own = live.select("id", "block").with_row_index("at")
    of = pl.DataFrame({"nth": range(len(rows)), "id": [[*row["relevant"]] for row in rows]})
    of = of.explode("id").join(own, on="id").with_columns(pl.col("nth").cast(pl.UInt32))
    placed_only = of.filter(pl.col("block").is_not_null())
    asked = tokens(pl.Series([row["text"] for row in rows])).select(nth="row", token="token")
    told = placed_only.join(held, on="at").select("nth", "token")
    out = set[int]()
    for wanted, share in ((asked, 1.0), (told, _MOST)):
        wanted = wanted.unique().join(placed_only.select("nth").unique(), on="nth")
        size = wanted.group_by("nth").agg(size=pl.len())
        met = wanted.join(held, on="token").join(
            of.select("nth", "at"), on=["nth", "at"], how="anti"
        )
        met = met.group_by("nth", "at").agg(met=pl.len()).join(size, on="nth")
        out.update(met.filter(pl.col("met") >= share * pl.col("size"))["nth"])
    return [nth in out for nth in range(len(rows))]


def _askable(records: pl.DataFrame) -> pl.DataFrame:
    """(text, lang, scope, ids): distinct statements of a scope that are worth asking about."""
    # What was said in passing is no evidence.
    live = records.filter(LIVE, pl.col("kind") != "session").with_columns(
        said=normalised(pl.col("text")), lang=language(pl.col("text"))
    )
    whole = ~pl.col("text").str.contains(_BROKEN) & _lasting()
    lines = pl.col("text").str.contains(rf"\n|{MASK}") | pl.col("text").str.contains(_BLANK)
    whole &= ~(placed() & lines)  # a list under its line is of that place
    sized = live.filter(pl.col("text").str.len_chars().is_between(*_CHARS), whole)
    leaky = secrets_in(sized["text"])["row"].unique().to_list()
    odd = chatter(sized["text"]).is_not_null() | injected(sized["text"]).is_not_null()
    kept = sized.with_row_index("at").filter(~odd & ~pl.col("at").is_in(leaky))
    one = (
        kept.sort("id").group_by("scope", "said", maintain_order=True)
        .agg(
            pl.first("text", "lang", "kind", "subject", "block"),
            rank=pl.col("role").replace_strict(RANKS, default=0, return_dtype=pl.Int8).min(),
            ids="id",
        )
        .filter(pl.col("said") != "")
        .unique(["scope", "text"], keep="first", maintain_order=True)
    )  # fmt: skip
    return one.gather_every(max(1, -(-one.height // _READ)))


def _lasting() -> pl.Expr:
    """True of what says how things are: of documents claims, and labelled values but a day's."""
    labelled_value = (pl.col("form") == "attribute") & ~pl.col("role").is_in(MOMENTS)
    states = touchable() & ((pl.col("form") == "claim") | labelled_value)
    return ~placed() | states.fill_null(False)


def _holders(texts: pl.DataFrame, said: dict[str, Statement]) -> Any:
    """Return a function: which records that a scope reads say the same as a statement, which otherwise."""
    by_topic: dict[tuple[str, Any], list[tuple[frozenset[str], list[str]]]] = {}
    for text, scope, ids in texts.select("text", "scope", "ids").iter_rows():
        one = said[text]
        if any(one.topic):
            by_topic.setdefault((scope, one.topic), []).append((one.answer, ids))

    def holders(scope: str, one: Statement) -> tuple[list[str], list[str]]:
        read = dict.fromkeys((scope, *SHARED))
        alike = [known for name in read for known in by_topic.get((name, one.topic), [])]
        same = [i for answer, ids in alike if answer == one.answer for i in ids]
        return same if one.answer else [], [i for a, ids in alike if a != one.answer for i in ids]

    return holders


def _stale(held: pl.DataFrame, texts: pl.DataFrame, said: dict[str, Statement]) -> Iterator[Query]:
    """Value questions whose evidence overtook another record, which must not come first."""
    by_new = dict(held.group_by("new").agg(pl.col("old").sort()).iter_rows())
    for row in texts.iter_rows(named=True):
        old = sorted({o for i in row["ids"] for o in by_new.get(i, ())} - set(row["ids"]))
        text = value_question(said[row["text"]]) if old else None
        if text:
            yield _row("stale", text, row["scope"], row["ids"]) | {"avoid": old}


def _unanswerable(live: pl.DataFrame) -> Iterator[Query]:
    told = live.select(said=normalised(pl.col("text")), lang=language(pl.col("text"))).unique()
    for text, lang in questions.unknowns(frozenset(told["said"]), _languages(told)):
        row = _row("no-answer", text, None, [])
        del row["relevant"], row["scope"]
        yield row | {"lang": lang, "answerable": False}


def _languages(told: pl.DataFrame) -> list[str]:
    """The languages that a good part of the texts (said, lang) are in, if questions are written in them."""
    parts = told["lang"].value_counts(normalize=True).filter(pl.col("proportion") >= _PART)
    return [
        lang for lang in questions.LANGS
        if lang in parts["lang"] and (not spaced(lang) or spoken_share(lang, told["said"]) >= _SPOKEN)
    ]  # fmt: skip


def _row(category: str, text: str, scope: str | None, ids: Sequence[str]) -> Query:
    own = digest("\x1f".join([category, text, scope or "", *ids]))
    return {
        "query_id": f"{category}-{own[:8]}", "text": text, "scope": scope, "category": category,
        "relevant": dict.fromkeys(ids, 1),
    }  # fmt: skip


def _spread(rows: Sequence[Query], each: int, ranks: Mapping[str, int]) -> list[Query]:
    """At most so many, of different texts: of the curated files first, else by their digests."""
    distinct = {(row["text"], row.get("scope")): row for row in reversed(rows)}
    # A question whose evidence differs from row to row is ambiguous.
    told = Counter((row["text"], row.get("scope")) for row in rows)
    clear = [row for key, row in distinct.items() if told[key] == 1]
    first = sorted(clear, key=lambda r: (ranks.get(r["query_id"], 0), str(r["query_id"])))[:each]
    return sorted(first, key=lambda r: str(r["text"]))
