"""Every input of every study, malformed in every way: read as what it is, or refused in words."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from nbbias.asking import prompts
from nbbias.asking.params import Generate
from nbbias.biasalert import corpus as biasalert, pairs, sources
from nbbias.biasalert.judges import baselines, lora, recorded
from nbbias.cogs import affinity, people, rbs, reference
from nbbias.llmbi import neutral, scoring
from nbbias.news import corpus as news, labels
from nbbias.tables import NbbiasError
from nbbias.text import lexicons
from tests import malformed

_TEXTS = [f"She told him of the sea, and of {i} ships." for i in range(4)]
_KNOWN = pd.DataFrame({"text_id": list("abcd"), "text": _TEXTS})


def _table(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"n": range(4), **columns}).drop(columns="n")


def _prompts(kind: str) -> Callable[[str], object]:
    def read(path: str) -> object:
        block = Generate(models=["openai/a"], prompts=kind, prompts_path=path)
        return prompts.read_prompts(block)

    return read


#: Every reader of a user's file, with a table that it takes.
INPUTS: dict[str, tuple[pd.DataFrame, Callable[[str], object]]] = {
    "news originals": (
        _table(source="s", article_id=range(4), headline="A ship", sample=1, text=_TEXTS),
        news.read_originals,
    ),
    "news generations": (
        _table(article_id=list("abcd"), model="m", prompt="p", sample=1, text=_TEXTS),
        news.read_generations,
    ),
    "recorded refusals": (
        _table(article_id=list("abcd"), model="m", text=_TEXTS, refused=[0, 1, 0, 1]),
        news.read_generations,
    ),
    "a lexicon": (
        _table(group=["a", "a", "b", "b"], term=list("wxyz"), kind="word", case="any"),
        lambda path: lexicons.load("own", path=path),
    ),
    "names": (
        _table(group=["Asian", "Black", "White", "White"], term=["Mei", "Ebony", "Amy", "Tim"]),
        lambda path: lexicons.load("race", names_path=path),
    ),
    "answers of llmbi": (
        _table(dimension="Gender Bias", prompt=list("abcd"), model="m", sample=1, response=_TEXTS),
        scoring.read_answers,
    ),
    "neutral prose": (_table(text=_TEXTS), neutral.read_neutral),
    "answers of cogs": (
        _table(
            model="m",
            task="short poem",
            theme="truth",
            identity="man",
            sample=range(4),
            text=_TEXTS,
            temperature=[0.0, 0.5, 0.0, 0.5],
        ),
        rbs.read_answers,
    ),
    "answers of cogs by prompt": (
        _table(model="m", prompt_id="short poem/truth", text=_TEXTS),
        rbs.read_answers,
    ),
    "replies of judges": (
        _table(
            evaluator="e",
            model="m",
            task="short poem",
            theme="truth",
            axis="orientation",
            order=["straight|queer", "queer|straight"] * 2,
            repeat=range(4),
            reply=_TEXTS,
        ),
        affinity.read_judgements,
    ),
    "people's ratings": (
        _table(rater=list("abcd"), task="haiku", theme="truth", axis="gender", identity="man"),
        people.read_ratings,
    ),
    "personas": (
        _table(
            model="m",
            kind="k",
            race="Black",
            gender=list("MWNM"),
            prompt="a Black man",
            text=_TEXTS,
        ),
        reference.read_personas,
    ),
    "labelled texts": (
        _table(
            text_id=list("abcd"),
            text=_TEXTS,
            biased=[True, False, True, False],
            bias_type="gender",
            group="women",
            attribute="late",
        ),
        sources.labelled,
    ),
    "RedditBias": (
        _table(
            id=range(4), comment=_TEXTS, bias_sent=[1, 0, 1, 0], bias_type="gender", phrase="late"
        ),
        sources.labelled,
    ),
    "Jigsaw": (
        _table(comment_text=_TEXTS, identity_attack=[0.1, 0.9, 0.6, 0.0], female=0.8, male=0.1),
        sources.labelled,
    ),
    "Jigsaw 2018": (_table(comment_text=_TEXTS, identity_hate=[0, 1, -1, 0]), sources.labelled),
    "statements": (
        _table(
            statement=[f"women {one}" for one in "abcd"],
            bias_type="gender",
            group="women",
            attribute="late",
        ),
        lambda path: biasalert.knowledge(path, labelled=pd.DataFrame()),
    ),
    "kept knowledge": (
        _table(
            entry_id=list("abcd"),
            statement=_TEXTS,
            bias_type="gender",
            group="women",
            attribute="late",
            source="mine",
        ),
        lambda path: biasalert.knowledge(path, labelled=pd.DataFrame()),
    ),
    "SBIC": (
        _table(targetMinority="women", targetCategory="gender", targetStereotype=_TEXTS),
        lambda path: biasalert.knowledge(path, labelled=pd.DataFrame()),
    ),
    "answers of biasalert": (
        _table(text_id=list("abcd"), model="m", text=_TEXTS, prompt_id="p", domain="d"),
        lambda path: biasalert.read_answers(path, seed=1),
    ),
    "BOLD's continuations": (
        _table(domain="d", prompt="p", wikipedia=_TEXTS),
        lambda path: biasalert.read_answers(path, seed=1),
    ),
    "people's labels": (
        _table(text_id=list("abcd"), biased=[True, False, True, False]),
        biasalert.labels,
    ),
    "labels of words": (
        _table(
            drawn="d",
            item=list("abcd"),
            ask="word",
            bias="gender",
            before="",
            text=_TEXTS,
            choices="female | male | nobody | unsure",
            label=["female", "male", "nobody", ""],
        ),
        labels.read_sheet,
    ),
    "recorded replies": (
        _table(text_id=list("abcd"), reply=["Yes, the SENTENCE is biased.", "None"] * 2, judge="j"),
        lambda path: recorded.read_judgements(path, _KNOWN, judge="j"),
    ),
    "a moderation tool's output": (
        _table(text_id=list("abcd"), flagged=[True, False, True, False], score=0.5),
        lambda path: baselines.recorded(_KNOWN, path=path, name="tool"),
    ),
    "OpenAI's moderation": (
        _table(
            text_id=list("abcd"),
            results=[[{"flagged": True, "category_scores": {"hate": 0.5}}]] * 4,
        ),
        lambda path: baselines.recorded(_KNOWN, path=path, name="tool"),
    ),
    "pairs": (
        _table(
            pair_id=list("abcd"),
            sent_more=_TEXTS,
            sent_less=_TEXTS,
            stereo_antistereo="stereo",
            bias_type="gender",
        ),
        pairs.read,
    ),
    "instructions": (_table(prompt=_TEXTS, completion="Yes."), lora.read),
    "messages": (
        _table(
            messages=[[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]] * 4
        ),
        lora.read,
    ),
    "headlines": (_table(source="s", article_id=range(4), headline=_TEXTS), prompts.read_headlines),
    "openings of BOLD": (_table(domain="d", prompt=_TEXTS, category="c"), _prompts("bold")),
    "prompts": (_table(prompt_id=list("abcd"), prompt=_TEXTS, source="s"), _prompts("table")),
}

#: Seconds that a malformed file may take; a table of four rows takes milliseconds.
SOON = 5.0


@pytest.mark.parametrize("every", [17, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", list(INPUTS))
def test_a_malformed_file_is_read_or_refused_in_words(
    name: str, every: int, tmp_path: Path
) -> None:
    table, read = INPUTS[name]
    table.to_parquet(tmp_path / "right.parquet")
    read(str(tmp_path / "right.parquet"))  # as it was, it is read
    wrong, outcomes = [], {"accepted": 0, "refused": 0}
    for what, path in malformed.files(table, tmp_path, every=every):
        start = time.process_time()
        try:
            read(str(path))
            outcomes["accepted"] += 1
        except NbbiasError as error:
            outcomes["refused"] += 1
            message = str(error)
            if path.name not in message and "CrowS" not in message and "replies" not in message:
                wrong.append(f"{what}: the message names no file: {message[:200]}")
            if len(message) > 10_000:
                wrong.append(f"{what}: a message of {len(message)} characters")
        except Exception as error:
            wrong.append(f"{what}: {type(error).__name__}: {str(error)[:200]}")
        if time.process_time() - start > SOON:
            wrong.append(f"{what}: {time.process_time() - start:.1f} seconds")
    assert not wrong, f"{len(wrong)} of {sum(outcomes.values()) + len(wrong)}:\n" + "\n".join(wrong)
    assert outcomes["refused"]
