"""Pairs made of frames: by a seed that is their name, whatever the machine."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

_HERE = Path(__file__).parent
_LISTS = tomllib.loads((_HERE / "lists.toml").read_text(encoding="utf-8"))
_SLOT = re.compile(
    r"(?P<mark>[{\[])(?P<name>[a-z]\w*)(?:\.(?P<nth>\d))?(?::(?P<form>\d))?(?P<near>~?)[}\]]"
)
_CHOICE = re.compile(r"<([^<>]*\|[^<>]*)>")
_HEADING = re.compile(r"# (?P<name>\w+): (?P<gold>\w+)(?P<bare>, no conflict)?")


@dataclass
class Family:
    """Frames of one kind of difference, and what is true of every pair made of them."""

    name: str
    gold: str
    conflict: bool  # whether a conflict may be found
    frames: dict[str, list[str]] = field(default_factory=dict)

    def right(self, verdict: str) -> bool:
        """Whether a verdict (same, conflict, neither) is true of a pair of this family."""
        if self.gold == "differs":
            return verdict == "neither" or (verdict == "conflict" and self.conflict)
        return verdict == {"both_hold": "neither"}.get(self.gold, self.gold)


def families() -> dict[str, Family]:
    """Every family by its name, in the order of the file."""
    found = dict[str, Family]()
    for line in (_HERE / "frames.txt").read_text(encoding="utf-8").splitlines():
        if told := _HEADING.fullmatch(line):
            family = Family(
                told["name"],
                told["gold"],
                told["gold"] in ("differs", "conflict") and not told["bare"],
            )
            found[family.name] = family
        elif found and line and not line.startswith("##"):
            lang = "zh" if re.search("[一-鿿]", line) else "es" if line.startswith("es: ") else "en"
            family.frames.setdefault(lang, []).extend(line.removeprefix("es: ").split(" // "))
    return found


def pairs(family: Family, count: int, lang: str | None = None) -> list[dict[str, Any]]:
    """At most `count` different pairs {id, a, b, family, lang, frame}: each frame gets as many as any other."""
    frames = [
        (of, frame) for of, group in family.frames.items() for frame in group if lang in (None, of)
    ]
    made = dict[tuple[str, str], dict[str, Any]]()
    for n in range(4 * count):
        of, frame = frames[n % len(frames)]
        a, b = pair(frame, of, Random(f"{family.name} {n}"))
        if a != b and (b, a) not in made and len(made) < count:
            row = {
                "id": f"{family.name}/{n}",
                "a": a,
                "b": b,
                "family": family.name,
                "lang": of,
                "frame": frame,
            }
            made.setdefault((a, b), row)
    return [*made.values()]


def pair(frame: str, lang: str, rng: Random) -> tuple[str, str]:
    """Two texts of one frame."""
    told = frame.split(" => ")
    sides = [told[n] for n in rng.sample(range(len(told)), 2)] if len(told) > 1 else [frame, frame]
    turns: dict[int, list[int]] = {}
    for group in _CHOICE.findall(frame):
        count = group.count("|") + 1
        turns.setdefault(count, rng.sample(range(count), 2))
    chosen = [
        _CHOICE.sub(lambda m, n=n: _turn(m[1], turns, n), side) for n, side in enumerate(sides)
    ]
    values = _values(chosen, lang, rng)
    a, b = (
        _SLOT.sub(lambda m, n=n: _form(values[_key(m, n)], m["form"]), s)
        for n, s in enumerate(chosen)
    )
    return _touched(a.replace("..", "."), b.replace("..", "."), lang, rng)


def _turn(group: str, turns: dict[int, list[int]], side: int) -> str:
    told = group.split("|")
    return told[turns[len(told)][side]]


def _key(slot: re.Match[str], side: int) -> tuple[str, str, int]:
    return slot["name"], slot["nth"] or "1", -1 if slot["mark"] == "{" else side


def _form(entry: str, form: str | None) -> str:
    return entry.split("|")[int(form or 0)]


def _values(sides: list[str], lang: str, rng: Random) -> dict[tuple[str, str, int], str]:
    """What each slot of both texts is filled with: of one list, never the same twice."""
    slots = [(_key(m, n), m) for n, side in enumerate(sides) for m in _SLOT.finditer(side)]
    found = dict[tuple[str, str, int], str]()
    for name in dict.fromkeys(key[0] for key, _ in slots):
        keys = [*dict.fromkeys(key for key, _ in slots if key[0] == name)]
        found |= dict(zip(keys, _drawn(_LISTS[lang][name], len(keys), rng), strict=True))
    for (name, nth, side), slot in slots:
        if slot["near"] and side == 1:
            found[name, nth, 1] = _near(found[name, nth, 0], rng)
    return found


def _drawn(entries: str | list[str], count: int, rng: Random) -> list[str]:
    if isinstance(entries, str) and ".." in entries:
        low, high = entries.split("..")
        return [str(n) for n in rng.sample(range(int(low), int(high)), count)]
    return rng.sample(entries.split(", ") if isinstance(entries, str) else entries, count)


def _near(number: str, rng: Random) -> str:
    at = rng.randrange(1, len(number))
    swapped = number[: at - 1] + number[at] + number[at - 1] + number[at + 1 :]
    other = (
        number[:at] + rng.choice([d for d in "0123456789" if d != number[at]]) + number[at + 1 :]
    )
    return swapped if swapped != number and swapped[0] != "0" and rng.random() < 0.5 else other


def _touched(a: str, b: str, lang: str, rng: Random) -> tuple[str, str]:
    """Both texts as people also write them: without a full stop, as an item of a list, beside one more sentence."""
    draw = rng.random()
    if draw < 0.2:
        return a.rstrip(".。"), b
    if draw < 0.3:
        return a, f"- {b}"
    if draw < 0.6 and a[-1] in ".。" and b[-1] in ".。":
        more, gap = rng.choice(_LISTS[lang]["more"]), "" if lang == "zh" else " "
        return (a + gap + more, b + gap + more) if draw < 0.45 else (more + gap + a, more + gap + b)
    return a, b


def turned(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same pairs, the second text first."""
    return [row | {"a": row["b"], "b": row["a"]} for row in rows]


def verdicts(rows: list[dict[str, Any]]) -> Iterator[str]:
    """What a night makes of each pair: same, conflict or neither."""
    from memops.evaluation.bench import judge_pairs

    for told in judge_pairs(rows):
        yield "same" if told["duplicate"] else "conflict" if told["conflict"] else "neither"
