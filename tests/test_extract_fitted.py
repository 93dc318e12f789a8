"""The fitted models of extraction: what they are shown, how they are stored, what they reach."""

from itertools import pairwise, product
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

from memops.context import Context, Models
from memops.extract import fitted
from memops.extract.fitted import WIDTH, Features, beside, features, joined, loaded, scores
from memops.extract.verdicts import judged_notes
from memops.extract.weighing import FLAGS, kinds, sequence
from memops.language.lexicon import lexicon, resource
from memops.schema import from_rows
from tests.bench.fit_notes import stored
from tests.bench.notes import NOTES, NOW, figures, labelled, read


def of(text):
    return features(pl.Series([text], dtype=pl.String)).toarray()[0]


def test_letters_of_a_text_are_one_unit_long_however_long_it_is():
    for text in ("a", "我喜欢喝绿茶", "word " * 300):
        assert np.linalg.norm(of(text)[: 1 << fitted.LETTERS]) == pytest.approx(1, abs=1e-5)


def test_numbers_quotes_and_final_marks_are_one_to_the_letters():
    size = 1 << fitted.LETTERS
    assert (of("am 3. Mai, “so”!!")[:size] == of('am 8. mai, "so"')[:size]).all()
    assert (of("tea")[:size] != of("eat")[:size]).any()


@pytest.mark.parametrize(
    ("text", "alike"),
    [
        ('Shorten this: "The ferry leaves at noon from pier four."', 'Shorten this: "x"'),
        ("Shorten this: 'We don't sail, it's too rough.'", 'Shorten this: "x"'),
        ("改短一点：“渡轮中午从四号码头开。”", '改短一点："x"'),
        ("改短一点：「渡轮中午从四号码头开」", '改短一点："x"'),
    ],
)
def test_a_quotation_is_one_mark_whatever_it_says(text, alike):
    assert (of(text) == of(alike.replace('"x"', '"'))).all()


def test_what_is_named_in_quotation_marks_is_read():
    for text in ('The boat is called "Petrel"', "The '90s and the dogs' bowls", "船名“海燕号”"):
        assert (of(text) != of(text.replace("e", "o").replace("燕", "鸥"))).any()


def test_words_are_weighed_once_more_where_they_open_or_end_a_text():
    first, last = (of(f"{a} b c d e f g h i k l m {z}") for a, z in (("x", "y"), ("y", "x")))
    words = slice(1 << fitted.LETTERS, (1 << fitted.LETTERS) + (1 << fitted.WORDS))
    assert (first[words] != last[words]).sum() > 4


def test_many_texts_are_weighed_as_each_alone():
    texts = ["", "我喜欢喝绿茶", "The router is at 10.0.0.1", "ok thanks", "🙂"]
    alone = [scores("kind", pl.Series([t])) for t in texts]
    assert pl.concat(alone).equals(scores("kind", pl.Series(texts)))


def test_what_stands_in_several_places_is_weighed_once():
    asked = []
    known = Features()
    with patch.object(fitted, "features", lambda texts: asked.extend(texts) or features(texts)):
        first, second = (known.of(pl.Series(t)) for t in (["a b", "tea"], ["tea", "c", "a b", "c"]))
    assert asked == ["a b", "tea", "c"]
    assert (first.toarray() == features(pl.Series(["a b", "tea"])).toarray()).all()
    assert (second.toarray() == features(pl.Series(["tea", "c", "a b", "c"])).toarray()).all()


def test_no_text_has_no_probability():
    none = scores("kind", pl.Series([], dtype=pl.String))
    assert "lesson" in none.columns
    assert none.is_empty()


def test_the_likeliest_sequence_is_the_best_of_all():
    draw = np.random.default_rng(7)
    weights, change = draw.normal(size=(11, 3)), -draw.uniform(0, 2, 11)
    group = np.array([0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 3])
    got = sequence(weights, group, change)

    def worth(labels, rows):
        turns = [change[b] for a, b in pairwise(rows) if labels[a - rows[0]] != labels[b - rows[0]]]
        return sum(weights[row, label] for row, label in zip(rows, labels, strict=True)) + sum(
            turns
        )

    for name in range(4):
        rows = np.flatnonzero(group == name).tolist()
        best = max(product(range(3), repeat=len(rows)), key=lambda labels: worth(labels, rows))
        assert tuple(got[rows]) == best


def test_a_model_is_what_was_stored_to_a_part_in_63():
    weights = np.random.default_rng(1).normal(size=(40, 3)).astype(np.float32)
    names, again, bias = loaded(stored(["a", "b", "c"], weights, np.array([1.0, 0.0, -1.0])))
    assert names == ("a", "b", "c")
    assert np.abs(again - weights).max() <= np.abs(weights).max() / 63
    assert bias.tolist() == [1, 0, -1]


def test_the_numbers_are_few_and_fit_what_is_asked_of_them():
    assert (resource("data/lexicons") / "extract_fitted.toml").stat().st_size <= 450_000
    tables = lexicon("extract_fitted")
    said = 3 + 2 + len(tables["kind"]["classes"]) + 1 + len(FLAGS)
    size = {"verdict": len(of("a")) + len(FLAGS), "kind": len(of("a")), "note": said}
    for name, table in tables.items():
        assert loaded(table)[1].shape == (size[name], len(table["classes"]))


ENCODERS = sorted(lexicon("extract_encoders"))
TEXTS = ["I prefer green tea over coffee", "the tank might be empty", "好的，收到"]


def encoder(name, vector=lambda text: np.eye(384, dtype=np.float32)[len(text) % 384]):
    """Models whose encoder has this digest, and the texts that it was asked of."""
    asked = []

    def encode(texts):
        asked.extend(texts)
        return np.array([vector(text) for text in texts], np.float32)

    recipe = {"encoder": {"weights": name, "instruction": "query: "}}
    return Models(encode=encode, recipes=recipe), asked


def verdicts(models):
    notes = from_rows([{"id": str(n), "text": text} for n, text in enumerate(TEXTS)])
    return judged_notes(notes, Context(NOW, models=models))[0].drop("args")


@pytest.mark.parametrize("name", ENCODERS)
def test_the_numbers_of_an_encoder_fit_those_of_the_letters(name):
    letters, own = lexicon("extract_fitted"), lexicon("extract_encoders")[name]
    assert sorted(own) == sorted(letters)
    for model, table in own.items():
        assert table["classes"] == letters[model]["classes"]
    assert loaded(own["verdict"])[1].shape[0] == loaded(own["kind"])[1].shape[0]
    assert loaded(own["note"])[1].shape == loaded(letters["note"])[1].shape
    assert len(of("a")) == WIDTH


def test_what_letters_and_vectors_say_is_added_up():
    draw = np.random.default_rng(3)
    names, sizes = ("a", "b"), (WIDTH + 2, 4)
    letters, vectors = ((names, draw.normal(size=(n, 2)), draw.normal(size=2)) for n in sizes)
    x, cues, vector = draw.normal(size=(1, WIDTH)), draw.normal(size=(1, 2)), draw.normal(size=4)
    _, weights, bias = joined(letters, vectors)
    said = np.hstack([x, cues]) @ letters[1] + letters[2] + vector @ vectors[1] + vectors[2]
    assert np.hstack([x, vector[None], cues]) @ weights + bias == pytest.approx(said)


def test_an_encoder_whose_weights_are_known_is_asked_once_of_each_text_in_its_own_way():
    models, asked = encoder(ENCODERS[0])
    first, again = verdicts(models), verdicts(models)
    assert first.equals(again)
    assert not first.equals(verdicts(Models()))
    assert {f"query: {text}" for text in TEXTS} <= set(asked)
    assert len(asked) == 2 * len(set(asked))


def test_a_vector_speaks_for_what_it_was_fitted_to():
    table = lexicon("extract_encoders")[ENCODERS[0]]["kind"]
    toward = loaded(table)[1][:, table["classes"].index("lesson")]
    models, _ = encoder(ENCODERS[0], lambda _: toward / np.linalg.norm(toward))
    known = Features(beside(models))
    shown = known.weighed("kind", known.of(pl.Series(TEXTS)))
    assert (shown["lesson"] > scores("kind", pl.Series(TEXTS))["lesson"]).all()


@pytest.mark.parametrize("models", [Models(), encoder("another")[0], Models(lambda _: [])])
def test_an_encoder_without_weights_changes_no_verdict(models):
    assert beside(models) is None
    assert verdicts(models).equals(verdicts(Models()))


BORDERS = {
    "Never deploy on a Friday": "procedure",
    "We lost a day to the Friday release, so nothing is released on a Friday any more": "lesson",
    "Short answers, please, no bullet points": "preference",
    "Invoices go out within two days": "procedure",
    "Dark theme everywhere, light mode hurts my eyes": "preference",
    "The dog is called Rufus": "entity",
    "Lena is my sister-in-law": "relationship",
    "Billing depends on the auth service": "relationship",
    "The office has no lift": "fact",
    "The migration is at step 3, waiting for the auditors": "project_state",
    "We chose Postgres for the ledger": "project_state",
    "The printer's address is 10.2.0.9": "entity",
    "I moved to Porto in May": "fact",
    "升级前先备份数据库": "procedure",
    "上次没备份就升级，丢了两天数据，以后升级前一定先备份": "lesson",
    "回答短一点，不要列表": "preference",
    "小林是我表妹": "relationship",
    "我家的狗叫豆包": "entity",
    "办公室没有电梯": "fact",
    "迁移做到第三步，等审计": "project_state",
    "The dentist's number is 01632 960 118": "entity",
    "My aunt lives in Leeds": "fact",
    "Marek can't stand onions, so none in the food when he is over": "preference",
    "Ada is allergic to nuts": "fact",
    "Granddad's blood group is B negative": "entity",
    "The hearing is on 14 November at ten": "project_state",
    "The passport is valid until May 2031": "fact",
    "The library opens at nine": "fact",
    "Lights out at 8.45 for the juniors, always": "procedure",
    "游泳教练姓何": "relationship",
    "牙医的电话是 0571-8801 2230": "entity",
    "我姑姑住在郑州": "fact",
    "我儿子对花生过敏": "fact",
    "开庭定在十一月十四号": "project_state",
    "护照2031年5月到期": "fact",
}
"""Sentences on the border of two kinds, with the one that wins (docs/records.md)."""


def test_on_the_border_of_two_kinds_the_one_wins_that_the_page_says():
    shares = kinds(pl.Series([*BORDERS]))
    told = [max(row, key=row.get) for row in shares.to_dicts()]
    assert dict(zip(BORDERS, told, strict=True)) == BORDERS


def test_labelled_notes_are_read_as_when_the_models_were_fitted():
    notes = labelled(NOTES / "first.jsonl")
    told = figures(notes, read(notes))
    assert told["right_action"] / told["notes"] >= 0.95
    assert told["found"] / told["facts"] >= 0.93
    assert told["made_whole"] / told["made"] >= 0.90
    assert told["lost"] / told["worth"] <= 0.01
