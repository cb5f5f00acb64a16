"""How to cite the papers whose measures a run used, and the software: in words and as BibTeX."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import yaml

from nbbias.tables import escape

#: Where BibTeX knows a kind, the field that it demands; it knows none of software or preprints.
_KINDS = {"journal": "article", "conference": "inproceedings"}
_SMALL = {"a", "an", "the", "of", "on", "in", "what", "how", "is", "are"}


def citations(path: Path, stems: Collection[str]) -> list[dict[str, str]]:
    """Return what to cite: the papers with one of the studies among their keywords, the software.

    Parameters
    ----------
    path
        A ``CITATION.cff``; where there is none, there is nothing to cite.
    stems
        The studies.

    Returns
    -------
    list of dict
        `text`, the reference as one writes it, and `bibtex`. An address stands in either only
        where the file has one.
    """
    if not path.is_file():
        return []
    read = yaml.safe_load(path.read_text(encoding="utf-8"))
    wanted = {str(stem) for stem in stems}
    every = [one for one in read["references"] if wanted & set(one.get("keywords", ()))] + [read]
    keys = [_key(one) for one in every]
    # One author's second entry of a year has a letter after its key.
    own = [key + " bcdefghij"[min(keys[:i].count(key), 9)].strip() for i, key in enumerate(keys)]
    return [
        {"text": _in_words(one), "bibtex": _bibtex(one, key)}
        for one, key in zip(every, own, strict=True)
    ]


def _year(one: Mapping[str, Any]) -> str:
    return str(one.get("year") or str(one.get("date-released", ""))[:4])


def _address(one: Mapping[str, Any]) -> str:
    if "doi" in one:
        return f"https://doi.org/{one['doi']}"
    return str(one.get("url") or one.get("repository-code") or "")


def _in_words(one: Mapping[str, Any]) -> str:
    names = [
        author.get("name") or f"{author['family-names']}, {_initials(author['given-names'])}"
        for author in one["authors"]
    ]
    who = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} & {names[-1]}"
    where = one.get("journal") or (one.get("conference") or {}).get("name", "")
    if where and "volume" in one:
        where += f" {one['volume']}" + (f":{one['start']}" if "start" in one else "")
    title = one["title"] + (f" (version {one['version']})" if "version" in one else "")
    identifiers = [entry["value"] for entry in one.get("identifiers", ())]
    link = _address(one) or ", ".join(identifiers)
    parts = [f"{who} ({year})" if (year := _year(one)) else who, title, where, link]
    return ". ".join(part for part in parts if part).removesuffix(".") + "."


def _initials(given: str) -> str:
    return " ".join(f"{name[0]}." for name in given.split())


def _key(one: Mapping[str, Any]) -> str:
    """Name an entry as people do: the first author, the year, the title's first own word."""
    first = one["authors"][0]
    words = re.findall(r"[a-z]+", one["title"].lower())
    word = next((word for word in words if word not in _SMALL), "")
    if "family-names" not in first:
        return f"{word}{_year(one)}"
    family = re.sub(r"[^a-z]", "", first["family-names"].lower())
    return f"{family}{_year(one)}{word}"


def _bibtex(one: Mapping[str, Any], key: str) -> str:
    arxiv = [
        entry["value"].removeprefix("arXiv:")
        for entry in one.get("identifiers", ())
        if entry["value"].startswith("arXiv:")
    ]
    people = [
        f"{{{_latex(author['name'])}}}"
        if "name" in author
        else _latex(f"{author['family-names']}, {author['given-names']}")
        for author in one["authors"]
    ]
    fields = {
        "author": " and ".join(people),
        "title": f"{{{_latex(one['title'])}}}",  # its capitals stay
        "journal": _latex(one.get("journal", "")),
        "booktitle": _latex((one.get("conference") or {}).get("name", "")),
        "volume": _latex(one.get("volume", "")),
        "pages": _latex(one.get("start", "")),
        "year": _year(one),
        "note": f"Version {_latex(one['version'])}" if "version" in one else "",
        "doi": re.sub(r"[{}\s]", "", str(one.get("doi", ""))),
        "eprint": arxiv[0] if arxiv else "",
        "archiveprefix": "arXiv" if arxiv else "",
        "url": "" if "doi" in one else re.sub(r"[{}\s]", "", _address(one)),
    }
    kind = next((kind for field, kind in _KINDS.items() if field in one), "misc")
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def _latex(text: object) -> str:
    # BibTeX counts braces, those of an escaped one too.
    written = escape.latex(text)
    return written.replace(r"\{", r"\textbraceleft{}").replace(r"\}", r"\textbraceright{}")
