"""Signs: whether a text affirms or denies, of how much, for whom alone, and as what.

A sign is a normal form: "only members may" is "non-members can't", "not all came" is "some did not
come", "no choice but to" is "must". Words stand in `signs.toml` of the language packs, each list a
role; here is what roles come to.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from memops.language.packs import codes, table


class Sign(NamedTuple):
    """The normal form of what a text denies, counts and binds."""

    denied: bool = False
    scope: str = ""
    """only, except, or nothing."""
    much: str = ""
    """some, most, few, or nothing, for all or for what nobody counts."""
    bound: str = ""
    """must, or nothing; with `denied`, what need not be."""
    state: str = ""
    """ended or yet: no longer so, or not so far."""
    mood: str = ""
    """if, maybe or plan, or nothing for what is so."""


_MOODS = ("if", "maybe", "plan")
_AMOUNTS = {"some": "some", "not_all": "some", "most": "most", "few": "few"}
_DENIALS = ("deny", "nobody", "not_so", "forbid")
_FLIPS = frozenset({*_DENIALS, "free", "not_all", "ended", "yet", "unless"})
"""Roles that turn a text round."""


def sign(plain: str) -> Sign:
    """Return the sign of a text of `vocabulary.plainly`."""
    clauses = [_once(roles) for roles in _clauses(plain.lower())]
    roles = {role for clause in clauses for role in clause}
    odd = [sum(role in _FLIPS for role in clause) % 2 == 1 for clause in clauses]
    denied = any(odd)
    if "ended" in roles and "deny" in roles and not odd[0]:
        denied = True
    much = next((_AMOUNTS[role] for role in _AMOUNTS if role in roles), "")
    if {"not_so", "nobody"} <= roles and not denied:
        much = "some"
    told, scope = _scoped(clauses, odd, roles, denied)
    bound = "must" if {"must", "free"} & roles else ""
    if "forbid" in roles and "deny" in roles and not denied:  # must not skip
        bound = "must"
    if told and much == "most":
        told, much = False, "few"
    state = next((role for role in ("ended", "yet") if role in roles), "")
    mood = next((mood for mood in _MOODS if mood in roles), "if" if "unless" in roles else "")
    return Sign(told, scope, much, bound, state, "" if mood == "if" and scope == "only" else mood)


def _once(roles: list[str]) -> list[str]:
    """The roles of a clause: what has ended is not denied again."""
    out: list[str] = []
    for role in roles:
        if (role in _DENIALS and "ended" not in out) or (role not in out and role not in _DENIALS):
            out.append(role)
    return out


def _scoped(
    clauses: list[list[str]], odd: list[bool], roles: set[str], denied: bool
) -> tuple[bool, str]:
    """Whether a text denies, and for whom alone it says so.

    None but members, and not non-members, are only members; who says it of one and denies it of
    the others says it of that one only.
    """
    scope = "only" if "only" in roles else "except" if "except" in roles else ""
    if any("all" in clause and "but" in clause[clause.index("all") :] for clause in clauses):
        scope = scope or "except"
    others = [turned for clause, turned in zip(clauses, odd, strict=True) if "others" in clause]
    if not scope and others and len({*odd}) == 2:
        return False, "only" if others[0] else "except"
    if "unless" in roles and "deny" in roles:  # not unless: only if
        return False, "only"
    if denied and ("non" in roles or scope == "except"):
        return False, "only"
    if denied and scope == "only":
        return False, "except"
    return denied, scope


def _clauses(low: str) -> Iterator[list[str]]:
    """The roles of the words of each clause, in their order."""
    roles = _roles()
    clause: list[str] = []
    at = 0
    for match in _pattern().finditer(low):
        if _BREAK.search(low, at, match.start()):
            yield clause
            clause = []
        at = match.end()
        if roles[match[0]] != "idle":
            clause.append(roles[match[0]])
    yield clause


_BREAK = re.compile(r"[,;:.!?，；。：！？\n]|\band\b")


@cache
def _roles() -> dict[str, str]:
    """Every word of all packs with its role; what bounds a value does nothing else."""
    out: dict[str, str] = {}
    for code in codes():
        told = table(code, "signs")
        bounds = [*table(code)["words"]["bound_before"], *table(code)["words"]["bound_after"]]
        idle = [*told["idle"], *(word for word in bounds if len(word) > 1)]
        for role, listed in (*told["words"].items(), ("idle", idle)):
            for word in listed:
                out.setdefault(word, role)
    return out


@cache
def _pattern() -> re.Pattern[str]:
    words = sorted(_roles(), key=lambda word: (-len(word), word))
    return re.compile("|".join(map(_bounded, words)))


def _bounded(word: str) -> str:
    """A Latin word stands by itself; the ends of contractions (n't, 'll) do not."""
    if not word.isascii():
        return re.escape(word)
    begin = "" if "'" in word[:2] else r"(?<![a-z])"
    return begin + re.escape(word) + r"(?![a-z])"
