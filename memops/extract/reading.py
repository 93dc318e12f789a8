"""Reading: a column of notes into candidate records, and what became of every clause."""

import re

import polars as pl

from memops.extract.clauses import clauses
from memops.extract.entities import entities, saying
from memops.extract.fitted import Beside, Features
from memops.extract.modality import judged
from memops.extract.noise import noise
from memops.extract.statements import statements
from memops.extract.weighing import asserting, of_notes, of_sentences, told
from memops.policy import Policy
from memops.policy.safety import Secrets
from memops.safety.looked import found as secrets_found

CANDIDATES = pl.Schema(
    {
        "row": pl.UInt32(),
        "kind": pl.String(),
        "also": pl.String(),
        "key": pl.String(),
        "text": pl.String(),
        "confidence": pl.Float64(),
        "start": pl.Int64(),
        "end": pl.Int64(),
        "cue": pl.String(),
    }
)
_PERSONAL = ("identity-number", "phone")  # what a note may say of its own user
# a mask of any kind but identity-number and phone
_REDACTED = r"\[redacted:(?:[a-hj-oq-z]|i[a-ce-z]|p[a-gi-z])[^\]\n]{0,80}\]"
_LOGIN = r"://[^\s:/@]{1,80}:[^\s:/@]{1,200}@"
_ENDS = r"[。！？]|[.!?] "
_APART = 1 << 40  # numbers of sentences and passages that the parts of a note may have
_MASK = "\u0004"
_HOST = r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}|[A-Za-z0-9-]+://|@[A-Za-z0-9-]+\.[A-Za-z]"


def read(
    notes: pl.DataFrame, policy: Policy, beside: Beside | None = None
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return candidates, clauses and verdicts of notes.

    `notes` has text, and scope, source and tags where they are known.

    Candidates have the columns of CANDIDATES; clauses say for each clause why it was barred or
    what kind its sentence tells; verdicts give for each row its noise (or null), whether it holds
    a secret, how probable it is that it tells a fact or is junk, what barred its clauses, and
    whether all of them ask (`mute`).
    """
    long = notes["text"].str.len_chars().fill_null(0) > policy.extract.longest
    if not long.any():
        return _read(notes, policy, beside)
    return _joined(notes.height, *_portions(notes, policy, beside))


def _read(
    notes: pl.DataFrame, policy: Policy, beside: Beside | None, why: pl.Series | None = None
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    texts, why, parts, secret = prepared(notes, policy, why)
    known = Features(beside)
    said = of_sentences(texts, parts, known)
    weights = of_notes(texts, parts, why, said, known)
    telling = told(texts, parts, said, weights, policy.extract, known)
    parts = parts.join(telling, on="unit", how="left", maintain_order="left")
    parts = parts.with_columns(kind=pl.when(asserting()).then("kind"))
    facts = _facts(parts, entities(parts.drop("unit")))
    verdict = pl.DataFrame({"noise": why, "secret": secret}).hstack(weights)
    bars = parts.group_by("row").agg(
        bars=pl.col("barred").drop_nulls().unique(maintain_order=True),
        mute=pl.col("barred").eq_missing("question").all(),
    )
    return facts, parts, verdict.join(bars, on="row", how="left", maintain_order="left")


def _portions(
    notes: pl.DataFrame, policy: Policy, beside: Beside | None
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Where each part of notes begins (note, begin), and what is read of the parts.

    Whether a note is noise is told by the whole of it.
    """
    texts = notes["text"].fill_null("")
    begins = [_begins(text, policy.extract.longest) for text in texts]
    ends = [[*at[1:], len(text)] for at, text in zip(begins, texts, strict=True)]
    of = pl.DataFrame({"note": range(len(texts)), "begin": begins, "end": ends})
    of = of.explode("begin", "end", empty_as_null=True).with_columns(pl.col("note").cast(pl.UInt32))
    cut = notes[of["note"]].with_columns(
        text=pl.Series([texts[n][a:b] for n, a, b in of.iter_rows()], dtype=pl.String)
    )
    why = noise(notes.with_columns(texts.alias("text")), policy)
    return of, *_read(cut, policy, beside, why.gather(of["note"]))


def _begins(text: str, most: int) -> list[int]:
    """Where the parts of a text begin: of lines that fit together, else of sentences, else anywhere."""
    at = [0]
    while len(text) - at[-1] > most:
        window = text[at[-1] : at[-1] + most]
        ends = (window.rfind("\n"), *(found.end() - 1 for found in re.finditer(_ENDS, window)))
        at.append(at[-1] + (max(ends[0], 0) or max(ends[1:], default=0) or most - 1) + 1)
    return at


def _joined(
    many: int, of: pl.DataFrame, facts: pl.DataFrame, parts: pl.DataFrame, verdicts: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """What was read of parts, as read of their notes; a note tells what the surest part tells."""
    begin, nth = pl.col("begin").cast(pl.Int64), pl.int_range(pl.len()).over("note")
    place = of.select("note", begin, nth=nth).with_row_index("row")
    back = [(pl.col(name) + pl.col("begin")).alias(name) for name in ("start", "end")]
    apart = [(pl.col(n) + pl.col("nth") * _APART).alias(n) for n in ("sentence", "passage")]
    facts, parts = (
        table.join(place, on="row", how="left", maintain_order="left")
        .with_columns(pl.col("note").alias("row"), *back, *more)
        .select(table.columns)
        for table, more in ((facts, ()), (parts, apart))
    )
    first = pl.col("key").is_null() | pl.struct("row", "key").is_first_distinct()
    surest = verdicts.hstack(of.select(note="note")).sort("extract", descending=True)
    whole = surest.group_by("note").agg(
        pl.all().exclude("row", "secret", "bars", "mute").first(),
        pl.col("secret").any(),
        pl.col("mute").all(),
        pl.col("bars").explode(empty_as_null=True).drop_nulls().unique(maintain_order=True),
    )
    rows = pl.DataFrame({"note": pl.int_range(many, dtype=pl.UInt32, eager=True)})
    told = rows.join(whole, on="note", how="left", maintain_order="left")
    return facts.filter(first), parts, told.rename({"note": "row"}).select(verdicts.columns)


def prepared(
    notes: pl.DataFrame, policy: Policy, why: pl.Series | None = None
) -> tuple[pl.Series, pl.Series, pl.DataFrame, pl.Series]:
    """Return what notes are weighed by: texts without secrets, noise, clauses, what held a secret.

    `why` says of parts of notes why they are noise, where that is known.
    """
    texts = notes["text"].fill_null("").str.head(policy.extract.longest)
    why = noise(notes.with_columns(texts.alias("text")), policy) if why is None else why
    masked, secret = _without_secrets(texts, policy.secrets)
    heard = pl.select(pl.when(why.is_null()).then(masked).otherwise(pl.lit(""))).to_series()
    parts = clauses(heard, policy.extract.longest, policy.extract.passage)
    parts = parts.filter(pl.col("text").str.len_chars() <= policy.extract.clause)
    parts = parts.with_columns(secret=pl.col("text").str.contains(_MASK)).with_columns(
        kept=_kept(parts),
        chinese=pl.col("raw").str.contains(r"\p{Han}").any().over("row", "sentence"),
    )
    # A host is worth keeping without the secret that stood beside it.
    here = ("row", "sentence")
    host = pl.col("text").str.contains(_HOST).any().over(here) & pl.col("secret").any().over(here)
    parts = parts.with_columns(insists=pl.col("kept") | host)
    return masked, why, judged(parts).with_row_index("unit"), secret


def _without_secrets(texts: pl.Series, policy: Secrets) -> tuple[pl.Series, pl.Series]:
    """Texts with every character of a secret overwritten, and which had one; lengths stay.

    A secret that was masked before counts as one.
    """
    spans = secrets_found(texts, policy).filter(~pl.col("kind").is_in(_PERSONAL))
    out = texts.to_list()
    for row, start, end in spans.select("row", "start", "end").iter_rows():
        out[row] = out[row][:start] + _MASK * (end - start) + out[row][end:]
    before = texts.str.contains(_REDACTED)
    for row in before.arg_true():
        out[row] = re.sub(_REDACTED, lambda found: _MASK * len(found[0]), out[row])
    logins = texts.str.contains(_LOGIN)  # even one that is only an example
    for row in logins.arg_true():
        out[row] = re.sub(_LOGIN, lambda found: "://" + _MASK * (len(found[0]) - 4) + "@", out[row])
    held = pl.int_range(len(texts), dtype=pl.UInt32, eager=True).is_in(
        spans["row"].unique().implode()
    )
    return pl.Series(out, dtype=pl.String), (held | before | logins).alias("secret")


def _kept(parts: pl.DataFrame) -> pl.Series:
    """Which clauses somebody asked to remember: those of the sentence that asks, and of the next
    one where the request stands alone.
    """
    here, asked = ("row", "sentence"), pl.col("remember").any()
    alone = (pl.col("text").str.len_chars() == 0).all() & asked
    heads = parts.group_by(here, maintain_order=True).agg(alone=alone)
    after = heads.select(*here, after=pl.col("alone").shift(1).over("row").fill_null(False))
    table = parts.join(after, on=here, how="left", maintain_order="left")
    return table.select(asked.over(here) | pl.col("after")).to_series()


def _facts(parts: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    who = _entities(parts, found)
    spent = who.select("unit").unique()
    who = who.drop_nulls("norm")
    held = who.filter(pl.col("told") == "entity").select("row", "sentence").unique()
    rest = statements(
        _shareable(parts).join(spent, on="unit", how="anti", maintain_order="left"), held
    )
    said = rest.with_columns(key=pl.lit(None, pl.String)).select(CANDIDATES.names())
    return pl.concat([who.select(CANDIDATES.names()), said]).sort(
        "row", "start", "key", nulls_last=True
    )


def _entities(parts: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    keys = found["key"].unique().sort()
    schema = {"key": pl.String, "zh": pl.String, "en": pl.String, "told": pl.String}
    sayings = pl.DataFrame([{"key": key, **saying(key)} for key in keys], schema=schema)
    words = pl.when("chinese").then("zh").otherwise("en")
    return (
        found.join(parts.drop("kind", "also"), on="unit", how="left", maintain_order="left")
        .join(sayings, on="key", how="left", maintain_order="left")
        .with_columns(
            text=words.str.replace("{}", pl.col("shown"), literal=True),
            kind="told",
            also=pl.lit(None, pl.String),
            key=pl.format("{}:{}", "key", "norm"),
            confidence=pl.lit(0.95),
            cue="key",
        )
        .unique(["row", "key"], keep="first", maintain_order=True)
    )


def _shareable(parts: pl.DataFrame) -> pl.DataFrame:
    """Clauses without secrets: what stands beside a host stays, masked; the others go."""
    return parts.filter(~pl.col("secret") | pl.col("text").str.contains(_HOST)).with_columns(
        pl.col("raw").str.replace_all(f"{_MASK}+", "***")
    )
