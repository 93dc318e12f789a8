"""Policy of safety: what counts as a secret, and as text that gives a model orders."""

from dataclasses import dataclass, replace
from typing import Literal

from memops.policy.defaults import setting
from memops.policy.ranges import AtLeastOne, Count, Factor, Regex, Secret, Section


@dataclass(frozen=True)
class Secrets(Section):
    """What counts as a secret, and what shows of it."""

    off: list[Secret] = setting(["phone"], "kinds that are not looked for")
    documents: list[Secret] = setting(
        ["told", "one-time-code"],
        "kinds for which alone no record of a document is masked, since those are full of names and "
        "numbers; told: of any kind, where no label, user's name, command or issuer's beginning stands "
        "right beside the value",
    )
    patterns: dict[str, Regex] = setting(
        {}, "more kinds: a name, and a regular expression (Rust's)"
    )
    sensitivity: dict[Secret, Literal["allowed", "masked", "never_store"]] = setting(
        dict.fromkeys(("password", "one-time-code", "private-key", "seed-phrase"), "never_store"),
        "what is done with a kind: allowed (it stays as it is), never_store (it goes whole), and masked, "
        "which all others are (its ends show as `keep` says)",
    )
    allow: list[Regex] = setting([], "expressions of whole values that are no secrets here")
    keep: Count = setting(0, "characters that show at either end of a long secret")


@dataclass(frozen=True)
class Hostile(Section):
    """When text addressed to a model is quarantined."""

    threshold: Factor = setting(
        2.0, "points of evidence that make a text hostile which a machine or a channel wrote"
    )
    owners: Factor = setting(3.0, "the same of any other text, whose orders may be the owner's")
    longer: Factor = setting(0.4, "points more for each doubling of a long text's passages")
    repeats: AtLeastOne = setting(
        5, "times that one prompt stands in a store before it is a banner"
    )

    def of_owners(self) -> "Hostile":
        """Return the same with the bar of texts whose orders may be the owner's."""
        return replace(self, threshold=self.owners)
