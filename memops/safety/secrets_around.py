"""Around a secret: what stands before and after a match, and what that says of it."""

import polars as pl

from memops.language.lexicon import lexicon
from memops.safety.secrets_labels import expanded
from memops.safety.secrets_traits import SIZE, VALUE

USERS = (
    "user(?:[ _]?name)?|benutzer(?:name)?|usuario|utilisateur|логин|用户名|[账帐]号|ssid|network"
)
"""Labels of the name of a user or a network."""
BEFORE, NEXT = pl.col("before"), pl.col("following")


def said_before(pattern: str, within: int = 120) -> pl.Expr:
    """Return whether a pattern, with labels in it, is found so near before the value."""
    return BEFORE.str.tail(within).str.contains(expanded(pattern))


def ends() -> pl.Expr:
    """Return whether the clause ends after the value."""
    return NEXT.str.contains(lexicon("secrets")["ends"])


def clause() -> pl.Expr:
    """Return what stands before the value in its sentence."""
    return BEFORE.str.replace(r"(?s)^.*(?:[.!?]\s|[。！？\n])", "")


def line() -> pl.Expr:
    """Return what stands before the value in its line."""
    return BEFORE.str.extract(r"([^\n]*)$").fill_null("")


def after_label(group: str, within: int) -> pl.Expr:
    """Return whether a label of the group stands before the value in its sentence, not too far."""
    return clause().str.tail(within).str.contains(expanded(f"(?i)@{{{group}}}@{{right}}"))


def named_so() -> pl.Expr:
    """Return whether the word right before says that the value is the name of somebody or something."""
    return said_before(r"(?i)(?:@{of}|@{login}(?:@{is}|\s?[:：]?\s?)|@{ids}\s?)[\"'`“]?$")


def of_user() -> pl.Expr:
    """Return whether the label right before is that of the name of a user or a network."""
    return BEFORE.str.contains(
        rf"""(?i)(?:{USERS})["']?(?:\s?[:：=]\s?|\s(?:is|ist|es|est)\s)["'`]?$"""
    )


def published() -> pl.Expr:
    """Return whether what stands before says that anybody may know the value."""
    return BEFORE.str.contains(lexicon("secrets")["published"])


def identified() -> pl.Expr:
    """Return whether the name right before says that it is an identifier, as in `message_id: ...`."""
    named = BEFORE.str.contains(r"(?i)(?:^|[^\p{L}])(?:\p{L}+[_ -]?)?ids?[\"'`]?\s?[:=]\s?[\"'`]?$")
    return named & ~BEFORE.str.contains("(?i)cookie")  # which lets its bearer in


def next_step() -> pl.Expr:
    """Return whether an arrow leads to the value from a sentence, as to what is done next."""
    return BEFORE.str.contains(r"""(?:\S+[ \t]+){4,}[^\n]*(?:→|[-=]>)[\s"'`*]*$""")


def kept() -> pl.Expr:
    """Return whether a value in quotes names the entry under which a manager of passwords keeps one."""
    keepers = "1password|bitwarden|lastpass|keepass\\w*|dashlane|vault|keychain"
    return BEFORE.str.contains(rf"""(?i)(?:{keepers})[^\n.,。:：，]*["'`“「]$""")


def elided() -> pl.Expr:
    """Return whether only the beginning of a key is shown."""
    begun = VALUE.str.contains("[-_]$") & NEXT.str.contains(r"^\*|^\W?\)|^[\"'`]")
    return (NEXT.str.contains(r"""^["'`]?(?:\.{3}|…|\*{3})""") | begun) & (SIZE < 24)


def weak() -> pl.Expr:
    """Return whether the label means other things, too, and no name that goes with a password stands before it."""
    named = expanded(r"(?i)(?:@{login}@{right}|\b(?:admin|root|wi-?fi)\b)[^\n]*$")
    part = BEFORE.str.contains(r"(?i)[a-z]_(?:pass|psk)\W*$")
    return said_before(r"(?i)@{weak}\W*$") & ~part & ~BEFORE.str.contains(named)
