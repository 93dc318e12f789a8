import base64
import random
import time
import zlib
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memops.policy.safety import Secrets
from memops.safety import secrets_fitted
from memops.safety.secrets import found, redacted
from memops.safety.secrets_fitted import hashed, likely
from memops.safety.secrets_sequences import sequences
from memops.safety.secrets_signs import MADE, Passage, tokens
from memops.safety.secrets_values import by_shape, measured, values
from tests.bench.fit_secrets import Text, assembled, corpus, opening, reached, spelt, weighed


def test_what_was_fitted_is_told_and_ordinary_text_beside_it_left():
    told = [reached(texts[::20]) for texts in corpus().values()]
    masked, secret, touched, free = (sum(column) for column in zip(*told, strict=True))
    assert secret > 500 and free > 400
    assert masked / secret >= 0.70
    assert touched / free <= 0.01


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("The code of the garden gate was changed, it's {} now.", "73" + "19"),
        ("Router login: admin, and the word is {}", "harbour" + "light9"),
        ("仓库门禁换了,现在输 {} 就开", "48" + "213"),
        ("wifi 的密码还是 {} 那个", "lanhai" + "2031"),
    ],
)
def test_what_the_words_around_a_value_tell(text, value):
    whole = text.format(value)
    spans = likely(pl.Series([whole]))
    assert [whole[start:end] for _, start, end, _ in spans.rows()] == [value]
    assert value not in redacted(pl.Series([whole]))[0]


def test_a_policy_may_leave_what_only_the_words_around_a_value_tell():
    text = pl.Series(["The code of the garden gate was changed, it's 7319 now."])
    assert redacted(text)[0] != text[0]
    assert redacted(text, Secrets(off=["phone", "told"]))[0] == text[0]


@pytest.mark.parametrize(
    "text",
    ["The code review took 45 minutes.", "Room 4471 is next to the gate.", "她住在 4 号楼 1203 室",
     "deploy_day_0", "key  deploy_day_0", "The key result of the quarter is revenue.", "门票一共 320 元", "The password has at least 12 characters."],
)  # fmt: skip
def test_what_opens_nothing_is_left(text):
    assert redacted(pl.Series([text]))[0] == text


def test_plans_and_runs_are_named_in_hints():
    rng = random.Random(5)
    ids = ["".join(rng.choices("0123456789abcdef", k=16)) for _ in range(200)]
    hints = [f"take that back first: memops rollback {one}-2" for one in ids]
    hints += [f"memops --state /home/me/.memops apply {one} --approve" for one in ids]
    assert redacted(pl.Series(hints)).to_list() == hints


def test_a_secret_of_the_corpus_is_put_together_from_its_pattern():
    text, (span,) = assembled({"text": r"pin: ⟦0000-Aax\a⟧!"}, random.Random(3))
    assert span == (5, 14)
    value = text[slice(*span)]
    assert value[:4].isdigit() and value[4] == "-" and value[5].isupper() and value[-1] == "a"
    assert assembled({"text": "none"}, random.Random(3)) == ("none", ())


def test_values_are_told_by_their_make():
    assert [measured(v)[0] for v in ("4471", "1984", "Maple-9", "geranium", "明月", "9f" * 12)] == [
        "4 digits", "year", "short", "lower", "han", "hex",
    ]  # fmt: skip
    assert {"4471", "gate"} <= {"the gate: 4471"[v.start : v.end] for v in values("the gate: 4471")}


def test_a_passage_without_a_word_of_opening_has_only_what_no_sentence_has():
    text = "We walked 12 miles to Harbour Town."
    passage = Passage(text, tokens(text))
    assert not list(passage.values(opened=False))
    assert "12" in {text[v.start : v.end] for v, _, _ in passage.values(opened=True)}
    free = "We walked to h4rbourT0wn88."
    found = Passage(free, tokens(free)).values(opened=False)
    assert [value.how for value, _, _ in found] == ["run"]


def test_signs_that_are_added_up_together_weigh_what_each_weighs():
    model, known = secrets_fitted._model(), secrets_fitted.lexicon("secrets_fitted")
    weights = np.frombuffer(zlib.decompress(base64.b85decode(known["weights"])), np.int8)
    texts = [text for texts in corpus().values() for text, _ in texts[::20]]
    said = [*map(tokens, texts)]
    starts, before, after = secrets_fitted._around(model, said)
    for text, words, at in zip(texts, said, starts, strict=True):
        passage = Passage(text, words)
        told = model.told(secrets_fitted.whole(text, words))
        for (value, signs, about), (_, first, last) in zip(
            weighed(text), passage.values(opened=True), strict=True
        ):
            said = text[value.start : value.end]
            kind, *sizes = measured(said)
            total = model.own(value.how, kind, *sizes) + model.weight(by_shape(said))
            total += told + before[at + first] + after[at + last]
            total += sum(map(model.weight, passage.beside(value, kind)))
            assert total == sum(int(weights[hashed(sign)]) for sign in spelt(signs, about))


def test_nothing_beside_a_value_weighs_more_than_the_most_that_could():
    model = secrets_fitted._model()
    for text, _ in (one for texts in corpus().values() for one in texts[::20]):
        passage, odd = Passage(text, tokens(text)), secrets_fitted._odd(text)
        for value, _, _ in passage.values(opened=True):
            said = text[value.start : value.end]
            kind, *_ = measured(said)
            groups = Counter(label.group for label in passage.labels).items()
            most = model.marked(kind, odd) + sum(
                model.labelled(*group, kind, value.how) for group in groups
            )
            assert sum(map(model.weight, passage.beside(value, kind))) <= most
            assert model.weight(by_shape(said)) <= model.shaped


def test_words_that_tell_of_secrets_are_rare_in_ordinary_text():
    plain = [Text("the pump room is dry", ()), Text("nobody was in the room", ())]
    texts = [Text(f"{door} kept shut by {n}", ((len(door) + 14, len(door) + 15),))
             for n, door in enumerate(["the hatch", "a hatch", "room and hatch", "hatch of the room"])]  # fmt: skip
    assert opening(texts, plain)[0] == "hatch"
    assert "room" not in opening(texts, plain)


@pytest.mark.parametrize(
    ("text", "sequence"),
    [
        ("Gate: C then 2 4 then Y, all pressed", "C then 2 4 then Y"),
        ("Safe at the back: left 12, right 40, left 6.", "left 12, right 40, left 6"),
        ("按顺序 二、二、五、八，再按铃", "二、二、五、八"),
        ("punch 2 0 2 4 hash. No water", "2 0 2 4 hash"),
        ("Only 4 of them came.", None),
    ],
)
def test_keys_one_after_another_are_a_sequence(text, sequence):
    spans = {text[start:end] for start, end in sequences(text)}
    assert sequence in spans if sequence else not spans


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("https://pad.example/invite?team=a&t=Zq7LmV0wXr", "Zq7LmV0wXr"),
        ("amqp://worker:plumTree7@mq.example:5672", "plumTree7"),
        ("mot de passe « olives vertes »", "olives vertes"),
        ("登录用 海豚Jump7 这串", "海豚Jump7"),
        ("비밀번호는 kiwi77로 바꿈", "kiwi77"),
    ],
)
def test_values_in_links_quotes_and_other_scripts(text, value):
    assert value in {text[v.start : v.end] for v in values(text)}


@pytest.mark.parametrize(
    "piece",
    [
        "code 4471, ",
        "a-",
        "'x ",
        "(",
        "密码是",
        "pin=",
        "Ab1!",
        "code 4 5, ",
        "a1中",
        "«",
        "/a=b",
        "pin: 一",
    ],
)
def test_long_lines_take_linear_time(piece):
    text = pl.Series([piece * (100_000 // len(piece))])
    started = time.process_time()
    found(text)
    assert time.process_time() - started < 20.0


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from([*sorted(secrets_fitted._model().opening), *"aZé9_ .-'x²½\n密"]).flatmap(
            lambda word: st.sampled_from([word, word.upper(), word.capitalize()])
        ),
        max_size=8,
    ).map("".join)
)
def test_what_opens_or_is_in_no_sentence_is_asked_about(text):
    opened = secrets_fitted._model().opening.intersection(tokens(text))
    free = any(MADE.search(text[v.start : v.end]) for v in values(text))
    if opened or free:
        held = any(one in text for one in secrets_fitted._unspaced())
        ways = map(pl.Series([text]).str.contains, secrets_fitted._spaced())
        assert held or any(told[0] for told in ways)
