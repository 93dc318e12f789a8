"""Figures of every family, or what was made of the pairs of one.

python -m tests.minimal_pairs [--show FAMILY] [--lang LANG] [--count N]
"""

from argparse import ArgumentParser

from tests.minimal_pairs.pairs import Family, families, pairs, verdicts


def main() -> None:
    """Judge the pairs, and print a line a family, or a line a pair."""
    parser = ArgumentParser(prog="tests.minimal_pairs")
    parser.add_argument(
        "--show", metavar="FAMILY", help="each pair of this family and its verdict, the wrong first"
    )
    parser.add_argument("--lang", help="only pairs of this language")
    parser.add_argument("--count", type=int, default=400, help="pairs a family")
    asked = parser.parse_args()
    known = families()
    if asked.show:
        return shown(known[asked.show], asked.count, asked.lang)
    print(f"{'family':22}{'gold':11}{'n':>6}{'right':>8}{'same!':>8}{'conflict!':>11}{'missed':>8}")
    total = [0.0] * 5
    made = {
        name: pairs(family, asked.count, asked.lang)
        for name, family in known.items()
        if not asked.lang or asked.lang in family.frames
    }
    told = iter([*verdicts([row for rows in made.values() for row in rows])])
    for name, rows in made.items():
        counts = counted(known[name], [next(told) for _ in rows])
        total = [a + b for a, b in zip(total, counts, strict=True)]
        print(line(name, known[name].gold, counts))
    print(line("all", "", total))


def counted(family: Family, told: list[str]) -> list[float]:
    """Of verdicts: n, right, wrong same, wrong conflict, missed."""
    wrong = [verdict for verdict in told if not family.right(verdict)]
    return [
        len(told),
        len(told) - len(wrong),
        *(wrong.count(v) for v in ("same", "conflict", "neither")),
    ]


def line(name: str, gold: str, counts: list[float]) -> str:
    """A line of the table: shares of n, but for n."""
    n, *rest = counts
    right, same, conflict, missed = (count / n for count in rest)
    return f"{name:22}{gold:11}{n:6.0f}{right:8.3f}{same:8.3f}{conflict:11.3f}{missed:8.3f}"


def shown(family: Family, count: int, lang: str | None) -> None:
    """Print the pairs of a family, the wrong ones first."""
    rows = pairs(family, count, lang)
    told = sorted(zip(verdicts(rows), rows, strict=True), key=lambda pair: family.right(pair[0]))
    for verdict, row in told:
        print(f"{' ' if family.right(verdict) else '!'} {verdict:9}{row['a']}  |  {row['b']}")


if __name__ == "__main__":
    main()
