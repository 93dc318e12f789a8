"""What people read on a terminal: plurals, lines to copy, and texts that wrap where they should."""

import os
import shlex
import subprocess
import sys
import tomllib

import click
import pytest

from memops.cli import run
from memops.cli.output import _PLAIN, counted, fields, moment, say
from memops.policy import Policy, from_table
from memops.settings import Settings

ROWS = [
    ("The depot opens at 7:30", "2026-01-01"),
    ("The depot opens at 7:30!", "2026-01-02"),
    ("用户住在泉州。", "2026-01-03"),
    ("用户现在住在宁波。", "2026-02-01"),
]


@pytest.fixture
def told(memops, capsys):
    """Run a command for a person; its text."""

    def text(*argv):
        memops.code = run(["--state", str(memops.state), *map(str, argv)])
        return capsys.readouterr().out

    return text


def test_a_mask_that_is_coloured_is_printed_as_it_is(tmp_path, capsys):
    line = " - The API key for the mailer is [secret:model-key]"
    with click.Context(click.Command("plan"), obj=Settings(tmp_path)):
        say("\n".join(["two changes", click.style(line, fg="red")]))
    assert capsys.readouterr().out == f"two changes\n{line}\n"


@pytest.fixture
def store(memops):
    rows = [
        {"id": f"r{n}", "kind": "fact", "text": text, "created_at": f"{day}T00:00:00Z"}
        for n, (text, day) in enumerate(ROWS)
    ]
    return f"jsonl:{memops.write('m.jsonl', rows)}"


def test_a_rollback_counts_what_stood_beside_the_store_too(told, memops):
    """Of Markdown a redacted line stands in the file, a demoted one in the overlay."""
    day = memops.folder / "ws" / "memory" / "2026-05-30.md"
    day.parent.mkdir(parents=True)
    secret = "Tz9" + "-qv7Lm2-xR4"
    text = f"# 2026-05-30\n\n- The password of the depot is {secret}\n- HEARTBEAT_OK\n- ok\n"
    day.write_text(text)
    os.utime(day, (1.7e9, 1.7e9))
    made = memops("plan", f"openclaw:{memops.folder / 'ws'}", "--now", "2026-06-01T00:00:00Z")
    ops = {name: sum(n.values()) for name, n in made["by_rule"].items()}
    assert ops.keys() == {"redact_secrets", "demote_chatter"}
    done = memops("apply", made["plan"], "--approve", "--now", "2026-06-01T00:00:00Z")
    assert done["applied"] == made["records"] == 3 and secret not in day.read_text()
    back = told("rollback", done["run"])
    assert "rolled-back, 3 records are as they were" in back and day.read_text() == text


def test_a_restore_into_an_address_without_a_place_says_what_an_address_is(memops, store):
    taken = memops("snapshot", store)["snapshot"]
    said = memops("restore", taken, "--to", "jsonl:")
    assert memops.code == 10 and "'jsonl:' is no store address" in said["message"]
    assert "KIND:PATH" in said["hint"]


def test_one_is_told_as_one():
    assert [counted(n, "record") for n in (0, 1, 2)] == ["0 records", "1 record", "2 records"]


def test_instants_are_told_in_utc_to_the_second():
    told = moment("2026-06-01T02:00:00.123456+08:00"), moment("用户"), moment(0.1)
    assert told == ("2026-05-31 18:00:00Z", "用户", "0.1")


def test_fields_stand_below_each_other_in_both_languages():
    rows = [
        ("键", {"a": [1, 2], "b": "x"}),
        ("text", "line\nbreak"),
        ("set", {"c": 0.5, "d": None}),
    ]
    assert fields(rows).split("\n") == [
        "键    a 1, 2; b x",
        "text  line\\nbreak",
        "set   c 0.5, d None",
    ]


def test_the_lines_of_a_plan_can_be_copied(told, store, memops):
    text = told("plan", store, "--rule", "merge_exact", "--now", "2026-03-01T00:00:00Z")
    assert ": 1 change of 1 record from snapshot" in text
    steps = [line.split(": ", 1)[1] for line in text.splitlines() if line[:5] in ("next:", "then:")]
    argv = [shlex.split(step)[1:] for step in steps]
    assert [a[2] for a in argv] == ["review", "apply"] and argv[0][1] == str(memops.state)
    assert "1 of 1 change stays, 0 rejected" in told(*argv[0][2:])
    text = told(*argv[1][2:])
    assert memops.code == 0 and "verified, 1 record changed\n" in text
    undo = shlex.split(text.split("undo: ")[1])
    assert run(undo[1:]) == 0


def test_a_change_is_explained_by_its_number_as_by_its_record(told, store, memops):
    plan = memops("plan", store, "--rule", "supersede_conflicting", "--now", "2026-03-01T00:00:00Z")
    by_number = told("explain", plan["plan"], "1")
    assert by_number == told("explain", plan["plan"], "r2") and by_number.startswith("r2\n")
    assert "evidence    r3: 用户现在住在宁波。" in by_number
    assert memops("explain", plan["plan"], "2")["code"] == 2


def test_an_explained_change_says_what_became_of_it(told, store, memops):
    how = ("--rule", "merge_exact", "--now", "2026-03-01T00:00:00Z")
    plan = memops("plan", store, *how)["plan"]
    assert "stands      needs nobody" in told("explain", plan, "1")
    memops("review", plan, "--reject", "1")
    said = told("explain", plan, "1")
    back = said.split("rejected by a person; to have it back: ")[1].split("\n")[0]
    assert run(shlex.split(back)[1:]) == 0
    memops.capsys.readouterr()
    ran = memops("apply", plan, "--approve")["run"]
    assert f"stands      carried out by run {ran}" in told("explain", plan, "1")


def test_pairs_stand_below_each_other(told, store):
    lines = told("conflicts", store).splitlines()
    assert lines[0:2] == ["  r2: 用户住在泉州。", "  r3: 用户现在住在宁波。"] or lines[0:2] == [
        "  r3: 用户现在住在宁波。",
        "  r2: 用户住在泉州。",
    ]
    assert lines[2].startswith("    jaccard ") and lines[3:] == ["1 pair"]
    assert told("duplicates", store, "--least", "2").strip() == "no duplicates"


def test_the_policy_is_printed_as_it_is_read(told):
    assert from_table(tomllib.loads(told("policy"))["policy"]) == Policy()


@pytest.mark.earned
def test_a_plan_all_of_which_waits_says_so_and_names_what_carries_it_out(told, store, memops):
    text = told("plan", store, "--rule", "merge_exact", "--now", "2026-03-01T00:00:00Z")
    assert "1 waits for a person: " in text
    (then,) = [line[6:] for line in text.splitlines() if line.startswith("then: ")]
    argv = shlex.split(then)[1:]
    assert argv[-1] == "--approve"
    text = told(*argv[2:-1])
    assert memops.code == 0 and "nothing was changed: 1 change waits for a person" in text
    assert "None" not in text and text.splitlines()[-1] == f"then: {then}"
    assert "verified, 1 record changed" in told(*argv[2:])


def test_a_state_folder_without_stores_says_what_to_do(told, memops):
    assert f"memops --state {memops.state} nightly STORE" in told("status") and memops.code == 32


@pytest.mark.parametrize("command", ["runs", "history", "check", "status"])
def test_outside_a_state_folder_is_told_from_an_empty_one(told, memops, command):
    code = 32 if command == "status" else 0  # where nothing is known nothing is good
    assert f"no state folder {memops.state}" in told(command) and memops.code == code
    memops.state.mkdir(0o700)
    assert f" in {memops.state}" in told(command) and memops.code == code


def test_a_night_beyond_its_limits_says_how_to_go_on(told, memops):
    rows = [
        {
            "id": f"r{n}",
            "kind": "note",
            "text": f"{n % 30} 号门今天开",
            "created_at": "2026-01-01T00:00:00Z",
        }
        for n in range(60)
    ]
    text = told(
        "nightly", f"jsonl:{memops.write('m.jsonl', rows)}", "--now", "2026-01-02T00:00:00Z"
    )
    lines = text.splitlines()
    look, then, more = (line.strip() for line in lines[-3:])
    assert memops.code == 23 and look.startswith("next: memops --state ")
    assert then.startswith("then: ") and then.endswith(" --approve")
    assert (
        more == "or let nights do so much: share = 0.5 in [policy.limits] of memops.toml (now 0.1)"
    )


def test_a_night_that_wrote_says_how_to_take_it_back(told, memops):
    day = memops.folder / "ws" / "memory" / "2026-05-30.md"
    day.parent.mkdir(parents=True)
    notes = (f"- Note number {n} of the log" for n in range(30))
    key = "ghp_" + "a8Kq2LmZ9xR4tV7wB1n" * 2
    day.write_text("\n".join(["# 2026-05-30", "", "## Log", *notes, f"- the token is {key}", ""]))
    os.utime(day, (0, 0))
    text = told("nightly", f"openclaw:{memops.folder / 'ws'}", "--now", "2026-06-01T00:00:00Z")
    assert memops.code == 0
    assert ": 1 record changed; undo: memops --state " in text and " rollback " in text


def test_after_a_demonstration_which_is_of_today_the_status_is_good(memops, capsys):
    assert run(["demo", "--into", "shown"]) in (0, 3)
    out = capsys.readouterr().out
    assert "which a night of your own leaves to `memops review`" in out
    assert out.rstrip().endswith("how they stand: memops --config shown/memops.toml status")
    assert run(["--config", "shown/memops.toml", "status"]) == 0
    rows = capsys.readouterr().out.splitlines()[2:]
    assert [row.split()[:2] for row in rows] == [["clawseed", "good"], ["openclaw", "good"]]


def test_a_demonstration_spares_a_folder_that_holds_something_else(memops):
    mine = memops.folder / "agents" / "clawseed" / "memory" / "brain.db"
    mine.parent.mkdir(parents=True)
    mine.write_bytes(b"of somebody")
    said = memops("demo", "--into", memops.folder / "agents")
    assert (memops.code, mine.read_bytes()) == (2, b"of somebody") and "--into" in said["hint"]


def test_wrong_words_are_answered_with_where_the_right_ones_are(told, memops, capsys):
    for argv, hint in (
        (["report"], "memops report --help"),
        (["nosuch"], "memops --help"),
        (["report", "nosuch"], f"memops --state {memops.state} runs"),
        (["diff", "a", "b"], "KIND:PATH"),
        (["snapshot", "mongo:x"], f"memops --state {memops.state} store kinds"),
    ):
        assert run(["--state", str(memops.state), *argv]) in (2, 10)
        assert hint in capsys.readouterr().err, argv


@pytest.mark.parametrize(
    ("words", "place", "offered"),
    [("memops roll", "1", "plain,rollback\n"), ("memops apply --app", "2", "plain,--approve\n")],
)
def test_a_shell_is_told_what_completes_a_word(words, place, offered, capfd, monkeypatch):
    for name, value in {"_MEMOPS_COMPLETE": "bash_complete", "COMP_WORDS": words}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("COMP_CWORD", place)
    assert run([]) == 0
    assert capfd.readouterr() == (offered, "")


def test_check_lists_the_snapshots_that_it_verified(told, store, memops):
    taken = [memops("snapshot", store)["snapshot"] for _ in range(2)]
    lines = told("check").splitlines()
    assert [line.split() for line in lines[2:-1]] == [[id, "4", store] for id in sorted(taken)]
    assert lines[-1].startswith("2 snapshots: ")
    assert memops("restore", "nosuch")["hint"] == "list them with `memops snapshot check`"


def test_what_a_night_passed_over_is_told_with_its_reason_and_counted_as_its_plan_counts(
    told, memops
):
    day = memops.folder / "ws" / "memory" / "2026-05-30.md"
    day.parent.mkdir(parents=True)
    lines = [
        *["- The depot opens at half past seven on every working day, in winter as in summer"] * 2,
        *(f"- Note number {n} of the log" for n in range(30)),
    ]
    day.write_text("\n".join(["# 2026-05-30", "", "## Log", *lines, ""]))
    argv = f"openclaw:{memops.folder / 'ws'}", "--now", "2026-06-01T00:00:00Z"
    assert ": 1 change of 1 record from snapshot" in told("plan", *argv)
    text = told("nightly", *argv)
    assert memops.code == 3
    head, _, row = text.splitlines()[:3]
    assert head.split()[1:5] == ["changes", "records", "applied", "skipped"]
    assert row.split()[1:5] == ["1", "1", "0", "1"]
    assert "1        its file was written within the last minutes  memory/2026-05-30.md:" in text


@pytest.mark.parametrize("name", ["home", "my-work_2", "/srv/agents/home/.memops", "jsonl:m.jsonl", "仓库", "openclaw:~/w"])  # fmt: skip
def test_in_a_plain_name_no_secret_is_sought(name):
    assert _PLAIN.fullmatch(name)


@pytest.mark.parametrize("name", ["ghp_" + "a8Kq2LmZ9xR4tV7wB1n" * 2, "rsclaw:http://u:pass@host/m", "sk-" + "0f9e8d7c" * 5, "a" * 25, "pass word", "x\ny"])  # fmt: skip
def test_in_any_other_name_secrets_are_sought(name):
    assert not _PLAIN.fullmatch(name)


def test_the_state_of_stores_is_told_without_what_is_slow_to_load(memops):
    path = memops.write("m.jsonl", [])
    (memops.folder / "memops.toml").write_text(f'[stores.home]\naddress = "jsonl:{path.name}"\n')
    code = "import sys; from memops.cli import run; code = run(['status']); print(code, [n for n in ('pydantic', 'rich', 'scipy') if n in sys.modules])"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "32 []"
