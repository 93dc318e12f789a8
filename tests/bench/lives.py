"""Made-up memories of many agents for benchmarks: people, projects and values, in English and Chinese.

Scopes are of very different sizes (Zipf). A fifth of the records say again what another of their
scope said (in the same words, in other punctuation, by another form or in the other language), a
twentieth say another value of it, a seventh are notes of what happened. Every fact belongs to a
person or project of its scope, so that most records are like many others and the same as few.
"""

import numpy as np
import polars as pl

from tests.bench.corpus import recorded

_GIVEN = ["Alice", "Bob", "Carol", "David", "Emma", "Frank", "Grace", "Henry", "Iris", "Jack", "Karen", "Leo", "Maria", "Nina", "Oscar", "Paul", "Rosa", "Sam", "Tina", "Victor"]  # fmt: skip
_FAMILY = [
    "Adler",
    "Baker",
    "Chen",
    "Diaz",
    "Evans",
    "Fischer",
    "Garcia",
    "Hill",
    "Ivanov",
    "Jensen",
    "Kim",
    "Lopez",
    "Meyer",
    "Novak",
]
_SURNAMES, _LAST = "王李张刘陈杨黄赵吴周徐孙马朱", "伟芳娜敏静丽强磊军洋勇艳杰娟涛明超霞平刚"
_CITIES = ["Berlin|柏林", "Munich|慕尼黑", "Paris|巴黎", "London|伦敦", "Tokyo|东京", "Beijing|北京", "Shanghai|上海", "Shenzhen|深圳"]  # fmt: skip
_LIKED = ["coffee|咖啡", "tea|茶", "jazz|爵士乐", "hiking|徒步", "chess|象棋", "swimming|游泳", "sushi|寿司", "noodles|面条"]  # fmt: skip
_TOOLS = [
    "Postgres",
    "MySQL",
    "Redis",
    "Kafka",
    "Docker",
    "Rust",
    "Python",
    "Vim",
    "Emacs",
    "Terraform",
    "Grafana",
    "Jenkins",
]
_DAYS = ["Monday|周一", "Tuesday|周二", "Wednesday|周三", "Thursday|周四", "Friday|周五"]

# whose, what is said in English (two forms) and in Chinese (two forms), and its kind of value
_FORMS = (
    ("p", "{s}'s phone number is {v}", "You can reach {s} at {v}", "{s}的电话是{v}", "{s}的手机号码：{v}", "phone"),
    ("p", "{s}'s email is {v}", "{s} can be mailed at {v}", "{s}的邮箱是{v}", "{s}用的邮箱：{v}", "email"),
    ("p", "{s}'s birthday is {v}", "{s} was born on {v}", "{s}的生日是{v}", "{s}生日：{v}", "date"),
    ("p", "{s} lives in {v}", "{s}'s home is in {v}", "{s}住在{v}", "{s}家在{v}", "city"),
    ("p", "{s} works at {v}", "{s} is employed by {v}", "{s}在{v}工作", "{s}就职于{v}", "made"),
    ("p", "{s} prefers {v}", "{s}'s favourite is {v}", "{s}最喜欢{v}", "{s}偏爱{v}", "liked"),
    ("p", "{s} doesn't eat {v}", "{s} avoids {v}", "{s}不吃{v}", "{s}对{v}过敏", "liked"),
    ("p", "{s} is responsible for {v}", "{s} leads {v}", "{s}负责{v}", "{v}由{s}负责", "made"),
    ("j", "{s} runs on port {v}", "the port of {s} is {v}", "{s}的端口是{v}", "{s}用端口{v}", "number"),
    ("j", "the budget of {s} is {v} euros", "{s} has a budget of {v} euros", "{s}的预算是{v}欧元", "{s}预算{v}欧元", "number"),
    ("j", "the deadline of {s} is {v}", "{s} is due on {v}", "{s}的截止日期是{v}", "{s}{v}截止", "date"),
    ("j", "the weekly meeting of {s} is on {v} at 10:00", "{s} meets every {v} at 10am", "{s}的周会在{v}上午十点", "{s}每{v}上午10点开会", "day"),
    ("j", "{s} is deployed on {v}", "{s} uses {v}", "{s}部署在{v}上", "{s}使用{v}", "tool"),
    ("j", "{s} uses version {v}", "the version of {s} is {v}", "{s}的版本是{v}", "{s}当前版本{v}", "version"),
    ("j", "the rate limit of {s} is {v} requests per minute", "{s} allows {v} requests per minute", "{s}限流每分钟{v}次", "{s}每分钟最多{v}次请求", "number"),
    ("j", "{s} keeps its logs for {v} days", "logs of {s} are kept {v} days", "{s}的日志保留{v}天", "{s}日志保存{v}天", "small"),
)  # fmt: skip
_NOTES = (
    "Discussed {j} with {p}: the {w} review took longer than planned and {w} was left open",
    "{p} asked about the {w} of {j} again, and said that the {w} team would look at it next week",
    "While debugging {j} we found that {w} fails when {w} is empty; added a test for {w}",
    "和{p}讨论了{j}的{w}，结论是先处理{w}，再看{w}",
    "今天整理{j}的资料时发现{w}缺了一部分，{p}会补上{w}",
    "{p}说{j}的 {w} 进展顺利，下周再同步 {w}",
)


def texts(n, seed=0):
    """Return n memories and their scopes."""
    rng = np.random.default_rng(seed)
    words = _words(rng, 40_000)
    sizes = 1 / np.arange(1, max(4, n // 1000) + 1) ** 0.8
    scope = rng.choice(len(sizes), n, p=sizes / sizes.sum())
    draw, pick = rng.random((n, 2)), rng.integers(0, 1 << 40, (n, 6))
    cast = _casts(np.bincount(scope, minlength=len(sizes)), rng, words)
    said = [[] for _ in sizes]
    out = []
    for i in range(n):
        held, at = said[scope[i]], pick[i].tolist()
        old = held[at[0] % len(held)] if held and draw[i, 0] < 0.25 else None
        if old is None and draw[i, 0] > 0.85:
            out.append(_note(cast[scope[i]], words, at, draw[i, 1]))
            continue
        fact = old or _fact(cast[scope[i]], words, at)
        if old and draw[i, 0] < 0.05:
            fact = (fact[0], fact[1], _value(_FORMS[fact[0]][5], words, at), fact[3])
        text = _worded(fact, at if old and draw[i, 0] > 0.11 else None)
        if old and draw[i, 0] < 0.03:
            text = f"现在{text}" if fact[3] else f"{text} now"
        elif old and 0.08 < draw[i, 0] < 0.11:
            text = text.upper() if at[1] % 2 else f" {text}。"
        out.append(text)
        held.append(fact)
    return out, [f"agent:{s}" for s in scope.tolist()]


def store(n, seed=0):
    """Return n records of many scopes, a minute apart."""
    said, scopes = texts(n, seed)
    return recorded(pl.DataFrame({"text": said, "scope": scopes}))


def _words(rng, n):
    syllables = np.array([a + b for a in ["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "br", "st"] for b in ["a", "e", "i", "o", "u"]])  # fmt: skip
    return ["".join(row) for row in syllables[rng.integers(0, len(syllables), (n, 3))].tolist()]


def _casts(sizes, rng, words):
    """Of each scope its people and its projects, each with an English and a Chinese name."""
    out = []
    for size in sizes.tolist():
        people, projects = size // 12 + 2, size // 15 + 2
        at = rng.integers(0, 1 << 30, (people + projects, 4)).tolist()
        out.append(
            (
                [(f"{_GIVEN[a % 20]} {_FAMILY[b % 14]}", _SURNAMES[c % 14] + _LAST[d % 20] + _LAST[a % 20]) for a, b, c, d in at[:people]],
                [(words[a % len(words)].title() + " " + _KINDS[b % 6][0], words[a % len(words)].title() + _KINDS[b % 6][1]) for a, b, _, _ in at[people:]],
            )
        )  # fmt: skip
    return out


_KINDS = (("service", "服务"), ("project", "项目"), ("dashboard", "看板"), ("pipeline", "流水线"), ("app", "应用"), ("report", "报告"))  # fmt: skip


def _fact(cast, words, at):
    form = at[0] % len(_FORMS)
    whose = cast[0] if _FORMS[form][0] == "p" else cast[1]
    return (form, whose[at[1] % len(whose)], _value(_FORMS[form][5], words, at), at[2] % 5 < 2)


def _value(kind, words, at):
    n = at[3]
    made = words[n % len(words)].title()
    month, day = n % 12 + 1, n // 12 % 28 + 1
    return {
        "phone": lambda: (f"138{n % 10**8:08}",) * 2,
        "email": lambda: (f"{made.lower()}{n % 90}@example.com",) * 2,
        "date": lambda: (f"2026-{month:02}-{day:02}", f"2026年{month}月{day}日"),
        "city": lambda: tuple(_CITIES[n % len(_CITIES)].split("|")),
        "liked": lambda: tuple(_LIKED[n % len(_LIKED)].split("|")),
        "day": lambda: tuple(_DAYS[n % len(_DAYS)].split("|")),
        "made": lambda: (made, made),
        "tool": lambda: (_TOOLS[n % len(_TOOLS)],) * 2,
        "number": lambda: (f"{n % 9000 + 1000}",) * 2,
        "small": lambda: (f"{n % 90 + 10}",) * 2,
        "version": lambda: (f"{n % 9 + 1}.{n // 9 % 20}",) * 2,
    }[kind]()


def _worded(fact, at):
    """A fact in its own form and language; with `at`, in any."""
    form, whose, value, zh = fact
    other = 0 if at is None else at[1] % 2
    zh = zh if at is None else at[2] % 2
    return _FORMS[form][1 + 2 * zh + other].format(s=whose[zh], v=value[zh])


def _note(cast, words, at, share):
    zh = int(share < 0.4)
    form = _NOTES[3 * zh + at[0] % 3]
    parts = form.split("{w}")
    filled = "".join(part + (words[at[2 + i] % len(words)] if i + 1 < len(parts) else "") for i, part in enumerate(parts))  # fmt: skip
    return filled.format(
        p=cast[0][at[1] % len(cast[0])][zh], j=cast[1][at[1] // 7 % len(cast[1])][zh]
    )
