"""A judge's say on pairs: what it withholds, adds and may not; and a cross-encoder as the judge."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from memops.context import Context, Models
from memops.errors import Corrupt, MemopsError, PlanRefused
from memops.judge.cascade import said_to
from memops.judge.conflicts import features, judged
from memops.models.encode import open_encoder
from memops.models.judge import CrossEncoderJudge
from memops.policy import Judge, Policy
from memops.rules import RULES, propose
from memops.rules.merge_near import merge_near
from memops.rules.supersede_conflicting import supersede_conflicting
from memops.schema import from_rows
from memops.stores import open_store
from memops.verdicts import BOTH_HOLD, CONFLICT, UNSURE, Verdict

NOW = datetime(2026, 10, 1, tzinfo=UTC)
OPEN = [  # what rules leave open: nothing differs that a merge would lose
    ("Rent is due on the 1st", "The 1st is when rent has to be paid"),
    ("每天 9:00 开晨会", "晨会在每天 9:00"),
    ("每天 9:00 开 sync 会", "sync 会在每天 9:00"),
]
APART = [  # what rules leave open, of one subject
    ("The office is quiet", "The office is noisy all day"),
    ("办公室整天很安静", "办公室整天吵得很"),
    ("staging 环境很稳定", "staging 环境老是挂"),
]
CLEAR = [  # what rules call a conflict
    ("The build takes 12 minutes", "The build takes 14 minutes"),
    ("构建要 12 分钟", "构建要 14 分钟"),
    ("CI 要 12 分钟", "CI 要 14 分钟"),
]
TURNED = [  # who does what to whom
    ("Alice trained Bob", "Bob trained Alice"),
    ("小王教小李开车", "小李教小王开车"),
    ("Luis 比 Marco 高", "Marco 比 Luis 高"),
]
SAME = [  # what rules call the same
    ("The build takes 12 minutes", "A build takes 12 min"),
    ("工资每月 15 号发", "每月 15 号发工资"),
    ("API 配额每周三重置", "每周三重置 API 配额"),
]


def store(*texts):
    rows = [{"id": f"r{n}", "text": t, "kind": "fact", "created_at": f"2026-0{n + 1}-01T00:00:00Z"} for n, t in enumerate(texts)]  # fmt: skip
    return from_rows(rows)


class Says:
    """A decider that says what a function says of each pair of texts."""

    name = "told"

    def __init__(self, say):
        self.say = say

    def recipe(self):
        return {"sha256": "of the model"}

    def __call__(self, pairs):
        return [Verdict(self.say(p.a.text, p.b.text), 0.98) for p in pairs]


class Fallible(Says):
    """One that does not tell how sure it is."""

    def __init__(self, word):
        self.word = word

    def __call__(self, pairs):
        return [Verdict(self.word)] * len(pairs)


def context(word, **policy):
    settings = Policy(judge=Judge(model="x", **{"decides": True, **policy}))
    judge = Says(word if callable(word) else lambda *_: word)
    models = Models(judge=judge, recipes={"judge": judge.recipe()})
    return Context(now=NOW, policy=settings, models=models)


def one(pair, ctx):
    found = judged(store(*pair), ctx)
    assert found.height == 1
    return found.row(0, named=True)


@cache
def plain(pair):
    return one(pair, Context(now=NOW))


@pytest.mark.parametrize("pair", OPEN)
def test_what_says_the_same_both_ways_is_merged_where_the_judge_may_decide(pair):
    assert not plain(pair)["same"] and plain(pair)["opposes"] is None
    assert one(pair, context("same"))["effect"] == "decided"
    assert merge_near(store(*pair), context("same")).height
    loose = one(pair, context("same", decides=False))
    assert (loose["same"], loose["effect"]) == (False, "review")
    assert merge_near(store(*pair), context("same", decides=False)).is_empty()


@pytest.mark.parametrize("pair", CLEAR + TURNED)
def test_nothing_that_differs_is_merged_whatever_the_judge_says(pair):
    for decides in (True, False):
        frame, ctx = store(*pair), context("same", decides=decides)
        assert not judged(frame, ctx)["same"].any() and merge_near(frame, ctx).is_empty()


WORKSPACE = {
    "MEMORY.md": "# Kept\n\n## Kiln\n- Fires to 1,220 degrees, as the maker says\n\n## Rota\n- Kai opens on Mondays\n",
    "USER.md": "# User\n- Kai opens on Mondays, as ever\n",
    "memory/2026-05-01.md": "# 2026-05-01\n\n## Kiln\n- It fires to 1,220 degrees and no more\n\n## Firing\n- Fires twelve hours, to 1,220 degrees\n\n"
    "## Checks\n- Gas: half full\n- Flue swept\n",
    "memory/2026-05-04.md": "# 2026-05-04\n\n## Checks\n- Gas: half full\n- The flue was swept\n",
}


def test_by_a_judges_word_alone_nothing_leaves_a_curated_file_nor_a_value_its_day(tmp_path):
    (tmp_path / "memory").mkdir()
    for name, text in WORKSPACE.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    records = open_store(f"openclaw:{tmp_path}").read()
    topics = [{"fires", "degrees"}, {"kai", "mondays,"}, {"gas:"}, {"flue"}]
    topic = {t: next(n for n, w in enumerate(topics) if w & {*t.lower().split()}) for t in records["text"]}  # fmt: skip
    judge = context(lambda a, b: "same" if topic[a] == topic[b] else BOTH_HOLD)
    gone = merge_near(records, judge).filter(pl.col("code") == "merge.judged")
    texts = records.filter(pl.col("id").is_in(gone["id"].implode()))["text"]
    assert set(texts) == {"It fires to 1,220 degrees and no more", "The flue was swept"}


@pytest.mark.parametrize("pair", APART)
def test_what_the_judge_calls_a_contradiction_steps_back_by_time_if_it_may_decide(pair):
    assert plain(pair)["opposes"] is None
    (change,) = supersede_conflicting(store(*pair), context(CONFLICT)).to_dicts()
    assert (change["id"], change["superseded_by"]) == ("r0", "r1")
    assert change["code"] == "conflict.judged"
    assert one(pair, context(CONFLICT, decides=False))["effect"] == "review"
    assert supersede_conflicting(store(*pair), context(CONFLICT, decides=False)).is_empty()


def test_neither_of_two_numbered_things_replaces_the_other_whatever_the_judge_says():
    rooms = ("Room 12 has a projector", "Room 14 has a broken projector")
    assert one(rooms, context(CONFLICT))["effect"] == "vetoed"
    assert supersede_conflicting(store(*rooms), context(CONFLICT)).is_empty()


@pytest.mark.parametrize("word", ["same", BOTH_HOLD])
@pytest.mark.parametrize("pair", CLEAR)
def test_a_conflict_that_a_judge_who_may_not_decide_denies_is_withheld(pair, word):
    assert plain(pair)["opposes"] == "value"
    assert one(pair, context(CONFLICT, decides=False))["opposes"] == "value"
    row = one(pair, context(word, decides=False))
    assert (row["same"], row["opposes"], row["effect"]) == (False, None, "withheld")
    assert supersede_conflicting(store(*pair), context(word, decides=False)).is_empty()


@pytest.mark.parametrize("word", [CONFLICT, BOTH_HOLD])
@pytest.mark.parametrize("pair", SAME)
def test_a_merge_that_a_judge_who_may_not_decide_speaks_against_is_withheld(pair, word):
    assert plain(pair)["same"] and one(pair, context("same", decides=False))["same"]
    row = one(pair, context(word, decides=False))
    assert (row["same"], row["opposes"], row["effect"]) == (False, None, "withheld")
    assert merge_near(store(*pair), context(word, decides=False)).is_empty()


@pytest.mark.parametrize("pair", CLEAR + SAME)
def test_what_the_rules_are_sure_of_gives_way_only_to_a_judge_who_is_surely_right(
    pair, monkeypatch
):
    assert one(pair, context(BOTH_HOLD))["effect"] == "withheld"
    for right, effect in ((0.98, "withheld"), (0.8, None)):
        ctx = context(BOTH_HOLD)
        ctx = replace(ctx, models=replace(ctx.models, judge=Fallible(BOTH_HOLD)))
        monkeypatch.setattr("memops.judge.cascade.accuracy", lambda tally, right=right: right)
        told, alone = one(pair, ctx), plain(pair)
        assert told["effect"] == effect
    assert (told["same"], told["opposes"]) == (alone["same"], alone["opposes"])


def test_what_is_unsure_changes_nothing():
    row = one(OPEN[0], context(UNSURE))
    assert (row["same"], row["opposes"], row["effect"]) == (False, None, None)
    assert one(CLEAR[0], context(UNSURE, decides=False))["opposes"] == "value"


def test_one_answer_of_a_judge_who_may_often_be_wrong_is_doubted():
    ctx = context("same")
    ctx = replace(ctx, models=replace(ctx.models, judge=Fallible("same")))
    assert one(OPEN[0], ctx)["effect"] == "doubted"


def test_the_evidence_says_what_was_asked():
    rows = [(f"{s}-{n}", t, s) for s in ("甲", "b") for n, t in enumerate(t for p in (*OPEN, *APART) for t in p)]  # fmt: skip
    frame = from_rows([{"id": i, "text": t, "scope": s, "kind": "fact", "created_at": f"2026-01-{n + 1:02}T00:00:00Z"} for n, (i, t, s) in enumerate(rows)])  # fmt: skip

    def by_text(*pair):
        return "same" if {*pair} in together else BOTH_HOLD

    together = [{*pair} for pair in OPEN]
    ctx = context(by_text)
    whole = propose(frame, ctx, RULES)
    assert whole[0].filter(rule="merge_near").height >= 6
    said = said_to(ctx)
    decided = [row for row in said if row["effect"] == "decided"]
    assert len(decided) == 6 and {row["model"] for row in said} == {"of the model"}
    assert all(len(row["a"]) == 1 and row["verdict"] == "same" for row in decided)
    assert "text" not in json.dumps(said) and said_to(Context(now=NOW)) == []


def test_without_a_judge_nothing_is_asked(monkeypatch):
    monkeypatch.setattr("memops.judge.cascade._sides", lambda *_: 1 / 0)
    assert "word" not in judged(store(*OPEN[0]), Context(now=NOW)).columns


@pytest.mark.parametrize(
    ("pair", "why"),
    [
        (("The ferry runs on Sundays in winter", "The ferry does not run on Sundays in winter"), "sign"),
        (("Guests are never without a key to the boathouse", "Every guest has a boathouse key"), None),
        (("小屋冬天开放，周日也有船", "小屋冬天不开放，周日也有船"), "sign"),
    ],
)  # fmt: skip
def test_one_denial_tells_apart_what_is_else_worded_alike(pair, why):
    row = one(pair, context("same"))
    assert (row["veto_same"], row["same"]) == (why, why is None)


@pytest.mark.parametrize(
    ("pair", "why"),
    [
        (("Marlow paid the deposit", "The deposit was paid by Marlow"), "same"),
        (("The sauna is closed on Sundays", "The sauna is closed on Mondays"), None),
        (("Locker 4 holds the nets", "Locker 9 holds the ropes"), "numbered"),
    ],
)
def test_what_says_the_same_replaces_nothing_whatever_a_model_says(pair, why):
    a, b = pair
    assert features([{"a": a, "b": b}])["veto_conflict"].to_list() == [why]


class Oracle:
    """Says what is true of each pair of texts, or is wrong about some of them."""

    name = "oracle"

    def __init__(self, truth):
        self.truth = truth

    def recipe(self):
        return {}

    def __call__(self, pairs):
        return [Verdict(self.truth[frozenset((p.a.text, p.b.text))]) for p in pairs]


def test_a_bench_of_pairs_does_what_a_night_does_with_a_judge():
    from memops.evaluation.bench import judge_pairs

    said = {
        "same": OPEN,
        CONFLICT: [*APART, *CLEAR],
        BOTH_HOLD: [("Rosa likes rye", "Rosa bakes rye")],
    }
    pairs = [{"id": f"{word}-{n}", "a": a, "b": b, "word": word} for word, found in said.items() for n, (a, b) in enumerate(found * 3)]  # fmt: skip
    truth = {frozenset((p["a"], p["b"])): p["word"] for p in pairs}
    policy = Policy(judge=Judge(model="x", decides=True))
    rows = list(judge_pairs(pairs, policy, Models(judge=Oracle(truth))))
    plain = list(judge_pairs(pairs))
    assert [row["id"] for row in rows] == [pair["id"] for pair in pairs]
    for pair, row in zip(pairs, rows, strict=True):
        assert (row["duplicate"], row["conflict"]) == (
            pair["word"] == "same",
            pair["word"] == CONFLICT,
        )
    assert [row["conflict"] for row in plain] != [row["conflict"] for row in rows]
    unsure = Oracle(dict.fromkeys(truth, UNSURE))
    assert not any(row["duplicate"] for row in judge_pairs(pairs, policy, Models(judge=unsure)))


def test_a_bench_of_pairs_does_what_a_night_does_without_a_judge():
    from memops.evaluation.bench import judge_pairs

    pairs = [*OPEN, *APART, *CLEAR, *TURNED, *SAME, ("The lake is cold", "The lake is cold")]
    rows = list(judge_pairs([{"a": a, "b": b} for a, b in pairs]))
    stores = [
        store(*pair).with_columns(id=pl.format("{}-{}", pl.lit(n), "id"), scope=pl.lit(f"s{n}"))
        for n, pair in enumerate(pairs)
    ]
    plan, _ = propose(pl.concat(stores), Context(now=NOW), RULES)
    of = plan.with_columns(n=pl.col("id").str.extract(r"^(\d+)-"))
    for n, (pair, row) in enumerate(zip(pairs, rows, strict=True)):
        done = set(of.filter(n=str(n))["intent"])
        assert ("merge" in done, "supersede" in done) == (row["duplicate"], row["conflict"]), pair
    assert sum(row["duplicate"] for row in rows) >= 4 <= sum(row["conflict"] for row in rows) + 1


LABELS = {"id2label": {"0": "CONTRADICTION", "1": "ENTAILMENT", "2": "NEUTRAL"}}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A cross-encoder with three labels: one layer, weights from a seed, words of the tests."""
    pytest.importorskip("sentence_transformers")
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder = tmp_path_factory.mktemp("judge")
    letters = sorted({c for pair in (*OPEN, *APART, *CLEAR, *SAME) for t in pair for c in t.lower()})  # fmt: skip
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{c}" for c in letters)]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    torch.manual_seed(7)
    size = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}  # fmt: skip
    config = BertConfig(vocab_size=len(words), max_position_embeddings=64, num_labels=3, **size)
    config.id2label = {int(n): name for n, name in LABELS["id2label"].items()}
    config.label2id = {name: n for n, name in config.id2label.items()}
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


@pytest.mark.models
def test_a_cross_encoder_says_the_same_of_a_pair_whatever_is_asked_beside_it(tiny, tmp_path):
    pairs = [*OPEN, *APART, *SAME, ("long " * 300, "text")]
    alone = np.concatenate([CrossEncoderJudge(str(tiny)).probabilities([pair]) for pair in pairs])
    judge = CrossEncoderJudge(str(tiny), tmp_path)
    together = judge.probabilities(pairs)
    assert together.shape == (10, 3) and (together == alone).all()
    assert np.abs(together.sum(axis=1) - 1).max() < 2e-4
    assert judge.probabilities([]).shape == (0, 3)
    again = CrossEncoderJudge(str(tiny), tmp_path)
    assert (again.probabilities(pairs[::-1]) == together[::-1]).all() and again._model is None
    assert not any(b"rent" in p.read_bytes().lower() for p in tmp_path.rglob("*.parquet"))


@pytest.mark.models
def test_a_model_says_how_much_of_a_text_is_in_its_vocabulary(tiny, tmp_path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    word = Transformer(str(tiny))
    SentenceTransformer(modules=[word, Pooling(16)], device="cpu").save(str(tmp_path / "model"))
    encoder = open_encoder(str(tmp_path / "model"))
    known, unknown = OPEN[0][0], "\u16a0 \u16a1 \u16a2"
    assert encoder.reads([known]) == 1.0 and encoder.reads([unknown]) == 0.0
    assert 0.0 < encoder.reads([known, unknown]) < 1.0 and encoder.reads([]) == 1.0


@pytest.mark.models
def test_an_encoder_is_named_by_what_its_files_hold_not_by_parts_made_at_random(tiny, tmp_path):
    from safetensors.torch import load_file, save_file
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    parts = [Transformer(str(tiny)), Pooling(16)]
    SentenceTransformer(modules=parts, device="cpu").save(str(tmp_path / "model"))
    (weights,) = (tmp_path / "model").rglob("*.safetensors")
    held = load_file(weights)
    save_file(
        {name: w for name, w in held.items() if "pooler" not in name}, weights, {"format": "pt"}
    )
    first, again = (open_encoder(str(tmp_path / "model")).recipe() for _ in range(2))
    assert first == again
    held[min(held)] += 1
    save_file(held, weights, {"format": "pt"})
    assert open_encoder(str(tmp_path / "model")).recipe() != first


@pytest.mark.models
def test_a_plan_with_a_cross_encoder_is_made_again_to_the_byte_and_names_its_weights(memops, tiny, tmp_path):  # fmt: skip
    path = tmp_path / "m.jsonl"
    rows = [{"id": f"r{n}", "text": t, "kind": "fact", "created_at": f"2026-01-{n + 1:02}T00:00:00Z"} for n, t in enumerate(t for p in (*OPEN, *SAME) for t in p)]  # fmt: skip
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    config = f'[policy.judge]\nmodel = "{tiny}"\ndecides = true\nconfidence = 0.05\n'
    (tmp_path / "memops.toml").write_text(config)
    made = memops("plan", f"jsonl:{path}", "--now", NOW.isoformat())
    again = memops("plan", made["snapshot"], "--now", NOW.isoformat())
    assert again["plan"] == made["plan"]
    folder = Path(made["path"])
    header = json.loads((folder / "plan.json").read_bytes())
    model = header["basis"]["models"]["judge"]["sha256"]
    said = [json.loads(line) for line in (folder / "judged.jsonl").open(encoding="utf-8")]
    assert said and {row["model"] for row in said} == {model} and len(model) == 64
    assert {"verdict", "probability", "decider", "effect"} <= said[0].keys()
    ids = [row["id"] for row in map(json.loads, (folder / "ops.jsonl").open(encoding="utf-8"))]
    changes = [c for id in ids for c in memops("explain", made["plan"], id)["changes"]]
    told = [pair["judge"] for change in changes for pair in change["pairs"] if "judge" in pair]
    assert told and all(word["model"] == model for word in told)
    decided = [pair["decided"] for change in changes for pair in change["pairs"]]
    named = ("decider", "verdict", "probability", "similarity")
    assert all(row[name] is not None for row in decided for name in named)
    assert {row["decider"] for row in decided} <= {"rules", "cross-encoder"}
    listed = memops("duplicates", f"jsonl:{path}", "--now", NOW.isoformat(), "--near", "3")
    assert {"verdict", "effect"} <= listed[0].keys()
    (folder / "judged.jsonl").write_text("{}\n")
    from memops.state.planfile import load

    with pytest.raises(PlanRefused, match="as it was made"):
        load(folder, tmp_path).judged()


@pytest.mark.models
def test_only_weights_in_safetensors_with_known_labels_are_read(tiny, tmp_path):
    def copy(**config):
        folder = tmp_path / f"m{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        (folder / "model.safetensors").write_bytes((tiny / "model.safetensors").read_bytes())
        said = json.loads((tiny / "config.json").read_text()) | config
        (folder / "config.json").write_text(json.dumps(said))
        return folder

    def refused(folder, match, kind=MemopsError):
        with pytest.raises(kind, match=match):
            CrossEncoderJudge(str(folder))

    refused("/no/such/folder", "no such folder")
    refused(tmp_path, "no safetensors")
    refused(
        copy(id2label={"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}), "its labels are label_0"
    )
    with_code = copy()
    (with_code / "modeling.py").write_text("raise SystemExit")
    refused(with_code, "own code is not run")
    pickled = copy()
    (pickled / "1_Dense").mkdir()
    (pickled / "1_Dense" / "pytorch_model.bin").write_bytes(b"")
    refused(pickled, "pickles are not read")
    broken = copy()
    (broken / "config.json").write_text("{")
    refused(broken, "no configuration", Corrupt)
    first, other = copy(), copy()
    data = bytearray((other / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (other / "model.safetensors").write_bytes(bytes(data))
    digests = [CrossEncoderJudge(str(f)).recipe()["sha256"] for f in (first, other, first)]
    assert digests[0] == digests[2] != digests[1]
    empty = copy()
    (empty / "model.safetensors").write_bytes(b"no tensors")
    with pytest.raises(MemopsError, match="cannot be loaded"):
        CrossEncoderJudge(str(empty)).probabilities([("a", "b")])


def test_a_judge_without_its_package_is_told_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MemopsError) as raised:
        CrossEncoderJudge(str(tmp_path))
    assert raised.value.hint == "pip install 'memops[models]'"
