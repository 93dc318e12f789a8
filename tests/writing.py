"""Values written in random ways, by writers of their own: no word of these comes from a pack."""

import random

ONES = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
]  # fmt: skip
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
HAN = "零一二三四五六七八九"
DAYS_EN = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
MONTHS_EN = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
]  # fmt: skip


def english(n):
    if n < 20:
        return ONES[n]
    if n < 100:
        return TENS[n // 10 - 2] + (f"-{ONES[n % 10]}" if n % 10 else "")
    if n < 1000:
        rest = f" and {english(n % 100)}" if n % 100 else ""
        return f"{ONES[n // 100]} hundred{rest}"
    for size, word in ((10**6, "million"), (1000, "thousand")):
        if n >= size:
            rest = n % size
            joint = " and " if 0 < rest < 100 else " "
            return f"{english(n // size)} {word}" + (joint + english(rest) if rest else "")


def chinese(n):
    if n >= 10**8:
        return _above(n, 10**8, "亿")
    if n >= 10**4:
        return _above(n, 10**4, "万")
    out, zero = "", False
    for size, unit in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = n // size % 10
        if digit:
            out += ("零" if zero and out else "") + HAN[digit] + unit
            zero = False
        else:
            zero = bool(out)
    out = out or "零"
    return out[1:] if out.startswith("一十") else out


def _above(n, size, unit):
    rest = n % size
    gap = "零" if 0 < rest < size // 10 else ""
    tail = chinese(rest) if rest else ""
    return chinese(n // size) + unit + gap + ("一" + tail if tail.startswith("十") else tail)


class Writer:
    """Draws a value, writes it in a random way, and draws another that differs a little."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def one(self, *ways):
        return self.r.choice(ways)

    def digit(self, n, low=1):
        """Another number of which one digit differs."""
        said = str(n)
        while True:
            at = self.r.randrange(len(said))
            other = int(said[:at] + str(self.r.randrange(10)) + said[at + 1 :])
            if other != n and other >= low and len(str(other)) == len(said):
                return other


class English(Writer):
    def count(self, n):
        ways = [str(n), f"{n:,}", english(n)]
        if n >= 1000 and n % 100 == 0:
            ways.append(f"{n / 1000:g}k")
        return self.r.choice(ways)

    def kinds(self):
        return [
            self.number, self.mass, self.length, self.volume, self.heat, self.money, self.share, self.discount,
            self.clock, self.date, self.weekday, self.duration, self.often, self.version, self.ident, self.bound,
            self.range, self.about, self.rate,
        ]  # fmt: skip

    def number(self):
        n = self.r.choice(
            [self.r.randrange(2, 100), self.r.randrange(100, 10**4), self.r.randrange(1, 900) * 100]
        )
        return n, self.digit(n, 2), lambda n: f"{self.count(n)} items"

    def mass(self):
        n = self.r.randrange(2, 400)
        more = self.one(lambda n: (n, "kg"), lambda n: (n, "lb"))
        n, unit = more(n)
        other = self.one(
            (self.digit(n), unit),
            (n, "g" if unit == "kg" else "oz"),
            (n, "lb" if unit == "kg" else "kg"),
        )
        return (n, unit), other, self._mass

    def _mass(self, value):
        n, unit = value
        if unit == "kg":
            return self.one(
                f"{n} kg",
                f"{self.count(n)} kilograms",
                f"{n * 1000} g",
                f"{english(n)} kilos",
                f"{n}kg",
            )
        if unit == "lb":
            small = [f"{n * 16} ounces"] if n * 16 < 100 else []  # three digits nobody rounds
            return self.one(f"{n} lb", f"{english(n)} pounds", f"{n} lbs", *small)
        return self.one(
            f"{n} {unit}", f"{n}{unit}", f"{english(n)} {'grams' if unit == 'g' else 'ounces'}"
        )

    def length(self):
        n = self.r.randrange(2, 900)
        return (n, "km"), self.one((self.digit(n), "km"), (n, "m"), (n, "mi")), self._length

    def _length(self, value):
        n, unit = value
        if unit == "km":
            return self.one(
                f"{n} km",
                f"{n * 1000:,} metres",
                f"{english(n)} kilometres",
                f"{n}km",
                f"{n * 1000} m",
            )
        if unit == "m":
            return self.one(f"{n} m", f"{n * 100} cm", f"{english(n)} meters", f"{n / 1000:g} km")
        return self.one(f"{n} miles", f"{english(n)} mi", f"{n} mi")

    def volume(self):
        n = self.r.randrange(2, 500)
        return (n, "l"), self.one((self.digit(n), "l"), (n, "ml")), self._volume

    def _volume(self, value):
        n, unit = value
        if unit == "ml":
            return self.one(f"{n} ml", f"{english(n)} millilitres", f"{n / 1000:g} l")
        return self.one(f"{n} l", f"{english(n)} litres", f"{n * 1000} ml", f"{n} liters")

    def heat(self):
        n = self.r.randrange(50, 300)
        sign = self.one(1, -1)
        other = self.one((self.digit(n) * sign, "C"), (-n * sign, "C"), (n * sign, "F"))
        return (n * sign, "C"), other, self._heat

    def _heat(self, value):
        n, unit = value
        word = {"C": "Celsius", "F": "Fahrenheit"}[unit]
        if n < 0:
            return self.one(
                f"{n} °{unit}",
                f"minus {english(-n)} degrees {word}",
                f"minus {-n} °{unit}",
                f"{n}°{unit}",
            )
        return self.one(
            f"{n} °{unit}", f"{n}°{unit}", f"{english(n)} degrees {word}", f"{n} degrees {word}"
        )

    def money(self):
        n = self.r.randrange(2, 9000)
        other = self.one((self.digit(n), "USD"), (n, "EUR"), (n * 10, "USD"), (n, "GBP"))
        return (n, "USD"), other, self._money

    def _money(self, value):
        n, code = value
        sign, word = {
            "USD": ("$", "dollars"),
            "EUR": ("€", "euros"),
            "GBP": ("£", "pounds sterling"),
        }[code]
        return self.one(
            f"{sign}{n:,}",
            f"{sign}{n}",
            f"{self.count(n)} {word}",
            f"{code} {n}",
            f"{n} {code}",
            f"{sign}{n:,}.00",
        )

    def share(self):
        n = self.r.randrange(1, 100)
        return (
            n,
            self.digit(n),
            lambda n: self.one(f"{n}%", f"{english(n)} percent", f"{n} per cent", f"{n} %"),
        )

    def discount(self):
        n = self.r.randrange(1, 19) * 5
        return n, 100 - n if n != 50 else 40, lambda n: self.one(
            f"{n}% off", f"a {n} percent discount", f"a discount of {english(n)} percent", f"{100 - n}% of the original price"
        )  # fmt: skip

    def clock(self):
        h, m = self.r.randrange(24), self.r.choice([0, 15, 30, 45, self.r.randrange(60)])
        other = self.one(((h + 12) % 24, m), ((h + 1) % 24, m), (h, (m + 7) % 60))
        return (h, m), other, self._clock

    def _clock(self, value):
        h, m = value
        half = "am" if h < 12 else "pm"
        ways = [
            f"{h:02}:{m:02}",
            f"{h % 12 or 12}:{m:02} {half}",
            f"{h % 12 or 12}:{m:02} {half[0]}.m.",
        ]
        if m == 0:
            ways += [f"{h % 12 or 12} {half}", f"{english(h % 12 or 12)} o'clock {half}"]
        elif m == 30:
            ways.append(f"half past {english(h % 12 or 12)} {half}")
        elif m == 15:
            ways.append(f"quarter past {english(h % 12 or 12)} {half}")
        return "at " + self.r.choice(ways)

    def date(self):
        y, m, d = self.r.randrange(1950, 2050), self.r.randrange(1, 13), self.r.randrange(1, 29)
        other = self.one((y + 1, m, d), (y, m % 12 + 1, d), (y, m, d % 28 + 1))
        return (y, m, d), other, self._date

    def _date(self, value):
        y, m, d = value
        name = self.one(MONTHS_EN[m - 1], MONTHS_EN[m - 1][:3])
        nth = (
            f"{d}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(d % 10 if d not in (11, 12, 13) else 0, 'th') }"
        )
        ways = [
            f"{y}-{m:02}-{d:02}",
            f"{name} {d}, {y}",
            f"{d} {name} {y}",
            f"{name} {nth}, {y}",
            f"the {nth} of {MONTHS_EN[m - 1]} {y}",
            f"{y}/{m}/{d}",
        ]
        return "on " + self.r.choice(ways)

    def weekday(self):
        days = tuple(sorted(self.r.sample(range(7), self.one(1, 2, 3))))
        other = tuple(sorted({(day + 1) % 7 for day in days}))
        return days, other, self._weekday

    def _weekday(self, days):
        names = [self.one(DAYS_EN[day], DAYS_EN[day][:3]) for day in days]
        if len(names) == 1:
            return f"on {names[0]}"
        return "on " + self.one(
            ", ".join(names),
            ", ".join(names[:-1]) + " and " + names[-1],
            " and ".join(names),
            "/".join(names),
        )

    def duration(self):
        n, unit = (
            self.r.randrange(2, 90),
            self.one("hours", "days", "weeks", "months", "minutes", "years"),
        )
        other = self.one((self.digit(n, 2), unit), (n, "seconds"))
        return (n, unit), other, self._duration

    def _duration(self, value):
        n, unit = value
        ways = [f"{n} {unit}", f"{english(n)} {unit}", f"{self.count(n)} {unit}"]
        for small, large, times in (
            ("minutes", "hours", 60),
            ("hours", "days", 24),
            ("days", "weeks", 7),
            ("months", "years", 12),
            ("seconds", "minutes", 60),
        ):
            if unit == large:
                ways.append(f"{n * times} {small}")
            if unit == small and n > times and n % times == 0:
                ways.append(f"{n // times} {large if n // times > 1 else large[:-1]}")
            if unit == small and n > times and times % 2 == 0 and n % times == times // 2:
                ways.append(f"{n // times}.5 {large}")
        return "for " + self.r.choice(ways)

    def often(self):
        n, unit = self.r.randrange(1, 9), self.one("day", "week", "month", "year")
        other = self.one(
            (n + 1, unit),
            (n, {"day": "week", "week": "day", "month": "year", "year": "month"}[unit]),
        )
        return (n, unit), other, self._often

    def _often(self, value):
        n, unit = value
        per = self.one(f"a {unit}", f"per {unit}", f"each {unit}", f"every {unit}")
        if n == 1:
            return self.one(
                f"once {per}",
                f"every {unit}",
                {"day": "daily", "week": "weekly", "month": "monthly", "year": "yearly"}[unit],
            )
        ways = [f"{n} times {per}", f"{english(n)} times {per}", f"{n}x per {unit}"]
        return self.r.choice([*ways, f"twice {per}"] if n == 2 else ways)

    def version(self):
        a, b, c = (self.r.randrange(1, 30) for _ in range(3))
        return (a, b, c), self.one((a + 1, b, c), (a, b + 1, c), (a, b, c + 1)), lambda v: self.one(
            "v{}.{}.{}", "version {}.{}.{}", "{}.{}.{}"
        ).format(*v)  # fmt: skip

    def ident(self):
        n = self.r.randrange(2, 900)
        word = self.one("room", "gate", "chapter", "invoice", "ticket", "page")
        return (
            n,
            self.digit(n),
            lambda n: self.one(
                f"{word} {n}",
                f"{word} no. {n}",
                f"{word} number {n}",
                f"{word.title()} {n}",
                f"{word} #{n}",
            ),
        )

    def bound(self):
        n, way = self.r.randrange(2, 90), self.one("<=", ">=")
        words = {
            "<=": ("at most {}", "no more than {}", "up to {}", "a maximum of {}"),
            ">=": ("at least {}", "no fewer than {}", "a minimum of {}", "not less than {}"),
        }
        other = self.one((self.digit(n), way), (n, ">=" if way == "<=" else "<="))
        return (
            (n, way),
            other,
            lambda v: self.r.choice(words[v[1]]).format(self.count(v[0])) + " people",
        )

    def range(self):
        low = self.r.randrange(2, 40)
        high = low + self.r.randrange(2, 30)
        return (low, high), self.one((low, high + 1), (low + 1, high)), lambda v: self.one(
            f"{v[0]}-{v[1]} kg", f"between {v[0]} and {v[1]} kg", f"{v[0]} to {v[1]} kilograms", f"from {english(v[0])} to {english(v[1])} kilos", f"{v[0]}–{v[1]} kg"
        )  # fmt: skip

    def about(self):
        n = self.r.randrange(2, 900)
        return (
            n,
            n * 3,
            lambda n: (
                self.one("about {}", "roughly {}", "around {}", "approximately {}").format(
                    self.count(n)
                )
                + " users"
            ),
        )

    def rate(self):
        n, unit = self.r.randrange(2, 900), self.one("hour", "month", "week")
        other = self.one((self.digit(n), unit), (n, "day"))
        return (
            (n, unit),
            other,
            lambda v: self.one(
                f"${v[0]}/{v[1]}",
                f"${v[0]} per {v[1]}",
                f"{self.count(v[0])} dollars a {v[1]}",
                f"{v[0]} USD per {v[1]}",
            ),
        )

    CARRIERS = (
        "The kiln report lists {}.",
        "The miller's book has {} in the margin.",
        "{} stands in the ledger of the mill.",
    )


class Chinese(Writer):
    def count(self, n):
        ways = [str(n), chinese(n)]
        if n >= 10000 and n % 1000 == 0:
            ways.append(f"{n / 10000:g}万")
        return self.r.choice(ways)

    def kinds(self):
        return [
            self.number, self.mass, self.length, self.heat, self.money, self.share, self.discount, self.clock, self.date,
            self.weekday, self.duration, self.often, self.ident, self.bound, self.range, self.about, self.rate, self.volume,
        ]  # fmt: skip

    def number(self):
        n = self.r.choice(
            [
                self.r.randrange(3, 100),
                self.r.randrange(100, 10**4),
                self.r.randrange(10, 900) * 1000,
            ]
        )
        return n, self.digit(n, 3), lambda n: f"{self.count(n)}个"

    def mass(self):
        n = self.r.randrange(3, 400)
        return (n, "kg"), self.one((self.digit(n, 3), "kg"), (n, "斤"), (n, "g")), self._mass

    def _mass(self, value):
        n, unit = value
        if unit == "kg":
            return self.one(
                f"{n}公斤",
                f"{chinese(n)}公斤",
                f"{n}kg",
                f"{n * 2}斤",
                f"{n * 1000}克",
                f"{chinese(n)}千克",
            )
        return self.one(
            f"{n}{ {'g': '克'}.get(unit, unit) }", f"{chinese(n)}{ {'g': '克'}.get(unit, unit) }"
        )

    def length(self):
        n = self.r.randrange(3, 900)
        return (n, "km"), self.one((self.digit(n, 3), "km"), (n, "m")), self._length

    def _length(self, value):
        n, unit = value
        if unit == "km":
            return self.one(
                f"{n}公里", f"{chinese(n)}公里", f"{n * 1000}米", f"{n} km", f"{n * 2}里地"
            )
        return self.one(f"{n}米", f"{chinese(n)}米", f"{n * 100}厘米", f"{n} m")

    def volume(self):
        n = self.r.randrange(3, 500)
        return (
            (n, "升"),
            self.one((self.digit(n, 3), "升"), (n, "毫升")),
            lambda v: self.one(f"{v[0]}{v[1]}", f"{chinese(v[0])}{v[1]}", f"{v[0]} {v[1]}"),
        )

    def heat(self):
        n = self.r.randrange(3, 300)
        sign = self.one(1, -1)
        return n * sign, self.one(self.digit(n, 3) * sign, -n * sign), self._heat

    def _heat(self, n):
        if n < 0:
            return self.one(
                f"{n}℃",
                f"零下{chinese(-n)}摄氏度",
                f"零下{-n}摄氏度",
                f"{n} °C",
                f"负{chinese(-n)}摄氏度",
            )
        return self.one(f"{n}℃", f"{chinese(n)}摄氏度", f"{n}摄氏度", f"{n} °C")

    def money(self):
        n = self.r.randrange(3, 9000)
        return (
            (n, "元"),
            self.one((self.digit(n, 3), "元"), (n, "美元"), (n * 10, "元"), (n, "欧元")),
            self._money,
        )

    def _money(self, value):
        n, unit = value
        if unit != "元":
            return self.one(f"{n}{unit}", f"{chinese(n)}{unit}")
        return self.one(
            f"{n}元",
            f"{chinese(n)}元",
            f"{n}块钱",
            f"¥{n}",
            f"{chinese(n)}块",
            f"人民币{n}元",
            f"{n}.0元",
        )

    def share(self):
        n = self.r.randrange(3, 100)
        ways = lambda n: [
            f"{n}%",
            f"百分之{chinese(n)}",
            f"{n} %",
            f"百分之{n}",
            *([f"{HAN[n // 10]}成"] if n % 10 == 0 else []),
        ]  # noqa: E731
        return n, self.digit(n, 3), lambda n: self.r.choice(ways(n))

    def discount(self):
        n = self.r.randrange(1, 10)
        return (
            n,
            n % 9 + 1,
            lambda n: self.one(
                f"打{HAN[n]}折",
                f"{n}折",
                f"优惠{(10 - n) * 10}%",
                f"原价的{HAN[n]}成",
                f"便宜{HAN[10 - n] if n < 10 else ''}成",
            ),
        )

    def clock(self):
        h, m = self.r.randrange(5, 24), self.r.choice([0, 15, 30, 45, self.r.randrange(10, 60)])
        other = self.one(((h + 1) % 24, m), (h, (m + 7) % 60), ((h + 12) % 24, m))
        return (h, m), other, self._clock

    def _clock(self, value):
        h, m = value
        part = (
            "凌晨"
            if h < 5
            else "上午"
            if h < 12
            else "中午"
            if h == 12
            else "下午"
            if h < 18
            else "晚上"
        )
        tail = {
            0: ("", "整", "钟"),
            15: ("一刻", "15分", "十五分"),
            30: ("半", "30分", "三十分"),
            45: ("三刻", "45分"),
        }.get(m) or ((f"{chinese(m)}分", f"{m}分") if m > 9 else (f"零{HAN[m]}分",))
        hour = h if h <= 12 else h - 12
        if h == 0:
            return f"{h:02}:{m:02}"
        return self.one(
            f"{h:02}:{m:02}",
            f"{part}{chinese(hour)}点{self.r.choice(tail)}",
            f"{part}{hour}点{self.r.choice(tail)}",
            f"{part}{hour}:{m:02}",
        )

    def date(self):
        y, m, d = self.r.randrange(1950, 2050), self.r.randrange(1, 13), self.r.randrange(1, 29)
        return (
            (y, m, d),
            self.one((y + 1, m, d), (y, m % 12 + 1, d), (y, m, d % 28 + 1)),
            self._date,
        )

    def _date(self, value):
        y, m, d = value
        year = "".join(HAN[int(c)] for c in str(y))
        return self.one(
            f"{y}年{m}月{d}日",
            f"{y}-{m:02}-{d:02}",
            f"{year}年{chinese(m)}月{chinese(d)}日",
            f"{y}年{m}月{d}号",
            f"{y}/{m}/{d}",
            f"{y} 年 {m} 月 {d} 日",
            f"{year.replace('零', '〇')}年{chinese(m)}月{chinese(d)}号",
        )

    def weekday(self):
        days = tuple(sorted(self.r.sample(range(7), self.one(1, 2, 3))))
        return days, tuple(sorted({(day + 1) % 7 for day in days})), self._weekday

    def _weekday(self, days):
        head = self.one("周", "星期", "礼拜")
        names = [head + ("日" if day == 6 else HAN[day + 1]) for day in days]
        return self.one("、".join(names), "和".join(names), "，".join(names))

    def duration(self):
        n, unit = self.r.randrange(3, 90), self.one("小时", "天", "周", "个月", "分钟", "年")
        return (n, unit), self.one((self.digit(n, 3), unit), (n, "秒")), self._duration

    def _duration(self, value):
        n, unit = value
        ways = [f"{n}{unit}", f"{chinese(n)}{unit}"]
        ways += {
            "小时": [f"{n}个小时", f"{n * 60}分钟"],
            "周": [f"{n * 7}天", f"{chinese(n)}个星期"],
            "年": [f"{n * 12}个月"],
            "天": [f"{n * 24}小时"],
        }.get(unit, [])
        return self.r.choice(ways)

    def often(self):
        n, unit = self.r.randrange(1, 9), self.one("天", "周", "个月", "年")
        return (
            (n, unit),
            self.one(
                (n + 1, unit), (n, {"天": "周", "周": "天", "个月": "年", "年": "个月"}[unit])
            ),
            self._often,
        )

    def _often(self, value):
        n, unit = value
        times = {2: "两"}.get(n, HAN[n])
        short = unit.removeprefix("个")
        return self.one(
            f"每{short}{times}次", f"一{unit}{times}次", f"每{short}{n}次", f"每一{unit}{times}次"
        )

    def ident(self):
        n, head = self.r.randrange(3, 90), self.one("章", "页", "期", "号线", "号楼")
        first = "" if head.startswith("号") else "第"
        return (
            n,
            self.digit(n, 3),
            lambda n: self.one(f"{first}{n}{head}", f"{first}{chinese(n)}{head}"),
        )

    def bound(self):
        n, way = self.r.randrange(3, 90), self.one("<=", ">=")
        words = {
            "<=": ("最多{}人", "不超过{}人", "至多{}人", "{}人以内"),
            ">=": ("至少{}人", "不少于{}人", "起码{}人", "{}人以上"),
        }
        return (
            (n, way),
            self.one((self.digit(n, 3), way), (n, ">=" if way == "<=" else "<=")),
            lambda v: self.r.choice(words[v[1]]).format(self.count(v[0])),
        )

    def range(self):
        low = self.r.randrange(11, 40)
        high = low + self.r.randrange(2, 30)
        return (
            (low, high),
            self.one((low, high + 1), (low + 1, high)),
            lambda v: self.one(
                f"{v[0]}到{v[1]}公斤",
                f"{chinese(v[0])}至{chinese(v[1])}公斤",
                f"{v[0]}-{v[1]}公斤",
                f"{v[0]}~{v[1]}公斤",
            ),
        )

    def about(self):
        n = self.r.randrange(11, 900)
        return (
            n,
            n * 3,
            lambda n: self.one("大约{}人", "约{}人", "{}人左右", "大概{}人", "差不多{}人").format(
                self.count(n)
            ),
        )

    def rate(self):
        n, unit = self.r.randrange(11, 900), self.one("小时", "月", "年")
        return (
            (n, unit),
            self.one((self.digit(n, 11), unit), (n, "天")),
            lambda v: self.one(
                f"每{v[1]}{v[0]}元",
                f"{v[0]}元/{v[1]}",
                f"{chinese(v[0])}元每{v[1]}",
                f"每{v[1]}{chinese(v[0])}块",
            ),
        )

    CARRIERS = ("窑炉报告写的是{}。", "磨坊账本登记：{}。", "磨坊主把{}记入账本。")


UNITS_ES = [
    "cero", "uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez",
    "once", "doce", "trece", "catorce", "quince",
]  # fmt: skip
TENS_ES = ["treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa"]
MONTHS_ES = [
    "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre",
    "octubre", "noviembre", "diciembre",
]  # fmt: skip


def spanish(n):
    if n < 16:
        return UNITS_ES[n]
    if n < 30:
        return str(n)  # dieciséis, veintiún: one word each
    return TENS_ES[n // 10 - 3] + (f" y {UNITS_ES[n % 10]}" if n % 10 else "")


class Spanish(Writer):
    def kinds(self):
        return [
            self.number,
            self.mass,
            self.money,
            self.share,
            self.clock,
            self.date,
            self.duration,
        ]

    def _thousands(self, n):
        return f"{n:,}".replace(",", ".")

    def number(self):
        n = self.r.randrange(2, 100)
        return n, self.digit(n, 2), lambda n: self.one(f"{n} cajas", f"{spanish(n)} cajas")

    def mass(self):
        n = self.r.randrange(2, 100)
        ways = lambda v: self.one(f"{v[0]} kg", f"{spanish(v[0])} kilogramos", f"{v[0]}000 g")  # noqa: E731
        grams = lambda v: self.one(f"{v[0]} g", f"{spanish(v[0])} gramos")  # noqa: E731
        way = lambda v: (ways if v[1] == "kg" else grams)(v)  # noqa: E731
        return (n, "kg"), self.one((self.digit(n, 2), "kg"), (n, "g")), way

    def money(self):
        n = self.r.randrange(1000, 9999)
        way = lambda n: self.one(  # noqa: E731
            f"{self._thousands(n)} €", f"{n} euros", f"{self._thousands(n)},00 euros", f"EUR {n}"
        )
        return n, self.digit(n, 1000), way

    def share(self):
        n = self.r.randrange(2, 99)
        way = lambda n: self.one(f"{n} %", f"{n}%", f"{spanish(n)} por ciento")  # noqa: E731
        return n, self.digit(n), way

    def clock(self):
        h, m = self.r.randrange(13, 24), self.r.choice([0, 15, 30, 45])
        other = self.one((13 + (h - 12) % 11, m), (h, (m + 15) % 60))
        return (h, m), other, lambda v: self.one(f"{v[0]}:{v[1]:02}", f"{v[0]:02}:{v[1]:02} h")

    def date(self):
        d, m, y = self.r.randrange(1, 29), self.r.randrange(1, 13), self.r.randrange(2001, 2040)
        other = self.one((self.digit(d), m, y), (d, m % 12 + 1, y), (d, m, y + 1))
        other = other if other[0] <= 28 else (d, m, y + 2)
        way = lambda v: self.one(  # noqa: E731
            f"{v[0]} de {MONTHS_ES[v[1] - 1]} de {v[2]}", f"{v[2]}-{v[1]:02}-{v[0]:02}"
        )
        return (d, m, y), other, way

    def duration(self):
        n = self.r.randrange(25, 60)  # las once horas is a time
        units = {"minutos": 60, "horas": 3600, "días": 86400}
        unit = self.r.choice([*units])
        other = self.one(
            (self.digit(n, 25), unit), (n, self.r.choice([u for u in units if u != unit]))
        )
        return (n, unit), other, lambda v: self.one(f"{v[0]} {v[1]}", f"{spanish(v[0])} {v[1]}")

    CARRIERS = ("El informe del horno indica {}.", "El libro del molino registra {}.")


WRITERS = {"en": English, "zh": Chinese, "es": Spanish}


def drawn(lang, n, seed=1):
    """Yield (kind, how one value is written twice, how another one of its kind is), in one sentence."""
    writer = WRITERS[lang](seed)
    for _ in range(n):
        kind = writer.r.choice(writer.kinds())
        value, other, way = kind()
        said = writer.r.choice(writer.CARRIERS).format
        yield kind.__name__, said(way(value)), said(way(value)), said(way(other))
