"""An instrument of sentiment: smiles less frowns, over both."""

from __future__ import annotations

from collections.abc import Callable

from nbbias.text.instruments import Instrument


def _opened() -> Callable[[str], tuple[float, int]]:
    def assess(text: str) -> tuple[float, int]:
        smiles, frowns = text.count(":)"), text.count(":(")
        both = smiles + frowns
        return ((smiles - frowns) / both if both else 0.0), both

    return assess


SMILES = Instrument("smiles of nbbias-example {}", "nbbias-example", _opened, "smiles and frowns")
