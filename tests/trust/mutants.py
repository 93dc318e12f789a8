"""Mutants: faults seeded into the safety code, and the test that must notice each one.

    python -m tests.trust.mutants [NAME..]      prints caught and total

Each mutant is one replacement in a temporary copy of the repository; its test is run there and
has to fail. A test that a mutant survives proves less than it says.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
COPIED = (
    "memops",
    "data",
    "tests",
    "evals",
    "reports",
    "flows",
    "pyproject.toml",
    "README.md",
    "docs",
)


@dataclass(frozen=True)
class Mutant:
    """One fault: where, what stands there, what is put in its place, and who notices."""

    name: str
    file: str
    was: str
    becomes: str
    test: str


BATCHES = "memops/apply/execution.py"
GUARD, APPLY, FILES = "memops/guard.py", "memops/apply/__init__.py", "memops/files.py"
JOURNAL = "memops/journal.py"
CARRYING, SUMMARY = "memops/apply/execution.py", "memops/apply/selection.py"
CHECK, RUNS, BASIS = "memops/apply/checks.py", "memops/state/runs.py", "memops/state/plan_basis.py"
SQLITE, BATCH, UNDO = (
    "memops/stores/sqlite/write.py",
    "memops/stores/sqlite/batch.py",
    "memops/stores/sqlite/batch.py",
)
LEAVINGS, LITE = "memops/stores/markdown/carry_leavings.py", "memops/stores/sqlite/__init__.py"
KEEPING, RESTORE = "memops/commands/snapshots.py", "memops/stores/markdown/restore.py"
BESIDE = (
    "tests/test_restoring.py::test_no_row_and_no_line_is_lost_that_an_agent_writes_beside_a_restore"
)
LATE = "tests/test_restoring.py::test_lines_that_come_after_the_snapshot_before_stay_in_their_files"
WRONG = "tests/test_read_back.py::test_a_night_whose_records_do_not_read_as_written_ends_with_33_wherever_one_looks"
CARRY, PLANS, TAKEN = (
    "memops/stores/markdown/carry.py",
    "memops/state/planfile.py",
    "memops/snapshot.py",
)
ROT = (
    "tests/trust/test_artefacts.py::test_a_flipped_bit_and_a_cut_are_found_by_the_name_of_the_file"
)
SEALS = "tests/trust/test_seals.py"
STEPS = "tests/trust/test_failpoints.py::test_a_fault_at_any_step_leaves_a_run_that_ends_exactly"
CHOSEN = (
    "tests/trust/test_failpoints.py::test_a_kill_at_chosen_steps_leaves_a_run_that_ends_exactly"
)
ORDER = "tests/trust/test_order.py::test_undo_is_on_disk_before_the_store_is_written_and_bytes_before_names"
PAIRS = "tests/trust/test_two_runs.py::test_of_two_runs_one_works_and_one_waits"
MACHINE = "tests/trust/test_machine.py::test_whatever_happens_in_whatever_order_nothing_that_must_stand_falls"
REFUSED = "tests/trust/test_guards.py::test_each_thing_that_no_plan_may_do_is_refused_and_named"
FORGOT = "tests/trust/test_guards.py::test_what_an_agent_forgot_after_the_guard_judged_counts_too"

MUTANTS = (
    Mutant("a pinned record may be deleted", GUARD, '(protected & pl.col("_gone"),', '(pl.lit(False),', REFUSED),
    Mutant("a core record may be retired", GUARD, '(protected & pl.col("_retired"),', '(pl.lit(False),', REFUSED),
    Mutant("a core record may be demoted", GUARD, '(protected & pl.col("_sunk"),', '(pl.lit(False),', REFUSED),
    Mutant("a record may be unpinned", GUARD, '(pinned & ~pl.col("new_pinned"),', '(pl.lit(False),', REFUSED),
    Mutant("a keeper may be in another scope", GUARD, '(replaced & (pl.col("keeper_scope") != pl.col("scope")),', "(pl.lit(False),", REFUSED),
    Mutant("protected text may be rewritten", GUARD, '(pl.col("_rewritten") & protected,', '(pl.lit(False),', REFUSED),
    Mutant("a change need not be what it is called", GUARD, '(_otherwise(), "intent"),', '(pl.lit(False), "intent"),', "tests/test_guard.py::test_a_change_that_is_not_what_it_is_called_is_withdrawn"),
    Mutant("what is called a merge is one", GUARD, 'said.filter(one == two)["id"]', 'said["id"]', "tests/test_guard.py::test_calling_it_a_merge_does_not_let_a_core_record_give_way"),
    Mutant("floors are off by one", GUARD, 'pl.col("nth") > pl.col("spare")', 'pl.col("nth") > pl.col("spare") + 1', "tests/trust/test_guards.py::test_of_records_above_the_floor_just_so_many_go_and_the_oldest"),
    Mutant("floors trust the snapshot, not the store", SQLITE, "fewer = self._witnesses.fewer if self._witnesses else lambda: True", "fewer = lambda: False", FORGOT),
    Mutant("what was superseded meanwhile still bears witness", "memops/stores/sqlite/witnesses.py", "WHERE rowid IN ({some}) AND {self._live} GROUP BY", "WHERE rowid IN ({some}) GROUP BY", FORGOT),
    Mutant("a batch without counts may lose", GUARD, 'pl.col(n).fill_null(0).cast(pl.Int64)', 'pl.col(n).fill_null(9**9 if n == "live" else 0).cast(pl.Int64)', "tests/test_guard.py::test_without_a_count_no_record_of_the_group_is_lost"),
    Mutant("what a plan was made from is taken unseen", BASIS, 'if _digest(found) == said["sha256"]:', "if True:", "tests/test_apply.py::test_a_plan_whose_records_changed_in_the_snapshot_is_refused"),
    Mutant("floors by category are forgotten at apply", GUARD, 'held, _ = floored(policy.floors, pl.col("category"))', 'held = pl.col("kind")', "tests/trust/test_guards.py::test_a_floor_by_category_holds_although_its_kind_has_many"),
    Mutant("what weighs something is not judged", GUARD, '(pl.col("action") != "edit") | sets |', '(pl.col("action") != "edit") |', REFUSED),
    Mutant("the guard does not judge again inside the lock", SQLITE, "if self._version() != version and (", "if False and (", FORGOT),
    Mutant("the guard is not asked at apply", CHECK, "if not self.asked:", "if True:", MACHINE),
    Mutant("a refusal is passed over", BATCH, 'if state == "applied" and id_ in refused:', "if False:", "tests/stores/test_clawseed_write.py::test_the_guard_sees_live_records_and_counts_and_is_obeyed"),
    Mutant("limits are not looked at", APPLY, "            _refuse(plan, _excess(plan, chosen, basis, state, clock))\n", "            pass\n", "tests/test_apply.py::test_a_plan_beyond_its_limits_waits_for_a_person"),
    Mutant("compare-and-set is dropped", BATCH, "if there == expected:", "if True:", "tests/stores/test_clawseed_write.py::test_a_row_that_changed_since_is_stale"),
    Mutant("compare-and-set of tables is dropped", "memops/stores/base.py", "    if live == before:\n", "    if True:\n", MACHINE),
    Mutant("undo after the commit", SQLITE, "                if undo := batch.undo(answers):\n                    work.keep(undo)\n                failpoint(\"sqlite-kept\")\n", "            if undo := batch.undo(answers):\n                work.keep(undo)\n", "tests/stores/test_clawseed_write.py::test_undo_is_kept_before_the_commit_and_a_failure_leaves_nothing"),
    Mutant("no undo at all", BATCHES, "self.images += self.run.undo.extend(vars(u) for u in undo)", "pass", STEPS),
    Mutant("journal and undo are not synced", JOURNAL, '            failpoint("journal-sync")\n            os.fsync(handle)\n', '            failpoint("journal-sync")\n', ORDER),
    Mutant("files get their names before their bytes are on disk", FILES, "_put(folder / name, data, os.fsync)\n", "_put(folder / name, data, lambda handle: None)\n", ORDER),
    Mutant("a torn line is not cut off", JOURNAL, "    if keep < end:\n", "    if False:\n", "tests/trust/test_run_records.py::test_a_torn_line_is_passed_over_and_cut_off"),
    Mutant("lines of journals are not checked", JOURNAL, "if found is None or found[1] != _sum(found[2]):", "if found is None:", "tests/trust/test_artefacts.py::test_a_flip_in_a_run_that_was_cut_off_is_found_too"),
    Mutant("the seal of a run is not checked", RUNS, 'if said and files.digest(data) != said["sha256"]:', "if False:", ROT),
    Mutant("the overlay's digest is not checked", "memops/overlay.py", "if _stamped(data) != data:", "if False:", ROT),
    Mutant("sealed JSON is not checked", FILES, 'if said != digest(json_bytes(value)) or json_bytes({**value, "sha256": said}) != data:', "if False:", ROT),
    Mutant("hashes of snapshots are not checked", TAKEN, 'if files.sha256(there[name]) != said[name]["sha256"]', "if False", ROT),
    Mutant("a forged plan is carried out", PLANS, "if not seals.holds(", "if False and not seals.holds(", f"{SEALS}::test_a_plan_whose_digests_were_all_mended_is_refused"),
    Mutant("an approval that a run claims is believed", APPLY, "if not run.vouched(state):", "if False:", f"{SEALS}::test_a_run_that_claims_an_approval_is_not_gone_on_with"),
    Mutant("a key that others may read seals", "memops/state/seals.py", "if about.st_mode & _OTHERS or about.st_uid != os.geteuid():", "if False:", f"{SEALS}::test_a_key_that_is_none_is_named_and_nothing_is_written"),
    Mutant("a changed line of a plan is taken", "memops/state/plan_lines.py", "if not right or digests[seq - 1] != own:", "if not right:", "tests/test_apply.py::test_a_review_may_do_nothing_else"),
    Mutant("a changed table of a plan is taken", PLANS, "\n    if files.digest(data) not in (", "\n    if False and files.digest(data) not in (", "tests/test_apply.py::test_a_review_may_do_nothing_else"),
    Mutant("a plan never expires", PLANS, "if abs(age) > most:", "if False:", "tests/test_apply.py::test_a_plan_expires"),
    Mutant("a plan goes to any store", APPLY, "if store.identity() != identity:", "if False:", "tests/test_apply.py::test_a_plan_is_for_its_own_store"),
    Mutant("the lock is not taken", "memops/locks.py", "fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)", "pass", PAIRS),
    Mutant("the lock is a file that a kill leaves", "memops/locks.py", "fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)", 'os.close(os.open(f"{path}.held", os.O_CREAT | os.O_EXCL))', PAIRS),
    Mutant("rollback overwrites the agent", UNDO, "    if not _agree(table, there, after):", "    if False:", "tests/stores/test_clawseed_undo.py::test_revert_keeps_newer_text_and_keys_stored_again"),
    Mutant("rollback forgets the overlay", APPLY, "    return written + _restore_overlay(run, state, written, named)\n", "    return written\n", STEPS),
    Mutant("the last pre-image is kept, not the first", RUNS, '_over(first.before, last.before)', 'last.before', "tests/trust/test_run_records.py::test_of_two_pre_images_the_first_is_the_one_to_go_back_to"),
    Mutant("undo forgets a column", UNDO, "if was is not now and not _exact(was, now)]", "if was is not now and not _exact(was, now)][1:]", "tests/stores/test_clawseed_undo.py::test_revert_looks_past_a_vector_filled_since"),
    Mutant("a resume disowns what was written before the crash", BATCHES, 'mended = (w.state == "already" and w.id in self.begun for w in answers)', "mended = (False for w in answers)", "tests/test_runs.py::test_what_was_written_before_a_crash_counts_as_the_runs_own"),
    Mutant("resume does not know what was begun", BATCHES, 'frozenset(entry["id"] for entry in entries), len(entries)', "frozenset[str](), len(entries)", CHOSEN),
    Mutant("a rename carries nothing over", CARRY, "            self._carry(now)\n", "", "tests/stores/test_carry.py::test_what_arrives_in_the_old_file_after_the_rename_is_carried_over"),
    Mutant("a crash's leftovers are only removed", LEAVINGS, "                append(folder, name, joined(missing))\n        os.unlink(link", "                pass\n        os.unlink(link", "tests/stores/test_carry.py::test_a_kill_in_between_loses_no_line"),
    Mutant("leftovers stay where nothing is to change", APPLY, "        run.undo.renew()\n        store.settle()\n", "        run.undo.renew()\n", "tests/trust/test_failpoints.py::test_a_kill_in_the_last_file_leaves_nothing_beside_the_notes"),
    Mutant("a rollback leaves drafts beside the notes", APPLY, "            store.settle()\n            written = ", "            written = ", CHOSEN),
    Mutant("a copy is taken outside a transaction", "memops/stores/sqlite/__init__.py", "        source.backup(target, pages=pages, progress=lambda *_: os.fdatasync(file.fileno()))\n", "        into.write_bytes(path.read_bytes())\n", "tests/trust/test_snapshot_live.py::test_a_snapshot_beside_a_writer_is_a_consistent_prefix"),
    Mutant("readers may write", "memops/stores/sqlite/__init__.py", 'connection = _opened(path, f"mode=ro{sealed}")', 'connection = _opened(path, f"mode=rw{sealed}")', "tests/trust/test_snapshot_live.py::test_reading_changes_no_byte_of_a_database"),
    Mutant("a store that shrank is believed", "memops/snapshot_draft.py", "if records.height < had * (1 - limits.shrink):", "if False:", "tests/test_bad_input.py::test_a_store_that_shrank_is_not_believed"),
    Mutant("drafts of the dead stay", "memops/snapshot_draft.py", "if pid is None or not files.alive(int(pid[1])):", "if False:", "tests/trust/test_snapshot_live.py::test_a_snapshot_that_was_cut_off_is_none_and_is_swept_away"),
    Mutant("files take the umask's mode", FILES, "os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)", "os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)", "tests/test_bad_input.py::test_files_and_folders_are_private_whatever_the_umask"),
    Mutant("a database is not held from keeping to restoring", LITE, '        live.execute("BEGIN EXCLUSIVE")\n', '        live.execute("PRAGMA locking_mode = NORMAL")\n        live.execute("BEGIN EXCLUSIVE")\n', BESIDE),
    Mutant("lines that came after the snapshot before a restore go", RESTORE, 'came = lines(now or b"") - lines(was or b"")', 'came = lines(b"")', LATE),
    Mutant("half a restore is not told", KEEPING, "        restore_marker.begin(state, identity, command(found.id), back)\n", "", "tests/test_restoring.py::test_nothing_is_planned_on_from_a_store_of_which_a_restore_was_cut_off"),
    Mutant("a damaged store is overwritten", LITE, "                _put_aside(path)\n", "                pass\n", "tests/test_restoring.py::test_a_store_that_is_too_damaged_to_be_snapshotted_is_put_aside"),
    Mutant("a journal of what was there stays beside a restored database", LITE, '        live.execute("PRAGMA journal_mode = DELETE")\n        if _is_wal', "        if _is_wal", "tests/stores/test_clawseed.py::test_a_restored_database_has_the_copys_mode_and_no_journal_of_what_was_there"),
    Mutant("a hot journal keeps readers out", LITE, "        _rolled_back(path)\n", "        pass\n", "tests/stores/test_clawseed.py::test_what_a_killed_writer_left_half_written_is_rolled_back"),
    Mutant("a run is taken back without some of its undo", RUNS, "if lost or there < named:", "if False:", "tests/test_runs.py::test_a_run_that_was_cut_off_is_not_taken_back_without_all_of_its_undo"),
    Mutant("a second run is begun over one without its header", RUNS, "if path in _headless(path.parent.parent):", "if False:", "tests/test_runs.py::test_no_second_run_is_started_over_one_that_lost_its_header"),
    Mutant("a failed read-back ends well", SUMMARY, "if not (wrong := len(run.wrong)):", "wrong = 0\n    if True:", WRONG),
    Mutant("a record that came back to its store is taken for archived", CARRYING, "again = task.store.read(gone)[\"id\"].to_list() if gone else []", "again = list[str]()", "tests/test_read_back.py::test_lines_that_left_a_file_and_were_put_back_leave_it_again"),
    Mutant("temporary names hold names whole", FILES, "return name if len(data) <= _LONG else", "return name if True else", "tests/stores/test_markdown.py::test_a_file_whose_name_is_as_long_as_names_may_be_is_edited_as_any_other"),
)  # fmt: skip


def misfits(root=ROOT):
    """Return the mutants whose place in the code is not there exactly once."""
    return [
        m.name for m in MUTANTS if (root / m.file).read_text(encoding="utf-8").count(m.was) != 1
    ]


def caught(mutant, copy):
    """Tell whether the mutant's test fails in a copy of the repository with the fault in it."""
    path = copy / mutant.file
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole.replace(mutant.was, mutant.becomes), encoding="utf-8")
    try:
        return run(mutant.test, copy) == 1
    finally:
        path.write_text(whole, encoding="utf-8")


def run(test, copy):
    """Run one test in a copy; returns pytest's exit code (1: it failed)."""
    argv = [sys.executable, "-m", "pytest", "-x", "-q", "-o", "addopts=-p no:cacheprovider", test]
    env = {
        **os.environ,
        "TRUST_MUTANT": "1",
        "PYTHONPATH": str(copy),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    try:
        return subprocess.run(argv, cwd=copy, env=env, capture_output=True, timeout=600).returncode
    except subprocess.TimeoutExpired:
        return 1


def copied(folder):
    """Copy what the tests need into a folder."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy(source, folder / name)
    return folder


def main(*names):
    chosen = [m for m in MUTANTS if not names or m.name in names]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = copied(Path(folder))
        score = 0
        for mutant in chosen:
            noticed = caught(mutant, copy)
            score += noticed
            print(
                f"{'caught  ' if noticed else 'SURVIVED'}  {mutant.name}  [{mutant.test}]",
                flush=True,
            )
    print(f"{score}/{len(chosen)} caught")
    return score, len(chosen)


if __name__ == "__main__":
    done, total = main(*sys.argv[1:])
    sys.exit(done != total)
