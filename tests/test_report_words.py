"""Terms of ours that a report can show have Chinese words; the lists are read from the code."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import memops
from memops import schema
from memops.language.lexicon import lexicon
from memops.nights import night as nights
from memops.policy import Policy, described
from memops.reports import reporting
from memops.reports.page import render
from memops.rules import MIGRATION, RULES
from tests.nights import night
from tests.pages import Page, unsaid

HAN = re.compile("[\u4e00-\u9fff]")
ZH = lexicon("report")["zh"]


def steps():
    """The steps whose time a night tells."""
    calls = (n for n in ast.walk(ast.parse(inspect.getsource(nights))) if isinstance(n, ast.Call))
    return {c.args[0].attr for c in calls if isinstance(c.func, ast.Name) and c.func.id == "timed"}


def rules():
    """The rules, and what plans of a person or a model give in their place."""
    code = "".join(
        p.read_text(encoding="utf-8") for p in Path(memops.__file__).parent.rglob("*.py")
    )
    given = re.findall(r"""(?:rule=pl\.lit|carried_out)\(\s*"(\w+)\"""", code)
    return {rule.__name__ for rule in (*RULES, *MIGRATION)} | set(given)


def bands():
    """The bars of the distributions that are named in words."""
    empty = schema.RECORDS.to_frame()
    made = reporting.distributions(empty, empty, "2026-06-01T00:00:00+00:00")
    labels = {b["label"] for d in made for b in d["bins"]} | {d["name"] for d in made}
    return {label for label in labels if re.search("[a-z]", label)}


WORDS = {
    "rules": rules(),
    "bands": bands(),
    "intents": {*schema.INTENTS},
    "kinds": {*schema.KINDS},
    "tiers": {*schema.TIERS},
}


@pytest.mark.parametrize("name", WORDS)
def test_terms_have_chinese_words(name):
    assert len(WORDS[name]) > 2
    words = ZH["words"]
    unsaid({term for term in WORDS[name] if not HAN.search(words.get(term, ""))}, len(WORDS[name]))


def test_every_step_has_a_word_in_both_languages():
    english, chinese = lexicon("report")["en"]["steps"], ZH["steps"]
    assert len(steps()) > 4 and {*english} == {*chinese} == steps()
    assert all(map(HAN.search, chinese.values())) and "_" not in "".join(english.values())


def test_every_column_that_a_change_sets_has_a_chinese_word():
    columns = {*schema.RECORDS} - {"id", "extra"}
    assert {c for c in columns if HAN.search(ZH["fields"].get(c, ""))} == columns == {*ZH["fields"]}


def test_every_setting_has_a_chinese_name_and_sentence_and_no_other_has():
    names = [name for name, _, _ in described(Policy())]
    assert [*ZH["settings"]] == names  # in their order: a new one finds its place
    short = {n: pair for n, pair in ZH["settings"].items() if not all(map(HAN.search, pair))}
    assert short == {}
    labels = [(n.split(".")[0], pair[0]) for n, pair in ZH["settings"].items()]
    assert len(set(labels)) == len(labels)  # within a section no two are called the same


def test_a_chinese_page_names_steps_and_settings_and_keeps_what_is_typed():
    timings = [{"step": step, "seconds": 1.0} for step in sorted(steps())]
    policy = [{"name": n, "value": str(v)} for n, v, _ in described(Policy())]
    by_rule = {rule: {"demote": 1} for rule in sorted(rules())}
    page = Page(render(night(timings=timings, policy=policy, by_rule=by_rule), "zh"))
    told = page.tables["各步骤用时"][1:]
    assert len(told) == len(timings) and all(HAN.search(row[0]) for row in told)
    told = page.tables["当前策略"][1:]
    assert len(told) == len(policy)  # the page has room for all of them
    for setting, (label, _, why) in zip(policy, told, strict=True):
        assert label.endswith(setting["name"]) and HAN.search(label) and HAN.search(why), label
    told = {row[0].split()[-1]: row[0] for row in page.tables["按规则统计变更"][1:]}
    assert told.keys() == by_rule.keys()
    assert all(HAN.search(said) for rule, said in told.items() if rule in ZH["words"])


def test_a_field_is_told_in_chinese_with_its_instant_in_the_zone():
    fields = [
        {"name": "tier", "before": "working", "after": "peripheral"},
        {"name": "expires_at", "before": None, "after": "2027-06-01T12:00:00+00:00"},
        {"name": "key", "before": "core", "after": "note"},
    ]
    html = render(night(changes=[{**night()["changes"][5], "fields": fields}]), "zh", "Asia/Tokyo")
    told = "设置：层级 工作 → 边缘；到期时间 空 → 2027-06-01 21:00:00 JST；键 core → note"
    assert told in " ".join(Page(html).text)


def test_a_page_names_no_scope_in_other_words():
    counts = {"rows": 3, "live": 3, "by_kind": {"note": 3}, "by_tier": {"core": 3}}
    counts |= {"by_scope": {"note": 2, "core": 1}}
    page = Page(render(night(counts={"before": counts, "after": counts}), "zh"))
    assert [row[0] for row in page.tables["有效记录（按范围）"][1:]] == ["note", "core"]
    assert [row[0] for row in page.tables["有效记录（按类别）"][1:]] == ["笔记"]


def test_a_reason_without_arguments_is_said():
    from memops.reports.words import Speaker

    assert Speaker("en").reason({"code": "pair.apart"}) and Speaker("zh").brief(
        {"code": "pair.apart"}
    )
