"""Checks of secrets: whether what a shape matched has the make of a secret.

Each is an expression over `value`, the `before` and the `following` of a match. What no sentence has
is told by classes of characters: digits among letters, signs inside, cases that change, letters
that no word has. Where a label says that a password stands there, a word will do, if the clause
ends with it and it says nothing about passwords ("required").
"""

from collections.abc import Callable

import polars as pl

from memops.language.lexicon import lexicon
from memops.safety.secrets_labels import expanded, words

_VALUE, _BEFORE, _NEXT = pl.col("value"), pl.col("before"), pl.col("following")
_SIZE = pl.col("value").str.len_chars()
_ENDS = (
    r"""^["'`”»」』*_)\]）}]*(?:\s*$|\s*[\n,;.。，；、|!?！？)）}\]#]|\s+[(（/|–—-]"""
    r"""|\s*(?:です|でした|だ|입니다|이에요|예요|이다|了|啦|哦|吧|呢))"""
)
_GOES_ON = r"(?i)^\s+(?:for|on|at|and|but|since|until|as of|from|→|->|to)\s"


def _has(pattern: str) -> pl.Expr:
    return _VALUE.str.contains(pattern)


def _count(pattern: str) -> pl.Expr:
    return _VALUE.str.count_matches(pattern).cast(pl.Float64)


def _always() -> pl.Expr:
    return pl.lit(True)


def placeholder() -> pl.Expr:
    """Return whether the value stands for a secret: `<token>`, `${TOKEN}`, `xxxxx`."""
    return _has(lexicon("secrets")["placeholders"])


def _mixing() -> pl.Expr:
    """Runs of one class (lower, upper, digit, a capitalised word) per character: random 0.5, names 0.2."""
    bare = _VALUE.str.replace_all("[^A-Za-z0-9]", "")
    runs = bare.str.count_matches("[A-Z]?[a-z]+|[A-Z]+|[0-9]+").cast(pl.Float64)
    return runs / bare.str.len_chars().clip(1)


def _random() -> pl.Expr:
    """What a generator makes: mixed, or hexadecimal, or letters too many or too odd for a word."""
    digits = _count("[0-9]")
    mixed = (
        (digits >= 2) & (_count("[A-Za-z]") >= 2) & ((_mixing() >= 0.2) | (digits / _SIZE >= 0.3))
    )
    return mixed | _has("[0-9a-fA-F]{24,}") | _strings()


def _strings() -> pl.Expr:
    """Letters that are no word: two dozen running, or cases that change within, or no vowels."""
    cased = _has("[a-z][A-Z]+[a-z]+[A-Z]") & (_mixing() >= 0.4)
    return _has("[A-Za-z]{24,}") | (cased & (_SIZE >= 12)) | (_gibberish() & (_SIZE >= 10))


def _gibberish() -> pl.Expr:
    """Letters that no word has: five consonants running, or next to no vowel."""
    few = _count("(?i)[aeiouyáéíóúäöüàèâêô]") / _SIZE < 0.15
    return _has("(?i)[bcdfghjklmnpqrstvwxz]{5}") | (few & (_SIZE >= 6) & _has("^[A-Za-z0-9]+$"))


def _prefixed() -> pl.Expr:
    """A key after its issuer's beginning."""
    body = _VALUE.str.len_chars() >= 16
    return body & ((_count("[0-9]") >= 1) & (_mixing() >= 0.2) | _random()) & ~_wordy() & ~_elided()


def _wordy() -> pl.Expr:
    """Words and numbers joined by signs, whatever they begin with: names of models, files, parts."""
    piece = "(?:[A-Za-z]{1,20}[0-9]{0,2}|v?[0-9]{1,4}[A-Za-z]{0,2})"
    return _has(rf"^{piece}(?:[./:_+-]{piece})+$")


def _elided() -> pl.Expr:
    """Only the beginning of a key is shown."""
    return _NEXT.str.contains(r"""^["'`]?(?:\.{3}|…|\*{3})""") & (_SIZE < 24)


def _token() -> pl.Expr:
    user = _NEXT.str.contains(r"^\s/\s")
    return _random() & ~_wordy() & ~_dated() & ~_coded_name() & ~_place() & ~_elided() & ~user


def _unwordly() -> pl.Expr:
    """What is assigned to a token: of random make, or digits among letters."""
    likely = _random() | (_has("[0-9]") & _has("[A-Za-z]") & (_SIZE >= 8))
    return likely & ~_wordy() & ~_dated() & ~_coded_name() & ~_measure() & ~_place() & ~_elided()


def _header() -> pl.Expr:
    return ((_count("[0-9]") >= 2) & (_count("[A-Za-z]") >= 2) | _strings()) & ~_wordy()


def _query() -> pl.Expr:
    labelled = _BEFORE.str.contains("(?i)(?:password|passwd|pwd|pass)=$")
    return labelled | (_random() & (_SIZE >= 12) & ~_wordy())


def _dated() -> pl.Expr:
    return _has("(?:19|20)[0-9]{2}-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12][0-9]|3[01])(?:[^0-9]|$)")


def _coded_name() -> pl.Expr:
    """A name in code: words in camel or snake case, a call, a path of attributes."""
    return _has(
        r"^[a-z]+(?:[A-Z][a-z]+)+[0-9]?$|^(?:[A-Z][a-z]+){2,}[0-9]?$|\(\)|^[A-Z]+(?:_[A-Z0-9]+)+$"
    )


def _identifier() -> pl.Expr:
    """Words joined in front of a random end (`conv_...`), none of which names a key."""
    return (
        _has(lexicon("secrets")["id_values"])
        | (_has("^[a-z]{2,}[-_][a-z]{3,}[-_]") & ~_has(lexicon("secrets")["key_values"]))
        | _has("(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
    )  # fmt: skip


def _loose() -> pl.Expr:
    return _close_to("token") & _token() & (_count("[0-9]") >= 2) & ~_identifier()


def _close_to(group: str) -> pl.Expr:
    """A label of the group stands in the sixty characters before."""
    return _BEFORE.str.tail(60 + 16).str.contains(expanded(f"(?i)@{{{group}}}@{{right}}"))


def _hexed() -> pl.Expr:
    return (_count("[0-9]") >= 4) & ~_identifier() & ~_has(r"\.[a-z]{2,5}$")


def _mixed() -> pl.Expr:
    """A value alone: three classes in turn, in a clause that speaks of nothing public."""
    clause = _BEFORE.str.extract(r"([^\n.。;；]*)$").fill_null("")
    keyed = clause.str.contains(expanded("(?i)@{token}"))
    public = clause.str.contains(expanded(r"(?i)@{public}(?:$|[^\p{Latin}])")) & ~keyed
    return (
        (_count("[0-9]") >= 2) & (_count("[a-z]") >= 2) & (_count("[A-Z]") >= 2)
        & (_mixing() >= 0.35) & ~_identifier() & ~_dated() & ~public
    )  # fmt: skip


def _ordinary() -> pl.Expr:
    """What is said of a password without being one, and names of ciphers, managers, formats."""
    states = "|".join(
        f"{w.rstrip('*')}\\p{{L}}*" if w.endswith("*") else w for w in words("states")
    )
    return _has(rf"(?i)^(?:{states})(?:[-/][a-z]+){{0,2}}$") | _has(lexicon("secrets")["terms"])


def _measure() -> pl.Expr:
    """A number, with its unit, a range, a time, a sum."""
    return _has(
        r"^[~≥≤<>]?[0-9]+(?:[-–~/.:,xX×*+=][0-9]+)+(?:%|\+|[A-Za-z]{1,6})?[.)]?$"
        r"|^[~≥≤<>+-]?[0-9]{1,6}(?:%|\+|[.)]|[a-zA-Z]{1,3}|-?(?:char\w*|digit\w*|bit\w*|day\w*|hour\w*|min\w*|week\w*|month\w*|letter\w*|sec\w*|stellig\w*|symbol\w*))?$"
        r"|^v?[0-9]+(?:\.[0-9]+)+\S{0,8}$|^[0-9]+-[a-z]+$|:[0-9]{2,5}$|^[0-9.]+[*+/-]\w+$|^(?:[A-Z]{1,3})?[$€£¥][0-9.,]+|^[0-9=*/+<>.-]+$"
    )


def _number() -> pl.Expr:
    return _has("^[0-9]{4,12}$")


def _year() -> pl.Expr:
    return _has("^(?:19|20)[0-9]{2}$")


def _place() -> pl.Expr:
    """Where something is instead: a path, a file, an address, a mailbox, a setting in code."""
    return _has(
        r"(?i)^[~.]{0,2}/|^[a-z]:\\|://|^www\.|^[\w.+-]+@[\w-]+\.[a-z]{2,}|^\$|^%[a-z_]+%?$"
        r"|\.(?:md|py|json|ya?ml|txt|env|toml|ini|sh|ts|js|pem|key|kdbx|csv|html?|cfg|conf)$"
        r"|^[a-z_]+(?:\.[a-z_]+)+(?:$|[(\[])|^[a-z_]\w*\(.*|^[a-z]+(?:_[a-z]+)+$|^[^\p{L}0-9]+$|^![a-z]+$"
    )


def _label() -> pl.Expr:
    """A label itself ("password_field", "secret_token")."""
    return _has(
        r"(?i)^[a-z_-]*(?:passw|pwd|secret|token|api_?key)[a-z_-]*$|[:=]$|^\S+\s.*[A-Z]_[A-Z]"
    )


def _no_value() -> pl.Expr:
    return _ordinary() | _place() | _label() | ((_measure() | _has("^[0-9]{1,3}$")) & ~_number())


def _lettered() -> pl.Expr:
    """Digits among letters, or a sign inside: what no word has."""
    letters = _has(r"\p{L}") & _has("[0-9]")
    sign = _has(r"[!@#$%^&*+?~=]\S|[\p{L}0-9][!#$%^&*+~]$") & _has(r"\p{L}")
    return letters | sign | _has(r"\p{Ll}\p{Lu}.*\p{Ll}\p{Lu}") | _gibberish() | _phrase()


def _phrase() -> pl.Expr:
    joined = _has(r"(?i)[-_.](?:of|the|to|and|in|for|on|by|is|a|or|not|with)[-_.]")
    return _has(r"^\p{L}+(?:[-_.]\p{L}+){3,}$") & ~joined


def _word() -> pl.Expr:
    """Letters alone that say nothing about a password, at the end of the clause."""
    said = _has("(?i)[a-z]{3,}(?:able|ible|ed|ing)$")
    whole = _has(r"^[\p{L}'_-]{4,}$|^\S*[\p{L}]\S*(?:\s\S+){1,7}$")
    speaks = _has(
        r"(?i)\b(?:the|and|or|is|are|was|be|your|you|with|not|must|should|can|to|of|in|my|it)\b"
    )
    return whole & ~said & ~(speaks & _has(r"\s")) & _NEXT.str.contains(_ENDS)


def _noun() -> pl.Expr:
    """The same after a verb, where an adjective may stand as well."""
    adjective = "(?i)(?:ive|ent|ant|ous|less|ful|ary|ory|ally|ic|al|ish|[^f]ly)$"
    end = _NEXT.str.contains(_ENDS) | _NEXT.str.contains(_GOES_ON)
    return _word() & end & ~_has(adjective)


def _weak() -> pl.Expr:
    """The label means other things, too, and no name that goes with a password stands before it."""
    alone = _BEFORE.str.contains(r"(?i)(?:^|[^\p{L}])(?:pass|psk|combination|clave|sandi)\W*$")
    named = _BEFORE.str.contains(
        r"(?i)\b(?:user|login|username|usr|account|admin|root|ssh|wi-?fi)\b[^\n]*$|(?:账号|帐号|用户)[^\n]*$"
    )
    return alone & ~named


def _assigned() -> pl.Expr:
    tight = _BEFORE.str.contains(r"[=]$")
    likely = _lettered() | ((_number() | _word()) & ~_weak())
    return (
        (_SIZE >= 3) & (_SIZE <= 128) & ~_no_value() & (likely | (tight & _has("^[A-Za-z]{4,}$")))
    )


def _said() -> pl.Expr:
    likely = _lettered() | _number() | _noun()
    return (_SIZE >= 3) & (_SIZE <= 128) & ~_no_value() & ~_has(r"\s\S+\s\S+\s\S+\s") & likely


def _bare() -> pl.Expr:
    mixed = (_SIZE >= 5) & _has("[0-9]") & _has(r"\p{L}") & _lettered() & ~_dated()
    number = _number() & ~_year() & _NEXT.str.contains(_ENDS)
    likely = mixed | number | _gibberish() | _composed() | _phrase()
    return (_SIZE <= 128) & ~_no_value() & ~_weak() & likely


def _changed() -> pl.Expr:
    """An old value, before the new one."""
    return (_SIZE >= 3) & ~_no_value()


def _composed() -> pl.Expr:
    """Letters, digits and a sign among them, as rules for passwords ask."""
    return (
        (_SIZE >= 8) & (_SIZE <= 64) & _has("[0-9]") & (_count(r"\p{L}") >= 2)
        & _has(r"[!$%^&*?~+@#]") & ~_has(r"[\[\]{}()<>|\\/]")
    )  # fmt: skip


def _near() -> pl.Expr:
    dense = (_SIZE >= 10) & (_SIZE <= 64) & (_mixing() >= 0.4) & _has("[a-z]") & _has("[A-Z]")
    return (
        (_composed() | dense | (_gibberish() & (_SIZE >= 8)))
        & ~_no_value()
        & ~_dated()
        & ~_identifier()
        & _close_to("password")
    )


def _alien() -> pl.Expr:
    """What no sentence has, after any word and a separator: no handle, sum, tag or expression."""
    other = (
        r"^[\p{L}_.]+#[0-9]{2,5}$|^[#@]|^\+?[0-9][0-9 +-]*$|^[A-Z]{0,3}[$€£¥]|[$€£¥%]$|==|&&|\+\+"
        r"|^[A-Za-z]+[0-9]*[+*=][A-Za-z0-9]+$|@[\w-]+\.[a-z]|^[\w.-]+@|[?&]\w+=|^\*|\*$|\*\*|[:=]|%[0-9A-F]{2}|^\w+(?:\+\w+)+$"
    )
    cased = _has("[a-z]") & _has("[A-Z]")
    return _composed() & cased & ~_has(other) & ~_no_value() & (_SIZE <= 40)


def _argument() -> pl.Expr:
    return (_SIZE >= 2) & ~_has(r"^-|^[$%]|^stdin$") & ~_place()


def _next() -> pl.Expr:
    return (_SIZE >= 6) & _lettered() & (_has("[0-9]") | _composed()) & ~_no_value() & ~_dated()


def _paired() -> pl.Expr:
    signed = _has("[0-9]") & _has(r"\p{L}") | _composed()
    path = _has(r":|/|\.[a-z]{2,4}$|^[?&]|&\w+=") | _BEFORE.str.contains(r"\.[a-z]{2,}/$")
    return (_SIZE >= 4) & signed & _lettered() & ~_no_value() & ~_dated() & ~path


def _paired_words() -> pl.Expr:
    """A word in a pair: small letters, no way to log in, at the end of the clause."""
    ways = (
        "(?i)^(?:google|github|facebook|apple|microsoft|sso|oauth|email|phone|editor|viewer|owner|member"
        "|guest|admin|user|logout|sign|register|signup|settings|profile|account|accounts|savings|checking|billing)$"
    )
    credentials = _BEFORE.str.contains(
        "(?i)cred|login|identifiant|zugang|доступ|логин|учёт|账号|帐号|登录|ログイン|로그인"
    )
    end = _NEXT.str.contains(_ENDS) | _NEXT.str.contains(_GOES_ON)
    word = _has(r"^\p{Ll}{5,}$") & ~_has(ways) & (credentials | _BEFORE.str.contains("(?i)from"))
    return ~_no_value() & end & (_lettered() | word) & ~_has("[/?&=]")


def _code() -> pl.Expr:
    """Digits after the name of a code; where no sign joins them, more than a count or a year."""
    joined = _BEFORE.str.contains(
        r"(?i)(?:[:：=＝#→>]|is|was|are|是|为|は|이|가|это|ist|lautet|est|es)\W*$"
    )
    amount = _NEXT.str.contains(
        r"(?i)^(?:\s?(?:%|digits?|chars?|times|min|sec|hours?|days?|pins?|contacts?|位|分|秒|次|个|天|小时)|[:.,/][0-9])"
    )
    card = _BEFORE.str.contains(r"(?i)\bcv[vc]2?\W*$")
    return (joined | card | ((_count("[0-9]") >= 4) & ~_year())) & ~amount & ~_dated()


def _coded() -> pl.Expr:
    """Letters and digits after the name of a code that is more than a number."""
    named = _BEFORE.str.contains("(?i)code|key|码|код|código|codice|コード")
    mixed = _has("[0-9]") & _has("[A-Za-z]") & (_SIZE >= 4)
    return named & ~_dated() & ~_no_value() & (mixed | _has("^[0-9]{3,}(?:-[0-9]{3,})+$"))


def _grouped() -> pl.Expr:
    groups = _VALUE.str.replace_all("[ -]", "")
    return groups.str.contains("^[A-Z0-9]{16,}$|^[a-z0-9]{16,}$") & groups.str.contains("[0-9]") & (
        groups.str.contains("[A-Za-z]") & ~_has(r"(?i)\b(?:the|and|for|is|in|to)\b")
    )  # fmt: skip


def _url() -> pl.Expr:
    return ~_has(r"^(?:[0-9]{1,5}|\*+|\.+)$")


def _url_loose() -> pl.Expr:
    return ~_has(r"^[0-9]{1,5}(?:/|$)") & ~_BEFORE.str.contains("(?i)https?://[^/]*$")


def _seed() -> pl.Expr:
    return ~_has(
        r"\b(?:the|and|for|with|your|are|was|has|not|but|should|must|from|our|its|is|be|to|of|in|on|at|this|that|will|can|may|need|when|how|you|all|any|use|used)\b"
    )


def _card() -> pl.Expr:
    """Luhn's check digit (ISO/IEC 7812) and a length that the issuer uses."""
    digits = _VALUE.str.replace_all("[ -]", "")
    reverse = digits.str.reverse().str.pad_end(19, "0")
    total = pl.lit(0, pl.Int32)
    for at in range(19):
        digit = reverse.str.slice(at, 1).cast(pl.Int32, strict=False).fill_null(0)
        total = total + (digit if at % 2 == 0 else digit * 2 - 9 * (digit > 4).cast(pl.Int32))
    length = digits.str.contains(
        "^(?:4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})|(?:5|2[2-7]|35)[0-9]{14,15}|3[47][0-9]{13}|3[068][0-9]{12}|6[0-9]{15,18})$"
    )
    return length & (total % 10 == 0)


def _cn_id() -> pl.Expr:
    """GB 11643: the last character is the weighted sum of the others modulo 11."""
    total = pl.lit(0, pl.Int32)
    for at in range(17):
        digit = _VALUE.str.slice(at, 1).cast(pl.Int32, strict=False).fill_null(0)
        total = total + digit * (2 ** (17 - at) % 11)
    check = pl.lit("10X98765432").str.slice(total % 11, 1)
    return check == _VALUE.str.slice(17, 1).str.to_uppercase()


CHECKS: dict[str, Callable[[], pl.Expr]] = {
    "always": _always,
    "any": _always,
    "alien": _alien,
    "argument": _argument,
    "assigned": _assigned,
    "bare": _bare,
    "card": _card,
    "changed": _changed,
    "cn-id": _cn_id,
    "code": _code,
    "coded": _coded,
    "grouped": _grouped,
    "header": _header,
    "hexed": _hexed,
    "loose": _loose,
    "mixed": _mixed,
    "near": _near,
    "next": _next,
    "paired": _paired,
    "paired-words": _paired_words,
    "prefixed": _prefixed,
    "query": _query,
    "random": _random,
    "said": _said,
    "seed": _seed,
    "token": _token,
    "unwordly": _unwordly,
    "url": _url,
    "url-loose": _url_loose,
}
"""Names that a pattern's `check` may give."""
