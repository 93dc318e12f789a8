"""What the scans for secrets and orders skip is what could not have matched."""

import re

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from memops.language.passages import read
from memops.language.prefilter import literals, possible
from memops.policy.safety import Secrets
from memops.safety import hostile, secrets
from memops.safety.hostile import concepts, injected, spoken
from memops.safety.secrets import found
from memops.safety.secrets_shapes import shapes
from tests import secret_corpus as corpus
from tests.bench.scan import memory
from tests.bench.timing import cpu
from tests.hostile_corpus import labelled

EVERY = Secrets(off=[])
SHAPES = shapes(EVERY)
LINES = [text for text, _ in labelled()][::3]
TEXTS = pl.Series(
    [text for _, text, _ in corpus.everything()[::3]] + corpus.lookalikes(300) + LINES,
    dtype=pl.String,
)  # fmt: skip
SLOW = settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.filter_too_much])


_NAMED = {
    r"\p{Han}": "[\u4e00-\u9fff]", r"\p{L}": r"[^\W\d_]", r"\p{Lu}": "[A-Z]", r"\p{Ll}": "[a-z]",
    r"\p{Hiragana}": "\u3041-\u309f", r"\p{Katakana}": "\u30a1-\u30ff", r"\p{N}": "0-9",
}  # fmt: skip


def in_python(pattern):
    """A pattern of the lexicons in the syntax of `re`."""
    plain = pattern.replace(r"(?-u:\b)", r"\b")
    for named, plainly in _NAMED.items():
        plain = plain.replace(named, plainly)
    return re.sub(r"\[([^\[\]]+)&&\[\^((?:\\.|[^\]])+)\]\]", r"(?:(?![\2])[\1])", plain)


def matched(patterns):
    """A pattern by its place, and a text that it matches."""
    made = st.integers(0, len(patterns) - 1)
    return made.flatmap(lambda n: st.tuples(st.just(n), st.from_regex(in_python(patterns[n]))))


@SLOW
@given(matched([one for concept in concepts() for one in concept.patterns]))
def test_a_text_that_a_concept_matches_holds_one_of_its_literals(match):
    nth, text = match
    pattern = [one for concept in concepts() for one in concept.patterns][nth]
    text = text.encode("utf-8", "ignore").decode().lower()
    assume(pl.Series([text]).str.contains(pattern)[0])
    assert any(word in text for word in literals(pattern))


@SLOW
@given(matched([shape.pattern for shape in SHAPES]))
def test_a_text_that_a_secrets_shape_matches_holds_its_trigger(match):
    nth, text = match
    shape, text = SHAPES[nth], text.encode("utf-8", "ignore").decode()
    assume(pl.Series([text]).str.contains(shape.pattern)[0])
    assert not shape.any or any(word in text.lower() for word in shape.any)
    assert pl.Series([text]).str.contains(shape.when)[0]


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(?:drop|void)s? tables?", {"drop table", "drops table", "void table", "voids table"}),
        (r"(?-u:\b)to [a-z]+ (?:assistant|agent)(?-u:\b)", {" assistant", " agent"}),
        ("(?:忽略|无视)[^。]{0,6}(?:之前|先前)", {"忽略", "无视"}),
        ("-{3,} ?(?:end|begin)", {"end", "begin"}),
        ("a{2}b+", {"aab"}),
        (r"say(?:ing)?\s?[:：]", {"say"}),
        (r"x[0-9]{2}\.", {f"x{n:02}." for n in range(100)}),
        (r"\d?|y", set()),
        ("[a-z]+", set()),
    ],
)
def test_literals_are_read_off_the_pattern(pattern, words):
    assert literals(pattern) == words


def test_a_pattern_of_which_no_literal_is_known_is_possible_everywhere():
    masks = possible(pl.Series(["one tree", "", None]), ["tree", "", "[a-z]", "stone|flower"])
    assert masks.to_list() == [0b0111, 0b0110, 0b0110]


def test_concepts_are_the_same_as_when_every_pattern_meets_every_text():
    said = read(pl.DataFrame({"row": range(len(LINES)), "raw": LINES}))["text"]
    bits = [
        pl.when(pl.col("text").str.contains(concept.pattern)).then(1 << nth).otherwise(0)
        for nth, concept in enumerate(concepts())
    ]
    whole = said.to_frame("text").select(sum(bit.cast(pl.UInt64) for bit in bits)).to_series()
    assert spoken(pl.Series(LINES)).to_list() == whole.to_list()


PIECES = st.sampled_from(
    [*LINES[::40], "。", "\n", "password: ", "密码：", "the user ", "你必须", "@"]
)


def everywhere(monkeypatch):
    """Let every pattern meet every text."""
    marks = "[\ufdd0\ufdd1]"

    def all_rows(texts, known):
        frame = texts.rename("text").to_frame().with_row_index("row").drop_nulls()
        whole = frame.with_columns(pl.col("text").str.replace_all(marks, "\ufffd"))
        return dict.fromkeys(range(len(known)), whole)

    every = (1 << len(concepts())) - 1
    monkeypatch.setattr(secrets, "_candidates", all_rows)
    monkeypatch.setattr(
        hostile, "_possible", lambda texts: pl.Series([every] * len(texts), dtype=pl.UInt64)
    )


def test_the_hits_are_those_of_scans_without_a_prefilter(monkeypatch):
    quick = found(TEXTS, EVERY), injected(TEXTS)
    everywhere(monkeypatch)
    assert quick[0].equals(found(TEXTS, EVERY))
    assert quick[1].equals(injected(TEXTS))


@settings(deadline=None, max_examples=3)
@given(
    st.lists(
        st.lists(st.one_of(PIECES, st.text(max_size=6)), max_size=5).map("".join),
        min_size=5,
        max_size=40,
    )
)
def test_so_they_are_on_any_text(texts):
    column = pl.Series([text.encode("utf-8", "ignore").decode() for text in texts])
    quick = found(column, EVERY), injected(column)
    with pytest.MonkeyPatch.context() as patch:
        everywhere(patch)
        assert quick[0].equals(found(column, EVERY))
        assert quick[1].equals(injected(column))


@pytest.mark.slow
def test_scans_are_faster_than_without_a_prefilter(monkeypatch):
    column = memory(4.0)
    size = column.str.len_bytes().sum() / 1e6
    quick = [cpu(lambda: found(column)), cpu(lambda: injected(column))]
    everywhere(monkeypatch)
    whole = [cpu(lambda: found(column), 1), cpu(lambda: injected(column), 1)]
    for name, (ours, hits), (theirs, same) in zip(("secrets", "orders"), quick, whole, strict=True):
        print(f"\n{name}: {size / ours:.1f} MB a CPU second, {theirs / ours:.1f} times without")
        assert hits.equals(same)
        assert theirs / ours >= {"secrets": 1.2, "orders": 2}[name]
