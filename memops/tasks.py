"""Tasks: which records say what is to be done, which are late, and which a later record closes.

A task is closed by a record that was said after it, that says that something is done, and in
which the things that the task names are found again: under a mark such as "Done:" that is enough,
without one the deed must be the same, too. The words stand in `data/lexicons/tasks.toml`.
"""

import json
import re
from datetime import datetime, timedelta
from functools import cache

import polars as pl

from memops.dues import due, folded
from memops.lexicon import lexicon
from memops.policy_hygiene import Tasks
from memops.schema import LIVE, RETIRED
from memops.text import folded as fold
from memops.text import tokens
from memops.vocabulary import stem

_SAID_IN_PASSING = ("session", "summary")
_COVER = 0.75  # share of what a task names that is found again where it is done


def is_task() -> pl.Expr:
    """Return whether a record is a task: by its opening words, its box, its kind or its heading.

    The patterns are for the raw columns, so that a million records take half a second.
    """
    opens, around = _task_patterns()
    marked = pl.col("text").str.contains(opens) | pl.col("extra").str.contains(around)
    return marked.fill_null(False) & ~pl.col("kind").is_in(_SAID_IN_PASSING)


@cache
def _task_patterns() -> tuple[str, str]:
    """What the text of a task opens with, and what its native columns hold in JSON."""
    table = lexicon("tasks")["task"]
    note = r"(?:[(（\[][^)）\]]*[)）\]])?\s*[:：]"
    opens = rf"(?i)^\s*(?:(?:{_any(table['opening'])})\s*{note}|(?:{_any(table['asking'])}))"
    kinds, headings = (
        "|".join(re.escape(json.dumps(word)[1:-1]) for word in table[name])
        for name in ("kinds", "headings")
    )
    box = r'"prefix": "[^"]*\[[ xX]\]'
    under = rf'"under": \[(?:"[^"]*", )*"[#\s]*(?:{headings})[\s:：]*"\]'
    return opens, rf'(?i){box}|"kind": "(?:{kinds})"|{under}'


def overdue(records: pl.DataFrame, now: datetime, limits: Tasks) -> pl.DataFrame:
    """Return the live tasks whose due day is past (id, due, late); `late` in whole days.

    A day that the text only mentions counts a while later than one that it calls a due day.
    """
    tasks = _open(records)
    found = [
        due(text, at.date() if at is not None else None)
        for text, at in zip(tasks["text"], tasks["said"], strict=True)
    ]
    days = pl.Series("due", [d.day if d else None for d in found], dtype=pl.Date)
    firm = pl.Series("firm", [d.firm if d else None for d in found], dtype=pl.Boolean)
    late = (pl.lit(now.date()) - pl.col("due")).dt.total_days()
    wait = pl.when("firm").then(limits.late_days).otherwise(limits.vague_days)
    return tasks.select("id").with_columns(days, firm).filter(late > wait).select(
        "id", "due", late=late
    )  # fmt: skip


def closed(records: pl.DataFrame, now: datetime, limits: Tasks) -> pl.DataFrame:
    """Return the live tasks that are done, and the record that says so (id, by).

    A task that is ticked off says it itself. Of several tasks that a record may close, it closes
    the one that it is most like.
    """
    since = now - timedelta(days=limits.closed_days)
    tasks = _open(records)
    ticked = tasks.filter(_ticked() & (pl.col("said") <= since))
    rest = tasks.join(ticked, on="id", how="anti").drop_nulls("said")
    if rest.is_empty():
        return ticked.select("id", by="id")
    done = records.filter(~pl.col("superseded_by").is_in([*RETIRED]).fill_null(False), ~is_task())
    done = done.with_columns(said=_said_at()).filter(
        ~pl.col("kind").is_in(_SAID_IN_PASSING),
        pl.col("said") <= since,
        pl.col("said") > rest["said"].min(),
        _says_done(),
    )
    return pl.concat([ticked.select("id", by="id"), _matched(rest, done)]).sort("id")


def _matched(tasks: pl.DataFrame, done: pl.DataFrame) -> pl.DataFrame:
    """Pair each task with the first record after it that says that it is done."""
    if tasks.is_empty() or done.is_empty():
        return pl.DataFrame(schema={"id": pl.String, "by": pl.String})
    named = _terms(tasks, dueless=True)
    told = _terms(done).rename({"id": "by"})
    sizes = named.group_by("id").agg(
        size=pl.col("term").filter(~pl.col("deed")).n_unique(),
        exact=pl.col("term").filter(pl.col("term").str.contains(r"\d")).n_unique(),
    )
    width = told.group_by("by").agg(width=pl.col("term").filter(~pl.col("deed")).n_unique())
    both = (
        named.join(told.select("by", "term"), on="term")
        .group_by("id", "by")
        .agg(
            shared=pl.col("term").filter(~pl.col("deed")).n_unique(),
            found=pl.col("term").filter(pl.col("term").str.contains(r"\d")).n_unique(),
            deeds=pl.col("deed").any(),
        )
        .join(sizes, on="id").join(width, on="by")
        .join(tasks.select("id", "scope", at="said"), on="id")
        .join(done.select(by="id", scope_by="scope", until="said", marked=_marked()), on="by")
        .filter(
            pl.col("scope") == pl.col("scope_by"),
            pl.col("until") > pl.col("at"),
            pl.col("found") == pl.col("exact"),
            pl.col("shared") >= _COVER * pl.col("size"),
            pl.col("deeds") | (pl.col("marked") & (pl.col("shared") > 1)),
            (pl.col("shared") > 1) | (pl.col("shared") == pl.col("size")),
            pl.col("shared") > 0,
        )
        .with_columns(like=pl.col("shared") / (pl.col("size") + pl.col("width") - pl.col("shared")))
    )  # fmt: skip
    best = both.filter(pl.col("like") >= pl.col("like").max().over("by"))
    return best.sort("id", "until", "by").group_by("id", maintain_order=True).agg(
        pl.col("by").first()
    )  # fmt: skip


def _open(records: pl.DataFrame) -> pl.DataFrame:
    """The live tasks that a rule may touch, with when they were said."""
    loose = LIVE & ~pl.col("pinned") & (pl.col("tier") != "core")
    return records.filter(loose & is_task()).with_columns(said=_said_at())


def _said_at() -> pl.Expr:
    return pl.coalesce("valid_from", "created_at")


def _terms(records: pl.DataFrame, dueless: bool = False) -> pl.DataFrame:
    """What each text names (id, term, deed): stems, pairs of Han characters, and its deeds.

    With `dueless`, the words of the due day are left out.
    """
    plain = records.select("id", text=fold(pl.col("text")))
    if dueless:
        bare = [_without_due(t, a) for t, a in zip(records["text"], records["said"], strict=True)]
        plain = plain.with_columns(text=pl.Series(bare, dtype=pl.String))
    table = lexicon("tasks")
    head = rf"^\s*(?:{_any([*table['task']['opening'], *table['done']['marks']])})\s*[:：]"
    plain = plain.with_columns(pl.col("text").str.replace(head, " "))
    wide, idle = _deeds()[1], table["idle"]["zh"]
    deeds = plain.select("id", term=pl.col("text").str.extract_all(_any(wide))).explode(
        "term", empty_as_null=True
    )
    deeds = deeds.drop_nulls().with_columns(pl.col("term").replace_strict(wide, default=None))
    cut = plain["text"].str.replace_all(f"{_any(wide)}|{_any(idle)}", " ")
    words = tokens(cut).select("row", "token").unique()
    stems = {word: stem(word) for word in words["token"].unique().to_list()}
    latin = {stem(word): family for word, family in _deeds()[0].items()}
    idle_en = {stem(word) for word in table["idle"]["en"]}
    named = words.with_columns(term=pl.col("token").replace_strict(stems)).filter(
        ~pl.col("term").is_in([*idle_en]), ~pl.col("token").str.contains(r"^\p{Han}$")
    )
    ids = plain.select("id").with_row_index("row")
    named = named.join(ids, on="row").select("id", "term").with_columns(
        deed=pl.col("term").is_in([*latin]), term=pl.col("term").replace(latin)
    )  # fmt: skip
    return pl.concat([named, deeds.with_columns(deed=pl.lit(True))]).unique().sort("id", "term")


def _without_due(text: str, said: datetime) -> str:
    plain, found = folded(text), due(text, said.date())
    for start, end in sorted(found.spans if found else (), reverse=True):
        plain = plain[:start] + " " + plain[end:]
    return plain


def _says_done() -> pl.Expr:
    """Whether a text says that something is done, and not that some of it is open."""
    words, text = lexicon("tasks")["done"], fold(pl.col("text"))
    opens = r"^\W*(?:(?:i|we|user|the user)\s+)?[a-z]+ed\b"
    past = rf"\b(?:{_any([*words['said_en'], *words['past_en']])})\b|{opens}"
    said = text.str.contains(past) | text.str.contains(_any(words["said_zh"]))
    clear = text.str.replace_all(_any(words["not_open_zh"]), "")
    still = clear.str.contains(
        rf"\b(?:{_any(words['open_en'])})\b|{_any(words['open_zh'])}|[?？]\s*$"
    )
    return _marked() | (said & ~still)


def _marked() -> pl.Expr:
    """Whether a text stands under a mark that says that it is done."""
    words, text = lexicon("tasks")["done"], fold(pl.col("text"))
    lead = text.str.contains(rf"^\s*(?:{_any(words['marks'])})\s*[:：]")
    return lead | _ticked()


def _ticked() -> pl.Expr:
    words, text = lexicon("tasks")["done"], fold(pl.col("text"))
    sign = text.str.contains(rf"^\s*(?:{_any(words['signs'])})|(?:{_any(words['signs'])})\s*$")
    tail = text.str.contains(rf"[(（\[]\s*(?:{_any(words['marks'])})\s*[)）\]]\W*$")
    box = (_native("$.done") == "true").fill_null(False) & pl.col("extra").str.contains("done")
    return sign | tail | box


def _native(path: str) -> pl.Expr:
    return pl.col("extra").str.json_path_match(path)


@cache
def _deeds() -> tuple[dict[str, str], dict[str, str]]:
    """Verbs, Latin and Han, with the name of their deed."""
    pairs = [
        (w, f"deed:{name}") for name, words in lexicon("tasks")["deeds"].items() for w in words
    ]
    return {w: n for w, n in pairs if w.isascii()}, {w: n for w, n in pairs if not w.isascii()}


def _any(words: object) -> str:
    listed = sorted((str(w) for w in words), key=lambda w: (-len(w), w))  # type: ignore[attr-defined]
    return "|".join(w.replace("'", "['’]").replace("-", "[-]") for w in listed)
