"""A judge behind an endpoint: what is sent, what counts as an answer, and what trouble comes to."""

import json
from dataclasses import replace

import pytest

from memops.errors import MemopsError
from memops.models.endpoint_judge import EndpointJudge, parsed
from memops.policy import Judge
from memops.verdicts import TURNED, VERDICTS, Pair, Side
from tests.model_server import Model, refuses

QUICK = Judge(model="m", pause=0.01, seconds=5.0)
PAIRS = [Pair(Side(f"a{n}", "home", "2026-01-01T00:00:00Z", "MEMORY.md"), Side(f"b{n}")) for n in range(50)]  # fmt: skip


def says(verdict):
    """A server's reply: the same verdict on each pair, or what a function says of its texts."""

    def reply(user):
        asked = json.loads(user)["pairs"]
        said = [verdict(p["a"]["text"], p["b"]["text"]) if callable(verdict) else verdict for p in asked]  # fmt: skip
        rows = [{"n": p["n"], "reason": "so", "verdict": v} for p, v in zip(asked, said, strict=True)]  # fmt: skip
        return json.dumps({"answers": rows})

    return reply


@pytest.fixture
def served():
    made = []

    def start(say):
        made.append(Model(say))
        return made[-1], replace(QUICK, endpoint=made[-1].url)

    yield start
    for model in made:
        model.close()


def verdicts(judge, pairs=PAIRS):
    return [said.verdict for said in judge(pairs)]


def test_a_request_holds_one_object_of_at_most_twenty_pairs_and_nothing_else(served):
    model, policy = served(says("both_hold"))
    assert set(verdicts(EndpointJudge(replace(policy, pairs=500)))) == {"both_hold"}
    sent = [json.loads(user) for user in model.asked]
    assert sorted(len(one["pairs"]) for one in sent) == [10, 20, 20]
    assert all(one.keys() == {"task", "pairs"} and one["task"] == "judge pairs" for one in sent)
    first = next(p for one in sent for p in one["pairs"] if p["a"]["text"] == "a0")
    assert first["a"] == PAIRS[0].a._asdict() and first["b"]["about"] is None
    path, headers, body = model.headers[0]
    assert path == "/v1/chat/completions" and "Authorization" not in headers
    assert (body["model"], body["temperature"], len(body["messages"])) == ("m", 0, 2)
    assert "stream" not in body


def test_what_a_pair_would_be_changed_for_is_asked_both_ways_round(served):
    model, policy = served(says(lambda a, b: "a_replaces_b" if a < b else "b_replaces_a"))
    assert set(verdicts(EndpointJudge(policy))) == {"a_replaces_b"}
    assert len(model.asked) == 6
    model, policy = served(says("a_replaces_b"))
    assert set(verdicts(EndpointJudge(policy))) == {"unsure"}
    model, policy = served(says("both_hold"))
    assert set(verdicts(EndpointJudge(policy))) == {"both_hold"} and len(model.asked) == 3


def test_answers_are_kept_by_hash_and_no_text_is(served, tmp_path):
    model, policy = served(says("same"))
    first = EndpointJudge(policy, tmp_path)
    assert set(verdicts(first)) == {"same"} and len(model.asked) == 6
    again = EndpointJudge(policy, tmp_path)
    assert verdicts(again, PAIRS[::-1]) == verdicts(first) and len(model.asked) == 6
    assert not any(b"home" in p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    other = EndpointJudge(replace(policy, model="another"), tmp_path)
    verdicts(other)
    assert len(model.asked) == 12 and other.recipe() != first.recipe()


@pytest.mark.parametrize(
    "reply",
    [
        "prose", "", "null", "[]", "{}", '{"answers": []}', '{"answers": [1]}', '{"answers": {}}',
        '{"answers": [{"n": 1, "verdict": "same"}]}',
        '{"answers": [{"n": 1, "reason": "r", "verdict": "merge"}]}',
        '{"answers": [{"n": 2, "reason": "r", "verdict": "same"}]}',
        '{"answers": [{"n": true, "reason": "r", "verdict": "same"}]}',
        '{"answers": [{"n": 1, "reason": 7, "verdict": "same"}]}',
        '{"answers": [{"n": 1, "reason": "r", "verdict": ["same"]}]}',
        '{"answers": [{"n": 1, "reason": "r", "verdict": "same", "op": "purge"}]}',
        '{"answers": [{"n": 1, "reason": "r", "verdict": "same"}], "approve": true}',
        '{"answers": [{"n": 1, "reason": "r", "verdict": "same"}, {"n": 1, "reason": "r", "verdict": "same"}]}',
        '{"answers": [{"n": 1, "reason": "r", "verdict": "same"}',
        "[" * 100_000,
    ],
)  # fmt: skip
def test_anything_but_the_answers_that_were_asked_for_counts_as_none(reply):
    assert parsed(reply, 1) is None


@pytest.mark.parametrize("verdict", VERDICTS)
def test_an_answer_is_read(verdict):
    row = {"n": 1, "reason": "\u202e<b>\x00", "verdict": verdict}
    assert parsed(json.dumps({"answers": [row]}), 2) == {1: verdict}
    assert TURNED.get(TURNED.get(verdict, verdict), verdict) == verdict


@pytest.mark.parametrize("say", [refuses(500), refuses(404), refuses(401), lambda user: "no json"])
def test_trouble_leaves_every_pair_unsure_and_raises_nothing(served, say, tmp_path):
    _, policy = served(say if say.__name__ == "<lambda>" else lambda user: say)
    judge = EndpointJudge(policy, tmp_path)
    assert set(verdicts(judge)) == {"unsure"} and judge.figures["waiting"]
    assert not list(tmp_path.iterdir())


def test_the_caps_of_tokens_hold(served):
    model, policy = served(says("both_hold"))
    assert set(verdicts(EndpointJudge(replace(policy, tokens=100)))) == {"unsure"}
    assert model.asked == []


def test_an_address_with_a_user_in_it_is_refused():
    with pytest.raises(MemopsError, match=r"judge\.endpoint"):
        EndpointJudge(Judge(endpoint="http://me:you@127.0.0.1/v1", model="m"))
