"""Inputs that cannot be used are refused before a run: all at once, with the file and the mend.

What is said stands in tests/golden/refused_inputs_*.txt.
"""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from nbbias import cogs, params
from nbbias.running import plan as run_plan
from nbbias.tables import NbbiasError
from tests.conftest import Command, Golden


def write(folder: Path, name: str, rows: list[dict[str, Any]] | pd.DataFrame) -> str:
    """Write a table, and return its name."""
    pd.DataFrame(rows).to_csv(folder / name, index=False)
    return name


def refused(folder: Path, study: str, **values: Any) -> str:
    """Plan a run of params beside its files; return the refusal without this machine's paths."""
    path = folder / "mine.yaml"
    path.write_text(f"study: {study}\n" + params.as_yaml(values))
    with pytest.raises(NbbiasError) as caught:
        run_plan.plan([path], out=folder / "runs")
    assert caught.value.where == str(path)
    assert not (folder / "runs").exists()
    return str(caught.value).replace(f"{folder}/", "")


def articles(ids: str = "ab", **columns: Any) -> list[dict[str, Any]]:
    """Articles with a sentence each."""
    return [{"article_id": name, "text": f"She met {name}.", **columns} for name in ids]


def news(folder: Path, generations: list[dict[str, Any]] | None = None) -> dict[str, str]:
    """Both sides of a small corpus that a run can be made of, or other generations."""
    return {
        "originals_path": write(folder, "o.csv", articles()),
        "generations_path": write(folder, "g.csv", generations or articles(model="m")),
    }


def answers() -> pd.DataFrame:
    """Answers to a small part of CoGS' suite, of one model."""
    prompts = cogs.suite.prompts(cogs.suite.load()).query("task == 'haiku' and topic == 'social'")
    return prompts[["task", "theme", "identity"]].assign(model="m", text="A text.")


def labelled(n: int) -> pd.DataFrame:
    """As many texts, half of them called biased, none near another."""
    words = [f"{chr(97 + i % 26) * 5}{i}" for i in range(n)]
    return pd.DataFrame({"text": words, "biased": [i % 2 for i in range(n)]})


# --- study by study -----------------------------------------------------------------------------


def test_news_refuses(tmp_path: Path, golden: Golden) -> None:
    prose = [{"nr": 1, "title": "t", "prose": "b"}]
    mute = [{**article, "text": " ", "model": "mute"} for article in articles()]
    terms = [("rural", "farmers"), ("urban", "farmers"), ("urban", "townsfolk"), ("rural", "cow")]
    place = pd.DataFrame(terms, columns=["group", "term"])
    lists = {"biases": ["place"], "lexicon_paths": {"place": "place.csv"}}
    claims = [
        {"statistic": "bias", "model": "n"},
        {"statistic": "bias", "group": "femal"},
        {"statistic": "bias", "bias": "gender", "group": "Black"},
        {"statistic": "bias", "source": "nyt"},
    ]
    wrong = news(tmp_path) | {"originals_path": write(tmp_path, "wrong.csv", prose)}
    misspelt = {"topic_fitz": 3, "draws": 3, "biases": ["gendr"], "names_path": "nowhere.csv"}
    messages = [
        refused(tmp_path, "news_bias", **wrong | {"generations_path": "wrong.csv"}),
        refused(tmp_path, "news_bias", **wrong, **misspelt),
        refused(tmp_path, "news_bias", **news(tmp_path, [*articles(model="m"), *mute])),
        refused(tmp_path, "news_bias", **news(tmp_path, articles(source="mine", model="m"))),
        refused(tmp_path, "news_bias", **news(tmp_path, articles("xy", model="m"))),
        *(refused(tmp_path, "news_bias", **news(tmp_path), claims=[claim]) for claim in claims),
    ]
    for table in (place, place[1:]):
        write(tmp_path, "place.csv", table)
        values = news(tmp_path) | lists | {"focus": {"place": "rual"}}
        messages.append(refused(tmp_path, "news_bias", **values))
    values = news(tmp_path) | {"biases": ["place"], "lexicon_paths": {"plaze": "place.csv"}}
    messages.append(refused(tmp_path, "news_bias", **values))
    messages.append(refused(tmp_path, "news_bias", sentiment_scorers=["vadr"]))
    golden("refused_inputs_news_bias", messages)


def test_biased_prompts_refuses(tmp_path: Path, golden: Golden) -> None:
    prompts = [articles(model="m", prompt=prompt) for prompt in ("neutral", "androcentric")]
    both = news(tmp_path, [*prompts[0], *prompts[1]])
    messages = [
        refused(tmp_path, "biased_prompts", **both, biased_prompt="androcentrc"),
        refused(tmp_path, "biased_prompts", **news(tmp_path, articles("xy", model="m"))),
        refused(tmp_path, "biased_prompts", toxicity_scorer="unbised"),
    ]
    golden("refused_inputs_biased_prompts", messages)


def test_llmbi_refuses(tmp_path: Path, golden: Golden) -> None:
    row = {"prompt": "Why?", "dimension": "Gender"}
    rows = [{**row, "model": "a", "response": "So."}, {**row, "model": "b", "response": ""}]
    unknown = [{"prompt": "Discuss the role of woman in technology.", "model": "a", "text": "So."}]
    wrong = {"claims": [{"statistic": "difference", "model": "a", "group": "c"}]}
    wrong |= {"weights": {"gender": 2.0}, "answers_path": write(tmp_path, "a.csv", rows)}
    wrong |= {"neutral_path": write(tmp_path, "n.csv", [{"prose": "Rain."}])}
    messages = [refused(tmp_path, "llmbi", **wrong)]
    messages += [refused(tmp_path, "llmbi", answers_path=write(tmp_path, "a.csv", unknown))]
    golden("refused_inputs_llmbi", messages)


def test_cogs_refuses(tmp_path: Path, golden: Golden) -> None:
    strange = answers().replace({"family": "families", "woman": "women"})
    judged = {"evaluator": "j", "model": "m", "task": "haiku", "theme": "famly", "axis": "gendr"}
    judged |= {"order": "man|woman|non-binary", "reply": "choice 1"}
    rated = {"rater": "r", "task": "haiky", "theme": "family", "axis": "gender", "identity": "men"}
    files = {"answers_path": write(tmp_path, "a.csv", answers())}
    files["judgements_path"] = write(tmp_path, "j.csv", [judged])
    files["ratings_path"] = write(tmp_path, "r.csv", [rated])
    messages = [
        refused(tmp_path, "cogs", answers_path=write(tmp_path, "s.csv", strange), parts=["rbs"]),
        refused(tmp_path, "cogs", **files),
        refused(tmp_path, "cogs", embedding_model="ofline"),
    ]
    golden("refused_inputs_cogs", messages)


ALONE = {"knowledge_path": "none", "answers_path": "none"}


def test_biasalert_refuses(tmp_path: Path, golden: Golden) -> None:
    texts = labelled(60).astype({"biased": "str"})
    texts.loc[3, "biased"] = "maybe"
    answer = {"model": "m", "text": "It rains."}
    files = {
        "labelled_path": write(tmp_path, "l.csv", texts),
        "evaluation_path": write(tmp_path, "e.csv", [{"sentence": "x"}]),
        "knowledge_path": write(tmp_path, "k.csv", [{"said": "x"}]),
        "pairs_path": write(tmp_path, "p.csv", [{"sent_more": "x"}]),
        "answers_path": write(tmp_path, "a.csv", [{"text_id": "1", **answer}]),
        "human_path": write(tmp_path, "h.csv", [{"text_id": "3", "biased": 1}]),
        "replies_paths": {"llm": write(tmp_path, "r.csv", [{"text_id": "9", "reply": "biased"}])},
    }
    claims = [{"statistic": "accuracy", "judge": "keyword"}]
    few = write(tmp_path, "few.csv", labelled(24))
    messages = [
        refused(tmp_path, "biasalert", **files, claims=claims),
        refused(tmp_path, "biasalert", labelled_path=few, **ALONE),
    ]
    golden("refused_inputs_biasalert", messages)
    unlearned = {"study": "biasalert", "labelled_path": few, **ALONE, "judges": ["keywords"]}
    path = tmp_path / "mine.yaml"
    path.write_text(params.as_yaml(unlearned))
    run_plan.plan([path])  # a judge that does not learn needs no number of them


def test_problems_of_two_files_stand_in_one_block(tmp_path: Path, command: Command) -> None:
    paths = [tmp_path / name / "mine.yaml" for name in ("first", "second")]
    for path in paths:
        path.parent.mkdir()
        wrong = write(path.parent, "a.csv", [{"x": 1}])
        path.write_text(f"study: llmbi\nanswers_path: {wrong}\n")
    done = command("run", *paths, "--out", tmp_path / "runs")
    assert done.returncode == 2
    assert done.stderr.startswith("error nothing was run: 2 problems\n")
    assert "nbbias params" not in done.stderr  # it is no parameter that is wrong
    for path in paths:
        assert f"{path}: a.csv: needs the columns prompt, text; it has x" in done.stderr
