"""Facts: who a statement is about, which attribute, under which circumstances, with what value.

The frame of a statement is a handful of sets. Two statements are about the same thing when owner
and circumstances agree and no attribute stands against another; they conflict when their values
then differ.
"""

from functools import cache

import numpy as np

from memops.language.lexicon import lexicon
from memops.language.tokens import Array, Keys, Tokens, divided, keyed, minus, of_texts, union
from memops.language.vocabulary import addressed

FRAME = (
    "owner", "attributes", "about", "anchors", "circumstances", "open", "subject", "complement",
    "equal", "known", "telling",
)  # fmt: skip
PLAIN = frozenset({"user", "we", "they", "you", "he", "she", "team"})
_HOLDING = frozenset({"use", "have", "run_on"})
_LABELS = frozenset({"decided", "pref_note", "prefer", "user"})
_KNOWN = ("thing", "single", "multi")


def frame(tokens: Tokens, opposed: Keys) -> dict[str, Keys]:
    """Return the sets of FRAME for the tokens of each statement.

    `owner` is empty for the user and the team themselves; `attributes` are words of the lexicon,
    `anchors` those that by themselves tell which attribute is meant; `open` the words and names
    that no lexicon knows, which is where values are found (`about` adds those of the subject to
    the attributes); `equal` is what something is said to be; `subject` and `complement` what
    stands before and after the relation.
    `opposed` are concepts that have an opposite: they are values. `known` are words whose meaning
    the lexicon knows, `telling` those of them that are not generic.
    """
    t = tokens.only(~tokens.where(lambda concept, *_: concept.startswith("counter="), "value"))
    before, after = _split(t)
    naming = t.texts(t.solid & t.means({"called"}))
    role = t.solid & t.means(_use("role")) & ~naming[t.row]
    nameless = ~(naming | t.texts(role))[t.row]
    unknown_here, kept = _unknown(t), ~t.means(PLAIN)
    first = before | (t.solid & ~t.texts(before)[t.row])
    people = t.keys(first & nameless & t.where(person, "name", "word"))
    owner = union(people, t.keys(t.kinds("person") & ~role & kept))
    known = (t.kinds(*_KNOWN) | role) & t.solid
    told = t.keys(after)
    attributes = minus(t.keys(known & ~t.means(_use("generic"))), opposed)
    unknown = minus(t.keys(unknown_here), people)
    if naming.any():
        named = naming[t.row] & kept
        theirs = t.keys(before & named & t.kinds("thing", "person"))
        owner = union(of_texts(owner, ~naming), theirs)
        names = t.keys(after & named & t.kinds("person", "thing", "name", "word"))
        unknown = union(unknown, names)
        attributes = minus(attributes, of_texts(union(unknown, owner), naming))
    attributes = union(attributes, _moves_house(t, attributes))
    stranger = minus(t.keys(before & unknown_here & nameless), owner)
    subject = t.keys(before)
    return _understood(t) | {
        "owner": owner,
        "attributes": attributes,
        "about": union(attributes, stranger),
        "anchors": minus(attributes, t.keys(known & t.kinds("multi"))),
        "circumstances": t.keys(t.kinds("qualifier") & ~t.means(_use("soft"))),
        "open": unknown,
        "subject": subject[~t.of(subject, _HOLDING)],
        "complement": told,
        "equal": t.keys(t.solid & (t.in_clause(t.means({"copula"})) > 0)),
    }


def filled_once(t: Tokens) -> Array:
    """Return which tokens stand where one thing at a time can: beside a word of what everybody has one of.

    Not what a clause behind another speaks of before its relation, as that is another subject. What
    has no relation of its own goes with what stands before it: a label and its value. Who has a
    friend called Ines may have another.
    """
    relation = t.kinds("single", "multi", "change") | t.means({"copula"})
    related = np.bincount(t.nth_clause, weights=relation) > 0
    opens = np.bincount(t.nth_clause, weights=t.at == t.begin[t.row]) > 0
    part = np.cumsum(related | opens)[t.nth_clause]
    called = t.means({"called"}) & (t.in_clause(t.means({"have"})) > 0)
    sole = t.solid & t.means(_use("sufficient")) & ~called
    subject = (t.clause > 0) & related[t.nth_clause] & (t.in_clause(relation) == 0)
    return (np.bincount(part, weights=sole) > 0)[part] & ~subject


def _understood(t: Tokens) -> dict[str, Keys]:
    """The words whose meaning the lexicon knows, and those of them that tell something."""
    alike = t.renamed(lexicon("concepts")["use"]["akin"])
    held = t.means(PLAIN | _HOLDING)
    turns = t.kinds("change") & ~t.means(_use("passing"))
    understood = (t.kinds(*_KNOWN, "qualifier") & t.solid & ~held) | turns
    return {
        "known": alike.keys(understood),
        "telling": alike.keys(understood & ~t.means(_use("generic"))),
    }


def _moves_house(t: Tokens, attributes: Keys) -> Keys:
    """The attribute of those who moved to a city, where nothing else is said to be one."""
    moved = t.texts(t.means({"move"})) & t.texts(
        t.where(lambda c, *_: c.startswith("city="), "value")
    )
    moved[divided(attributes)[0]] = False
    return keyed(np.flatnonzero(moved), t.items["live"])


def _unknown(t: Tokens) -> Array:
    """Which tokens no lexicon knows, and members of groups that exclude each other."""
    return t.kinds("word", "name") | t.where(lambda concept, *_: grouped(concept), "value")


def grouped(concept: str) -> bool:
    """Return whether a value is a member of a group that exclude each other, a city or a colour."""
    return concept.split("=")[0] in _groups()


@cache
def _groups() -> frozenset[str]:
    return frozenset(lexicon("conflict")["exclusive"])


def _split(t: Tokens) -> tuple[Array, Array]:
    """The content before the relation of the main clause, and after it."""
    if not len(t.at):
        return t.solid, t.solid
    copula = t.means({"copula"})
    start = _starts(t)
    inside = t.at >= start[t.row]
    main = t.clause == t.clause[np.minimum(start, len(t.at) - 1)][t.row]
    equates = t.texts(copula & main & (t.at > start[t.row]))
    verbal = t.kinds("single", "multi", "change") & ~(equates[t.row] & main)
    content = inside & t.solid & ~t.means(PLAIN)
    # A relation may follow what tells by itself what is spoken of.
    anchors = t.kinds("thing", "word", "name", "person") | t.means(_use("sufficient"))
    some, anchored = t.before(content) > 0, t.before(content & anchors) > 0
    last = np.maximum.accumulate(np.r_[0, np.where(content, t.at, 0)])[:-1]
    ends = t.clause > t.clause[last]
    measured = t.kinds("value") & ~_unknown(t)
    relates = copula | ((verbal | t.means({"aux"})) & anchored)
    stop = t.first(inside & some & (ends | measured | relates))
    stopped = (stop < len(t.at))[t.row]
    before = content & (t.at < stop[t.row])
    rest = t.solid & ~t.means(_use("generic")) & (t.at >= stop[t.row])
    return before & stopped, np.where(stopped, rest, before)


def _starts(t: Tokens) -> Array:
    """Where each text begins, behind a label in a clause of its own ("Decided: ...")."""
    place = np.minimum(t.begin, len(t.at) - 1)
    label = t.means(_LABELS)[place] & (np.bincount(t.row, minlength=t.n) > 1)
    later = t.first(label[t.row] & (t.clause > t.clause[place][t.row]))
    return np.where(later < len(t.at), later, t.begin)


def person(concept: str, kind: str, surface: str) -> bool:
    """Return whether a name is a person's: a known given name, an owner, a Chinese surname."""
    opens = concept[:2]
    if opens == "h:":
        named = 2 <= len(surface) <= 3 and surface[0] in _surnames()
        return named or surface in addressed()
    if (kind != "name" and opens != "w:") or not surface[0].isupper():
        return False
    low = surface.lower()
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
