"""Readings of many texts at once, against each text's own and against sets of Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memops.language.tokens import Numbers, divided, keyed, minus, of_texts, tokens_of, union
from memops.language.vocabulary import heard, parsed
from memops.ordered import within
from memops.statements.reading import ALIGNED, read_in_one, read_many
from tests.counts import few

WORDS = ["user", "the", "team", "Anna's", "张伟", "李", "prefers", "likes", "dislikes", "not", "never", "不", "没有", "no-longer", "moved", "to", "Berlin", "上海", "called", "叫", "reviewer", "经理", "is", "was", "runs", "on", "uses", "用", "改成", "从", "port", "8080", "10:00", "v1.2", "12", "B", "组", "server", "服务器", "的", "tea", "咖啡", "all", "every", "所有", "work", "email", ",", ".", "，", "。", ":", "?", "decided", "2019年"]  # fmt: skip
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join), min_size=1, max_size=6)
sets = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 6)))


@few(20)
@given(texts)
def test_a_text_is_read_the_same_whatever_is_read_beside_it(said):
    assert read_many(said) == [read_many([text])[0] for text in said]


@few(20)
@given(texts)
def test_words_side_by_side_have_the_same_codes_in_every_batch(said):
    together = read_in_one(said).families
    for n, text in enumerate(said):
        alone = read_in_one([text]).families
        for name in ALIGNED:
            rows, codes = together[name]
            assert codes[rows == n].tolist() == alone[name][1].tolist()


@few(20)
@given(texts, st.integers(1, 3))
def test_words_that_are_not_asked_pass_no_test_and_others_do_as_ever(said, nth):
    found = [parsed(text, []) for text in said]
    t = tokens_of([words for words, _ in found], [clauses for _, clauses in found], Numbers())
    asked, mask = list[str](), t.at % nth == 0
    wide = t.those(mask, lambda _, __, surface: asked.append(surface) or not surface.isascii())
    every = [word for words, _ in found for word in words]
    assert {*asked} == {every[at][2] for at in np.flatnonzero(mask)}
    assert wide.tolist() == [
        held and not w[2].isascii() for held, w in zip(mask, every, strict=True)
    ]
    heads = [word[2].lower().partition(" ")[0] for word in every]
    assert t.headed("no".__le__).tolist() == [head >= "no" for head in heads]
    listed = [(w, token.clause) for text in said for token in heard(text, []) for w in [token[:3]]]
    assert listed == [pair for one in found for pair in zip(*one, strict=True)]


@pytest.mark.parametrize(
    ("text", "family", "items"),
    [
        ("Anna's tea is not green", "owner", {"w:anna"}),
        ("张伟的咖啡", "owner", {"h:张伟"}),
        ("The billing server runs on port 8080", "values", {"amount=8080"}),
        ("API 服务器从 Redis 换成 Valkey", "left", {"w:redi"}),
        ("The reviewer moved to Berlin", "open", {"city=berlin"}),
        ("", "content", set()),
    ],
)
def test_sets_hold_what_a_person_would_say(text, family, items):
    assert items <= read_many([text])[0].sets[family]


@given(sets, sets, st.sets(st.integers(0, 4)))
def test_sets_of_texts_are_united_and_parted_as_sets_are(one, two, chosen):
    def keys(pairs):
        rows, items = np.array(sorted(pairs) * 2, np.int64).reshape(-1, 2).T
        return keyed(rows, items)

    def pairs(keys):
        return list(zip(*(half.tolist() for half in divided(keys)), strict=True))

    a, b = keys(one), keys(two)
    mask = np.isin(np.arange(5), list(chosen))
    assert pairs(union(a, b)) == sorted(one | two)
    assert pairs(minus(a, b)) == sorted(one - two)
    assert pairs(a[within(a, b)]) == sorted(one & two)
    assert pairs(of_texts(a, mask)) == sorted(pair for pair in one if pair[0] in chosen)
