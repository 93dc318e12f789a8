"""Small words and endings tell statements apart that hold the same words of content."""

from pathlib import Path

import pytest

from tests.bench.says import judged
from tests.test_values import rows

TABLES = sorted((Path(__file__).parent / "forms").glob("*.txt"))


@pytest.mark.parametrize("path", TABLES, ids=lambda p: p.stem)
def test_what_a_small_word_or_an_ending_tells_apart_is_not_the_same(path):
    pairs = [(*pair, sign) for one, other, sign in rows(path) for pair in ((one, other), (other, one))]  # fmt: skip
    told = judged([pair[:2] for pair in pairs])
    wrong = [pair for pair, said in zip(pairs, told, strict=True) if (said == "same") != (pair[2] == "==")]  # fmt: skip
    assert not wrong
