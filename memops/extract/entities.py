"""Entities: who the user is, as attributes with checked values."""

from functools import cache
from typing import Any

import polars as pl

from memops.extract.forms import normal
from memops.extract.grammar import expanded, says
from memops.extract.modality import SURE
from memops.language.lexicon import lexicon

_ANYBODYS = ("date", "phone")  # forms of value that people, firms and pets have, too
_QUOTES = '["「」『』]'  # of folded text
_UNMEASURED = '(?:^|[^0-9])"|[「」『』]'  # the same, but for inches
_DIGITS = "[0-9]{3}|[零〇一二三四五六七八九幺]{11}"
_BARRED = (*SURE, "retracted", "quoted")


def entities(clauses: pl.DataFrame) -> pl.DataFrame:
    """Return what clauses tell about the user: unit (row of `clauses`), key, value as it stands,
    value as shown, value as compared.

    Needs the columns of `memops.extract.modality.judged`. A clause about somebody else, or that
    goes on about one, tells nothing about the user.
    """
    # What stands among other statements is the user's only where it says so or, a name or an
    # address, where it opens the note or goes on about him.
    nth = (pl.col("text").str.len_chars() > 0).cum_sum().over("row")
    opens, alone = nth <= 1, nth.max().over("row") <= 1
    table = clauses.with_row_index("unit").with_columns(
        said=pl.col("own") | alone,
        among=pl.col("other").any().over("row") & ~alone,
        about=pl.col("own").cum_max().over("row", "sentence") | opens,
    )
    others = pl.col("other") & ~pl.col("text").str.contains(
        "^(?:大家|朋友|同事|家里人)?.{0,4}(?:叫|喊|称呼|管)我"
    )
    table = table.with_columns(
        theirs=others | (others.cum_max().over("row", "sentence") & ~pl.col("own")),
        passed=(pl.col("barred") == "request").fill_null(False)
        & ~pl.col("own").any().over("row", "sentence"),
    ).filter(
        ~pl.col("barred").is_in(_BARRED).fill_null(False),
        ~pl.col("theirs"),
        ~pl.col("passed"),
        ~_framed(),
    )
    found = pl.concat([_hits(table, slot) for slot in _slots()])
    return _checked(found.unique(["unit", "key"], keep="first", maintain_order=True))


def _framed() -> pl.Expr:
    """True of a clause in quotation marks, and of what somebody says of himself after a colon.

    That is a text, a part that is played, another's words.
    """
    text = pl.col("text")
    marks, bare = text.str.count_matches(_QUOTES), text.str.count_matches(_UNMEASURED)
    marks = pl.when(marks.sum().over("row") % 2 == 0).then(marks).otherwise(bare)
    before = marks.cum_sum().over("row") - marks
    quoted = (before % 2 == 1) | (marks % 2 == 1) | text.str.contains(f"^{_QUOTES}")
    said = says("said_of_oneself") & ~says("headed_by_oneself")
    return quoted | said.cum_max().over("row", "sentence")


@cache
def _slots() -> tuple[dict[str, Any], ...]:
    return tuple(lexicon("extract_slots")["slot"])


def saying(key: str) -> dict[str, str]:
    """Return kind and sentences (zh, en; {} is the value) that tell an attribute."""
    slot = next(slot for slot in _slots() if slot["key"] == key)
    usual = {
        "zh": f"用户的{slot['label']['zh']}是{{}}",
        "en": f"The user's {slot['label']['en']} is {{}}",
    }
    return {**usual, **slot.get("says", {}), "told": str(slot.get("kind", "entity"))}


def _hits(table: pl.DataFrame, slot: dict[str, Any]) -> pl.DataFrame:
    if "anchor" in slot:
        table = table.filter(pl.col("text").str.contains(f"(?i){_expanded(slot['anchor'])}"))
    table = table.filter("said" if slot["form"] in _ANYBODYS else "about")
    if slot["form"] == "phone":
        other = says("serial") | says("numbered")
        # In a note of others the user may only have written down whom to call.
        mine = ~pl.col("among") | says("ones_number")
        table = table.filter(pl.col("text").str.contains(_DIGITS), ~other, mine)
    patterns = [f"(?i){_expanded(p)}" for lang in ("zh", "en") for p in slot.get(lang, [])]
    value = pl.coalesce(pl.col("text").str.extract_groups(p).struct.field("v") for p in patterns)
    told = table.select("unit", key=pl.lit(slot["key"]), form=pl.lit(slot["form"]), value=value)
    return told.drop_nulls("value")


def _expanded(source: str) -> str:
    for name, words in lexicon("extract_slots")["words"].items():
        source = source.replace(f"{{{name}}}", words)
    return expanded(source)


def _checked(found: pl.DataFrame) -> pl.DataFrame:
    """Values in their normal form; equal values are checked once.

    What fails goes, save an identity number: it stays without a form, so that its clause is not
    taken for a fact of another sort.
    """
    kinds = found.select("form", "value").unique(maintain_order=True)
    forms = [normal(form, value) or (None, None) for form, value in kinds.iter_rows()]
    schema = {"shown": pl.String, "norm": pl.String}
    known = kinds.hstack(pl.DataFrame(forms, schema, orient="row"))
    told = found.join(known, on=["form", "value"], how="left", maintain_order="left")
    return told.filter(pl.col("norm").is_not_null() | (pl.col("key") == "id_card"))
