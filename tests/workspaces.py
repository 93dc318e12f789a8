"""Workspaces of Markdown as agents keep them: documents with structure, in three languages.

`build(folder, seed, language)` writes MEMORY.md, USER.md, files of instructions, daily notes,
topics and a session, made of the structures that real memory has: attributes of several things
under headings of their own, labels with lists, tables, numbered procedures, code, check-lists,
logs, repeated passages, and prompts that the agent's own software has left in a session.
"""

import random
from datetime import date, timedelta

FIRST, DAYS = date(2026, 3, 1), 9
WORDS = {
    "en": {
        "projects": ["Harbour map", "Seed bank", "Night bus", "Kiln"],
        "people": ["Ines", "Marek", "Tova", "Rui"],
        "attributes": [("Status", ["active", "paused", "done"]), ("Owner", ["Ines", "Rui"]), ("Port", ["8080", "8081"]), ("Path", ["/srv/map", "/srv/seed"])],
        "titles": ["Memory", "Projects", "People", "Preferences", "Log", "Setup", "Checks", "Ideas", "Steps", "Boundaries", "Decisions"],
        "claims": ["The archive room is locked at {h}:30", "Deliveries go through gate {n}", "{p} looks after the greenhouse", "The spare charger lives in drawer {n}", "Backups are kept for {n} weeks"],
        "rules": ["Never post without asking me first", "Always answer in short sentences", "Do not share prices with {p}"],
        "log": ["{n} tests pass", "{n} commits pushed", "All containers running", "Nothing new"],
        "steps": ["Stop the worker", "Copy the folder", "Start it again", "Look at the log"],
        "tasks": ["Order labels", "Call {p}", "Write the summary", "Renew the licence"],
        "label": "What is left", "quote": "You are more than a tool to me", "sum": "The greenhouse sensors were calibrated against the old thermometer before lunch.",
    },
    "zh": {
        "projects": ["港口地图", "种子库", "夜班车", "窑炉"],
        "people": ["林晓", "周伟", "陈静", "老赵"],
        "attributes": [("状态", ["进行中", "暂停", "完成"]), ("负责人", ["林晓", "陈静"]), ("端口", ["8080", "8081"]), ("路径", ["/srv/map", "/srv/seed"])],
        "titles": ["记忆", "项目", "人物", "偏好", "日志", "配置", "检查", "想法", "步骤", "边界", "决定"],
        "claims": ["档案室 {h}:30 锁门", "送货走 {n} 号门", "{p}负责温室", "备用充电器放在第 {n} 个抽屉", "备份保留 {n} 周"],
        "rules": ["没有问过我不要发布", "回答要短", "不要把价格告诉{p}"],
        "log": ["{n} 个测试通过", "推送了 {n} 个提交", "容器全部正常", "没有新消息"],
        "steps": ["停掉服务", "复制目录", "重新启动", "查看日志"],
        "tasks": ["订购标签", "给{p}打电话", "写总结", "续签许可证"],
        "label": "还剩下", "quote": "你对我来说不只是工具", "sum": "午饭前用旧温度计把温室里的传感器全部重新校准了一遍，误差都在半度以内。",
    },
    "ru": {
        "projects": ["Карта порта", "Банк семян", "Ночной автобус", "Печь"],
        "people": ["Инна", "Марк", "Таня", "Руслан"],
        "attributes": [("Статус", ["в работе", "на паузе", "готово"]), ("Отвечает", ["Инна", "Таня"]), ("Порт", ["8080", "8081"]), ("Путь", ["/srv/map", "/srv/seed"])],
        "titles": ["Память", "Проекты", "Люди", "Предпочтения", "Журнал", "Настройка", "Проверки", "Идеи", "Шаги", "Границы", "Решения"],
        "claims": ["Архив закрывают в {h}:30", "Доставка идёт через ворота {n}", "{p} смотрит за теплицей", "Запасная зарядка лежит в ящике {n}", "Копии хранят {n} недель"],
        "rules": ["Никогда не публикуй без моего согласия", "Отвечай коротко", "Не говори цены, если спросит {p}"],
        "log": ["прошло {n} тестов", "отправлено {n} коммитов", "Все контейнеры работают", "Ничего нового"],
        "steps": ["Остановить сервис", "Скопировать папку", "Запустить снова", "Посмотреть журнал"],
        "tasks": ["Заказать этикетки", "Позвонить: {p}", "Написать отчёт", "Продлить лицензию"],
        "label": "Осталось", "quote": "Ты для меня не просто инструмент", "sum": "До обеда датчики теплицы сверили со старым термометром, расхождение меньше градуса.",
    },
}  # fmt: skip
LEAKED = (
    "A new session was started via /new or /reset. Greet the user in your configured persona, if "
    "one is provided. Keep it to 1-3 sentences and ask what they want to do."
)
BEAT = (
    "Read HEARTBEAT.md if it exists (workspace context). Follow it strictly. Do not infer or repeat "
    "old tasks from prior chats. If nothing needs attention, reply HEARTBEAT_OK."
)
INSTRUCTIONS = ("SOUL.md", "IDENTITY.md", "AGENTS.md", "TOOLS.md", "HEARTBEAT.md")
CURATED = ("MEMORY.md", "USER.md")


class Writer:
    """Draws words of a language; each method returns lines of one structure."""

    def __init__(self, seed, language):
        self.draw, self.words = random.Random(f"{seed} {language}"), WORDS[language]

    def say(self, what):
        chosen = self.draw.choice(self.words[what])
        return chosen.format(h=self.draw.randint(6, 22), n=self.draw.randint(2, 40), p=self.draw.choice(self.words["people"]))  # fmt: skip

    def title(self, n, level=2):
        return ["", "#" * level + " " + self.words["titles"][n], ""]

    def attributes(self, of, level=3):
        """A thing and its values: the same labels, often the same values, under every thing."""
        lines = ["", "#" * level + f" {of}", ""]
        return lines + [
            f"- **{name}:** {self.draw.choice(values)}" for name, values in self.words["attributes"]
        ]

    def bullets(self, what, most=4):
        return [f"- {self.say(what)}" for _ in range(self.draw.randint(2, most))]

    def label(self):
        nested = [f"  - {self.say('tasks')}" for _ in range(2)]
        return ["", f"**{self.words['label']}:**", "", *self.bullets("claims", 3), f"- {self.words['label']}:", *nested]  # fmt: skip

    def table(self):
        names = [name for name, _ in self.words["attributes"][:3]]
        rows = [[self.draw.choice(v) for _, v in self.words["attributes"][:3]] for _ in range(3)]
        return ["", "| " + " | ".join(names) + " |", "|---|---|---|", *("| " + " | ".join(row) + " |" for row in rows)]  # fmt: skip

    def steps(self):
        return ["", self.words["titles"][8] + ":", "", *(f"{n}. {s}" for n, s in enumerate(self.words["steps"], 1))]  # fmt: skip

    def code(self):
        return [
            "",
            f"{self.words['label']}:",
            "",
            "```sh",
            "cd /srv/map",
            "make all  # 8080",
            "```",
        ]

    def checks(self):
        return [f"- [{self.draw.choice('x ')}] {self.say('tasks')}" for _ in range(4)]

    def log(self):
        return [f"- {h:02}:{self.draw.randint(0, 59):02} {self.say('log')}" for h in range(8, 12)]

    def quote(self):
        return ["", f"> {self.words['quote']}"]

    def section(self):
        n = self.draw.randrange(2, len(self.words["titles"]))
        kinds = (self.label, self.table, self.steps, self.code, self.checks, self.log, self.quote, lambda: self.bullets("claims"))  # fmt: skip
        return self.title(n) + self.draw.choice(kinds)() + self.draw.choice(kinds)()


def build(folder, seed=0, language="en", newline="\n"):
    """Write a workspace; the same seed and language write the same bytes."""
    w = Writer(seed, language)
    passage = w.title(9) + w.bullets("rules") + w.steps() + ["", w.words["sum"]]
    things = [line for thing in w.words["projects"] for line in w.attributes(thing)]
    files = {
        "MEMORY.md": ["---", "kind: memory", "---", "# " + w.words["titles"][0], *w.title(1), *things, *w.section(), *w.section(), *w.title(3), *w.bullets("claims", 6)],
        "USER.md": ["# " + w.words["titles"][2], *(line for p in w.words["people"] for line in w.attributes(p, 2)), *w.title(9), *w.bullets("rules"), *w.quote()],
        **{name: [f"# {name[:-3]}", *w.title(9), *w.bullets("rules"), *w.steps()] for name in INSTRUCTIONS},
        "memory/ideas.md": ["# " + w.words["titles"][7], *w.section(), *w.section(), "", "<!-- kept by hand -->", *w.attributes(w.words["projects"][0])],
        "memory/2026-03-09-0715.md": session(w),
    }  # fmt: skip
    for n in range(DAYS):
        day = FIRST + timedelta(days=n)
        lines = [f"# {day}", *w.section(), *w.title(4), *w.log()]
        lines += passage if n in (3, 4, 5) else w.section()
        files[f"memory/{day}.md"] = lines + (
            w.attributes(w.words["projects"][1], 2) if n % 2 else []
        )
    for name, lines in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(
            (newline.join(lines) + ("" if name == "memory/ideas.md" else newline)).encode()
        )
    return folder


def session(w):
    """A session as the agent's software saves it, its own prompts among the turns."""
    turns = [f"user: {LEAKED}", f"user: {BEAT}", f"assistant: {w.say('claims')}", f"user: {BEAT}", f"user: {w.say('rules')}"]  # fmt: skip
    head = ["# Session: 2026-03-09 07:15:00 UTC", "", "- **Session Key**: agent:main:main", "- **Session ID**: 1f0c", "", "## Conversation Summary", ""]  # fmt: skip
    return head + turns
