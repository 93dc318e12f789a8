"""Passwords: the checks of what a person made, and said, wrote or assigned.

The farther off a label stands, the less a word may look like one: right after it a plain word will
do, if the clause ends with it; farther on it takes digits and signs.
"""

import polars as pl

from memops.language.lexicon import lexicon
from memops.safety.secrets_around import (
    BEFORE,
    NEXT,
    after_label,
    ends,
    kept,
    line,
    named_so,
    next_step,
    of_user,
    weak,
)
from memops.safety.secrets_labels import expanded, listed
from memops.safety.secrets_traits import SIZE, count, has, seed_words, states_first

_DIGIT, _DIGITS, _MIXING = pl.col("digit"), pl.col("digits"), pl.col("mixing")
_LETTER = pl.col("letters") > 0
_SAYS = ~pl.col("no_value")
_UNDATED = ~pl.col("dated")
_NAMELESS = ~pl.col("identifier")


def word() -> pl.Expr:
    """Letters alone that say nothing about a password, at the end of the clause."""
    said = has("(?i)[a-z]{3,}(?:able|ible|ed|ing)$")
    whole = has(r"^[\p{L}'_-]{4,}$|^\S*[\p{L}]\S*(?:\s\S+){2,7}$")
    linked = pl.col("spaced") & has(rf"(?i)\b(?:{listed('linking')})\b")
    return whole & ~said & ~linked & ~next_step() & ends()


def noun() -> pl.Expr:
    """The same after a verb, where an adjective may stand as well."""
    adjective = "(?i)(?:ive|ent|ant|ous|less|ful|ary|ory|ally|ic|al|ish|[^f]ly)$"
    return word() & ~has(adjective)


def assigned() -> pl.Expr:
    """What stands after a sign, be it a word."""
    tight = BEFORE.str.ends_with("=") & has("^[A-Za-z]{4,}$")
    plain = (pl.col("number") | word()) & ~weak()
    likely = _SAYS & ((pl.col("lettered") & (_DIGIT | ~weak())) | plain | tight)
    setting = BEFORE.str.contains("[a-z]=$") & pl.col("snake") & NEXT.str.contains(r"^\s*(?:\n|$)")
    return SIZE.is_between(3, 128) & (likely | (setting & ~pl.col("not_said")))


def said() -> pl.Expr:
    """What a sentence says a password is, be it a word."""
    likely = pl.col("lettered") | pl.col("number") | noun()
    return SIZE.is_between(3, 128) & _SAYS & ~has(r"\s\S+\s\S+\s\S+\s") & likely


def bare() -> pl.Expr:
    """What stands right after a label, without a sign or a verb."""
    mixed = (SIZE >= 5) & _DIGIT & _LETTER & pl.col("lettered") & _UNDATED
    number = pl.col("number") & ~pl.col("year") & ends()
    named = BEFORE.str.contains(expanded(r"(?i)@{login}@{right}[^\n]*[^\p{L}](?:pw|pwd|mdp)\s$"))
    likely = mixed | number | pl.col("gibberish") | pl.col("composed") | pl.col("phrase")
    likely |= named & word()
    return (SIZE <= 128) & _SAYS & likely & ~weak() & ~has(r"^[A-Z_]+=")


def changed() -> pl.Expr:
    """An old value, before the new one."""
    return (SIZE >= 3) & _SAYS & (_DIGIT | pl.col("lettered") | BEFORE.str.ends_with(" from "))


def near() -> pl.Expr:
    """Dressed up or generated, after a label in the same sentence; or composed, in the same line."""
    dense = SIZE.is_between(10, 64) & (_MIXING >= 0.4) & has("[a-z]") & has("[A-Z]")
    made = (pl.col("dressed") & _DIGIT) | dense | (pl.col("gibberish") & (SIZE >= 8))
    told = line().str.tail(90).str.contains(expanded("(?i)@{password}@{right}"))
    asked = BEFORE.str.contains(expanded(r"(?i)@{password}[^\n]*[?？]\s*\n[^\n]*$"))
    told = after_label("password", 80) | (pl.col("composed") & told) | asked
    return made & told & _SAYS & _UNDATED & _NAMELESS & ~named_so()


def answered() -> pl.Expr:
    """After a question of security; what asks another one is no answer."""
    asked = BEFORE.str.contains(expanded("(?i)@{question}")) & ~has("[?？]")
    return asked & ends() & seed_words() & ~states_first() & ~pl.col("ordinary")


def admin() -> pl.Expr:
    """What goes with the name of who may do all, if no word and no name is made so."""
    made = pl.col("composed") | pl.col("signed") | (has(r"^\p{Lu}\p{Ll}+") & (_DIGITS >= 2))
    return (SIZE >= 6) & made & ends() & _SAYS & _UNDATED & ~pl.col("named") & ~has("=")


def before() -> pl.Expr:
    """Made by a person, and the clause goes on to say that it is a password."""
    label = r"""(?i)^["'`”」*]*\s?(?:<|←|[—–(（-]|@{is}|这个?是)[^\n.。]{0,30}?@{password}"""
    made = pl.col("dressed") | pl.col("signed") | ((SIZE >= 8) & pl.col("lettered") & _DIGIT)
    return made & NEXT.str.contains(expanded(label)) & _SAYS & _UNDATED & _NAMELESS


def passphrase() -> pl.Expr:
    """Words that say nothing of a password; no sentence's words where only a verb joins the label."""
    told = BEFORE.str.contains(r"""(?:[:：＝=→>–—-][*_`\s]*['’]?|["“«])$""") | seed_words()
    asks = has(r"(?i)\b(?:must|should|be|is|are|your|you|please|error|password)\b")
    goes_on = NEXT.str.contains(r"""^[.?!…]\s[^\n"”»」]{1,80}["”»」]""")  # within its quotes
    return told & ~asks & ~goes_on & (~states_first() | has(r"^\p{L}{1,3}\s"))


def stranger() -> pl.Expr:
    """What no sentence has, after nothing: words of letters, with capitals, numbers and a sign inside."""
    inside = has(r"\p{L}{3,}[0-9]*[!$%^&*~#+][\p{L}0-9]{2,}|[0-9]{2,}[!$^&*~]\p{L}{3,}")
    other = has(lexicon("secrets")["composed_of"]) | has(r"[(){}\[\]|\\/;=:]")
    cased = pl.col("upper") & pl.col("lower") & _DIGIT & (SIZE <= 32)
    return pl.col("composed") & inside & cased & _SAYS & ~other & ~pl.col("named") & ~of_user()


def stranger_pair() -> pl.Expr:
    """Beside a name to sign in with: digits and signs among letters."""
    other = has(r"[(){}\[\]|\\/;=]|@[\w-]+\.|^#") | pl.col("named")
    signed = has(r"[!$%^&*~#@+]") & (SIZE >= 6)
    return signed & _DIGIT & (pl.col("letters") >= 3) & _SAYS & ~other & _UNDATED


def argument() -> pl.Expr:
    """What a command is given for a password, and no option, variable or file."""
    place = has(r"(?i)^[~.]{0,2}/|://|\.(?:md|py|json|ya?ml|txt|env|sh|pem|key|csv|sql|gz|zip)$")
    return (SIZE >= 2) & ~has(r"^-|^[$%]|^stdin$") & ~place


def next() -> pl.Expr:
    """The value after one: letters with digits or signs."""
    likely = pl.col("lettered") & (_DIGIT | pl.col("composed"))
    counted = has("^[a-z]+[._-][0-9]{1,2}$")  # one of several
    return (SIZE >= 6) & likely & _SAYS & _UNDATED & ~counted


def paired() -> pl.Expr:
    """What a colon or slash joins with a name to sign in with, and no path, branch, version or id."""
    signed = (_DIGIT & _LETTER) | pl.col("composed") | pl.col("signed")
    signed |= pl.col("gibberish") & ~pl.col("lower") & (SIZE >= 8)
    path = has(r":|/|\.[a-z]{2,4}$|^[?&]|&\w+=|^[A-Za-z_]\w*=.") | BEFORE.str.contains(
        r"\.[a-z]{2,}/$"
    )
    path |= BEFORE.str.contains(r"(?i)\buser:\s*\W?[^\s/]+/$")  # said by, not signed in as
    path |= line().str.contains(r"^\W{0,2}\|.*\|")  # a cell of a table
    path |= pl.col("wordy") & (count("[-_]") >= 2)  # a branch
    path |= has("^[A-Z0-9]{2,6}$|^[0-9]{9,}$")  # a term, or a number of somebody
    path |= has(r"^[a-z]+-[0-9]+\.[0-9.]+(?:-[a-z]+)*$")  # a version of a model
    path |= has(
        r"(?i)^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z]{1,4}_[0-9a-f]{32})$"
    )  # an id
    return (SIZE >= 4) & signed & pl.col("lettered") & _SAYS & _UNDATED & ~path


def worded() -> pl.Expr:
    """Two words or more in quotes, which say nothing of a password themselves."""
    return seed_words() & ~states_first() & ~kept()


def url() -> pl.Expr:
    """What an address has for a password, and no port or mask."""
    return ~has(r"^(?:[0-9]{1,5}|\*+|\.+)$")
