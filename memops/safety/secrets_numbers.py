"""Numbers that are secrets: codes of locks, cards and cases, told by what stands around them."""

import polars as pl

from memops.language.lexicon import lexicon
from memops.safety.secrets_around import BEFORE, NEXT, line, said_before
from memops.safety.secrets_labels import expanded
from memops.safety.secrets_traits import SIZE, VALUE, has

_UNDATED = ~pl.col("dated")


def confided_number() -> pl.Expr:
    """Return whether two things are said of a number: what it opens, how it is entered, that it is secret.

    Keys of a keypad beside it (`#`) and digits joined one by one say how it is entered.
    """
    confide = expanded("(?i)@{confide}")
    told = BEFORE.str.contains(confide) | NEXT.str.contains(confide)
    said_in = line()
    opens, enter = (
        said_in.str.contains(expanded(f"(?i)(?:{g})@{{right}}"))
        for g in ("@{opens}|@{locks}", "@{enter}")
    )
    pressed = has("#|^[0-9](?:[ -][0-9]){3}") | (has("[*]") & ~BEFORE.str.ends_with("*"))
    beside = r"(?i)@{locks}[^\n.,;。，]{0,30}?(?:[(（][^)）\n]{0,40}[)）])?"
    keyed = pressed | said_before(rf"{beside}(?:@{{is}}|[:：=→]\s?|@{{to}}|@{{by}}\s?)$", 90)
    keyed |= has("^0[0-9]{3,5}$") & said_before(r"(?i)@{locks}\s?$", 30)
    said = sum(sign.cast(pl.Int8) for sign in (opens, enter, told, keyed)) >= 2
    other = said_before(lexicon("secrets")["numbered"], 40)
    counted = NEXT.str.contains(lexicon("secrets")["counted"])
    issue = has("^#[0-9]+$") & ~said_in.str.contains(expanded("(?i)@{locks}@{right}"))
    return said & ~issue & (opens | enter) & ~_year() & ~counted & ~other & _UNDATED & ~_telephone()


def _telephone() -> pl.Expr:
    """Whether a number is a part of one of ten to thirteen digits in groups of different lengths."""
    begun = BEFORE.str.extract(r"((?:[0-9]{2,5}[ -])*)$").fill_null("")
    whole = pl.concat_str(begun, VALUE, NEXT.str.extract(r"^((?:[ -][0-9]{2,5})*)").fill_null(""))
    even = whole.str.contains("^(?:[0-9]{3}(?:[ -][0-9]{3})+|[0-9]{4}(?:[ -][0-9]{4})+)$")
    grouped = whole.str.contains("^[0-9]+(?:[ -][0-9]+)+$")
    return grouped & whole.str.count_matches("[0-9]").is_between(10, 13) & ~even


def _year() -> pl.Expr:
    return pl.col("year") | has(r"^(?:19|20)[0-9]{2}[*#]+$")


def dialled() -> pl.Expr:
    """Return whether these are turns of a dial, after the name of what they open."""
    turns = pl.concat_str(BEFORE.str.tail(12), VALUE).str.count_matches(expanded("(?i)@{turn}"))
    opens = expanded("(?i)@{opens}|combo")
    joined = has(r"^[0-9]{1,2}(?:\s?[-–]\s?[0-9]{1,2}){2,3}$")
    undated = has("(?:^|-)(?:3[2-9]|[4-9][0-9])(?:-|$)") | line().str.tail(24).str.contains(opens)
    return ((turns >= 2) & line().str.contains(opens)) | (
        joined & undated & line().str.tail(40).str.contains(opens)
    )


def code() -> pl.Expr:
    """Return whether these are digits of a code; where no sign joins them, more than a count or a year."""
    joined = said_before(r"(?i)(?:(?:[:：=＝#→>]|\s[–—])\W*|@{is}\W*)$", 24)
    security = BEFORE.str.contains(r"(?i)(?:\bcv[vc]2?|安全码|security code)\W*$")
    counted = NEXT.str.contains(lexicon("secrets")["counted"])
    likely = joined | security | ((pl.col("digits") >= 4) & ~pl.col("year"))
    item = BEFORE.str.contains(r"\n\s*$") & NEXT.str.contains(r"^[.)]\s")  # a list's number
    likely &= ~counted & ~item & ~has("^[0-9]+-[0-9]+$") & ~_telephone()  # nor a range
    return likely & _UNDATED


def code_too() -> pl.Expr:
    """Return whether this is a further code after the first: no year, count or number of something else."""
    numbered = said_before(lexicon("secrets")["numbered"], 24)
    counted = NEXT.str.contains(lexicon("secrets")["counted"])
    return ~pl.col("year") & ~counted & ~numbered & _UNDATED & ~_telephone()


def coded() -> pl.Expr:
    """Return whether letters and digits stand after the name of a code that is more than a number."""
    return coded_next() & BEFORE.str.contains("(?i)code|key|码|код|código|codice|コード|코드")


def coded_next() -> pl.Expr:
    """Return whether a value mixes letters with digits, or is digits in groups, and is no date."""
    mixed = pl.col("digit") & has("[A-Za-z]") & (SIZE >= 4)
    return _UNDATED & ~pl.col("no_value") & (mixed | has("^[0-9]{3,}(?:-[0-9]{3,})+$"))
