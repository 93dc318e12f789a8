"""Closing: which tasks a later record closes.

A task is closed by a record that was said after it, one line of which says that something is done,
and names all the things that the task names: under a mark such as "Done:" that is enough, without
one the deed must be the same, too. The words stand in `data/lexicons/tasks.toml`.
"""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import cache

import polars as pl

from memops.context import Context
from memops.hygiene.dues import Due, dues, folded
from memops.hygiene.tasks import SAID_IN_PASSING, any_of, is_task, said_at
from memops.language.lexicon import lexicon
from memops.language.packs import scripts
from memops.language.text import UNFOLDED, searchable, tokens, wordlist
from memops.language.text import folded as fold
from memops.language.vocabulary import stem
from memops.schema import INSTANT, RETIRED, TOMBSTONE, native, only
from memops.statements.remembered import Remembered

_ENDING = re.compile(r"(?<=\w)(?:ie|[ie]|(?<=b)l)$")

_PAIRS = pl.Schema({"id": pl.String(), "by": pl.String(), "until": INSTANT, "like": pl.Float64()})


def closed(tasks: pl.DataFrame, records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Return those of the open tasks that are done, and the record that says so (id, by).

    A task that is ticked off says it itself. Of several tasks that a record may close, it closes
    the one that it is most like, be that retired already.
    """
    since = ctx.now - timedelta(days=ctx.policy.tasks.closed_days)
    tasks = tasks.with_columns(plain=fold(pl.col("text")))
    ticked = tasks.filter(_ticked() & (pl.col("said") <= since))
    hidden = records.select("id", "superseded_by").filter(pl.col("superseded_by").is_in([*RETIRED]))
    retired = hidden.filter(pl.col("superseded_by") == TOMBSTONE)["id"]
    pairs = _read(records, ctx)["pairs"]
    there = records["id"].filter(records["id"].is_in(pairs["by"].implode()))
    may = pairs.filter(
        pl.col("by").is_in(there.implode()) & ~pl.col("by").is_in(hidden["id"].implode()),
        pl.col("id").is_in(pl.concat([tasks["id"], retired]).implode()),
    )
    best = may.filter(pl.col("like") >= pl.col("like").max().over("by"))
    first = best.sort("id", "until", "by").unique("id", keep="first", maintain_order=True)
    found = first.filter(pl.col("id").is_in(tasks["id"].implode())).select("id", "by")
    found = found.join(ticked, on="id", how="anti")
    return pl.concat([ticked.select("id", by="id"), found]).sort("id")


def unticked(tasks: pl.DataFrame) -> pl.DataFrame:
    """Return the tasks that do not say themselves that they are done."""
    return tasks.with_columns(plain=fold(pl.col("text"))).filter(~_ticked()).drop("plain")


def tasks_of(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Return the records that are tasks, whatever their standing."""
    return only(records, _read(records, ctx)["tasks"]["id"])


def _read(records: pl.DataFrame, ctx: Context) -> dict[str, pl.DataFrame]:
    """The tasks, and which record may close which, and how like they are (id, by, until, like).

    Whatever their standing, so that it is found out once while a plan only hides and deletes; what
    it deleted may still be named.
    """
    since = ctx.now - timedelta(days=ctx.policy.tasks.closed_days)
    known: dict[str, pl.DataFrame] = ctx.once(("closing", since), dict)
    if known.get("records") is records:
        return known
    rows = records.select("id", "scope", "kind", "text", "extra", said=said_at())
    now = only(rows, ctx.changed)
    if not known or not only(known["rows"], now["id"]).equals(now):
        known["tasks"] = rows.filter(is_task())
        known["pairs"] = _found(rows, known["tasks"], since, ctx.remembered)
    known["rows"], known["records"] = rows, records
    return known


def _found(
    rows: pl.DataFrame, tasks: pl.DataFrame, since: datetime, kept: Remembered | None
) -> pl.DataFrame:
    tasks = tasks.with_columns(plain=fold(pl.col("text")))
    tasks = tasks.filter(~(_ticked() & (pl.col("said") <= since)).fill_null(False)).drop_nulls(
        "said"
    )
    if tasks.is_empty():
        return pl.DataFrame(schema=_PAIRS)
    named = _terms(tasks, _without_dues(tasks, kept)).unique()
    told = rows.filter(
        ~pl.col("kind").is_in(SAID_IN_PASSING),
        pl.col("said") <= since,
        pl.col("said") > tasks["said"].min(),
        pl.col("scope").is_in(tasks["scope"].unique().implode()),
    )
    telling = _telling(named)
    deeds = named.filter("deed")["term"].unique()
    done = _saying_done(_lines(_may_close(told, telling, deeds).filter(~is_task())))
    return _matched(tasks, named, telling, done)


def _may_close(told: pl.DataFrame, telling: pl.DataFrame, deeds: pl.Series) -> pl.DataFrame:
    """The records that could close any of the tasks: cheap looks, which pass over most of them.

    They name a deed of one or stand under a mark, and name one of the things by which a task is
    told from others; what is not yet in the form for looking is looked at again once it is.
    """
    ticked = pl.col("extra").str.contains("done", literal=True)
    done = f"(?i:{_deed_or_mark(deeds)})"
    some = told.filter(pl.col("text").str.contains(f"{done}|{UNFOLDED}") | ticked)
    some = some.with_columns(plain=searchable(some["text"]))
    things = _openings(telling["term"].unique().sort())
    named = pl.col("plain").str.contains_any(wordlist(things), ascii_case_insensitive=True)
    maybe = some.filter(named).filter(pl.col("plain").str.contains(done) | ticked)
    return maybe.with_columns(pl.col("plain").str.to_lowercase())


def _lines(told: pl.DataFrame) -> pl.DataFrame:
    """The lines of the records, each with its `record` and what leads into them ("Done: ...")."""
    first = pl.col("plain").str.extract(r"^\s*([^\n]*[:：])\s*\n")
    lines = told.with_columns(record="id", _lead=first, plain=pl.col("plain").str.split("\n"))
    lines = lines.explode("plain", empty_as_null=True).drop_nulls("plain").with_row_index("_line")
    led = pl.concat_str("_lead", "plain", separator=" ")
    return lines.with_columns(id=pl.col("_line").cast(pl.String), plain=pl.coalesce(led, "plain"))


def _deed_or_mark(deeds: pl.Series) -> str:
    """A pattern for what begins like a verb of one of the deeds, or like a mark.

    Word boundaries are spelt out: those of the engine take fifteen times as long.
    """
    words, named = lexicon("tasks")["done"], set(deeds)
    latin, wide = ([w for w, deed in verbs.items() if deed in named] for verbs in _deeds())
    verbs = [rf"(?:^|[^\p{{L}}\p{{N}}\p{{M}}]|\p{{Han}})(?:{any_of(_openings(map(stem, latin)))})"]
    verbs = [*(verbs if latin else []), *([any_of(wide)] if wide else [])]
    mark = rf"(?:^\s*|[(（\[]\s*)(?:{any_of(words['marks'])})\s*[:：)）\]]"
    return "|".join([*verbs, mark, any_of(words["signs"])])


def _telling(named: pl.DataFrame) -> pl.DataFrame:
    """The rarest term of each task: what does not name it cannot close the task (id, term)."""
    things = named.filter(~pl.col("deed")).with_columns(common=pl.len().over("term"))
    return things.sort("id", "common", "term").unique("id", keep="first").select("id", "term")


def _openings(stems: Iterable[str]) -> list[str]:
    """What every word of each stem begins with: a stem may have an e or i that its word lacks."""
    return [_ENDING.sub("", s) if s.isascii() else s for s in stems]


def _matched(
    tasks: pl.DataFrame, named: pl.DataFrame, telling: pl.DataFrame, done: pl.DataFrame
) -> pl.DataFrame:
    """Pair each task with the records after it that say that it is done."""
    if done.is_empty():
        return pl.DataFrame(schema=_PAIRS)
    told = _terms(done, done["plain"]).rename({"id": "by"})
    after = done.select("scope", "record", by="id", until="said", marked=_marked())
    pairs = (
        telling.join(told.select("by", "term"), on="term").select("id", "by").unique()
        .join(tasks.select("id", "scope", at="said"), on="id")
        .join(after, on=["by", "scope"])
        .filter(pl.col("until") > pl.col("at"))
    )  # fmt: skip
    sizes = named.group_by("id").agg(_things())
    width = told.join(pairs, on="by", how="semi").group_by("by").agg(_things().alias("width"))
    return (
        pairs.join(named, on="id").join(told.select("by", "term"), on=["by", "term"])
        .group_by("id", "by", "record", "until", "marked")
        .agg(_things().alias("shared"), deeds=pl.col("deed").any())
        .join(sizes, on="id").join(width, on="by")
        .filter(
            pl.col("shared") == pl.col("size"),
            pl.col("shared") > 0,
            pl.col("deeds") | (pl.col("marked") & (pl.col("shared") > 1)),
        )
        .group_by("id", "until", by="record")
        .agg(like=(pl.col("size") / pl.col("width")).max())
        .select(*_PAIRS)
    )  # fmt: skip


def _things() -> pl.Expr:
    return pl.col("term").filter(~pl.col("deed")).n_unique().alias("size")


def _terms(records: pl.DataFrame, texts: pl.Series) -> pl.DataFrame:
    """What each record's text names (id, term, deed), once or more: stems, pairs of Han characters, deeds."""
    table, (latin, wide) = lexicon("tasks"), _deeds()
    latin_idle, wide_idle = scripts(word for words in table["idle"].values() for word in words)
    head = rf"^\s*(?:{any_of([*table['task']['opening'], *table['done']['marks']])})\s*[:：]"
    texts = texts.str.replace(head, " ").alias("text")
    deeds = (
        texts.to_frame().with_row_index("row")
        .select("row", term=pl.col("text").str.extract_all(any_of(wide)))
        .explode("term", empty_as_null=True).drop_nulls("term")
        .select("row", pl.col("term").replace_strict(wide, default=None), deed=pl.lit(True))
    )  # fmt: skip
    words = tokens(texts.str.replace_all(f"{any_of(wide)}|{any_of(wide_idle)}", " "))
    known = words.select(pl.col("token").unique())
    known = known.filter(~pl.col("token").str.contains(r"^\p{Han}$"))
    stems = pl.Series("term", [stem(word) for word in known["token"].to_list()], dtype=pl.String)
    deed = {stem(word): family for word, family in latin.items()}
    idle = [stem(word) for word in latin_idle]
    known = known.with_columns(stems).filter(~pl.col("term").is_in(idle))
    known = known.with_columns(
        deed=pl.col("term").is_in([*deed]), term=pl.col("term").replace(deed)
    )
    named = words.join(known, on="token").select("row", "term", "deed")
    every = pl.concat([named, deeds])
    return every.select(records["id"].gather(every["row"]), "term", "deed")


def _without_dues(tasks: pl.DataFrame, kept: Remembered | None) -> pl.Series:
    """The tasks' texts without the words of their due days."""
    texts, days = tasks["text"].to_list(), [said.date() for said in tasks["said"]]
    found = dues(texts, days, kept)
    return pl.Series(map(_cut, texts, found), dtype=pl.String)


def _cut(text: str, found: Due | None) -> str:
    """A text in the form in which days are looked for, without the words of its due day."""
    plain = folded(text)
    for start, end in sorted(found.spans, reverse=True) if found else ():
        plain = plain[:start] + " " + plain[end:]
    return plain


def _saying_done(records: pl.DataFrame) -> pl.DataFrame:
    """Those of the records that say that something is done, and not that some of it is open."""
    words, text = lexicon("tasks")["done"], pl.col("plain")
    opens = r"^\W*(?:(?:i|we|user|the user)\s+)?[a-z]+ed(?:\W|$)"
    past = _word([*words["said_en"], *words["past_en"]])
    said = text.str.contains(f"{opens}|{past}|{any_of(words['said_zh'])}")
    clear = text.str.replace_all(any_of(words["not_open_zh"]), "")
    still = rf"{_word(words['open_en'])}|{any_of(words['open_zh'])}|[?？]\s*$"
    told = records.with_columns(_marked=_marked()).filter(pl.col("_marked") | said)
    return told.filter(pl.col("_marked") | ~clear.str.contains(still)).drop("_marked")


def _word(words: Iterable[str]) -> str:
    """A pattern for any of the words by itself, its boundaries spelt out."""
    return rf"(?:^|\W)(?:{any_of(words)})(?:\W|$)"


def _marked() -> pl.Expr:
    """Whether a text stands under a mark that says that it is done."""
    words, text = lexicon("tasks")["done"], pl.col("plain")
    lead = text.str.contains(rf"^\s*(?:{any_of(words['marks'])})\s*[:：]")
    return lead | _ticked()


def _ticked() -> pl.Expr:
    words, text = lexicon("tasks")["done"], pl.col("plain")
    signs, marks = any_of(words["signs"]), any_of(words["marks"])
    sign = _where(text, text.str.contains(signs)).str.contains(rf"^\s*(?:{signs})|(?:{signs})\s*$")
    tail = text.str.contains(rf"[(（\[]\s*(?:{marks})\s*[)）\]]\W*$")
    return sign.fill_null(False) | tail | (native("done") == "true").fill_null(False)


def _where(text: pl.Expr, holds: pl.Expr) -> pl.Expr:
    """A column with null where that does not hold: nulls are not searched."""
    return pl.when(holds).then(text)


@cache
def _deeds() -> tuple[dict[str, str], dict[str, str]]:
    """Verbs, Latin and Han, with the name of their deed."""
    pairs = [
        (w, f"deed:{name}") for name, words in lexicon("tasks")["deeds"].items() for w in words
    ]
    return {w: n for w, n in pairs if w.isascii()}, {w: n for w, n in pairs if not w.isascii()}
