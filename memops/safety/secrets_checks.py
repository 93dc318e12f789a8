"""Checks of secrets: whether what a shape matched is a secret, by its traits and by what it stands beside.

Each check is an expression over the traits of a match (`secrets_traits`), the text `before` and what
is `following`. The farther off a label stands, the less a word may look like one: right after it
a plain word will do, if the clause ends with it; farther on it takes digits and signs.
"""

from collections.abc import Callable, Sequence

import polars as pl

from memops.language.lexicon import lexicon
from memops.safety.secrets_around import (
    BEFORE,
    NEXT,
    after_label,
    clause,
    elided,
    ends,
    identified,
    line,
    named_so,
    published,
    stops,
    weak,
)
from memops.safety.secrets_labels import expanded, listed
from memops.safety.secrets_numbers import (
    code,
    code_too,
    coded,
    coded_next,
    confided_number,
    counted,
    dialled,
)
from memops.safety.secrets_traits import (
    SIZE,
    card,
    count,
    has,
    identity_number,
    seed_words,
    states_first,
    with_traits,
)

_DIGIT, _DIGITS, _MIXING = pl.col("digit"), pl.col("digits"), pl.col("mixing")
_LETTER = pl.col("letters") > 0
_GENERATED = "[A-Za-z0-9]{20}"  # unbroken
_ROWS = ("abcdefghijklmnopqrstuvwxyz", "0123456789012")
_COUNTED = "(?i)" + "|".join(row[n : n + 8] for row in _ROWS for n in range(len(row) - 7))
"""Eight signs in the order of the alphabet or of counting, which an example has and no key."""
_SAYS = ~pl.col("no_value")
_UNDATED = ~pl.col("dated")
_NAMELESS = ~pl.col("identifier")
_TOLD = ("said", "joined", "near", "token", "loose", "generated", "next", "bare", "paired", "code",
         "confided-number", "fitted")  # fmt: skip
"""Checks of what a label farther off tells."""
_ALONE = _NAMELESS & ~pl.col("spelt_out")


def plausible(hits: pl.DataFrame, checks: Sequence[str]) -> pl.DataFrame:
    """Return the matches that pass the check of their shape; `checks` names each shape's."""
    if hits.is_empty():
        return hits
    check = pl.Series("check", checks, dtype=pl.String).gather(hits["nth"])
    tests = {name: _check(name) for name in check.unique()}
    asked = {trait for test in tests.values() for trait in test.meta.root_names()}
    parts = with_traits(hits, asked).with_columns(check).partition_by(
        "check", as_dict=True, maintain_order=True
    )  # fmt: skip
    passed = [part.lazy().filter(tests[name]) for (name,), part in parts.items()]
    return pl.concat(pl.collect_all(passed)).select(hits.columns)


def _check(name: str) -> pl.Expr:
    if name == "always":
        return CHECKS[name]()
    plain = CHECKS[name]() & ~pl.col("placeholder")
    return plain & ~identified() if name in _TOLD else plain


def _always() -> pl.Expr:
    return pl.lit(True)


def _unpublished() -> pl.Expr:
    return ~published()


def _fitted() -> pl.Expr:
    """What the model took for a secret, if it is no day, no place and nothing to be filled in."""
    own_name = has(r"(?:^|[-_])[^\x00-\x7f]") & has("[A-Za-z]{2}.*[0-9]")
    own_name |= has("^[0-9]{13,}$")  # which cards have a shape of their own for
    own_name |= has("^[a-z]+(?:_[a-z]+)*_[0-9]$")  # one of several
    own_name |= has("^[0-9a-f]{16}(?:-[0-9]+)?$")  # a plan or a run of this program
    return ~published() & _UNDATED & ~pl.col("place") & ~own_name & ~elided()


def _prefixed() -> pl.Expr:
    """A key after its issuer's beginning: a run that a generator made, as no name, date or tag has."""
    cased = pl.col("upper") & pl.col("lower")
    dense, long = cased & (_MIXING >= 0.35), (count("[a-z0-9][A-Z]") >= 3) & (SIZE >= 24)
    made = dense | (((_DIGIT & (_MIXING >= 0.2)) | pl.col("random")) & ~pl.col("wordy"))
    generated = (has(_GENERATED) | long) & (_UNDATED | (SIZE >= 32)) & made
    return generated & ~elided() & ~_example()


def _example() -> pl.Expr:
    return has(_COUNTED)


def _issued() -> pl.Expr:
    """A key of its issuer's length: letters and digits mixed, as in no word with a number behind it."""
    named = has(r"^[0-9a-f]{32}\.[a-z0-9]+$")  # a file by its hash
    return has("^AKIA|[0-9][A-Za-z]") & ~named & ~_example()


def _token() -> pl.Expr:
    """What a generator made, and no name."""
    other = pl.col("wordy") | pl.col("coded_name") | pl.col("place") | elided()
    other |= has("^[A-Z][A-Z0-9_]*=$")  # a variable without its value
    user = NEXT.str.contains(r"^(?:\s/\s|@[\w-]+\.[\w.-]+)") & (SIZE < 24)  # or of an address
    return pl.col("random") & _UNDATED & ~other & ~user & ~published()


def _unwordly() -> pl.Expr:
    """What is assigned to a token: of random make, or digits among letters."""
    likely = pl.col("random") | (_DIGIT & has("[A-Za-z]") & (SIZE >= 8))
    other = pl.col("wordy") | pl.col("coded_name") | pl.col("measure") | pl.col("place")
    other |= has(r"(?:^|[-_])[^\x00-\x7f]")  # its name in the writer's language
    return likely & _UNDATED & ~other & ~elided()


def _header() -> pl.Expr:
    mixed = (_DIGITS >= 2) & (count("[A-Za-z]") >= 2)
    return (mixed | pl.col("strings")) & ~pl.col("wordy")


def _query() -> pl.Expr:
    labelled = BEFORE.str.contains("(?i)(?:password|passwd|pwd|pass)=$")
    return labelled | (pl.col("random") & (SIZE >= 12) & ~pl.col("wordy"))


def _loose() -> pl.Expr:
    """Random after a label in the same sentence, set off by a sign; a number is anything's."""
    told = after_label("token", 76) & BEFORE.str.contains(r"""[:：=(（|>→][\s"'`*]*$""")
    return told & _token() & _LETTER & _ALONE


def _generated() -> pl.Expr:
    """The same of a run of both cases and digits, mixed as in no name."""
    cased = pl.col("upper") & pl.col("lower") & _DIGIT
    return _loose() & cased & (_MIXING >= 0.35) & ~_example()


def _word() -> pl.Expr:
    """Letters alone that say nothing about a password, at the end of the clause."""
    said = has("(?i)[a-z]{3,}(?:able|ible|ed|ing)$")
    whole = has(r"^[\p{L}'_-]{4,}$|^\S*[\p{L}]\S*(?:\s\S+){2,7}$")
    linked = pl.col("spaced") & has(rf"(?i)\b(?:{listed('linking')})\b")
    return whole & ~said & ~linked & ends()


def _noun() -> pl.Expr:
    """The same after a verb, where an adjective may stand as well."""
    adjective = "(?i)(?:ive|ent|ant|ous|less|ful|ary|ory|ally|ic|al|ish|[^f]ly)$"
    return _word() & ~has(adjective)


def _assigned() -> pl.Expr:
    tight = BEFORE.str.ends_with("=") & has("^[A-Za-z]{4,}$")
    plain = (pl.col("number") | _word()) & ~weak()
    likely = _SAYS & (pl.col("lettered") | plain | tight)
    setting = BEFORE.str.contains("[a-z]=$") & pl.col("snake") & NEXT.str.contains(r"^\s*(?:\n|$)")
    return SIZE.is_between(3, 128) & (likely | (setting & ~pl.col("not_said")))


def _said() -> pl.Expr:
    likely = pl.col("lettered") | pl.col("number") | _noun()
    return SIZE.is_between(3, 128) & _SAYS & ~has(r"\s\S+\s\S+\s\S+\s") & likely


def _bare() -> pl.Expr:
    mixed = (SIZE >= 5) & _DIGIT & _LETTER & pl.col("lettered") & _UNDATED
    number = pl.col("number") & ~pl.col("year") & ends()
    named = BEFORE.str.contains(expanded(r"(?i)@{login}@{right}[^\n]*[^\p{L}](?:pw|pwd|mdp)\s$"))
    likely = mixed | number | pl.col("gibberish") | pl.col("composed") | pl.col("phrase")
    likely |= named & _word()
    return (SIZE <= 128) & _SAYS & likely & ~weak() & ~has(r"^[A-Z_]+=")


def _changed() -> pl.Expr:
    """An old value, before the new one."""
    return (SIZE >= 3) & _SAYS & (_DIGIT | pl.col("lettered") | BEFORE.str.ends_with(" from "))


def _near() -> pl.Expr:
    """Dressed up or generated, after a label in the same sentence; or composed, in the same line."""
    dense = SIZE.is_between(10, 64) & (_MIXING >= 0.4) & has("[a-z]") & has("[A-Z]")
    made = pl.col("dressed") | dense | (pl.col("gibberish") & (SIZE >= 8))
    told = line().str.tail(90).str.contains(expanded("(?i)@{password}@{right}"))
    asked = BEFORE.str.contains(expanded(r"(?i)@{password}[^\n]*[?？]\s*\n[^\n]*$"))
    told = after_label("password", 80) | (pl.col("composed") & told) | asked
    return made & told & _SAYS & _UNDATED & _NAMELESS & ~named_so()


def _answered() -> pl.Expr:
    """After a question of security; what asks another one is no answer."""
    asked = BEFORE.str.contains(expanded("(?i)@{question}")) & ~has("[?？]")
    return asked & ends() & seed_words() & ~states_first() & ~pl.col("ordinary")


def _admin() -> pl.Expr:
    """What goes with the name of who may do all, if no word and no name is made so."""
    made = pl.col("composed") | pl.col("signed") | (has(r"^\p{Lu}\p{Ll}+") & (_DIGITS >= 2))
    return (SIZE >= 6) & made & ends() & _SAYS & _UNDATED & ~pl.col("named") & ~has("=")


def _before() -> pl.Expr:
    """Made by a person, and the clause goes on to say that it is a password."""
    label = r"""(?i)^["'`”」*]*\s?(?:<|←|[—–(（-]|@{is}|这个?是)[^\n.。]{0,30}?@{password}"""
    made = pl.col("dressed") | pl.col("signed") | ((SIZE >= 8) & pl.col("lettered") & _DIGIT)
    return made & NEXT.str.contains(expanded(label)) & _SAYS & _UNDATED & _NAMELESS


def _grouped() -> pl.Expr:
    """Capitals mixed with digits in most groups, after a label in the same sentence."""
    mixed = count("[0-9][A-Z]|[A-Z][0-9]") >= 2
    told = [after_label(group, 64) for group in ("token", "code", "password")]
    return mixed & pl.any_horizontal(told) & _UNDATED & ~published()


def _joined() -> pl.Expr:
    """After a label and, farther on in the sentence, what joins it with a value."""
    made = (_DIGIT & pl.col("lettered") & (SIZE >= 6)) | (pl.col("number") & ~pl.col("year"))
    made |= pl.col("dressed") | pl.col("composed")
    clear = _SAYS & _UNDATED & _NAMELESS & ~has(r"^[A-Z]{1,6}[-_]?[0-9]+$")
    signed = pl.col("composed") | (pl.col("dressed") & pl.col("upper") & _DIGIT)
    signed &= ~BEFORE.str.contains(r"[:：(（]\W*$") & ~has(lexicon("secrets")["composed_of"])
    login = expanded(r"(?i)(?:@{login}|wi-?fi|wlan|vpn)")
    logged = signed & clause().str.tail(60).str.contains(login) & ~named_so()
    return made & clear & ((after_label("password", 60) & stops()) | logged)


def _passphrase() -> pl.Expr:
    """Words that say nothing of a password; no sentence's words where only a verb joins the label."""
    told = BEFORE.str.contains(r"""(?:[:：＝=→>–—-][*_`\s]*['’]?|["“«])$""") | seed_words()
    asks = has(r"(?i)\b(?:must|should|be|is|are|your|you|please|error|password)\b")
    return told & ~asks & (~states_first() | has(r"^\p{L}{1,3}\s"))


def _stranger() -> pl.Expr:
    """What no sentence has, after nothing: words of letters, with capitals, numbers and a sign inside."""
    inside = has(r"\p{L}{3,}[0-9]*[!$%^&*~#+][\p{L}0-9]{2,}|[0-9]{2,}[!$^&*~]\p{L}{3,}")
    other = has(lexicon("secrets")["composed_of"]) | has(r"[(){}\[\]|\\/;=:]")
    cased = pl.col("upper") & pl.col("lower") & _DIGIT & (SIZE <= 32)
    return pl.col("composed") & inside & cased & _SAYS & ~other & ~pl.col("named")


def _stranger_pair() -> pl.Expr:
    other = has(r"[(){}\[\]|\\/;=]|@[\w-]+\.|^#") | pl.col("named")
    signed = has(r"[!$%^&*~#@+]") & (SIZE >= 6)
    return signed & _DIGIT & (pl.col("letters") >= 3) & _SAYS & ~other & _UNDATED


def _argument() -> pl.Expr:
    place = has(r"(?i)^[~.]{0,2}/|://|\.(?:md|py|json|ya?ml|txt|env|sh|pem|key|csv|sql|gz|zip)$")
    return (SIZE >= 2) & ~has(r"^-|^[$%]|^stdin$") & ~place


def _next() -> pl.Expr:
    likely = pl.col("lettered") & (_DIGIT | pl.col("composed"))
    counted = has("^[a-z]+[._-][0-9]{1,2}$")  # one of several
    return (SIZE >= 6) & likely & _SAYS & _UNDATED & ~counted


def _paired() -> pl.Expr:
    signed = (_DIGIT & _LETTER) | pl.col("composed") | pl.col("signed")
    path = has(r":|/|\.[a-z]{2,4}$|^[?&]|&\w+=|^[A-Za-z_]\w*=.") | BEFORE.str.contains(
        r"\.[a-z]{2,}/$"
    )
    path |= BEFORE.str.contains(r"(?i)\buser:\s*\W?[^\s/]+/$")  # said by, not signed in as
    path |= line().str.contains(r"^\W{0,2}\|.*\|")  # a cell of a table
    path |= pl.col("wordy") & (count("[-_]") >= 2)  # a branch
    path |= has(r"^[a-z]+-[0-9]+\.[0-9.]+(?:-[a-z]+)*$")  # a version of a model
    path |= has(
        r"(?i)^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z]{1,4}_[0-9a-f]{32})$"
    )  # an id
    return (SIZE >= 4) & signed & pl.col("lettered") & _SAYS & _UNDATED & ~path


def _worded() -> pl.Expr:
    """Two words or more in quotes, which say nothing of a password themselves."""
    return seed_words() & ~states_first() & ~pl.col("placeholder")


def _url() -> pl.Expr:
    return ~has(r"^(?:[0-9]{1,5}|\*+|\.+)$")


CHECKS: dict[str, Callable[[], pl.Expr]] = {
    "always": _always,
    "any": _always,
    "card": card,
    "cn-id": identity_number,
    "seed": seed_words,
} | {
    check.__name__.strip("_").replace("_", "-"): check
    for check in (
        _admin,
        _answered,
        _argument,
        _assigned,
        _bare,
        _before,
        _changed,
        _fitted,
        _generated,
        _grouped,
        _header,
        _issued,
        _joined,
        _loose,
        _near,
        _next,
        _paired,
        _passphrase,
        _prefixed,
        _query,
        _said,
        _stranger,
        _stranger_pair,
        _token,
        _unpublished,
        _unwordly,
        _url,
        _worded,
        confided_number,
        dialled,
        code,
        code_too,
        coded,
        coded_next,
        counted,
    )
}
"""Names that a pattern's `check` may give: most are those of the function."""
