"""Labelled pairs made by templates: what fitting may see beside hand-written pairs.

Scenes (who does what) and facts (an attribute with a value), English and Chinese. A scene and its
denial conflict, a scene with another actor or another act is another scene; a fact with another
value conflicts, with another owner it is another fact, in other words it is the same.
"""

import random
from collections.abc import Iterator

ACTORS = [
    "man",
    "woman",
    "boy",
    "girl",
    "dog",
    "cat",
    "child",
    "rider",
    "cook",
    "singer",
    "monkey",
    "player",
    "couple",
    "worker",
]
ACTS = [
    ("playing", "a flute"),
    ("peeling", "an apple"),
    ("riding", "a horse"),
    ("washing", "a plate"),
    ("cutting", "some paper"),
    ("jumping over", "a fence"),
    ("running through", "a field"),
    ("sitting on", "a bench"),
    ("eating", "a sandwich"),
    ("climbing", "a rope"),
    ("reading", "a newspaper"),
    ("pushing", "a cart"),
    ("painting", "a wall"),
    ("holding", "a bucket"),
    ("looking at", "a bird"),
    ("throwing", "a ball"),
    ("drawing", "a tree"),
    ("sleeping on", "a sofa"),
    ("opening", "a box"),
]
PLACES = ["", " in the park", " near the river", " outside", " in the kitchen", " on the street"]
ZH_ACTORS = ["男人", "女人", "小孩", "老人", "学生", "厨师", "工人", "歌手"]
ZH_ACTS = [
    "弹吉他",
    "切菜",
    "骑马",
    "洗盘子",
    "看报纸",
    "爬山",
    "画画",
    "跑步",
    "睡觉",
    "打球",
    "喂鸟",
    "开门",
    "写字",
    "唱歌",
]
OWNERS = [
    ("the studio", "工作室"),
    ("the archive", "档案室"),
    ("the canteen", "食堂"),
    ("my bike", "我的自行车"),
    ("the lab", "实验室"),
    ("the choir", "合唱团"),
    ("the blog", "博客"),
    ("the boat", "小船"),
]
FACTS = [
    (
        "{o} opens at {v}",
        "Opening time of {o} is {v}",
        "{z}{w}开门",
        "{z}的开门时间是{w}",
        [("7:30", "七点半"), ("8:15", "八点一刻"), ("9:00", "上午九点")],
    ),
    (
        "{o} costs {v} a month",
        "The monthly price of {o} is {v}",
        "{z}每月{w}",
        "{z}的月租是{w}",
        [("40 euros", "40 欧元"), ("$55", "55 美元"), ("70 euros", "七十欧元")],
    ),
    (
        "{o} is managed by {v}",
        "{v} manages {o}",
        "{z}由{w}管理",
        "{w}管理{z}",
        [("Ruth", "阿茹"), ("Pavel", "老潘"), ("Ines", "小英")],
    ),
    (
        "{o} is in {v}",
        "{o} is located in {v}",
        "{z}在{w}",
        "{z}位于{w}",
        [("Graz", "格拉茨"), ("Lyon", "里昂"), ("Turin", "都灵")],
    ),
    (
        "{o} has {v} seats",
        "There are {v} seats in {o}",
        "{z}有{w}个座位",
        "{z}的座位一共{w}个",
        [("12", "十二"), ("20", "二十"), ("36", "36")],
    ),
    (
        "{o} closes on {v}",
        "On {v} {o} is closed",
        "{z}{w}关门",
        "{w}{z}不开门",
        [("Monday", "周一"), ("Thursday", "周四"), ("Sunday", "周日")],
    ),
    (
        "{o} uses {v}",
        "{v} is used by {o}",
        "{z}用{w}",
        "{z}采用{w}",
        [("Quarto", "Quarto"), ("Hugo", "Hugo"), ("Zola", "Zola")],
    ),
]
CHANGE = [("{f} now", "现在{f}"), ("From now on {f}", "以后{f}"), ("It changed: {f}", "改了：{f}")]


def pairs(seed: int = 7, each: int = 90) -> list[dict[str, str]]:
    """Return labelled pairs {a, b, label, lang}, `each` of a sort, the same for a seed."""
    rng = random.Random(seed)
    made = [pair for make in (_scenes, _zh_scenes, _facts) for pair in make(rng, each)]
    return [dict(zip(("a", "b", "label", "lang"), row, strict=True)) for row in made]


def strangers(known: list[dict[str, str]], n: int, seed: int = 7) -> list[dict[str, str]]:
    """Return pairs of statements that were never written as a pair: unrelated."""
    rng = random.Random(seed)
    out = []
    while len(out) < n:
        one, two = rng.sample(known, 2)
        if one["lang"] == two["lang"]:
            out.append({"a": one["a"], "b": two["b"], "label": "unrelated", "lang": one["lang"]})
    return out


def _scenes(rng: random.Random, n: int) -> Iterator[tuple[str, str, str, str]]:
    for _ in range(n):
        actor, other = rng.sample(ACTORS, 2)
        (act, thing), (act2, thing2) = rng.sample(ACTS, 2)
        place = rng.choice(PLACES)
        said = f"A {actor} is {act} {thing}{place}"
        denied = rng.choice(
            [
                f"The {actor} is not {act} {thing}{place}",
                f"There is no {actor} {act} {thing}{place}",
                f"A {actor} isn't {act} {thing}",
            ]
        )
        yield (*rng.sample([said, denied], 2), "conflict", "en")
        yield said, f"Nobody is {act} {thing}", "conflict", "en"
        yield said, f"The {actor} is {act} {thing}{place}", "duplicate", "en"
        yield said, f"{thing.capitalize()} is there and a {actor} is {act} it", "related", "en"
        yield said, f"A {other} is {act} {thing}{place}", "related", "en"
        yield said, f"A {actor} is {act2} {thing2}{place}", "related", "en"
        yield denied, f"A {other} is {act2} {thing2}", "related", "en"
        yield denied, f"There is no {other} {act2} {thing2}", "related", "en"


def _zh_scenes(rng: random.Random, n: int) -> Iterator[tuple[str, str, str, str]]:
    for _ in range(n // 2):
        actor, other = rng.sample(ZH_ACTORS, 2)
        act, act2 = rng.sample(ZH_ACTS, 2)
        yield f"{actor}在{act}", f"{actor}没有在{act}", "conflict", "zh"
        yield f"{actor}喜欢{act}", f"{actor}不喜欢{act}", "conflict", "zh"
        yield f"一个{actor}正在{act}", f"{actor}在{act}", "duplicate", "zh"
        yield f"{actor}在{act}", f"{other}没有在{act}", "related", "zh"
        yield f"{actor}在{act}", f"{actor}在{act2}", "related", "zh"
        yield f"{actor}不喜欢{act}", f"{actor}不喜欢{act2}", "related", "zh"


def _facts(rng: random.Random, n: int) -> Iterator[tuple[str, str, str, str]]:
    for _ in range(n):
        en, en2, zh, zh2, values = rng.choice(FACTS)
        (o, z), (o2, z2) = rng.sample(OWNERS, 2)
        (v, w), (v2, w2) = rng.sample(values, 2)
        change = rng.choice(CHANGE)
        fills = {"o": o, "v": v, "z": z, "w": w}
        new, else_ = fills | {"v": v2, "w": w2}, fills | {"o": o2, "z": z2, "v": v2, "w": w2}
        for first, second, lang, i in ((en, en2, "en", 0), (zh, zh2, "zh", 1)):
            said = first.format(**fills)
            yield said, second.format(**fills), "duplicate", lang
            yield said, second.format(**new), "conflict", lang
            yield said, change[i].format(f=first.format(**new)), "conflict", lang
            yield said, first.format(**else_), "unrelated", lang
            yield said, second.format(**else_), "unrelated", lang
