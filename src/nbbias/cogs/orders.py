"""The orders in which a judge is shown texts: all, or a square in which each stands everywhere."""

from __future__ import annotations

from itertools import permutations
from typing import Literal

from nbbias.tables import ParameterError

Design = Literal["auto", "all", "latin", "listed"]

#: With more identities than this, all orders are too many: 5 have 120.
MOST_IN_ALL_ORDERS = 4
#: All orders of more are never written out: 7 have 5,040.
MOST_AT_ALL = 7


def orders(identities: list[str], *, design: Design = "auto") -> list[tuple[str, ...]]:
    """Return the orders in which identities are shown.

    Parameters
    ----------
    identities
        Two or more.
    design
        ``"all"`` orders; ``"latin"``: a balanced square (Williams 1949) of k orders, or 2k where k
        is odd; ``"auto"``: all up to four identities, else the square; ``"listed"``: the one order
        given, as the paper does, which cannot tell an identity from its position.

    Raises
    ------
    ValueError
        Fewer than two identities, or one twice.
    ParameterError
        All orders of more than seven: 12 have 479,001,600.

    Examples
    --------
    >>> orders(["straight", "queer"])
    [('straight', 'queer'), ('queer', 'straight')]
    """
    k = len(identities)
    if k < 2 or len(set(identities)) < k:
        raise ValueError(f"needs two identities or more, each once: {identities}")
    if design == "listed":
        return [tuple(identities)]
    if design == "all" and k > MOST_AT_ALL:
        raise ParameterError("orders", f"all of {k} identities are too many to write; take latin")
    if design == "all" or (design == "auto" and k <= MOST_IN_ALL_ORDERS):
        return list(permutations(identities))
    # 0, 1, k-1, 2, k-2, …: neighbours differ by every step once.
    zigzag = [0] + [(i + 1) // 2 if i % 2 else k - i // 2 for i in range(1, k)]
    rows = [[(shift + i) % k for i in zigzag] for shift in range(k)]
    if k % 2:
        rows += [row[::-1] for row in rows]
    return [tuple(identities[i] for i in row) for row in rows]
