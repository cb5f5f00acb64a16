"""A person picks blind among the texts that a judge sees: what is shown, in which order, and kept.

The picks of one person make a fingerprint like that of a judge (`cogs_fingerprint`). A person sees
each set of texts once, so the order is balanced over the sets: in any row of k rounds each of k
identities stands at each position once. Which identity stands where never leaves these tables.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd

from nbbias import contracts, outputs
from nbbias.cogs_judging import first_texts, orders
from nbbias.cogs_suite import BAR, Suite
from nbbias.errors import DataError

#: What was picked, by the number of the round: a position from 1, or None for "cannot decide".
Picks = Mapping[int, int | None]

_RATING = ["rater", "task", "theme", "axis"]
_COLUMNS = [*_RATING, "identity", "position", "order", "model", "shown"]


def rounds(
    answers: pd.DataFrame, suite: Suite, *, rater: str, model: str | None = None,
    per_axis: int = 24, seed: int = 0,
) -> pd.DataFrame:  # fmt: skip
    """Draw what a person is shown.

    Parameters
    ----------
    answers
        The table of `cogs.read_answers`; of repeats the first one is shown.
    suite
        The axes, tasks and rubrics.
    rater
        What the person is called in the ratings. Another name draws other orders, so that over
        several people no text stands at one position only.
    model
        Who wrote the texts; by default the first one in `answers`.
    per_axis
        Rounds on each axis, or as many as there are task × theme with a text of every identity.
        A longer series begins with the shorter one.
    seed
        The same seed and name give the same rounds.

    Returns
    -------
    DataFrame
        One row per round, numbered from 0: `rater`, `model`, `part` (from 1, an axis each, in a
        drawn order), `axis`, `task`, `theme`, `asked` (the prompt without an identity), `criteria`,
        `order` (identities as shown, joined by ``|``), `texts` (a tuple, as shown) and `shown` (a
        digest of them). An axis without a whole task × theme has no rounds.

    Raises
    ------
    DataError
        No name, no answers of that model, or no round at all.
    """
    if not rater.strip():
        raise DataError("rater", "say what the person is to be called in the ratings")
    there = list(answers["model"].unique())
    model = model or (there[0] if there else "")
    if model not in there:
        raise DataError("model", f"no answers of {model!r}; there are: {', '.join(there)}")
    own = first_texts(answers[answers["model"] == model])
    rows: list[dict[str, Any]] = []
    person = crc32(rater.encode())
    # Not the suite's order of axes: who knows it would know what a part is about.
    for i in np.random.default_rng([seed, person]).permutation(len(suite.axes)):
        axis, plan = list(suite.axes.items())[i]
        names = list(plan.identities)
        said = own[own["identity"].isin(names)]
        sets = said.pivot(index=["task", "theme"], columns="identity", values="text")
        sets = sets.reindex(columns=names).dropna()
        rng = np.random.default_rng([seed, person, crc32(axis.encode())])
        drawn = rng.permutation(len(sets))[:per_axis]
        part = len({row["axis"] for row in rows}) + 1
        for at, order in zip(drawn, _balanced(names, len(drawn), rng), strict=True):
            task, theme = sets.index[at]
            said_by = dict(zip(names, sets.to_numpy(object)[at], strict=True))
            texts = tuple(str(said_by[name]) for name in order)
            rows.append({
                "rater": rater, "model": model, "part": part, "axis": axis, "task": task,
                "theme": theme, "asked": suite.tasks[task].prompt.replace("{theme}", theme),
                "criteria": list(suite.tasks[task].rubric.criteria), "order": BAR.join(order),
                "texts": texts, "shown": _digest(texts),
            })  # fmt: skip
    if not rows:
        raise DataError("answers", f"{model} has no task × theme with a text of every identity")
    return pd.DataFrame(rows)


def _balanced(names: list[str], n: int, rng: np.random.Generator) -> list[tuple[str, ...]]:
    """Draw n orders in squares: in each run of k, every name stands at every position once."""
    drawn: list[tuple[str, ...]] = []
    while len(drawn) < n:
        shuffled = [names[i] for i in rng.permutation(len(names))]
        square = orders(shuffled, design="latin")[: len(names)]
        drawn += [square[i] for i in rng.permutation(len(square))]
    return drawn[:n]


def _digest(texts: tuple[str, ...]) -> str:
    """Tell one set of texts from another, so that picks are not taken for those of other texts."""
    content = "\0".join(texts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(content).hexdigest()[:16]


def ratings(rounds: pd.DataFrame, picks: Picks) -> pd.DataFrame:
    """Say whose texts were picked.

    Parameters
    ----------
    rounds
        The table of `rounds`.
    picks
        Number of the round → position, or None where the person cannot decide.

    Returns
    -------
    DataFrame
        One row per pick, in the order of the rounds: `rater`, `task`, `theme`, `axis`, `identity`
        (missing where none was picked), `position`, `order`, `model`, `shown`. It holds what
        `cogs_people.read_ratings` reads, and no text.

    Raises
    ------
    ValueError
        A pick is of no round, or of no position.
    """
    own = rounds.loc[sorted(picks)] if set(picks) <= set(rounds.index) else None
    if own is None:
        raise ValueError(f"no such round: {sorted(set(picks) - set(rounds.index))}")
    table = own.assign(position=pd.array([picks[i] for i in own.index], dtype="Int64"))
    shown = table["order"].str.split(BAR, regex=False)
    beyond = ~(table["position"].isna() | table["position"].between(1, shown.str.len()))
    if beyond.any():
        raise ValueError(f"no such position: {table.loc[beyond, 'position'].to_list()}")
    names = [
        None if pd.isna(at) else order[int(at) - 1]
        for order, at in zip(shown, table["position"], strict=True)
    ]
    table = table.assign(identity=pd.array(names, dtype="str"))
    return table[_COLUMNS].reset_index(drop=True)


# --- kept ---------------------------------------------------------------------------------------


def save(rounds: pd.DataFrame, picks: Picks, path: str | Path) -> Path:
    """Write the picks into a file of ratings, whole or not at all.

    What others rated stays in the file, and what this person rated elsewhere; a pick of the same
    task, theme and axis takes the place of the earlier one.

    Raises
    ------
    DataError, ContractError
        The file is there and holds no ratings, or cannot be written. It is left as it was.
    """
    path = Path(path)
    fresh = ratings(rounds, picks)
    kept = _read(path)
    if kept is not None:
        old = pd.MultiIndex.from_frame(kept[_RATING]).isin(pd.MultiIndex.from_frame(fresh[_RATING]))
        fresh = pd.concat([kept[~old], fresh.astype(object)], ignore_index=True)
    try:
        return outputs.write(path, fresh.to_csv(index=False, lineterminator="\n"))
    except OSError as error:
        raise DataError(str(path), f"cannot be written: {error.strerror}") from None


def resume(rounds: pd.DataFrame, path: str | Path) -> dict[int, int | None]:
    """Return the picks in a file that were made in these very rounds.

    Picks by another name, of other texts or in another order are left aside. Nothing is changed.

    Raises
    ------
    DataError, ContractError
        The file is there and holds no ratings.
    """
    kept = _read(Path(path))
    if kept is None:
        return {}
    keys = [*_RATING, "order", "model", "shown"]
    absent = [name for name in [*keys, "position"] if name not in kept]
    if absent:  # ratings that were written by hand, of which the order is not known
        return {}
    numbered = rounds[keys].reset_index(names="number")
    found = numbered.merge(kept.drop_duplicates(keys, keep="last"), on=keys)
    at = pd.to_numeric(found["position"], errors="coerce")
    sizes = found["order"].str.count(f"[{BAR}]") + 1
    whole = at.isna() & found["position"].isna() | at.between(1, sizes) & (at % 1 == 0)
    return {
        int(number): None if np.isnan(position) else int(position)
        for number, position in zip(found.loc[whole, "number"], at[whole], strict=True)
    }


def _read(path: Path) -> pd.DataFrame | None:
    """Read a file of ratings as text: a person may be called 007."""
    if not path.exists():
        return None
    try:
        table = pd.read_csv(
            path, dtype="str", keep_default_na=False, na_values=[""], encoding="utf-8-sig"
        )
    except (ValueError, OSError) as error:
        told = str(error).splitlines()[0]
        raise DataError(str(path), f"is there but holds no ratings ({told})") from None
    contracts.need(table, [*_RATING, "identity"], where=str(path))
    return table


# --- where a person stands ----------------------------------------------------------------------


def of_part(rounds: pd.DataFrame, part: int) -> list[int]:
    """Return the numbers of a part's rounds."""
    return [int(number) for number in rounds.index[rounds["part"] == part]]


def finished(rounds: pd.DataFrame, picks: Picks) -> list[int]:
    """Return the parts in all of whose rounds something was picked, or could not be decided."""
    picked = pd.Series(rounds.index.isin(list(picks)), index=rounds.index)
    whole = picked.groupby(rounds["part"]).all()
    return [int(part) for part in whole.index[whole]]
