"""Keys: the checks of what a generator made, not a person, as tokens and keys of issuers are."""

import polars as pl

from memops.language.lexicon import lexicon
from memops.safety.secrets_around import (
    BEFORE,
    NEXT,
    after_label,
    elided,
    kept,
    next_step,
    of_user,
    published,
)
from memops.safety.secrets_labels import expanded
from memops.safety.secrets_traits import SIZE, count, has

_DIGIT, _DIGITS, _MIXING = pl.col("digit"), pl.col("digits"), pl.col("mixing")
_GENERATED = "[A-Za-z0-9]{20}"  # unbroken
_ROWS = ("abcdefghijklmnopqrstuvwxyz", "0123456789012")
_COUNTED = "(?i)" + "|".join(row[n : n + 8] for row in _ROWS for n in range(len(row) - 7))
"""Eight signs in the order of the alphabet or of counting, which an example has and no key."""
_UNDATED = ~pl.col("dated")


def dotted() -> pl.Expr:
    """Parts that a generator made, as no name of a module or a host is."""
    return _DIGIT & (_MIXING >= 0.2) & ~published()


def fitted() -> pl.Expr:
    """What the model took for a secret, if it is no day, no place and nothing to be filled in."""
    own_name = has(r"(?:^|[-_])[^\x00-\x7f]") & has("[A-Za-z]{2}.*[0-9]")
    own_name |= has("^[0-9](?:[ -]?[0-9]){12,18}$")  # which cards have a shape of their own for
    own_name |= has("^[a-z]+(?:_[a-z]+)*_[0-9]$")  # one of several
    own_name |= has("^[a-z]{2,}(?:19|20)[0-9]{2}[a-z]{2,}$")  # of a work that is cited
    own_name |= has("^[0-9a-f]{16}(?:-[0-9]+)?$")  # a plan or a run of this program
    own_name |= has(lexicon("secrets")["markup"]) | has(r"&\w+=|^ids?[:=]") | _set_otherwise()
    number = has("^[0-9]+$") & NEXT.str.contains(lexicon("secrets")["counted"])
    own_name |= (next_step() & ~_DIGIT) | kept()
    to_fill = BEFORE.str.contains("""[A-Z]=["']?$""") & has(r"^[^\x00-\x7f]+(?:_[^\x00-\x7f]+)+$")
    own_name |= to_fill | has("^[a-z]+/[a-z.+-]+$") | has("^[a-z]+(?:-[a-z]+)*(?:-[0-9]{1,2}){2,}$")
    own_name |= of_user() | (pl.col("random") & has("^[A-Za-z0-9]{12,}$") & ~_labelled())
    encoded = has("^/[A-Za-z0-9+/]{40,}={0,2}$") & _DIGIT & pl.col("upper") & (_MIXING >= 0.3)
    place = pl.col("place") & ~_words_after_label() & ~encoded
    return ~published() & _UNDATED & ~place & ~own_name & ~number & ~elided()


def _words_after_label() -> pl.Expr:
    """Whether words that dots join stand right after a password's label, and none of them is a label."""
    label = expanded(r"""(?i)@{password}\s*(?:@{is}|@{sep})\s*(?:\p{Ll}{1,6}\s+)?["'`]?$""")
    words = has(r"^\p{Ll}{3,}(?:\.\p{Ll}{3,}){2,}$") & ~has(
        expanded("@{password}|@{token}|@{weak}")
    )
    return words & BEFORE.str.contains(label)


def _labelled() -> pl.Expr:
    """Whether a word of what opens something stands near the value."""
    label = expanded("(?i)(?:@{password}|@{token}|@{code}|@{weak}|@{login})")
    return BEFORE.str.contains(label) | NEXT.str.contains(label)


def _set_otherwise() -> pl.Expr:
    """The value of a setting whose name in capitals says that it is something else."""
    name = BEFORE.str.extract(r"""(?:^|[\n\s])([A-Z][A-Z0-9_]*)=["']?$""")
    opens = expanded("(?i)@{password}|@{token}|@{code}|@{weak}|@{opens}|@{login}|wi-?fi|wlan")
    return (name.is_not_null() & ~name.str.contains(opens)).fill_null(False)


def prefixed() -> pl.Expr:
    """A key after its issuer's beginning: a run that a generator made, as no name, date or tag has."""
    cased = pl.col("upper") & pl.col("lower")
    dense, long = cased & (_MIXING >= 0.35), (count("[a-z0-9][A-Z]") >= 3) & (SIZE >= 24)
    made = dense | (((_DIGIT & (_MIXING >= 0.2)) | pl.col("random")) & ~pl.col("wordy"))
    generated = (has(_GENERATED) | long) & (_UNDATED | (SIZE >= 32)) & made
    return generated & ~elided() & ~_example()


def _example() -> pl.Expr:
    return has(_COUNTED)


def issued() -> pl.Expr:
    """A key of its issuer's length: letters and digits mixed, as in no word with a number behind it."""
    named = has(r"^[0-9a-f]{32}\.(?:[a-z0-9]{1,5}|[a-z]+[0-9]*)$")  # a file by its hash
    return has("^AKIA|[0-9][A-Za-z]") & ~named & ~_example()


def token() -> pl.Expr:
    """What a generator made, and no name."""
    other = pl.col("wordy") | pl.col("coded_name") | pl.col("place") | elided()
    other |= has("^[A-Z][A-Z0-9_]*=$")  # a variable without its value
    other |= has(r"^\p{Ll}{2,}(?:19|20)[0-9]{2}\p{Ll}*$")  # a work that is cited
    user = NEXT.str.contains(r"^(?:\s/\s|@[\w-]+\.[\w.-]+)") & (SIZE < 24)  # or of an address
    return pl.col("random") & _UNDATED & ~other & ~user & ~published()


def unwordly() -> pl.Expr:
    """What is assigned to a token: of random make, or digits among letters."""
    likely = pl.col("random") | (_DIGIT & has("[A-Za-z]") & (SIZE >= 8))
    other = pl.col("wordy") | pl.col("coded_name") | pl.col("measure") | pl.col("place")
    other |= has(r"(?:^|[-_])[^\x00-\x7f]")  # its name in the writer's language
    return likely & _UNDATED & ~other & ~elided()


def header() -> pl.Expr:
    """What a header of a request gives, and no word."""
    mixed = (_DIGITS >= 2) & (count("[A-Za-z]") >= 2)
    return (mixed | pl.col("strings")) & ~pl.col("wordy")


def query() -> pl.Expr:
    """What the query of an address gives for a password, or a generator made."""
    labelled = BEFORE.str.contains("(?i)(?:password|passwd|pwd|pass)=$")
    return labelled | (pl.col("random") & (SIZE >= 12) & ~pl.col("wordy"))


def unpublished() -> pl.Expr:
    """What no label before it calls a hash, a transaction or an address."""
    return ~after_label("public", 40) & ~published()


def printed() -> pl.Expr:
    """Capitals mixed with digits in most groups, beyond the letters of a checksum."""
    return _grouped() & has("[G-Z]") & (_DIGITS >= 3)


def scattered() -> pl.Expr:
    """Digits between the letters of groups again and again, and not behind them alone, or before."""
    return (count("[a-z][2-7]") >= 1) & (count("[2-7][a-z]") >= 2)


def grouped() -> pl.Expr:
    """Capitals mixed with digits in most groups, after a label in the same sentence."""
    told = [after_label(group, 64) for group in ("token", "code", "password")]
    return _grouped() & pl.any_horizontal(told) & ~after_label("public", 64)


def _grouped() -> pl.Expr:
    return (count("[0-9][A-Z]|[A-Z][0-9]") >= 2) & _UNDATED & ~published()
