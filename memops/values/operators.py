"""Operators: the words of language packs that bear on signs and roles.

The words of operators stand in `signs.toml` of the language packs; what is written in the notation
of `memops.values.algebra` is read in any language.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

from memops.language.keeping import Kept
from memops.language.packs import table
from memops.language.vocabulary import addressed
from memops.values.algebra import MAY, MUST, NOT, ORDER, shown

GAP = "…"
_ATOMS = re.compile(r"[¬∀∃□◇]|[a-z]+")
_ENDS = frozenset(",;.!?:，。；！？：\n()（）—")
_SHORT = 4  # letters of words that end as verbs do and are none: red, seed
_FAR = 30  # signs between what denies and what forbids
_GAP = 12  # signs between the two parts of a word


_LATIN = re.compile(r"[a-z]+")
_LISTED = (
    "joints", "leaving", "passive", "suffering", "orders", "opening", "trailing", "affixes", "ending", "absent", "any",
    "temporal", "turned", "echoes", "resulting", "linking", "denials", "closing", "listing",
    "indefinite", "having", "existing", "being",
)  # fmt: skip


class Word(NamedTuple):
    """A word with what it does to the sign (`ops`, null for one that says something)."""

    start: int
    end: int
    said: str
    ops: tuple[str, ...] | None


Told = tuple[int, tuple[str, ...] | None]
"""What a piece of a text is: whether it ends a clause, and what it does to the sign."""
ENDING, LEAVING, _BOTH = 1, 2, 3
WORD: Told = (0, None)
BLANK, RUN = (-1, None), (-2, None)


class Words:
    """The words of some packs that bear on signs and roles."""

    def __init__(self, langs: Sequence[str]) -> None:
        tables = [table(lang, "signs") for lang in langs]
        listed = {
            name: {word for told in tables for word in told.get(name, ())} for name in _LISTED
        }
        self.joints, self.leaving = listed["joints"], listed["leaving"]
        self.passive, self.orders = listed["passive"], listed["orders"]
        self.suffering = listed["suffering"]
        self.trailing, self.affixes = listed["trailing"], tuple(sorted(listed["affixes"]))
        self.absent, self.any, self.temporal = listed["absent"], listed["any"], listed["temporal"]
        self.resulting = listed["resulting"]
        self.denials, self.closing = listed["denials"], listed["closing"]
        self.ending, self.echoes = listed["ending"], listed["echoes"]
        self.listing, self.indefinite = listed["listing"], listed["indefinite"]
        self.turning = {
            word.replace("_", " ") for told in tables for word in told.get("turning", "").split()
        }
        tenses: dict[str, set[str]] = {}
        for told in tables:
            for time, listed_ in told.get("tenses", {}).items():
                for word in listed_:
                    tenses.setdefault(word, set()).add(time)
        self.tenses = tenses
        forms = [row.split() for told in tables for row in told.get("irregular", "").splitlines()]
        self.base = {form: row[0] for row in forms for part in row for form in part.split("/")}
        self.past = {f for row in forms for part in row[1:] for f in part.split("/")}
        self.unchanged = self.past & {row[0] for row in forms}
        self.past -= self.unchanged
        """Forms of irregular verbs by what they are of, and those of the past; and verbs that are the same in it."""
        self.regular = tuple(told["regular"] for told in tables if "regular" in told)
        self.having, self.existing = listed["having"], listed["existing"]
        self.being = listed["being"]
        self.doing = tuple(told["doing"] for told in tables if "doing" in told)
        self.plural = tuple(told["plural"] for told in tables if "plural" in told)
        """What regular verbs end with in the past, verbs of what somebody is doing, and words for several things."""
        self.pronouns = _rows(tables, "pronouns")
        self.partner = _partners(tables)
        """By what words a clause tells of which time."""
        self.named = _rows(tables, "persons")
        self.whom = {word: -1 - row for word, row in self.pronouns.items()}
        self.each = {word for told in tables for word in told.get("each", ())}
        self.measures = {
            w for lang in langs for w in table(lang, "values").get("words", {}).get("measure", ())
        }
        """Words behind which stands what something is counted by, and those words: 每道题."""
        self.concord = any(told.get("concord") for told in tables)
        """Whether one denial may be said twice."""
        self.ops = dict.fromkeys(self.orders, (NOT,)) | _operators(tables)
        if any(map(is_wide, self.ops)):
            self.ops |= {name: () for name in addressed() if not self.ops.keys().isdisjoint(name)}
        idle = {word for told in tables for word in told.get("idle", "").split()}
        self.idle = idle
        self.verbs = {w for w in self.idle if w in self.base or w in listed["linking"]}
        """Those of them that join two parties: A has no B."""
        self.gapped = [(_gapped(word), word) for word in self.ops if GAP in word]
        ends = "[" + re.escape("".join(sorted(_ENDS))) + "]"
        opening = "|".join(sorted(listed["opening"])) or "(?!)"
        self.openers = [head[0] for word in listed["opening"] if (head := re.match(r"\w+", word))]
        self.opening = re.compile(rf"(?:(?<={ends})|^)(?:{opening})")
        said = [word.partition(GAP)[0] for word, ops in self.ops.items() if ops]
        runs = [word for word in said if not word.isascii() and word[0].isalpha()]
        self._wide = re.compile("|".join(runs) or "(?!)")
        forbidding = [
            w for w, ops in self.ops.items() if ops in ((NOT, MAY), (MAY,)) and is_wide(w)
        ]
        denied, forbidden = ("|".join(map(re.escape, sorted(w))) for w in (self.absent, forbidding))
        between = f"[^{ends[1:]}{{1,{_FAR}}}?"
        self.conditions = re.compile(f"(?:{denied}){between}(?:{forbidden})" if denied else "(?!)")
        self._latin, self._longer = _latin(said)
        self._single = self._latin.union(filter(str.isascii, self.partner))
        self._runs = re.compile(
            "|".join([*runs, *sorted(self.partner.keys() - self._single)]) or "(?!)"
        )
        affixes = "|".join(listed["turned"]) or "(?!)"
        self._affixed = re.compile(rf"\b(?:{affixes})[a-z]{{4}}")
        wide = {word for word in (*self.partner, *self.pronouns) if is_wide(word)}
        tails = {word.partition(GAP)[2] for word in self.ops if GAP in word and is_wide(word)}
        wide |= {tail for tail in tails if self.ops.keys().isdisjoint(tail)}
        self.known = {*self.ops, *self.idle, *self.joints, *self.passive, *wide}
        self.phrases, self.sizes = _placed(self.known)
        self.told = Kept(partial(_told, known=self))

    def times(self, clause: Sequence[Word], pending: bool = False) -> list[str]:
        """Return the times that words may tell of, a list of them where they tell none.

        What is not so yet (`pending`) is told of now by the perfect as by the present.
        """
        said = [w for w in clause if not w.said.endswith(" that")]
        joined = " ".join([w.said for w in said])
        parts = joined.split()
        told = set[str]()
        for word in said:
            times = {time for part in word.said.split() for time in self.tenses.get(part, ())}
            told |= (
                {"present"} if "perfect" in times and MUST in (word.ops or ()) else times
            )  # has to
        if pending and told and told <= {"perfect", "present"}:
            return ["present"]
        if not self.past or not joined.isascii():
            return sorted(told) or ["past", "present"]
        if told and "perfect" not in told:
            return sorted(told)
        plain = [word.said for word in clause if not word.ops or word.ops == (NOT,)]
        heads = [said.partition(" ")[0] for said in plain]
        past = any(map(self.in_past, heads))
        if "perfect" in told and past and not self.resulting.isdisjoint(parts):
            return ["past", "present"]  # has not been paid, is not paid
        if told <= {"perfect", "present"} and past and (not told or "perfect" in told):
            return ["past"]
        return sorted({"present" if time == "perfect" else time for time in told}) or ["present"]

    def held(self, clause: Sequence[Word]) -> str:
        """Return whether words say that something has what they name, or that it is so: has no doctor, is no doctor."""
        said = {word.said for word in clause}
        if not self.having.isdisjoint(said):
            heads = [word.partition(" ")[0] for word in said - self.having]
            done = any(self.participle(head) and self.base.get(head) != head for head in heads)
            return "" if done else "has"  # has not paid
        if not self.existing.isdisjoint(said):
            return ""
        told = [word for word in clause if word.ops != () or word.said in self.being]
        after = (two.ops for one, two in pairwise(told) if one.said in self.being)
        return "is" if any(ops is None or NOT in ops for ops in after) else ""

    def in_past(self, verb: str) -> bool:
        """Return whether a word is what a verb is in the past."""
        return verb in self.past or (len(verb) > _SHORT and verb.endswith(self.regular))

    def verbal(self, word: str) -> bool:
        """Return whether a word makes of a part of a list a clause of its own: a verb that is known, or who acts."""
        return word in self.tenses or word in self.verbs or word in self.named or self.in_past(word)

    def participle(self, verb: str) -> bool:
        """Return whether a word may be what is done to somebody."""
        return verb in self.base or verb.endswith(self.regular)

    def persons(self, said: Sequence[str], limited: bool) -> list[int]:
        """Return who is spoken of by words for persons, or for all or none, in their order, of two or more.

        Beside what is `limited` it does not matter where all or none stand.
        """
        known = self.named if limited else self.named | self.whom
        told = [known[word] for word in said if word in known]
        return told if len({*told}) > 1 else []

    def bear(self, text: str) -> bool:
        """Return whether a text may hold an operator, or a word that denies another: the cheap first look."""
        if not text.isascii() and self._runs.search(text):
            return True
        low = written_out(text.lower())
        said = _LATIN.findall(low)
        return (
            not self._single.isdisjoint(said)
            or self._begun(said)
            or self._affixed.search(low) is not None
        )

    def holds(self, text: str) -> bool:
        """Return whether a text may hold an operator."""
        if not text.isascii() and self._wide.search(text):
            return True
        said = _LATIN.findall(written_out(text.lower()))
        return not self._latin.isdisjoint(said) or self._begun(said)

    def _begun(self, said: Sequence[str]) -> bool:
        """Whether words hold a longer one that is an operator."""
        longer = [phrase for head in self._longer.keys() & said for phrase in self._longer[head]]
        return bool(longer) and any(phrase in " ".join(said) for phrase in longer)

    def begins(self, word: str) -> bool:
        """Return whether an operator may begin with a word."""
        return self.holds(word) or not self._longer.keys().isdisjoint(_LATIN.findall(word.lower()))


def _latin(said: Iterable[str]) -> tuple[set[str], dict[str, list[str]]]:
    """Words between spaces by themselves, and longer ones by what they begin with."""
    parts = [_LATIN.findall(word) for word in said if "a" <= word.lstrip("- ")[:1] <= "z"]
    longer: dict[str, list[str]] = {}
    for head, *rest in parts:
        if rest:
            longer.setdefault(head, []).append(" ".join((head, *rest)))
    return {pieces[0] for pieces in parts if len(pieces) == 1}, longer


def _operators(tables: Sequence[dict[str, Any]]) -> dict[str, tuple[str, ...]]:
    """What words do to the sign, and the signs of the notation themselves."""
    out = {
        word: tuple(_ATOMS.findall(ops))
        for told in tables
        for ops, listed in told["signs"].items()
        for word in listed
    }
    return out | {shown(op): (op,) for op in (*ORDER, NOT)}


def _rows(tables: Iterable[dict[str, Any]], name: str) -> dict[str, int]:
    """The words of rows, each with the number of its row."""
    rows = [row.split() for told in tables for row in told.get(name, ())]
    return {word.replace("_", " "): n for n, row in enumerate(rows) for word in row}


def _partners(tables: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Words of which one is so where the other is not, each with the first of the other side."""
    pairs = [
        [side.split() for side in pair.split("|")]
        for told in tables
        for pair in told.get("complements", ())
    ]
    both = [*pairs, *([other, one] for one, other in pairs)]
    return {word: other[0] for one, other in both for word in one}


def is_wide(word: str) -> bool:
    """Whether a word is of a script without spaces."""
    return "\u4e00" <= word[0] <= "\u9fff"


def _gapped(word: str) -> re.Pattern[str]:
    """A word of two parts with others between them, which stands where its first part does."""
    first, _, last = map(re.escape, word.partition(GAP))
    return re.compile(f"{first}(?P<between>[^，。；,;.!?！？]{{1,{_GAP}}}?){last}")


def _placed(
    known: Iterable[str],
) -> tuple[dict[str, list[tuple[str, ...]]], dict[str, list[int]]]:
    """Words of several parts by their first one, and how long words without spaces are."""
    phrases: dict[str, list[tuple[str, ...]]] = {}
    sizes: dict[str, set[int]] = {}
    for word in known:
        if is_wide(word):
            sizes.setdefault(word[0], set()).add(len(word))
        elif len(parts := tuple(word.split())) > 1:
            phrases.setdefault(parts[0], []).append(parts)
    return (
        {first: sorted(rest, key=lambda p: (-len(p), p)) for first, rest in phrases.items()},
        {first: sorted(rest, reverse=True) for first, rest in sizes.items()},
    )


@cache
def words(langs: tuple[str, ...]) -> Words:
    """Return the words of some languages."""
    return Words(langs)


def written_out(low: str) -> str:
    """The text with short denials written out: isn't is "is not"."""
    low = low.replace("’", "'")
    low = low.replace("can't", "can not").replace("won't", "will not").replace("cannot", "can not")
    return low.replace("n't", " not")


def _told(said: str, known: Words) -> Told:
    """What a piece is by itself."""
    if (said.isspace() and said != "\n") or said[0] == "_":
        return BLANK
    if is_wide(said) and said not in known.known:
        return RUN
    leaving, ends = said in known.leaving, said in _ENDS or said in known.joints
    kind = (_BOTH if ends else LEAVING) if leaving else ENDING if ends else 0
    ops = known.ops.get(said) or None
    idle = ops is None and (said in known.idle or not said[0].isalnum())
    return kind, () if idle else ops
