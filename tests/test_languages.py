"""A language is one folder: no module but a pack names it, and each record is read by its own."""

import re
import tomllib
from pathlib import Path

import polars as pl
import pytest

import memops
from memops.errors import MemopsError
from memops.judge.conflicts import features
from memops.language import packs
from memops.language.detection import spoken
from memops.language.lexicon import lexicon, resource
from memops.language.packs import brings, codes, pack, table
from memops.policy.safety import Secrets
from memops.reports import sections
from memops.reports.words import Speaker, languages
from memops.safety.secrets import redacted
from memops.values import operators, read, sign

HOME = Path(memops.__file__).parent
THIRD = [code for code in codes() if not pack(code).everywhere]
NAMED = {  # modules that still know English or Chinese by name: the list may only get shorter
    "cli/options.py", "extract/entities.py", "extract/grammar.py",
    "extract/reading.py", "extract/statements.py", "search/arms.py",
}  # fmt: skip


def naming(listed):
    quoted = re.compile(rf"""(?<![\w.])["'](?:{"|".join(listed)})["']""")
    return {
        str(path.relative_to(HOME))
        for path in HOME.rglob("*.py")
        if quoted.search(path.read_text(encoding="utf-8"))
    }


def test_no_module_names_a_language_of_a_pack():
    assert THIRD and naming(THIRD) <= {"judge/candidates/unread.py"}  # there it is an ending
    assert naming(["en", "zh"]) == NAMED


@pytest.mark.parametrize("code", THIRD)
def test_a_pack_says_in_each_role_what_others_say_in_it(code):
    """A word in a list carries nothing; in place of a table it would be read as another value."""
    told = table(code)["words"]
    for other in codes():
        words = table(other)["words"]
        odd = {role for role in {*told} & {*words} if type(told[role]) is not type(words[role])}
        assert odd == set(), f"{odd}: see whether they are lists or tables in {other}/values.toml"


@pytest.mark.parametrize("code", THIRD)
def test_a_further_pack_has_at_most_four_hundred_lines(code):
    files = (HOME / "language" / code).glob("*.toml")
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files) <= 400


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("La reunión es el martes en la oficina", ("es",)),
        ("The meeting is on Tuesday", ("en", "zh")),
        ("会议 el 是周二", ("en", "zh")),
        ("Standup 09:30", ("en", "zh")),
    ],
)
def test_a_text_is_told_to_be_of_a_language_by_its_function_words(text, told):
    assert spoken(text) == told


def test_each_text_is_read_by_its_own_words():
    assert [str(v) for v in read("once a week")] == ["every 604800 s"]
    assert [str(v) for v in read("once euros para la caja")] == ["11 EUR"]
    assert str(sign("No vino nadie a la cena")) == "∀ ¬"
    (veto,) = features(
        [{"a": "Marta prestó el libro a Luis", "b": "Luis prestó el libro a Marta"}]
    )["veto_same"]
    assert veto == "roles"


@pytest.mark.parametrize("code", THIRD)
def test_function_words_of_a_pack_tell_its_texts(code):
    others = {word for other in codes() if other != code for word in pack_words(other)}
    own = [word for word in pack_words(code) if word not in others]
    assert len(own) > 20 and spoken(" ".join(own[:6])) == (code,)
    assert spoken("The meeting is on Tuesday") == ("en", "zh")


def pack_words(code):
    idle = table(code, "signs").get("idle", "")
    return idle.split() if isinstance(idle, str) else idle


@pytest.mark.parametrize("code", [code for code in THIRD if brings(code, "secrets_labels")])
def test_labels_of_a_pack_hide_what_stands_beside_them(code):
    made = "4711"
    listed = table(code, "secrets_labels")
    texts = [f"{label}: {made}" for name in ("password", "code") for label in listed[name]]
    assert texts and [text for text in redacted(pl.Series(texts), Secrets()) if made in text] == []
    assert redacted(pl.Series([f"Xyzzy: {made}"]), Secrets())[0].endswith(made)


@pytest.mark.parametrize("code", [code for code in THIRD if brings(code, "report")])
def test_words_of_pages_fill_in_what_the_english_ones_do(code):
    english, own = lexicon("report")["en"] | sections.english(), table(code, "report")
    assert own["language"] and code in languages()
    for key, said in own.items():
        assert isinstance(said, type(english[key])), key
        if isinstance(said, str):
            assert set(re.findall(r"{\w+}", said)) == set(re.findall(r"{\w+}", english[key])), key


def test_a_broken_file_of_a_pack_is_named(tmp_path):
    (tmp_path / "xx").mkdir()
    (tmp_path / "xx" / "values.toml").write_text("[words.number]\nfünf = 5\n", encoding="utf-8")
    with pytest.raises(MemopsError, match=r"xx/values.toml: .*line 2") as error:
        packs.table(str(tmp_path / "xx"))
    assert "quotes" in error.value.hint


def test_labels_of_secrets_come_with_a_pack():
    made = "".join(["Tor", "tuga", "9", "!", "verde"])
    text = f"La contraseña del router es {made}"
    hidden = redacted(pl.Series([text]), Secrets())
    assert made not in hidden[0] and hidden[0].startswith("La contraseña del router es ")


def test_a_pack_may_leave_out_what_its_language_has_no_words_for(monkeypatch):
    monkeypatch.setattr(operators, "table", lambda code, name: {"signs": {"¬": ["nej"]}})
    assert operators.Words(["xx"]).ops["nej"] == ("¬",)


def test_a_pack_adds_to_the_labels_that_are_known_of_its_language_and_drops_none():
    known = tomllib.loads((resource("data/lexicons") / "secrets_labels.toml").read_text("utf-8"))
    told = lexicon("secrets_labels")
    assert set(known) & set(codes())
    for code, groups in known.items():
        for group, words in groups.items():
            assert set(words) <= set(told[code][group]), (code, group)


def test_pages_speak_the_language_of_a_pack_and_english_where_it_is_silent():
    say = Speaker("es")
    assert say("conflicts") == "Conflictos"
    assert say("footer") == Speaker("en")("footer")
