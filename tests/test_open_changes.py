"""What a night leaves for a person, and that they are asked about it once."""

import pytest

SOME = '[policy.unattended]\nrules = {"*" = "always", "merge_exact" = "never"}\n[policy.limits]\nshare = 1.0\n'
NIGHTS = [f"2026-06-0{n}T02:00:00Z" for n in range(1, 6)]

pytestmark = pytest.mark.earned


def secret():
    return {"id": "s", "kind": "fact", "text": "The password is " + "Tz9" + "-qv7Lm2-xR4"}


def configured(memops, path, more=""):
    text = f'[stores.home]\naddress = "jsonl:{path}"\n{SOME}{more}'
    (memops.folder / "memops.toml").write_text(text, encoding="utf-8")


def test_what_is_earned_is_done_first_and_the_rest_is_asked_once_until_there_is_more(memops, twins):
    path = memops.write("m.jsonl", [*twins[:4], secret()])
    configured(memops, path)
    (first,) = memops("nightly", "--now", NIGHTS[0])
    assert memops.code == 0
    assert first["applied"] == 1 and first["by_rule"]["redact_secrets"]
    assert first["open"] == {"merge_exact": first["waiting"]} and first["new"] == first["waiting"]
    assert "password is Tz9" not in path.read_text()
    (again,) = memops("nightly", "--now", NIGHTS[1])
    assert (again["waiting"], again["new"], again["applied"]) == (first["waiting"], 0, 0)
    memops.write("m.jsonl", [*twins[:6], secret()])
    (more,) = memops("nightly", "--now", NIGHTS[2])
    assert 0 < more["new"] < more["waiting"]
    done = memops("review", more["plan"], "--accept", "all")
    assert done["applied"] == more["waiting"] and memops("plan", f"jsonl:{path}")["ops"] == 0
    (none,) = memops("nightly", "--now", NIGHTS[3])
    assert (none["waiting"], none["new"], none["open"]) == (0, 0, {})


def test_no_text_is_kept_of_what_was_asked_and_a_damaged_list_asks_again(memops, twins):
    path = memops.write("m.jsonl", twins[:4])
    configured(memops, path)
    memops("nightly", "--now", NIGHTS[0])
    (kept,) = memops.state.glob("stores/*/asked.json")
    assert "depot" not in kept.read_text() and twins[0]["id"] + '"' not in kept.read_text()
    kept.write_text("[")
    (again,) = memops("nightly", "--now", NIGHTS[1])
    assert memops.code == 0 and again["new"] == again["waiting"] > 0


def test_a_plan_beyond_its_limits_waits_whole_and_is_asked_once(memops, twins):
    path = memops.write("m.jsonl", [*twins[:30], secret()])
    configured(memops, path)
    toml = memops.folder / "memops.toml"
    toml.write_text(toml.read_text().replace("share = 1.0", "records = 0\nsmall = 0"))
    (first,) = memops("nightly", "--now", NIGHTS[0])
    assert memops.code == 23 and first["waiting"] == first["ops"] == first["new"]
    (again,) = memops("nightly", "--now", NIGHTS[1])
    assert memops.code == 23 and (again["waiting"], again["new"]) == (first["ops"], 0)


def test_the_night_says_what_waits_and_how_to_look(memops, twins):
    configured(memops, memops.write("m.jsonl", twins[:4]))
    from memops.cli import run

    assert run(["--state", str(memops.state), "nightly", "--now", NIGHTS[0]]) == 0
    out = memops.capsys.readouterr().out
    plan = next(p.name for p in memops.state.glob("plans/*"))
    assert f"memops --state {memops.state} review {plan}" in out
    assert "wait for a person: merge_exact" in out
