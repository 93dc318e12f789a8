"""Shapes of secrets: the lexicon's patterns, compiled with the words of all languages in them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from memops.language.lexicon import lexicon
from memops.policy.safety import Secrets
from memops.safety.masks import MASK
from memops.safety.secrets_fitted import KINDS
from memops.safety.secrets_labels import expanded, fewest, triggers

_TRIGGERS = ("any", "beside")
_PART = "[A-Za-z0-9_-]*(?:[0-9][A-Za-z0-9_-]*[A-Za-z]|[a-z][A-Z]|[A-Z][0-9])[A-Za-z0-9_-]*"
_PARTS = f"(?:[.+/](?:[A-Za-z0-9_-]{{0,4}}[+/])*{_PART})*"
"""Further parts of an issued key, of which no word is made."""
ISSUED = ("code-host-token", "model-key", "cloud-key", "chat-token", "payment-key", "jwt")
"""Kinds that an issuer's own shape tells, whatever stands around the value."""
MADE = (*ISSUED, "mail-key", "token", "bearer", "url-token", "webhook")
"""Kinds of what a generator made."""
PUBLIC = "public"
"""Kind of what looks random and opens nothing."""
FITTED = "fitted"
"""Check of what no pattern but the fitted model finds."""
TOLD = "told"
"""What a policy calls shapes of any kind with nothing right beside the value that tells of it."""


@dataclass(frozen=True)
class Shape:
    """One pattern: where it may stand (`any`, `beside`, `when`), what it matches, and what must be true of it.

    `check` names a test of what was matched, `unless` is an expression of what may not stand before.

    `loose` are shapes without a label beside the value, and what is public unless it has one; `told`
    those that a policy may call all together.
    """

    kind: str
    pattern: str
    any: tuple[str, ...]
    beside: tuple[str, ...]
    when: str
    check: str = "any"
    unless: str = ""
    loose: bool = False
    told: bool = False

    @property
    def triggers(self) -> tuple[str, ...]:
        """Strings one of which a text must hold: of the match itself, or of what its check asks."""
        return self.any or self.beside


def shapes(policy: Secrets) -> tuple[Shape, ...]:
    """Return the shapes that the policy asks for; the first is the mask that redaction leaves."""
    return _compiled(tuple(sorted(policy.patterns.items())), frozenset(policy.off))


def staying(policy: Secrets) -> list[int]:
    """Return the places of the shapes of what stays whatever says that it is a secret.

    Masks, images and certificates, and kinds that are allowed.
    """
    stay = {"mask", *(k for k, named in policy.sensitivity.items() if named == "allowed")}
    return [
        nth
        for nth, shape in enumerate(shapes(policy))
        if shape.kind in stay or (shape.kind == PUBLIC and not shape.loose)
    ]


@cache
def _compiled(added: tuple[tuple[str, str], ...], off: frozenset[str]) -> tuple[Shape, ...]:
    own = [{"kind": kind, "secret": pattern, "when": pattern} for kind, pattern in added]
    shapes = (*_public(), *map(_shape, own), *_secret())
    return tuple(s for s in shapes if s.kind not in off and not (s.told and TOLD in off))


@cache
def _public() -> tuple[Shape, ...]:
    """What is no secret: masks, and what is public."""
    mask = {"kind": "mask", "any": ["[redacted:"], "secret": MASK, "check": "always"}
    public = [e | {"kind": PUBLIC, "check": "always"} for e in lexicon("secrets")["public"]]
    return tuple(map(_shape, (mask, *public)))


@cache
def _secret() -> tuple[Shape, ...]:
    """The lexicon's shapes of secrets."""
    issued = [one for entry in lexicon("secrets_issuers")["issuer"] for one in _issued(entry)]
    fitted = [
        {"kind": kind, "check": FITTED, "unless": "ids", "loose": True, TOLD: True}
        for kind in KINDS
    ]
    return tuple(map(_shape, (*issued, *lexicon("secrets")["pattern"], *fitted)))


def _issued(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """The entries of one group of issuers: beginnings with what may follow them, and whole keys."""
    begin = "|".join(map(_escaped, entry["prefixes"]))
    begun = {
        "kind": entry["kind"],
        "any": [prefix.lower() for prefix in entry["prefixes"]],
        "cue": r"(?:\b|_)",
        "secret": rf"(?i:{begin})[A-Za-z0-9_-]+{_PARTS}(?:=[0-9A-F]{{8}}\b|={{0,2}})",
        "check": "prefixed",
    }
    if not entry.get("exact"):
        return [begun]
    exact = {
        "kind": entry["kind"],
        "any": entry.get("any", []),
        "when": entry.get("when", ""),
        "secret": "|".join(entry["exact"]),
        "check": "issued",
    }
    return [begun, exact]


def _escaped(text: str) -> str:
    return "".join(f"\\{c}" if c in ".$~/" else c for c in text)


def _shape(entry: dict[str, Any]) -> Shape:
    parts = (str(entry.get(part, "")) for part in ("cue", "secret", "after"))
    cue, secret, after = (_ascii(expanded(part)) for part in parts)
    check, unless = str(entry.get("check", "any")), str(entry.get("unless", ""))
    told = {name: _triggers(entry.get(name, ())) for name in _TRIGGERS}
    return Shape(
        kind=str(entry["kind"]),
        pattern=f"((?i:{cue}))({secret})({after})",
        any=told["any"],
        beside=told["beside"],
        when=str(entry.get("when", "")),
        check=check,
        unless=expanded(lexicon("secrets").get(unless, unless)),
        loose=bool(entry.get("loose", False)),
        told=bool(entry.get(TOLD, False)),
    )


def _triggers(words: Iterable[str]) -> tuple[str, ...]:
    groups = (triggers(w[1:]) if len(w) > 1 and w[0] == "@" else (w,) for w in words)
    return fewest(word for group in groups for word in group)


def _ascii(pattern: str) -> str:
    return pattern.replace(r"\b", r"(?-u:\b)")
