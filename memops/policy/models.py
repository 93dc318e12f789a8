"""Policy of local models: which may help to find and to judge pairs, and how far; none by default."""

from dataclasses import dataclass

from memops.policy.defaults import setting
from memops.policy.ranges import AtLeastOne, Count, Section, Share, Switch


@dataclass(frozen=True)
class Dense(Section):
    """Statements that are compared because an encoder places them near each other."""

    encoder: str = setting(
        "", "`lsa`, or the folder of a sentence-transformers model; empty compares by words alone"
    )
    nearest: Count = setting(10, "neighbours by vector that each statement is compared with")
    cosine: Share = setting(0.5, "least cosine of vectors at which two statements are compared")
    exact: Count = setting(
        50_000, "statements of a scope up to which all are searched; beyond, cells of like ones"
    )
    recall: Share = setting(
        0.95, "share of the exact nearest that a search by cells must find, on a sample"
    )


@dataclass(frozen=True)
class Judge(Section):
    """A local cross-encoder that is asked about pairs whose scores leave open what they are."""

    model: str = setting(
        "", "folder of a sentence-transformers CrossEncoder (safetensors); empty asks none"
    )
    band: Share = setting(
        0.15, "distance of a score from its threshold up to which it leaves open what a pair is"
    )
    confidence: Share = setting(0.8, "least probability, both ways round, of a word that counts")
    decides: Switch = setting(
        False,
        "whether its word may also merge, where no value, name or sign differs, and supersede; "
        "else it only withholds, and what it would add is listed for review",
    )
    tokens: AtLeastOne = setting(256, "tokens of a pair that it reads")
