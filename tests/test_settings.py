"""Settings: what a file may say, and what is said of a setting that is wrong: its name and line."""

import math
import tomllib
from dataclasses import asdict

import pytest

from memops import settings
from memops.errors import MemopsError
from memops.policy import Policy, described, from_table, plain, sections
from memops.policy.checking import checked

WRONG = {
    # a type
    "a text for a number": ("[policy.limits]\nshare = 'all'", 2, "policy.limits.share is 'all', not a valid number"),
    "a fraction for a count": ("[policy.limits]\nrecords = 2.5", 2, "policy.limits.records is 2.5"),
    "yes for true": ("[policy.judge]\ndecides = 'yes'", 2, "policy.judge.decides is 'yes', not a valid boolean"),
    "true for a number": ("[policy.limits]\nrecords = true", 2, "policy.limits.records is True"),
    "a text for a list": ("[policy.secrets]\noff = 'phone'", 2, "policy.secrets.off is 'phone', not a valid list"),
    "a number in a list": ("[policy.secrets]\noff = [\n  1,\n]", 2, "policy.secrets.off.0 is 1"),
    "a text in a table of numbers": ("[policy.floors]\nkinds = { fact = 'few' }", 2, "policy.floors.kinds.fact is 'few'"),
    "a number for a section": ("[policy]\ndecay = 3", 2, "policy.decay must be a table"),
    "a number for a store": ("[stores]\na = 3", 2, "stores.a must be a table"),
    "a number for a path": ("state = 3", 1, "state is 3, not a valid string"),
    "a name that is a path": ('[stores."work/home"]\naddress = "a:b"', 1, "stores.work/home is 'work/home', no name"),
    "a name that leads out": ('[stores."../x"]\naddress = "a:b"', 1, "no name: letters, digits"),
    "a name of 300 letters": (f'[stores.{"x" * 300}]\naddress = "a:b"', 1, "at most 100 bytes"),
    "an address with a null character": ('[stores.a]\naddress = "openclaw:w\\u0000s"', 2, "no path: none holds a null"),
    "a state folder with one": ('state = "\\u0000"', 1, "no path: none holds a null"),
    # a range
    "a share above one": ("[policy.limits]\n# most of it\n\nshare = 5.0", 4, "policy.limits.share is 5.0, not less than or equal to 1"),
    "a probability above one": ("[policy.conflicts]\nleast = 30", 2, "policy.conflicts.least is 30"),
    "no number": ("[policy.limits]\nshare = nan", 2, "policy.limits.share is nan"),
    "an age beyond the calendar": ("[policy.retention.windows]\nnote = 1e12", 2, "policy.retention.windows.note is 1000000000000.0"),
    "a window of nought days": ("[policy.retention.windows]\nnote = 0", 2, "policy.retention.windows.note is 0"),
    "nobody at work": ("[flows]\nat_once = 0", 2, "flows.at_once is 0"),
    # a name
    "an unknown kind of record": ("[policy.retention.windows]\nnoet = 3", 2, "windows.noet is 'noet', no kind of record; did you mean 'note'?"),
    "an unknown kind in a scope": ("[policy.floors.kinds]\n'work/fakt' = 3", 2, "no kind of record; did you mean 'fact'?"),
    "an unknown tier": ("[policy.decay.betas]\ncor = 1.0", 2, "no tier; did you mean 'core'?"),
    "an unknown curve": ("[policy.decay]\nmodel = 'linear'", 2, "not 'rsclaw', 'clawseed', 'openclaw' or 'none'"),
    "an unknown clock": ("[policy.decay]\nclock = 'wall'", 2, "policy.decay.clock is 'wall'"),
    "an unknown measure": ("[policy.gate]\nmeasure = 'R@1O'", 2, "policy.gate.measure is 'R@1O', no measure"),
    "an unknown kind of secret": ("[policy.secrets]\noff = ['phome']", 2, "no kind of secret; did you mean 'phone'?"),
    "an unknown thing to do with one": ("[policy.secrets.sensitivity]\njwt = 'hide'", 2, "not 'allowed', 'masked' or 'never_store'"),
    "an unknown rule": ("[policy.unattended.rules]\nmerge_exatc = 'never'", 2, "merge_exatc is 'merge_exatc', no rule; did you mean 'merge_exact'?"),
    "an unknown kind of store": ("[policy.unattended.rules]\n'openclw/*' = 'never'", 2, "no kind of store; did you mean 'openclaw'?"),
    "an unknown column": ("[import.a]\npath = 'x'\nfields = { texxt = 'body' }", 3, "no column; did you mean 'text'?"),
    "an unknown section": ("[policy.gaet]\nseed = 8", 1, "unknown setting policy.gaet"),
    "a section that is none": ("[policy]\ngate = 8", 2, "policy.gate must be a table"),
    "a policy that is none": ("policy = 8", 1, "policy must be a table"),
    "a setting, almost right": ("[stores.a]\naddress = 'x'\nschedul = 'x'", 3, "unknown setting stores.a.schedul"),
    # a language of its own
    "half an expression": ("[policy.secrets.patterns]\nbadge = '(a'", 2, "policy.secrets.patterns.badge is '(a', no regular expression (Rust's): unclosed group"),
    "an expression of another dialect": ("[policy.secrets]\nallow = ['(?<=a)b']", 2, "look-around"),
    "an expression without end": ("[policy.secrets]\nallow = ['a{999}{999}{999}']", 2, "exceeds size limit"),
    "minute 61": ("[stores.a]\naddress = 'x'\nschedule = '61 * * * *'", 3, "stores.a.schedule is '61 * * * *', no time of cron"),
    "a day that never comes": ("[flows]\nschedule = '0 0 30 2 *'", 2, "no time of cron"),
    "a zone on another planet": ("[flows]\ntimezone = 'Mars/Phobos'", 2, "flows.timezone is 'Mars/Phobos', no time zone"),
    "a zone that is a path": ("[flows]\ntimezone = '../../etc/passwd'", 2, "no time zone"),
    # what is missing
    "a store without an address": ("[stores.a]\naddress = 'x'\n[stores.b]\nsuite = 'x'", 3, "stores.b.address is missing"),
    # no TOML at all
    "an open bracket": ("state = 'x'\n[stores", 2, "not valid TOML"),
}  # fmt: skip


def read(tmp_path, text):
    path = tmp_path / "memops.toml"
    path.write_text(text + "\n", encoding="utf-8")
    return settings.read(path, None)


@pytest.mark.parametrize("title", WRONG)
def test_a_wrong_setting_is_told_with_its_file_its_line_and_why(title, tmp_path):
    text, line, says = WRONG[title]
    with pytest.raises(MemopsError) as caught:
        read(tmp_path, text)
    assert caught.value.code == 2
    assert says in caught.value.message
    assert caught.value.message.startswith(str(tmp_path / "memops.toml"))
    assert f"line {line}" in caught.value.message


def test_every_wrong_setting_is_told_at_once(tmp_path):
    with pytest.raises(MemopsError) as caught:
        read(tmp_path, "[policy.limits]\nshare = 5\nsmal = 3\n[flows]\nat_once = 0")
    told = caught.value.message.split("; ")
    assert [part.rpartition("line ")[2][0] for part in told] == ["2", "3", "5"]
    assert caught.value.hint == "did you mean 'small'?"


def test_what_is_right_is_taken_and_a_table_in_part_keeps_its_other_entries(tmp_path):
    made = read(
        tmp_path,
        "encoder = 'm'\nquery_instruction = 'q: '\n"
        "[policy]\nlimits = { share = 1 }\n"
        "[policy.floors.kinds]\nfact = 7\n'work/category:daily' = 1\n"
        "[policy.secrets]\npatterns = { badge = 'B[0-9]' }\nsensitivity = { badge = 'never_store' }\n"
        "[stores.a]\naddress = 'jsonl:x'\nschedule = '*/5 3 * * 1-5'\ntimezone = 'Asia/Shanghai'\n"
        "[import.b]\npath = 'b.json'\ndefaults = { created_at = 2026-01-01T00:00:00Z }\n",
    )
    assert made.policy.limits.share == 1.0 and made.policy.limits.records == 500
    assert made.policy.floors.kinds == {
        "note": 0, "session": 0, "entity": 20, "preference": 10, "fact": 7, "work/category:daily": 1
    }  # fmt: skip
    assert made.policy.secrets.sensitivity["password"] == "never_store"
    assert made.stores["a"].timezone == "Asia/Shanghai" and made.encoder == "m"
    assert made.imports["b"].path == tmp_path / "b.json"
    assert made.imports["b"].defaults["created_at"].year == 2026
    assert made.state == tmp_path / ".memops"


def test_the_defaults_are_what_the_settings_may_be():
    assert from_table(asdict(Policy())) == Policy()


NUMBERS = [name for name, value, _ in described(Policy()) if type(value) in (int, float)]


ODD = [-1, -0.5, 1e18, math.inf, math.nan, "1", True, [1]]


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, ODD[(nth + k) % len(ODD)]) for nth, name in enumerate(NUMBERS) for k in (0, 3, 5)],
)
def test_no_number_of_the_policy_may_be_anything(name, value):
    section, setting = name.split(".")
    with pytest.raises(MemopsError, match=f"policy.{name} is "):
        from_table({section: {setting: value}})


@pytest.mark.parametrize(
    "text",
    [
        '[stores.a]\naddress = "jsonl:a"\n[stores.b]\naddress = "jsonl:b"\nsuite = "s"\n',
        'state = "kept"\n[stores.a]\naddress = "jsonl:a"\n',
        "[stores]\n",
        "[policy.limits]\nshare = 1\nrecords = 7\nplan_hours = 1e3\n[policy.retention]\n[stores]\n",
    ],
)
def test_a_file_that_says_where_stores_are_and_numbers_reads_as_the_checker_would_have_it(text):
    table = tomllib.loads(text)
    assert settings._simple(table) == checked(settings.shape(table), table, "memops.toml")


@pytest.mark.parametrize("text", ["state = 3\n[stores]\n", "[stores.a]\nsuite = 's'\n", "[stores.a]\naddress = 3\n", "policy = 3\n", "[policy]\nlimits = 3\n", "[policy.limit]\n", "[policy.limits]\nshare = 2\n", "[policy.limits]\nrecords = true\n", "[policy.limits]\nshares = 0.5\n", "[policy.floors.kinds]\nnote = 3\n"])  # fmt: skip
def test_what_is_not_so_simple_is_left_to_the_checker(text):
    assert settings._simple(tomllib.loads(text)) is None


def test_every_number_of_the_policy_is_read_as_the_checker_would_have_it():
    for section, said in asdict(Policy()).items():
        numbers = {name: v for name, v in said.items() if isinstance(v, bool | int | float)}
        whole = {name: int(v) for name, v in numbers.items() if type(v) is float and v == int(v)}
        table = {section: numbers | whole}
        found = plain(table)
        assert found == checked(sections(table), table, "memops.toml")
        for name, value in numbers.items():
            assert type(getattr(found[section], name)) is type(value)


def test_a_mark_before_the_text_is_none_of_it_and_what_is_no_text_is_told(tmp_path):
    path = tmp_path / "memops.toml"
    path.write_bytes(b"\xef\xbb\xbf[stores.a]\naddress = 'jsonl:x'\n")
    assert [*settings.read(path, tmp_path / "s").stores] == ["a"]
    path.write_bytes(b"# one\n# gr\xfc\xdfe\n")
    with pytest.raises(MemopsError, match="line 2 is no UTF-8"):
        settings.read(path, None)
    with pytest.raises(MemopsError, match="is a folder"):
        settings.read(tmp_path, None)


def test_a_name_in_any_script_is_one(tmp_path):
    path = tmp_path / "memops.toml"
    path.write_text('[stores."Mein Büro"]\naddress = "a:b"\n[stores."港口"]\naddress = "a:c"\n')
    assert [*settings.read(path, tmp_path / "s").stores] == ["Mein Büro", "港口"]
