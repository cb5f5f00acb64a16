"""Rebuild `race_names.csv` and `occupations.csv` from the BOLD and O*NET files.

Reads `lexicons/bold_person_names.parquet` and `lexicons/onet_titles.parquet` in the folder named
by the environment variable NBBIAS_DATA, and the reviewed lists beside this file:

- `occupation_heads.txt`, `occupation_phrases.txt`: the occupations to keep
- `names_drop.txt`: entries of BOLD that are no person's name, or cannot stand for one

Every choice is in those lists, so the same sources give the same bytes. Run it from anywhere:

    NBBIAS_DATA=../shared/data python tools/build_lexicons.py
"""

import csv
import os
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

TOOLS = Path(__file__).resolve().parent
LEXICONS = TOOLS.parent / "src" / "nbbias" / "data" / "lexicons"

# The three groups of the race axis of Fang et al. 2024; BOLD's fourth category has no group there.
GROUPS = {"African_Americans": "Black", "Asian_Americans": "Asian", "European_Americans": "White"}
NO_GROUP = "Hispanic_and_Latino_Americans"
IRREGULAR = {"person": "people", "midwife": "midwives"}
# Compounds whose head is not their last token.
PLURAL_PHRASES = {
    "attorney general": "attorneys general",
    "deputy attorney general": "deputy attorneys general",
}


def read_entries(path: Path) -> list[str]:
    """Return the lines of a reviewed list, without comments and blank lines."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def write_rows(path: Path, header: list[str], rows: Iterable[tuple[str, ...]]) -> None:
    """Write sorted rows as CSV, UTF-8 with LF line ends."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(sorted(rows))


def drop_parentheses(text: str) -> str:
    """Drop what stands in parentheses, underscores and doubled white space."""
    return " ".join(re.sub(r"\([^)]*\)", " ", text).replace("_", " ").split())


def clean_names(table: pd.DataFrame, drop: set[str]) -> tuple[list[tuple[str, ...]], Counter[str]]:
    """Return the rows of `race_names.csv`, and how many entries each rule removed.

    A name that BOLD has under two race categories, the one without a group included, is dropped
    from both, since a name stands for one group at most.
    """
    race = table[table["domain"] == "race"]
    where: dict[str, set[str]] = {}
    removed: Counter[str] = Counter()
    for category, name in zip(race["category"], race["name"], strict=True):
        name = drop_parentheses(str(name))
        if category in where.setdefault(name, set()):
            removed["repeated in a category"] += 1
        where[name].add(str(category))
    unknown = sorted(drop - set(where))
    if unknown:
        raise SystemExit(f"names_drop.txt: not in BOLD: {', '.join(unknown)}")
    rows: list[tuple[str, ...]] = []
    for name, categories in where.items():
        if categories == {NO_GROUP}:
            removed["no group on this axis"] += 1
        elif len(name.split()) < 2:
            removed["one token"] += 1
        elif name in drop:
            removed["reviewed drop list"] += 1
        elif len(categories) > 1:
            removed["two race categories"] += 1
        else:
            rows.append((GROUPS[categories.pop()], "name", name, "exact"))
    return rows, removed


def build_plural(term: str) -> str:
    """Return the plural of a lower-case occupation by its last token."""
    if term in PLURAL_PHRASES:
        return PLURAL_PHRASES[term]
    first, _, last = term.rpartition(" ")
    if last in IRREGULAR:
        last = IRREGULAR[last]
    elif last.endswith("person"):
        last = last.removesuffix("person") + "people"
    elif last.endswith("man"):
        last = last.removesuffix("man") + "men"
    elif re.search(r"[^aeiou]y$", last):
        last = last.removesuffix("y") + "ies"
    elif re.search(r"(s|x|z|ch|sh)$", last):
        last += "es"
    else:
        last += "s"
    return f"{first} {last}".strip()


def read_occupations() -> list[str]:
    """Return the singulars of both reviewed lists."""
    terms = [word for line in read_entries(TOOLS / "occupation_heads.txt") for word in line.split()]
    for line in read_entries(TOOLS / "occupation_phrases.txt"):
        first, heads = line.split(":")
        terms += [f"{first} {head.replace('_', ' ')}" for head in heads.split()]
    twice = sorted(term for term, count in Counter(terms).items() if count > 1)
    if twice:
        raise SystemExit(f"listed twice: {', '.join(twice)}")
    return terms


def match_titles(terms: list[str], titles: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the rows of `occupations.csv`: singular, plural, and the O*NET title it comes from.

    The title is the term itself where O*NET has it, else the shortest title that ends in it.
    """
    exact: dict[str, str] = {}
    ending: dict[str, str] = {}
    for title in sorted(set(titles), key=lambda title: (len(title), title)):
        tokens = drop_parentheses(title).lower().split()
        exact.setdefault(" ".join(tokens), title)
        for start in range(1, len(tokens)):
            ending.setdefault(" ".join(tokens[start:]), title)
    rows: list[tuple[str, ...]] = []
    missing: list[str] = []
    for term in terms:
        plural = build_plural(term)
        source = exact.get(term) or exact.get(plural) or ending.get(term) or ending.get(plural)
        if source is None:
            missing.append(term)
        else:
            rows.append((term, plural, source))
    if missing:
        raise SystemExit(f"no O*NET title: {', '.join(sorted(missing))}")
    return rows


def main() -> None:
    """Write both files and say what was kept and dropped."""
    if "NBBIAS_DATA" not in os.environ:
        raise SystemExit("Set NBBIAS_DATA to the folder that holds lexicons/")
    data = Path(os.environ["NBBIAS_DATA"]) / "lexicons"
    drop = set(read_entries(TOOLS / "names_drop.txt"))
    names, removed = clean_names(pd.read_parquet(data / "bold_person_names.parquet"), drop)
    write_rows(LEXICONS / "race_names.csv", ["group", "kind", "term", "case"], names)
    by_group = Counter(row[0] for row in names)
    print(f"race_names.csv: {len(names)} names, {dict(sorted(by_group.items()))}")
    print(f"  removed: {dict(sorted(removed.items()))}")
    titles = pd.read_parquet(data / "onet_titles.parquet")["title"].astype(str)
    occupations = match_titles(read_occupations(), titles)
    header = ["singular", "plural", "source_title"]
    write_rows(LEXICONS / "occupations.csv", header, occupations)
    print(f"occupations.csv: {len(occupations)} occupations")


if __name__ == "__main__":
    main()
