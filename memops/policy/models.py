"""Policy of local models: which may help to find and to judge pairs, and how far; none by default."""

from dataclasses import dataclass

from memops.policy.defaults import setting
from memops.policy.ranges import AtLeastOne, Count, Factor, Minutes, Seconds, Section, Share, Switch


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
class Caps(Section):
    """What asking an OpenAI-compatible endpoint may take, at most."""

    in_flight: AtLeastOne = setting(4, "requests at the same time")
    tries: AtLeastOne = setting(3, "times that a request is sent before what it asks waits")
    pause: Seconds = setting(
        1.0, "seconds before the second try; each next one waits four times as long"
    )
    seconds: Seconds = setting(60.0, "longest time that one request may take")
    minutes: Minutes = setting(30.0, "longest time that all requests of a run may take")
    reply_tokens: AtLeastOne = setting(800, "tokens that one reply may have")
    reply_bytes: AtLeastOne = setting(1 << 20, "bytes that one reply may have")
    tokens: Count = setting(500_000, "tokens that a run may use")
    price: Factor = setting(0.0, "what a million tokens cost")
    cost: Factor = setting(0.0, "what a run may cost; 0 for no limit")


@dataclass(frozen=True)
class Judge(Caps):
    """A model that is asked about pairs that the rules leave open: an endpoint, or a local one."""

    endpoint: str = setting(
        "", "base of an OpenAI-compatible server, such as http://127.0.0.1:8080/v1; empty asks none"
    )
    model: str = setting(
        "",
        "the endpoint's name for the model; without an endpoint, the folder of a "
        "sentence-transformers CrossEncoder (safetensors); empty asks none",
    )
    decides: Switch = setting(
        False,
        "whether its word may propose merges, where no value, name or sign differs, and "
        "supersessions; else it only withholds, and what it would add is listed for review",
    )
    sure: Share = setting(
        0.85, "least probability, by all answers together, at which a word that adds counts"
    )
    nearest: Count = setting(
        20, "neighbours of each statement that a model is asked about, whatever rules make of them"
    )
    pairs: AtLeastOne = setting(20, "pairs that one request to an endpoint holds")
    asked: Count = setting(20_000, "pairs that a model is asked about in a plan, the nearest first")
    confidence: Share = setting(
        0.8, "least probability, both ways round, of a cross-encoder's word that counts"
    )
    window: AtLeastOne = setting(256, "tokens of a pair that a cross-encoder reads")
    reply_tokens: AtLeastOne = setting(4000, "tokens that one reply may have")
    tokens: Count = setting(20_000_000, "tokens that a run may use")
