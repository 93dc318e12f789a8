import polars as pl
import pytest

from memops.context import Context
from memops.plan import outcome
from memops.rules import RULES, propose
from memops.schema import LIVE
from memops.stores import open_store
from tests.test_samples import samples


@pytest.fixture(scope="module")
def nights(tmp_path_factory):
    """Records of both sample stores before and after the rules of a night."""
    out = tmp_path_factory.mktemp("nights")
    samples.main(out)
    made = {}
    for kind in ("clawseed", "openclaw"):
        before = open_store(f"{kind}:{out / kind}").read()
        plan, _ = propose(before, Context(now=samples.NOW), RULES)
        made[kind] = before, outcome(before, plan)
    return made


def _live(records):
    return "\n".join(records.filter(LIVE)["text"])


@pytest.mark.parametrize("kind", ["clawseed", "openclaw"])
def test_a_night_loses_no_fact_that_stands_alone(nights, kind):
    facts = [line[-1] for line in samples._texts(kind, samples.NOW, samples.SEED)["facts"]]
    live = _live(nights[kind][1])
    assert [fact for fact in facts if fact not in live] == []


@pytest.mark.parametrize("kind", ["clawseed", "openclaw"])
def test_a_night_keeps_one_of_every_group_of_duplicates(nights, kind):
    groups = samples._texts(kind, samples.NOW, samples.SEED)["duplicates"]
    texts = [[line if isinstance(line, str) else line[1] for line in group] for group in groups]
    live = _live(nights[kind][1])
    assert [group[0] for group in texts if not any(text in live for text in group)] == []


@pytest.mark.parametrize("kind", ["clawseed", "openclaw"])
def test_a_night_merges_what_is_written_twice_but_tears_nothing_out_of_a_list(nights, kind):
    before, after = nights[kind]
    live = after.filter(LIVE).group_by("scope", "kind", "text").len().filter(pl.col("len") > 1)
    assert live.filter(pl.col("kind") == "fact").height == 0
    groups = samples._texts(kind, samples.NOW, samples.SEED)["duplicates"]
    texts = [[line if isinstance(line, str) else line[1] for line in group] for group in groups]
    copies = lambda records: [  # noqa: E731
        records.filter(LIVE, pl.col("text").is_in(group)).height for group in texts
    ]
    fewer = [now < was for was, now in zip(copies(before), copies(after), strict=True)]
    assert sum(fewer) >= len(fewer) / 2 if kind == "clawseed" else not any(fewer)


@pytest.mark.parametrize("kind", ["clawseed", "openclaw"])
def test_no_key_or_card_is_left_after_a_night(nights, kind):
    hidden = samples.secrets()
    names = ("model_key", "git_token", "cloud_id", "pay_key", "citizen_id", "bank_card")
    before, after = ("\n".join(records["text"]) for records in nights[kind])
    held = [name for name in names if hidden[name] in before]
    assert len(held) >= 4 and [name for name in held if hidden[name] in after] == []
