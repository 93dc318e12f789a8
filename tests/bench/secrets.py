"""Print what is found of the secrets that each writer told, and what is touched of other texts.

usage: python -m tests.bench.secrets [SEED]

The texts are those of evals/secrets, in several languages: 200 with secrets and 200 without from each
of eight writers who had not seen the rules, filled by a seed. The rules have been mended with writers
1 to 4 since, not with 5 to 8: their figures are as good as a first look. Recall is of secrets of
which a part is masked; `whole` of those that are masked entirely.
"""

import sys

import polars as pl

from memops.safety.secrets import found
from tests.bench.secret_recipes import Text, told

Places = dict[int, list[tuple[int, int]]]


def reached(texts: list[Text]) -> dict[str, float]:
    """Return recall of secrets, the share that is masked whole, the share of other texts touched."""
    taken: Places = {}
    for row, start, end, _ in found(pl.Series([one.text for one in texts])).iter_rows():
        taken.setdefault(row, []).append((start, end))
    secrets = [(row, *span) for row, one in enumerate(texts) for span in one.spans]
    met = sum(
        any(s < end and start < e for s, e in taken.get(row, ())) for row, start, end in secrets
    )
    whole = sum(
        any(s <= start and end <= e for s, e in taken.get(row, ())) for row, start, end in secrets
    )
    others = [row for row, one in enumerate(texts) if not one.spans]
    touched = sum(row in taken for row in others)
    return {
        "recall": met / len(secrets),
        "whole": whole / len(secrets),
        "touched": touched / len(others),
    }


def main(seed: int) -> None:
    """Print the figures of each writer."""
    for name, texts in told(seed).items():
        print(f"writer {name}", *(f"{what} {share:.3f}" for what, share in reached(texts).items()))


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 1)
