"""Texts that hold the same words, and differ in which stands where, are never one statement."""

import random
from pathlib import Path

import pytest

from tests.bench.says import judged

FOLDER = Path(__file__).parent / "exchanged"
EN = {
    "ab": ["doctor", "patient", "teacher", "pilot", "editor", "author", "lawyer", "client", "farmer", "baker", "nurse", "guard", "judge", "tenant"],
    "AB": ["Ann", "Tom", "Ruth", "Omar", "Mina", "Karl", "Petra", "Jonas", "Ida", "Hugo"],
    "xy": ["oat milk", "tabs", "spaces", "tea", "Postgres", "the red door", "the old mill", "rye bread", "the south gate"],
    "pq": ["old", "young", "tall", "clever", "tired", "rich", "new", "red", "blue"],
    "vw": [
        *(f"{verb}ed {verb}" for verb in ["ignor", "follow", "help", "visit", "su", "warn", "blam", "trust", "chas", "miss", "avoid", "requir", "reject", "allow"]),
        "refused refuse", "left leave", "met meet", "saw see", "beat beat", "shot shoot", "found find", "lost lose", "forgot forget",
        "denied deny", "stopped stop", "forbade forbid", "needs need", "lacks lack", "hates hate",
    ],
}  # fmt: skip
ZH = {
    "ab": ["医生", "病人", "老师", "律师", "编辑", "作者", "护士", "房东", "租客", "司机", "厨师", "会计", "小王", "小李", "老张"],
    "AB": ["小王", "小李", "老张", "老赵", "阿芳", "阿明", "小陈", "王姐"],
    "xy": ["苹果", "梨", "燕麦奶", "豆奶", "红茶", "绿茶", "新系统", "旧系统", "空格", "东门", "西门", "米饭", "面条", "火车"],
    "pq": ["年轻", "聪明", "高", "胖", "瘦", "有钱", "红", "蓝", "新", "旧"],
    "vw": ["拒绝", "批评", "表扬", "帮助", "认识", "喜欢", "讨厌", "忘记", "避开", "通知", "信任", "同意", "起诉", "解雇", "照顾", "打了", "救了", "等", "需要", "缺", "允许", "禁止", "要求"],
}  # fmt: skip
LEADS = {
    "en": "At the long autumn meeting about budget plans, garden tools, kitchen repairs, summer travel, winter coats, "
    "school books and old maps everybody agreed: ",
    "zh": "在关于预算计划、花园工具、厨房维修、夏季旅行、冬季外套和学校课本的秋季长会上大家一致同意：",
}


def exchanged(lang: str, times: int, seed: int) -> list[tuple[str, str]]:
    """Return pairs of texts of a language that differ in which part stands where."""
    rng, parts = random.Random(seed), {"en": EN, "zh": ZH}[lang]
    lines = (FOLDER / f"{lang}.txt").read_text(encoding="utf-8").splitlines()[1:]
    out = []
    for line in lines:
        for _ in range(times):
            said: dict[str, str] = {}
            for names, words in parts.items():
                said |= dict(zip(names, rng.sample(words, 2), strict=True))
            if lang == "en":
                said["v"], said["w"] = said["v"].split()
            said |= {name.upper(): said[name].capitalize() for name in "xy"}
            one, other = (side.format(**said) for side in line.split(" | "))
            out.append((one[0].upper() + one[1:], other[0].upper() + other[1:]))
    return [pair for pair in out if pair[0] != pair[1]]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_exchanged_is_never_the_same(lang):
    pairs = exchanged(lang, 9, 1)
    merged = [pair for pair, said in zip(pairs, judged(pairs), strict=True) if said == "same"]
    assert len(pairs) > 900
    assert not merged


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_exchanged_behind_many_words_is_not_the_same(lang):
    pairs = [(LEADS[lang] + one, LEADS[lang] + other) for one, other in exchanged(lang, 1, 2)]
    assert "same" not in judged(pairs)
    assert judged([(one, one) for one, _ in pairs[:1]]) == ["same"]


def test_who_has_a_word_of_the_name_in_common_is_not_the_same():
    frames = [
        "My landlord is {}.", "I work for {}.", "Our supplier is {}.", "Hugo lent the drill to {}.", "Hugo reports to {}.",
        "{} manages Tom.", "{} is older than Karl Berg.", "Hugo is the father of {}.", "Hugo is married to {}.",
        "The mill was bought by {}.",
    ]  # fmt: skip
    names = ["Petra Lund", "Mina Lund", "Petra Lund Hansen", "Mina Lund Hansen", "Kestrel Ltd.", "Plover Ltd."]  # fmt: skip
    pairs = [
        (frame.format(one), frame.format(other))
        for frame in frames
        for n, one in enumerate(names)
        for other in names[n + 1 :]
    ]
    told = zip(pairs, judged(pairs), strict=True)
    assert not [pair for pair, said in told if said == "same"]
