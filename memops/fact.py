"""Facts: who a statement is about, which attribute, under which circumstances, with what value.

The frame of a statement is a handful of sets. Two statements are about the same thing when owner
and circumstances agree and no attribute stands against another; they conflict when their values
then differ.
"""

from collections.abc import Iterable, Sequence
from functools import cache

from memops.lexicon import lexicon
from memops.vocabulary import CONTENT, Token

FRAME = (
    "owner", "attributes", "about", "anchors", "roles", "circumstances", "open", "subject",
    "complement",
)  # fmt: skip
_PLAIN = frozenset({"user", "we", "they", "you", "he", "she", "team", "guest"})
_HOLDING = frozenset({"use", "have", "run_on"})
_LABELS = frozenset({"decided", "pref_note", "prefer", "user"})


def frame(
    tokens: Sequence[Token], value_like: frozenset[str], opposed: frozenset[str]
) -> dict[str, frozenset[str]]:
    """Return the sets of FRAME for the tokens of one statement.

    `owner` is empty for the user and the team themselves; `attributes` are words of the lexicon,
    `anchors` those that by themselves tell which attribute is meant; `open` the words and names
    that no lexicon knows, which is where values are found (`about` adds those of the subject to
    the attributes); `subject` and `complement` what stands before and after the relation.
    `value_like` are concepts that the text says it changes from or to, `opposed` those that have
    an opposite: in a complement both are values.
    """
    tokens = [t for t in tokens if not t.concept.startswith("counter=")]
    solid = [t for t in tokens if t.kind in CONTENT]
    before, after = _split(tokens)
    naming = any(t.concept == "called" for t in solid)
    roles = set() if naming else {t.concept for t in solid} & _use("role")
    people = set() if roles or naming else {t.concept for t in before or solid if person(t)}
    owner = people | _kept(t for t in solid if t.kind == "person" and t.concept not in roles)
    known = [t for t in solid if t.kind in _KNOWN or t.concept in roles]
    told = {t.concept for t in after} & value_like
    attributes = {t.concept for t in known} - _use("generic") - opposed - told
    unknown = {t.concept for t in solid if _unknown(t)} - people
    if naming:
        owner = _kept(t for t in before if t.kind in ("thing", "person"))
        unknown |= _kept(t for t in after if t.kind in ("person", "thing", "name", "word"))
        attributes -= unknown | owner
    if not attributes and _moves_house(tokens):
        attributes.add("live")
    stranger = set() if roles or naming else {t.concept for t in before if _unknown(t)} - owner
    around = {t.concept for t in solid if t.kind == "qualifier"} - _use("soft")
    sets = {
        "owner": owner,
        "attributes": attributes,
        "about": attributes | stranger,
        "anchors": attributes - {t.concept for t in known if t.kind == "multi"},
        "roles": attributes & (_use("role") | _use("sufficient")),
        "circumstances": around,
        "open": unknown,
        "subject": {t.concept for t in before} - _HOLDING,
        "complement": {t.concept for t in after},
    }
    return {name: frozenset(sets[name]) for name in FRAME}


_KNOWN = ("thing", "single", "multi")


def _kept(tokens: Iterable[Token]) -> set[str]:
    return {t.concept for t in tokens} - _PLAIN


def _moves_house(tokens: Sequence[Token]) -> bool:
    moves = any(t.concept == "move" for t in tokens)
    return moves and any(t.concept.startswith("city=") for t in tokens)


def _unknown(token: Token) -> bool:
    return token.kind in ("word", "name") or (
        token.kind == "value" and token.concept.split("=")[0] in _groups()
    )


@cache
def _groups() -> frozenset[str]:
    return frozenset(lexicon("conflict")["exclusive"])


def _split(tokens: Sequence[Token]) -> tuple[list[Token], list[Token]]:
    """The content before the relation of the main clause, and after it."""
    start = 0
    if len(tokens) > 1 and tokens[0].concept in _LABELS:
        start = next((i for i, t in enumerate(tokens) if t.clause > tokens[0].clause), 0)
    before: list[Token] = []
    clause = tokens[start].clause if tokens else 0
    equates = any(t.concept == "copula" and t.clause == clause for t in tokens[start + 1 :])
    for i, token in enumerate(tokens[start:], start):
        clause_ends = before and token.clause > before[-1].clause
        verbal = token.kind in ("single", "multi", "change") and not (
            equates and token.clause == clause
        )
        relates = verbal or token.concept in ("copula", "aux")
        measured = token.kind == "value" and not _unknown(token) and before
        if (
            clause_ends
            or measured
            or (relates and before and (token.concept == "copula" or any(map(_anchors, before))))
        ):
            rest = [t for t in tokens[i:] if t.kind in CONTENT and t.concept not in _use("generic")]
            return before, rest
        if token.kind in CONTENT and token.concept not in _PLAIN:
            before.append(token)
    return [], before


def _anchors(token: Token) -> bool:
    """Whether a relation may follow: the token tells by itself what is spoken of."""
    return token.kind in ("thing", "word", "name", "person") or token.concept in _use("sufficient")


def person(token: Token) -> bool:
    """Return whether a name is a person's: a known given name, an owner, a Chinese surname."""
    opens = token.concept[:2]
    if opens == "h:":
        return 2 <= len(token.surface) <= 3 and token.surface[0] in _surnames()
    if (token.kind != "name" and opens != "w:") or not token.surface[0].isupper():
        return False
    low = token.surface.lower()
    return low.endswith("'s") or low in _given()


@cache
def _use(name: str) -> frozenset[str]:
    return frozenset(lexicon("concepts")["use"][name])


@cache
def _given() -> frozenset[str]:
    return frozenset(lexicon("concepts")["use"]["given"].split())


@cache
def _surnames() -> frozenset[str]:
    return frozenset(lexicon("concepts")["use"]["surnames"])
