"""Signs and roles are read in one form however said, and compared."""

import itertools
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memops.judge.conflicts import features
from memops.judge.decision import DUPLICATE
from memops.language.packs import table
from memops.values import read, sign
from memops.values.algebra import ALL, MAY, MUST, NOT, SOME, Sign, reduced
from memops.values.operators import Words
from memops.values.saying import saying
from tests.bench.says import judged
from tests.test_values import SIGNS, rows

TABLES = sorted((Path(__file__).parent / "signs").glob("*.txt"))
OPERATORS = [
    NOT,
    ALL,
    SOME,
    MUST,
    MAY,
    "only",
    "also",
    "was",
    "many",
    "most",
    "still",
    "yet",
    "until",
    "unless",
]
sequences = st.lists(st.sampled_from(OPERATORS), max_size=7)


@pytest.mark.parametrize("path", TABLES, ids=lambda p: p.stem)
def test_the_judge_tells_signs_and_roles_as_the_tables_say(path):
    pairs = [(a, b, sign) for one, other, sign in rows(path) for a, b in ((one, other), (other, one))]  # fmt: skip
    told = judged([pair[:2] for pair in pairs])
    wrong = [
        (*pair, said) for pair, said in zip(pairs, told, strict=True) if said not in SIGNS[pair[2]]
    ]
    assert not wrong


def test_any_words_are_read():
    """What nobody would write, too: a bound and what it counts, of which nothing is said."""
    rng = random.Random(7)
    lines = [line for path in TABLES for pair in rows(path) for line in pair[:2]]
    words = {"": sorted({c for line in lines for c in line if c > "\u2e80"}),
             " ": sorted({word for line in lines if line.isascii() for word in line.split()})}  # fmt: skip
    made = [gap.join(rng.choices(some, k=rng.randint(1, 9))) for gap, some in words.items()
            for _ in range(1500)]  # fmt: skip
    made += ["不到五个人就取消。", "不止五个人就取消。"]
    pairs = [{"a": a, "b": b} for a, b in itertools.pairwise(made)]
    assert len(features(pairs)) == len(pairs)


def test_a_first_look_leaves_out_only_texts_without_a_sign(monkeypatch):
    texts = [side for path in TABLES for one, other, _ in rows(path) for side in (one, other)]
    looked = [saying(text, read(text)).sign for text in texts]
    monkeypatch.setattr(Words, "bear", lambda self, text: True)
    assert looked == [saying(text, read(text)).sign for text in texts]
    assert Sign() in looked


@settings(deadline=None)  # the first text reads the tables of words
@given(sequences)
def test_every_normal_form_prints_and_reads_back(operators):
    form = reduced(operators)
    for lang in (None, "en", "zh"):
        assert sign(str(form), lang) == form


@given(sequences)
def test_to_deny_twice_is_to_say_it(operators):
    form = reduced(operators)
    assert reduced([NOT, NOT, *operators]) == form
    assert form.turned().turned() == form
    assert form.flipped() != form and form.flipped().flipped() == form


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([NOT, ALL], [SOME, NOT]),
        ([NOT, SOME], [ALL, NOT]),
        ([NOT, MUST], [MAY, NOT]),
        ([NOT, MAY], [MUST, NOT]),
        ([NOT, SOME, NOT], [ALL]),
        (["until", NOT], ["from"]),
        (["except", ALL], ["only", NOT]),
        (["except", NOT, SOME], ["only"]),
    ],
)
def test_operators_that_come_to_the_same_are_one_form(one, other):
    assert reduced(one) == reduced(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Only the baker has a key to the cellar", "Nobody but the baker has a key to the cellar"),
        (
            "Everyone except Ruth waited at the quay",
            "Ruth was the only one who did not wait at the quay",
        ),
        ("Hugo can't reach the top shelf", "It's impossible for Hugo to reach the top shelf"),
        ("The harbour cat never sleeps indoors", "At no time does the harbour cat sleep indoors"),
        ("We must not water the fern at noon", "It is forbidden to water the fern at noon"),
        ("只有面包师有地窖的钥匙", "除了面包师，没人有地窖的钥匙"),
        ("温室里的花不必浇水", "温室里的花不用浇水"),
        ("游客不准喂鸽子", "鸽子游客不准喂"),
        ("All the lanterns are unlit", "None of the lanterns is lit"),
        ("塔楼的灯没一盏亮的", "塔楼的灯全都不亮"),
        ("守塔人一次都没误过船", "守塔人没有一次误过船"),
    ],
)
def test_the_same_words_under_the_same_sign_are_one_statement(one, other):
    assert features([{"a": one, "b": other}, {"a": other, "b": one}]).select(DUPLICATE).to_series().all()  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Only Ida waters the fern", "Ida waters only the fern"),
        ("Nobody trusts the miller", "The miller trusts nobody"),
        ("The ferry is not running on Fridays", "The ferry was not running on Fridays"),
        ("Ruth will never sell the boat", "Ruth never sold the boat"),
        ("At most two bakers speak Welsh", "At least three bakers do not speak Welsh"),
        ("The nurse never calls the porter", "The porter never calls the nurse"),
        ("The mill has two ovens and three sieves", "The mill has three ovens and two sieves"),
        ("磨坊有两个炉子三把筛子", "磨坊有三个炉子两把筛子"),
        ("只有阿宝喂鸽子", "阿宝只喂鸽子"),
        ("I would never lend you the boat", "You would never lend me the boat"),
        ("这种面粉含麸皮", "这种面粉不含麸皮"),
        ("塔里的客人都满意", "塔里的客人都不满意"),
        ("我确定钟是昨晚停的", "我不确定钟是不是昨晚停的"),
        ("阿宝不去灯塔过夜", "阿宝没去灯塔过夜"),
        ("阿宝从不等小满", "小满从不等阿宝"),
    ],
)
def test_the_same_words_of_another_or_of_another_time_are_not_one_statement(one, other):
    assert not features([{"a": one, "b": other}, {"a": other, "b": one}]).select(DUPLICATE).to_series().any()  # fmt: skip


def written(lang, operators):
    """The words of a pack for some operators, one by one, and a core that holds none."""
    words = table(lang, "signs")["signs"]
    spoken = [next(w for w in words[op] if len(w) > 1 or op == NOT) for op in operators]
    core = " paint the fence" if lang == "en" else "刷篱笆"
    return (" " if lang == "en" else "").join(spoken) + core


said = st.lists(st.sampled_from([NOT, ALL, SOME, MUST, MAY]), max_size=4)


@settings(deadline=None)
@given(said)
def test_operators_in_words_read_as_what_they_come_to(operators):
    for lang in ("en", "zh"):
        text = written(lang, operators)
        if NOT * 2 in "".join(operators) or MAY + NOT in "".join(operators):
            continue  # "not not" is nobody's words, and "may not" has a meaning of its own
        if MUST + NOT in "".join(operators) or NOT + MAY in "".join(operators):
            continue
        assert str(sign(text, lang)) == str(reduced(operators)), text


def test_a_plain_clause_has_no_sign():
    assert sign("Paint the fence.") == Sign()


@pytest.mark.parametrize(
    "text", ["not ", "不", "没有x", "unless, ", "非", "only if not ", "1/2/", "1 "]
)
def test_a_line_of_any_length_is_read_in_linear_time(text):
    assert sign((text * 30_000)[:30_000]) is not None


@pytest.mark.parametrize(
    ("a", "b", "signs", "roles"),
    [
        ("Nobody dislikes the new canteen", "The new canteen is liked by everybody", 0, 0),
        ("You can't enter without a pass", "You can enter only with a pass", 0, 0),
        ("The gate must not be painted", "The gate must be painted", 1, 0),
        ("没有门卡进不了楼", "有门卡才能进楼", 0, 0),
        ("Mina lent Karl a ladder", "Karl borrowed a ladder from Mina", 0, 0),
        ("Mina lent Karl a ladder", "Karl lent Mina a ladder", 0, 1),
        ("Nobody may stay longer than two hours", "Everybody may stay two hours at most", 1, 0),
    ],
)
def test_the_judge_hears_signs_and_roles_by_their_normal_form(a, b, signs, roles):
    read = features([{"a": a, "b": b}])
    assert (read["sign_differs"][0], read["swapped"][0] > 0) == (signs, bool(roles))
    assert read["values_differ"][0] == 0
