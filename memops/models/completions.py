"""An OpenAI-compatible endpoint: many questions, a few at a time, within a budget, remembered.

It is named by MEMOPS_MODEL_URL (its base, such as https://api.example.com/v1), MEMOPS_MODEL, and
MEMOPS_MODEL_KEY or MEMOPS_MODEL_KEY_FILE; else by `[policy.judge]`. Answers are kept by what was asked.
Trouble is never an exception: a question that got no good answer waits, with the reason.
"""

import http.client
import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memops import files
from memops.errors import Corrupt, MemopsError, StoreNotFound
from memops.models.wire import Answer, Capped, Place, address, bearing, credential, exchange, place
from memops.policy.models import Caps, Judge
from memops.progress import tell

_PASSING = (408, 409, 425, 429, 500, 502, 503, 504)
_DOWN = 4  # questions in a row without an answer after which the rest wait


@dataclass(frozen=True)
class Question:
    """One request: what is kept of it is found again by all three."""

    id: str
    task: str
    text: str


@dataclass
class Answers:
    """What was said (by the question's id), why the others wait, and what it took."""

    said: dict[str, str] = field(default_factory=dict)
    waiting: dict[str, str] = field(default_factory=dict)
    cached: int = 0
    tokens: int = 0
    cost: float = 0.0

    def figures(self) -> dict[str, Any]:
        """Return counts, as a command prints them; no text."""
        return {
            "asked": len(self.said) + len(self.waiting),
            "answered": len(self.said),
            "cached": self.cached,
            "waiting": dict(sorted(Counter(self.waiting.values()).items())),
            "tokens": self.tokens,
            "cost": round(self.cost, 6),
        }


@dataclass(frozen=True)
class Endpoint:
    """Where a model is asked, by which name, with which key."""

    place: Place
    path: str
    model: str
    key: str = field(repr=False)


def endpoint(judge: Judge) -> Endpoint:
    """Return the endpoint of the environment, else the one that judges pairs; raises MemopsError for none."""
    url, model = os.environ.get("MEMOPS_MODEL_URL", ""), os.environ.get("MEMOPS_MODEL", "")
    if not url and judge.endpoint:
        return of_judge(judge)
    if not url or not model:
        hint = "set MEMOPS_MODEL_URL, MEMOPS_MODEL and, if it wants one, MEMOPS_MODEL_KEY"
        raise MemopsError("no model is named", hint)
    where, path = place(url, "MEMOPS_MODEL_URL")
    return Endpoint(where, f"{path}/chat/completions", model, credential("MEMOPS_MODEL_KEY"))


def of_judge(policy: Judge) -> Endpoint:
    """Return the endpoint that `[policy.judge]` names."""
    where, path = place(policy.endpoint, "judge.endpoint")
    key = credential("MEMOPS_JUDGE_KEY")
    return Endpoint(where, f"{path}/chat/completions", policy.model, key)


Good = Callable[[Question, str], bool]
"""Tells whether an answer to a question may be used."""


def ask(
    questions: Sequence[Question], of: Endpoint, policy: Caps, kept: Path | None, good: Good
) -> Answers:
    """Ask the questions, `policy.in_flight` at a time, those first that come first.

    An answer that is not `good` makes its question wait. `kept` is the folder of answers, if they are
    to be kept.
    """
    asking = _Asking(of, policy, kept, good)
    with ThreadPoolExecutor(max_workers=max(1, policy.in_flight)) as pool:
        for nth, _ in enumerate(pool.map(asking.one, questions), 1):
            tell("asking the model", nth, len(questions))
    return asking.answers


class _Asking:
    """One night's questions: what is left of the budget, and whether it is worth going on."""

    def __init__(self, of: Endpoint, policy: Caps, kept: Path | None, good: Good) -> None:
        self.of, self.policy, self.kept, self.good = of, policy, kept, good
        self.until = time.monotonic() + policy.minutes * 60
        self.answers, self.lock = Answers(), threading.Lock()
        self.stopped, self.silent, self.ip = "", 0, ""

    def one(self, question: Question) -> None:
        """Answer one question, or say why it waits."""
        path = self.kept / f"{self._digest(question)}.json" if self.kept else None
        said, why = self._remembered(path, question) if path else None, ""
        cached = said is not None
        if said is None:
            said, why = self._asked(question)
            if said is not None and not self.good(question, said):
                said, why = None, "no usable reply"
            if said is not None and path:
                kept = {"model": self.of.model, "asked": question.text, "said": said}
                files.write_json(path, kept)
        with self.lock:
            self.answers.cached += cached
            if said is None:
                self.answers.waiting[question.id] = why
            else:
                self.answers.said[question.id] = said

    def _digest(self, question: Question) -> str:
        asked = [self.of.place.base, self.of.path, self.of.model, question.task, question.text]
        return files.digest(json.dumps(asked))

    def _remembered(self, path: Path, question: Question) -> str | None:
        try:
            said = files.read_json(path).get("said") if path.is_file() else None
        except Corrupt:
            return None
        return said if isinstance(said, str) and self.good(question, said) else None

    def _asked(self, question: Question) -> tuple[str | None, str]:
        """The answer, or why there is none; what may pass is asked for again, later each time."""
        why = ""
        for attempt in range(max(1, self.policy.tries)):
            if attempt and not self._waited(self.policy.pause * 4 ** (attempt - 1)):
                return None, "no time left"
            reserved = self._reserve(question)
            if self.stopped or not reserved:
                return None, self.stopped or "no budget left"
            try:
                answer = self._sent(question)
            except (http.client.HTTPException, OSError):
                answer, why = None, "no answer"
            except Capped:
                self._settle(reserved, None, None)
                return None, "no whole answer"
            except MemopsError as error:
                self._settle(reserved, None, None)
                self.stopped = error.message
                return None, self.stopped
            said, why, again = self._read(answer, why)
            self._settle(reserved, answer, said)
            if not again:
                return said, why
        with self.lock:
            self.silent += 1
            if self.silent >= _DOWN:
                self.stopped = self.stopped or why
        return None, why

    def _read(self, answer: Answer | None, why: str) -> tuple[str | None, str, bool]:
        """What an answer says, why it says nothing, and whether to ask again."""
        if answer is None:
            return None, why, True
        if answer.status in (401, 403):
            self.stopped = "the key was refused"
            return None, self.stopped, False
        if answer.status == 404 or 300 <= answer.status < 400:
            self.stopped = "no such endpoint or model"
            return None, self.stopped, False
        if answer.status in _PASSING:
            self._waited(_seconds(answer.headers.get("retry-after", "")))
            return None, f"it answered {answer.status}", True
        if answer.status != 200:
            return None, f"it answered {answer.status}", False
        self.silent = 0
        said = _content(answer.body)
        return said, "" if said is not None else "no usable reply", False

    def _sent(self, question: Question) -> Answer:
        of = self.of
        with self.lock:
            self.ip = self.ip or address(of.place)
        said = {"system": question.task, "user": question.text}
        body = {
            "model": of.model, "temperature": 0, "max_tokens": self.policy.reply_tokens,
            "messages": [{"role": role, "content": text} for role, text in said.items()],
        }  # fmt: skip
        headers = {"Content-Type": "application/json"} | bearing(of.key, of.place, self.ip)
        request = ("POST", of.path, json.dumps(body, ensure_ascii=False).encode())
        until = min(self.until, time.monotonic() + self.policy.seconds)
        most, timeout = self.policy.reply_bytes, self.policy.seconds
        try:
            return exchange(of.place, self.ip, request, headers, until, most, timeout)
        except StoreNotFound as error:
            raise OSError(error.message) from error

    def _reserve(self, question: Question) -> int:
        """Set aside what a request may take at most; 0 where that is more than there is."""
        most = len(question.task) + len(question.text) + self.policy.reply_tokens
        with self.lock:
            tokens, cost = self.answers.tokens + most, self.answers.cost + self._price(most)
            within = tokens <= self.policy.tokens and not (0 < self.policy.cost < cost)
            if within:
                self.answers.tokens, self.answers.cost = tokens, cost
        return most if within else 0

    def _settle(self, reserved: int, answer: Answer | None, said: str | None) -> None:
        """Put back what the request did not take; one without an answer took nothing."""
        used = 0 if answer is None or said is None else _used(answer.body, reserved)
        with self.lock:
            self.answers.tokens += used - reserved
            self.answers.cost += self._price(used) - self._price(reserved)

    def _price(self, tokens: int) -> float:
        return tokens * self.policy.price / 1e6

    def _waited(self, seconds: float) -> bool:
        if time.monotonic() + seconds > self.until:
            return False
        time.sleep(seconds)
        return True


def _seconds(text: str) -> float:
    """How long an endpoint asks to be left alone; dates and long times are not waited for."""
    return min(float(text), 30.0) if text.isdigit() else 0.0


def _content(body: bytes) -> str | None:
    try:
        choice = files.json_value(body)["choices"][0]
        said, ended = choice["message"]["content"], choice.get("finish_reason")
    except (KeyError, IndexError, TypeError, AttributeError):
        return None
    return said if isinstance(said, str) and ended in (None, "stop") else None


def _used(body: bytes, most: int) -> int:
    """The tokens that an endpoint says it took, if it can be believed."""
    usage = files.json_object(body).get("usage")
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    return total if type(total) is int and 0 <= total <= 100 * most else most
