"""Are two folders of runs the same? Tables and figures' data, by content; what differs, by column.

    python tools/same.py BEFORE AFTER      # each a folder that `nbbias run --out` filled

Exit status 0 where every CSV of the two is the same byte for byte, 1 where any differs.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pandas as pd


def hash_tables(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every table and of every figure's CSV twin, by path."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for kind in ("tables", "figures")
        for path in sorted(folder.glob(f"[!.]*/[!.]*/{kind}/*.csv"))
    }


def describe_difference(before: Path, after: Path) -> str:
    """Say in a line how two CSV files differ: columns, rows, or values by column."""
    old, new = pd.read_csv(before), pd.read_csv(after)
    differences = [f"- {name}" for name in old.columns.difference(new.columns, sort=False)]
    differences += [f"+ {name}" for name in new.columns.difference(old.columns, sort=False)]
    if len(old) != len(new):
        differences.append(f"{len(old)} rows, now {len(new)}")
    else:
        both = [name for name in old if name in new]
        changed = [name for name in both if not old[name].equals(new[name])]
        differences += [f"{name}: {_count_rows(old[name], new[name])}" for name in changed]
    return "; ".join(differences) or "the same values, written otherwise"


def _count_rows(old: pd.Series, new: pd.Series) -> str:
    differs = ~((old == new) | (old.isna() & new.isna()))
    text = f"{differs.sum()} of {len(old)}"
    if pd.api.types.is_numeric_dtype(old) and pd.api.types.is_numeric_dtype(new):
        text += f", at most {(old - new).abs().max():.2g}"
    return text


def main(before: Path, after: Path) -> int:
    """Print what differs; return the exit status."""
    old, new = hash_tables(before), hash_tables(after)
    for name in sorted(old.keys() | new.keys()):
        if name not in new:
            print(f"gone     {name}")
        elif name not in old:
            print(f"new      {name}")
        elif old[name] != new[name]:
            print(f"differs  {name}: {describe_difference(before / name, after / name)}")
    same = sum(old[name] == new.get(name) for name in old)
    print(f"{same} of {len(old)} files are the same")
    return int(old != new)


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:3])))
