"""The project uses itself: the sample stores are gated by the sample suites' recorded baselines."""

import sqlite3

import pytest

from .stores.samples import polluted

NOW = "2026-06-01T12:00:00Z"


@pytest.fixture
def stores(memops):
    return memops, polluted(memops.folder / "s")


@pytest.mark.parametrize("kind", ["clawseed", "openclaw"])
def test_the_sample_store_passes_before_and_after_its_night(stores, kind):
    memops, folder = stores
    address = f"{kind}:{folder / kind}"
    said = memops("gate", address, "--suite", f"sample/{kind}", "--now", NOW)
    assert (memops.code, said["verdict"], said["lost"]) == (0, "pass", [])
    assert memops("suite", "check", f"sample/{kind}", "--store", address, "--now", NOW)["ok"]
    night = memops("nightly", address, "--suite", f"sample/{kind}", "--now", NOW, "--approve")[0]
    assert night["applied"] > 50
    said = memops("gate", address, "--suite", f"sample/{kind}", "--now", NOW)
    assert memops.code == 0, said["reasons"]
    again = memops("nightly", address, "--suite", f"sample/{kind}", "--now", NOW)[0]
    assert again["ops"] == 0


def test_a_store_that_lost_its_evidence_fails_and_names_the_queries(stores, tmp_path):
    memops, folder = stores
    db = sqlite3.connect(folder / "clawseed" / "memory" / "brain.db")
    db.execute("DELETE FROM memories WHERE category = 'core' AND rowid % 2 = 0")
    db.commit()
    db.close()
    junit = tmp_path / "junit.xml"
    argv = ("gate", f"clawseed:{folder / 'clawseed'}", "--suite", "sample/clawseed", "--now", NOW)
    said = memops(*argv, "--junit", junit)
    assert (memops.code, said["verdict"]) == (30, "fail")
    text = junit.read_text(encoding="utf-8")
    assert said["lost"]
    assert all(row["query_id"] in text for row in said["lost"])


def test_a_night_that_would_lose_recall_changes_nothing(stores, monkeypatch):
    from memops import rules
    from memops.plan import delete

    def forget_everything(records, ctx):
        """Delete."""
        return delete(records.filter(~records["pinned"]), "x")

    memops, folder = stores
    monkeypatch.setattr("memops.steps.RULES", (forget_everything,))
    monkeypatch.setattr(rules, "RULES", (forget_everything,))
    path = folder / "openclaw"
    before = {p: p.read_bytes() for p in path.rglob("*.md")}
    night = memops(
        "nightly", f"openclaw:{path}", "--suite", "sample/openclaw", "--now", NOW, "--approve"
    )[0]
    assert (memops.code, night["verdict"], night["applied"]) == (30, "fail", 0)
    assert night["blame"]["rule"] == "forget_everything" and night["blame"]["lost"]
    assert night["stopped"] == "recall would get worse, by forget_everything"
    assert {p: p.read_bytes() for p in path.rglob("*.md")} == before
