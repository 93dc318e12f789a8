"""How fast secrets and injections are looked for: megabytes of text a CPU second, on one core.

usage: python -m tests.bench.scan [MEGABYTES]

`memory` is what stores hold: short notes in two languages, one in twenty a page of forty lines, a
tenth of the lines about the same things as secrets and orders, one in two hundred a secret or an
order; `english` and `chinese` are the same in one language, `short` are single lines. `everyday` are only lines that look like secrets, `orders` only lines made to look like
orders, which cost most. Two cores do twice what is printed.
"""

import random
import re
import sys
import time
from pathlib import Path

import polars as pl

from memops.safety.hostile import injected
from memops.safety.secrets import found
from tests.bench import corpus
from tests.hostile_corpus import labelled
from tests.secret_corpus import everything, lookalikes

HAN = re.compile("[一-龥]")
SENTENCES = Path(__file__).parents[1] / "extract" / "sentences.tsv"


def texts(lines: list[str], megabytes: float) -> pl.Series:
    """Return records of three lines each, numbered so that none is repeated."""
    rng = random.Random(5)
    count = int(megabytes * 1e6 / (3 * sum(len(line.encode()) for line in lines) / len(lines)))
    return pl.Series([f"{' '.join(rng.choices(lines, k=3))} {n}" for n in range(count)])


def memory(megabytes: float, language: str = "", lines: int = 40) -> pl.Series:
    """Return notes as stores hold them, few of which hide something.

    All in one language, `en` or `zh`, if that is asked for; of at most so many lines.
    """
    rng = random.Random(6)

    def spoken(texts: list[str]) -> list[str]:
        return [t for t in texts if not language or language == ("zh" if HAN.search(t) else "en")]

    told = [line.split("\t")[2] for line in SENTENCES.read_text().splitlines()[1:]]
    near = [text for text, hostile in labelled() if not hostile] + lookalikes(1000)
    hits = [text for text, hostile in labelled() if hostile] + [text for _, text, _ in everything()]
    strange = corpus.texts(1000, seed=3)
    kinds, size, out = [spoken(texts) for texts in (told, strange, near, hits)], 0, []
    while size < megabytes * 1e6:
        said = [
            rng.choice(rng.choices(kinds, (0.695, 0.2, 0.1, 0.005))[0])
            for _ in range(min(lines, 40 if rng.random() < 0.05 else rng.randint(1, 3)))
        ]
        out.append("\n".join([*said, f"no. {len(out)}"]))
        size += len(out[-1].encode())
    return pl.Series(out)


def main(megabytes: float) -> None:
    orders = [text for text, _ in labelled()]
    columns = {
        "memory": memory(megabytes),
        "english": memory(megabytes, "en"),
        "chinese": memory(megabytes, "zh"),
        "short": memory(megabytes, lines=1),
        "everyday": texts(lookalikes(2000), megabytes),
        "orders": texts(orders, megabytes),
    }
    for name, column in columns.items():
        size = column.str.len_bytes().sum() / 1e6
        for scan in (found, injected):
            scan(column.head(5))
            started = time.process_time()
            scan(column)
            spent = time.process_time() - started
            print(f"{name:9} {scan.__name__:9} {size / spent:6.1f} MB a CPU second")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 8.0)
