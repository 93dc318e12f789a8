"""Units: each by CLDR's name with its kind and its factor to the unit in which the kind prints."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from memops.language.keeping import toml


class Unit(NamedTuple):
    """A unit: its kind, its factor and offset to the kind's base unit, whether it is customary."""

    kind: str
    factor: float
    offset: float = 0.0
    customary: bool = False


_CUSTOMARY = (
    "pound", "ounce", "stone", "mile", "yard", "foot", "inch", "gallon", "quart", "pint", "cup", "acre",
    "fahrenheit", "mass-ton", "horsepower", "barrel", "area-mu",
    "zhang", "chi", "cun", "knot", "nautical", "calorie",
)  # fmt: skip
_OFFSETS = {"temperature-fahrenheit": -32 * 5 / 9, "temperature-kelvin": -273.15}


@cache
def units() -> dict[str, Unit]:
    """Return every unit by its name."""
    return {
        name: Unit(kind, factor, _OFFSETS.get(name, 0.0), any(c in name for c in _CUSTOMARY))
        for kind, listed in _table().items()
        for name, factor, _ in listed
    }


@cache
def symbols() -> dict[str, str]:
    """Return the symbols that every language writes, each with its unit's name."""
    return {
        s: name for listed in _table().values() for name, _, said in listed for s in said.split()
    }


@cache
def printed() -> dict[str, str]:
    """Return for each kind the symbol in which its values print."""
    return {
        kind: listed[0][2].split()[0] for kind, listed in _table().items() if listed[0][2]
    } | _SPELT


_SPELT = {"temperature": "°C", "current": "amp", "data": "bytes", "voltage": "V", "power": "W", "points": "pp",
          "pressure": "Pa", "pitch": "Hz", "energy": "J", "charge": "mAh", "loudness": "dB"}  # fmt: skip


def _table() -> dict[str, list[tuple[str, float, str]]]:
    every = toml(Path(__file__).parent / "units.toml")
    return {kind: table["units"] for kind, table in every.items()}
