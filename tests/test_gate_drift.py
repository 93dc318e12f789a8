"""Many nights of which each loses little: what they lose together is found, too."""

import json

from memops.plan import delete

WORDS = [
    "anvil",
    "barge",
    "cedar",
    "delta",
    "ember",
    "flint",
    "grove",
    "harbor",
    "ivory",
    "jetty",
    "kettle",
    "lantern",
    "meadow",
    "nickel",
    "orchard",
    "pepper",
    "quarry",
    "ribbon",
    "saddle",
    "timber",
    "umber",
    "velvet",
    "walnut",
    "yarrow",
    "zephyr",
    "alder",
    "basalt",
    "copper",
    "dahlia",
    "estuary",
]


def test_a_night_fails_whose_loss_comes_on_top_of_others_since_the_baseline(memops, monkeypatch):
    folder = memops.folder / "s"
    (folder / "suite").mkdir(parents=True)
    rows = [
        {"id": f"r{n}", "text": f"The {word} stands in bay {n} of the yard", "kind": "fact"}
        for n, word in enumerate(WORDS)
    ]
    (folder / "facts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    asked = [
        {"query_id": f"q{n}", "text": f"where does the {word} stand", "relevant": [f"r{n}"]}
        for n, word in enumerate(WORDS)
    ]
    (folder / "suite" / "queries.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in asked), "utf-8"
    )
    (folder / "suite" / "suite.toml").write_text(
        'measures = ["R@5"]\nretriever = "bm25"\n', "utf-8"
    )
    address, suite = f"jsonl:{folder / 'facts.jsonl'}", str(folder / "suite")

    def forget_one(records, ctx):
        """Delete the one of the day."""
        return delete(records.filter(id=f"r{ctx.now.day}"), "x")

    monkeypatch.setattr("memops.steps.RULES", (forget_one,))
    memops("gate", address, "--suite", suite, "--accept", "--now", "2026-06-01T00:00:00Z")
    for night in range(12):
        now = f"2026-06-{night + 2:02}T00:00:00Z"
        (said,) = memops("nightly", address, "--suite", suite, "--now", now, "--approve")
        if memops.code == 30:
            break
    assert memops.code == 30 and said["applied"] == 0
    assert said["why"][0] == "this loss comes on top of others since the baseline was recorded"
    assert 2 <= night < 10
