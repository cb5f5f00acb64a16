"""How to cite: every study's paper and the software, in words and as BibTeX that can be read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from nbbias import studies as registry
from nbbias.pages import cite
from nbbias.studies import STUDIES
from nbbias.tables import versions

CFF = registry.home() / "CITATION.cff"


def parsed(bibtex: str) -> tuple[str, str, dict[str, str]]:
    """Read one entry as BibTeX does: by its braces."""
    head = re.match(r"@(\w+)\{([^,\s]+),", bibtex)
    assert head
    kind, key, at = head[1], head[2], head.end()
    fields: dict[str, str] = {}
    while (found := re.compile(r"\s*(\w+) = \{").match(bibtex, at)) is not None:
        depth, start = 1, found.end()
        at = start
        while depth:
            depth += {"{": 1, "}": -1}.get(bibtex[at], 0)
            at += 1
        fields[found[1]] = bibtex[start : at - 1]
        assert bibtex[at] == ","
        at += 1
    assert bibtex[at:].strip() == "}"
    return kind, key, fields


@pytest.mark.parametrize("stem", STUDIES)
def test_every_study_has_a_paper_to_cite_and_the_software(stem: str) -> None:
    paper, software = cite.citations(CFF, [stem])
    assert "(20" in paper["text"]
    assert "nbbias" in software["text"]
    kind, _, fields = parsed(paper["bibtex"])
    assert kind in {"article", "inproceedings", "misc"}
    assert {"author", "title", "year"} <= set(fields)
    assert ("journal" in fields) == (kind == "article")
    assert ("booktitle" in fields) == (kind == "inproceedings")


def test_a_reference_reads_as_one_writes_it() -> None:
    paper, software = cite.citations(CFF, ["news_bias"])
    told = paper["text"]
    assert told.startswith("Fang, X., Che, S., Mao, M., Zhang, H., Zhao, M. & Zhao, X. (2024). ")
    assert told.endswith("Scientific Reports 14:5224. https://doi.org/10.1038/s41598-024-55686-2.")
    read = yaml.safe_load(CFF.read_text(encoding="utf-8"))
    year = read["date-released"].year
    assert software["text"] == (
        f"The nbbias developers ({year}). {read['title']} (version {read['version']})."
    )
    assert read["version"] == versions()["nbbias"]


def test_bibtex_says_what_the_words_say() -> None:
    paper, software = (parsed(one["bibtex"]) for one in cite.citations(CFF, ["biased_prompts"]))
    kind, key, fields = paper
    assert (kind, key) == ("article", "fang2024bias")
    assert fields["author"].count(" and ") == 5
    assert fields["author"].startswith("Fang, Xiao and Che, Shangkun")
    assert fields["doi"] == "10.1038/s41598-024-55686-2"
    kind, _, fields = software
    assert (kind, fields["author"]) == ("misc", "{The nbbias developers}")
    assert fields["note"] == "Version 0.1.0"
    # Nobody knows an address, so none is given.
    assert not {"url", "doi"} & set(fields)


def test_a_preprint_is_named_by_its_number() -> None:
    _, _, fields = parsed(cite.citations(CFF, ["llmbi"])[0]["bibtex"])
    assert (fields["eprint"], fields["archiveprefix"]) == ("2312.14769", "arXiv")


def test_papers_of_several_studies_stand_once() -> None:
    found = cite.citations(CFF, list(STUDIES))
    assert len(found) == 6  # five papers, and the software
    keys = [parsed(one["bibtex"])[1] for one in found]
    assert len(set(keys)) == 6


def file_of(folder: Path, **changes: Any) -> Path:
    one = {
        "title": "Bias of x",
        "type": "article",
        "year": 2024,
        "keywords": ["llmbi"],
        "authors": [{"family-names": "O'Brien", "given-names": "A"}],
    }
    whole = {"title": "n", "version": "1", "authors": [{"name": "N"}], "references": [one, one]}
    path = folder / "CITATION.cff"
    path.write_text(yaml.safe_dump(whole | changes))
    return path


def test_entries_of_one_author_and_year_have_keys_of_their_own(tmp_path: Path) -> None:
    found = cite.citations(file_of(tmp_path), ["llmbi"])
    assert [parsed(one["bibtex"])[1] for one in found][:2] == ["obrien2024bias", "obrien2024biasb"]


def test_whatever_a_title_holds_bibtex_stays_whole(tmp_path: Path) -> None:
    title = '100% {of} \\it & $x_1$ } # ~ ^ "'
    path = file_of(tmp_path, title=title, url="https://example.org/a_b")
    software = cite.citations(path, [])[0]
    _, _, fields = parsed(software["bibtex"])
    assert fields["title"].startswith("{100\\% \\textbraceleft{}of\\textbraceright{}")
    assert fields["url"] == "https://example.org/a_b"
    assert title in software["text"] and "https://example.org/a_b" in software["text"]


def test_all_references_are_cited_by_some_study() -> None:
    read = yaml.safe_load(CFF.read_text(encoding="utf-8"))
    assert all(one["keywords"] for one in read["references"])


def test_no_citation_file_is_no_citation(tmp_path: Path) -> None:
    assert cite.citations(tmp_path / "CITATION.cff", ["llmbi"]) == []
