"""The corpus of biased prompts: which answers count, how they were asked for, what is lost."""

from pathlib import Path

import pandas as pd
import pytest

from nbbias.asking import prompts
from nbbias.asking.params import Generate
from nbbias.biased_prompts import corpus, read_corpus, refusing
from nbbias.biased_prompts.params import BiasedPrompts
from nbbias.news import corpus as news
from nbbias.tables import DataError


def generations(**columns: list[str]) -> pd.DataFrame:
    ids = [f"a{i}" for i, _ in enumerate(next(iter(columns.values())))]
    table = {"source": "s", "article_id": ids, "model": "m", "prompt": "neutral"}
    return pd.DataFrame(table | {"sample": 1, "text": "a text"} | columns)


def test_only_answers_to_the_two_prompts_count() -> None:
    table = generations(prompt=["a", "b", "c", "a"])
    kept = corpus.of_prompts(table, neutral="c", biased="a")
    assert kept["article_id"].tolist() == ["a0", "a2", "a3"]
    assert kept.index.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("neutral", "biased", "missing"),
    [
        ("a", "x", ["biased_prompt: no answers to the prompt 'x'"]),
        ("x", "a", ["neutral_prompt: no answers to the prompt 'x'"]),
        ("x", "y", ["neutral_prompt: no answers to the prompt 'x'", "biased_prompt: no answers"]),
    ],
)
def test_a_prompt_that_nobody_answered_is_told_with_those_there_are(
    neutral: str, biased: str, missing: list[str]
) -> None:
    with pytest.raises(DataError) as error:
        corpus.of_prompts(generations(prompt=["a", "b"]), neutral=neutral, biased=biased)
    assert len(error.value.breaches) == len(missing)
    for told, breach in zip(missing, error.value.breaches, strict=True):
        assert told in breach and breach.endswith("known: a, b")


def test_the_wording_is_that_which_models_are_asked_in() -> None:
    """Filled with a headline it is the prompt itself."""
    headlines = pd.DataFrame({"source": ["s"], "article_id": ["1"], "headline": ["Rain"]})
    block = Generate.model_construct(ways=["neutral", "biased"])
    asked = prompts.make_news_prompts(headlines, block)["prompt"].tolist()
    table = corpus.wording(neutral="neutral", biased="biased")
    assert [prompts.fill_template(words, headline="Rain") for words in table["wording"]] == asked


def test_every_ideology_has_its_wording_and_an_unknown_prompt_none() -> None:
    for one in prompts.load_wording()["ideologies"]:
        table = corpus.wording(neutral="rewrite", biased=one["prompt"])
        assert table["wording"][0] == corpus.UNKNOWN
        assert f"believe in {one['name']}," in table["wording"][1]


def test_every_answer_is_counted_once() -> None:
    """Of six answers one is refused, one blank, one repeated, one without an original."""
    originals = pd.DataFrame({"source": "s", "article_id": ["a0", "a1", "a2", "a4"], "text": "t"})
    table = generations(
        article_id=["a0", "a1", "a2", "a9", "a4", "a4"],
        text=["x", "no", " ", "x", "x", "x"],
        sample=[1, 1, 1, 1, 1, 2],
    )
    answers = refusing.answered(table.assign(refused=table["text"] == "no"))
    pairs = refusing.without_refusals(news.pair(originals, answers), answers)
    lost = pairs["lost"].fillna("measured").value_counts().to_dict()
    expected = dict.fromkeys(("refused", "blank answer", "no original", "repeated answer"), 1)
    assert lost == expected | {"measured": 2}


def test_recorded_refusals_are_read_and_no_labels_are_asked_for(tmp_path: Path) -> None:
    texts = {"article_id": ["1", "2"], "text": ["She met him.", "He left."]}
    pd.DataFrame(texts).to_csv(tmp_path / "originals.csv", index=False)
    answers = pd.concat([pd.DataFrame(texts).assign(prompt=p) for p in ("neutral", "biased")])
    answers = answers.assign(model="m", refused=[False, False, True, False])
    answers.to_csv(tmp_path / "answers.csv", index=False)
    paths = [str(tmp_path / f"{name}.csv") for name in ("originals", "answers")]
    chosen = dict(zip(("originals_path", "generations_path"), paths, strict=True))
    found = read_corpus(BiasedPrompts(**chosen, levels=["word"]))
    assert found.pairs["lost"].fillna("").tolist() == ["", "", "refused", ""]
    assert set(found.answers["reason"]) == {refusing.RECORDED}
