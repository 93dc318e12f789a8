import hashlib
import multiprocessing
import os
import random
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memops.errors import Corrupt, StoreNotFound
from memops.stores.rsclaw.redb import MULTIMAP, Table, parse, read
from memops.stores.rsclaw.redb_build import build

STR, BYTES = b"\x01&str", b"\x01&[u8]"


def table(rows, **more):
    return Table(STR, BYTES, rows, **more)


def rows(n, seed=1):
    made = random.Random(seed)
    return [
        (b"%08d-%d" % (made.randrange(10**8), i), made.randbytes(made.choice([5, 300, 900])))
        for i in range(n)
    ]


def file(n, **more):
    return build({"docs": table(rows(n)), "meta": Table(STR, STR, [(b"model", b"bge")])}, **more)


@pytest.mark.parametrize("n", [0, 1, 2, 26, 173, 2000])
def test_what_was_built_is_read(n):
    got = parse(file(n), "f").tables
    assert got == {
        "docs": table(sorted(rows(n))),
        "meta": Table(STR, STR, [(b"model", b"bge")]),
    }


@pytest.mark.slow
def test_a_hundred_thousand_rows_are_built_and_read():
    assert parse(file(100_000), "f").tables["docs"].rows == sorted(rows(100_000))


def test_the_layout_is_the_one_that_redb_opens():
    # The digest of a file that redb 4.1.0's layout rules give, made by another implementation.
    made = build(
        {
            "memory_docs": table(
                [(b"id-%04d" % i, b"\0\0\0\0" + b"x" * (i % 300)) for i in range(900)]
            ),
            "memory_meta": Table(STR, STR, [(b"embedder_model_id", b"bge-small-zh")]),
        }
    )
    assert (
        hashlib.sha256(made).hexdigest()
        == "43b2faaedc7e8a3568f768e1420463f711303e0abed7eb90f894a3d68a8c8bf0"
    )


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.binary(max_size=40), st.binary(max_size=6000), max_size=30))
def test_any_rows_survive(made):
    got = parse(build({"docs": table(list(made.items()))}), "f")
    assert got.tables["docs"].rows == sorted(made.items())


def test_fixed_widths_survive():
    fixed = Table(
        b"\x01u64",
        b"\x01u32",
        [(struct.pack("<Q", i), struct.pack("<I", i * i)) for i in range(1500)],
        key_width=8,
        value_width=4,
        alignment=(8, 4),
    )
    got = parse(build({"counts": fixed}), "f").tables["counts"]
    assert (got.rows, got.key_width, got.value_width, got.alignment) == (
        sorted(fixed.rows),
        8,
        4,
        (8, 4),
    )


def test_a_file_of_many_regions_is_read():
    assert parse(file(400, region=8), "f") == parse(file(400), "f")


def test_a_row_larger_than_a_region_is_refused():
    with pytest.raises(Corrupt, match="does not fit into a redb region"):
        build({"docs": table([(b"k", bytes(40_000))])}, region=8)


def test_a_multimap_is_not_rebuilt():
    with pytest.raises(Corrupt, match="'docs' is a multimap"):
        build({"docs": table([], sort=MULTIMAP)})


def test_what_is_no_redb_file_is_named(tmp_path):
    for name, content, said in [
        ("empty", b"", "empty: damaged redb file: it is empty"),
        ("note", b"# Memory\n" * 99, "note: not a redb file"),
        ("head", file(3)[:200], "head: damaged redb file: it has no valid header"),
    ]:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(Corrupt, match=said):
            read(tmp_path / name, pause=lambda s: None)
    with pytest.raises(StoreNotFound, match="gone: no such file"):
        read(tmp_path / "gone")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["empty", "head", "note"]


def test_an_older_format_is_named_with_its_remedy():
    old = bytearray(file(3))
    old[64] = 2
    _reseal(old, 0)
    with pytest.raises(Corrupt, match="file format v2; only v3") as refused:
        parse(bytes(old), "f")
    assert "start a current rsclaw once" in refused.value.hint


def test_a_flag_that_names_an_older_commit_is_refused():
    two = bytearray(file(3))
    struct.pack_into("<Q", two, 192 + 104, 9)
    _reseal(two, 1)
    with pytest.raises(Corrupt, match="names an older commit than its last"):
        parse(bytes(two), "f")


def test_a_crash_between_the_two_phases_of_a_commit_is_read_as_of_before():
    two = bytearray(file(3))
    struct.pack_into("<Q", two, 192 + 104, 9)
    _reseal(two, 1)
    two[9] |= 4
    assert parse(bytes(two), "f").transaction == 1


def mutants(data, count, seed):
    made = random.Random(seed)
    for _ in range(count):
        if made.random() < 0.3:
            yield data[: made.randrange(len(data))]
        else:
            changed = bytearray(data)
            for _ in range(made.choice([1, 1, 1, 4])):
                at = made.randrange(320) if made.random() < 0.3 else made.randrange(len(data))
                changed[at] ^= 1 << made.randrange(8)
            yield bytes(changed)


def damage(count, seed):
    whole = file(173)
    right = parse(whole, "f").tables
    refused = 0
    for mutant in mutants(whole, count, seed):
        try:
            assert parse(mutant, "f").tables == right
        except Corrupt as error:
            assert error.message.startswith("f: ")
            refused += 1
    return refused


def test_damage_is_refused_by_name_or_harmless():
    assert damage(100, seed=2) > 50


@pytest.mark.slow
def test_much_damage_is_refused_by_name_or_harmless():
    assert damage(1000, seed=3) > 500


def _generation(n):
    return build({"docs": table([(b"k%03d" % i, b"%d" % n * 50) for i in range(120)])})


def _replace(path, count):
    for n in range(count):
        spare = path.with_suffix(".tmp")
        spare.write_bytes(_generation(n))
        os.replace(spare, path)


def _overwrite(path, count):
    with path.open("r+b") as out:
        for n in range(count):
            out.seek(0)
            out.write(_generation(n))
            out.flush()


@pytest.mark.parametrize("writer", [_replace, _overwrite])
def test_a_moving_file_is_read_as_of_one_moment(tmp_path, writer):
    path = tmp_path / "memory.redb"
    path.write_bytes(_generation(0))
    process = multiprocessing.get_context("spawn").Process(target=writer, args=(path, 200))
    process.start()
    seen = set()
    reads = 0
    while process.is_alive():
        _, database = read(path)
        values = {value for _, value in database.tables["docs"].rows}
        assert len(values) == 1 and len(database.tables["docs"].rows) == 120
        seen |= values
        reads += 1
    process.join()
    assert process.exitcode == 0 and reads > 10 and len(seen) > 1


def test_reading_changes_nothing(tmp_path):
    path = tmp_path / "memory.redb"
    path.write_bytes(file(50))
    os.chmod(path, 0o400)
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    read(path)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert [p.name for p in tmp_path.iterdir()] == ["memory.redb"]


def _reseal(data, slot):
    import xxhash

    at = 64 + 128 * slot
    data[at + 112 : at + 128] = xxhash.xxh3_128(bytes(data[at : at + 112])).digest()[::-1]
