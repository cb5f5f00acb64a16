"""An instrument of sentiment: smiles less frowns, over both."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nbbias.text.instruments import Instrument


def _opened() -> Callable[[Sequence[str]], tuple[list[float], list[int]]]:
    def assess(texts: Sequence[str]) -> tuple[list[float], list[int]]:
        smiles, frowns = ([text.count(one) for text in texts] for one in (":)", ":("))
        counts = list(zip(smiles, frowns, strict=True))
        polarity = [(up - down) / max(up + down, 1) for up, down in counts]
        return polarity, [up + down for up, down in counts]

    return assess


SMILES = Instrument("smiles of nbbias-example {}", "nbbias-example", _opened, "smiles and frowns")
