"""Recipes of secrets hold none, and are filled alike by the same seed."""

import polars as pl

from memops.safety.secrets import found
from memops.safety.secrets_shapes import ISSUED
from tests.bench.secret_recipes import FOLDER, SLOT, told


def test_no_recipe_holds_a_key_of_a_known_issuer():
    lines = pl.Series("".join(path.read_text() for path in FOLDER.glob("told_*")).splitlines())
    assert len(lines) == 3200
    kinds = found(lines).filter(pl.col("kind").is_in([*ISSUED, "private-key", "card"]))
    assert kinds.is_empty(), lines.gather(kinds["row"]).to_list()[:3]


def test_a_seed_fills_every_slot_and_always_alike():
    once, again, other = told(1), told(1), told(2)
    assert once == again and once != other
    for texts in once.values():
        assert len(texts) == 400 and sum(bool(one.spans) for one in texts) == 200
        assert not any(SLOT.search(one.text) for one in texts)
