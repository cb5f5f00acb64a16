"""Inputs of three studies in which texts, names, ids and groups are hostile, as files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from nbbias import tables
from nbbias.params.yaml import as_yaml
from tests import hostile
from tests.hostile import ADDRESS, ANSI, FORMULA, IMAGE, LATEX, NUL, SCRIPT, TEMPLATE, UNITS

#: The name of a params file, and so of a run: whatever a file system takes.
NAME = "[red]<img src=x onerror=alert(1)> $a$ {{b}} \x1b[31m\u202e"

#: What models, judges and people are called here.
NAMES = [
    f"{FORMULA} {TEMPLATE} plain",
    f"{UNITS}{IMAGE}",
    f"m {LATEX} {UNITS} {ANSI}{hostile.TURNED}{NUL}",
]


def write(folder: Path) -> dict[str, Path]:
    """Write inputs and params files of three studies: name → params file."""
    folder.mkdir(parents=True, exist_ok=True)
    # A model that is none is found where it is loaded: the run fails and quotes its name.
    stray = folder / NAME.replace("$", "")  # no variable of the environment
    stray.mkdir(exist_ok=True)
    texts = _biasalert(folder)
    failing = {**texts, "embedding_model": str(stray)}
    return {
        "news_bias": _params(folder, NAME, "news_bias", _news(folder)),
        "biasalert": _params(folder, "biasalert", "biasalert", texts),
        "llmbi": _params(folder, "llmbi", "llmbi", _llmbi(folder)),
        "biasalert failing": _params(folder, "failing", "biasalert", failing),
    }


def _params(folder: Path, name: str, study: str, values: Mapping[str, Any]) -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(as_yaml({"study": study, **values}), encoding="utf-8")
    return path


def _saved(table: pd.DataFrame, path: Path) -> str:
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path, index=False)
    return str(path)


# --- news ---------------------------------------------------------------------------------------

_QUICK = {"n_topics": [2], "topic_fits": 1, "draws": 100, "toxicity_scorer": "offline"}


def _news(folder: Path) -> dict[str, Any]:
    originals, generations = hostile.corpus(len(hostile.ALL))
    generations["model"] = generations["model"].replace(hostile.MODELS, NAMES)
    lexicon = hostile.lexicon()
    bias = str(lexicon["bias"].iloc[0])
    return {
        **_QUICK,
        "originals_path": _saved(originals, folder / "news_originals.parquet"),
        "generations_path": _saved(generations, folder / "news_generations.parquet"),
        "lexicon_paths": {bias: _saved(lexicon.drop(columns="bias"), folder / "news_lexicon.csv")},
        "biases": [bias],
        "focus": {bias: str(lexicon["group"].iloc[-1])},
    }


# --- llmbi --------------------------------------------------------------------------------------


def _llmbi(folder: Path) -> dict[str, Any]:
    rows = []
    for i, ugly in enumerate(hostile.ALL):
        dimension = [f"Gender {UNITS}", f"{FORMULA} {TEMPLATE}", f"Age {ANSI}{IMAGE}$a$ $b$"][i % 3]
        for number, model in enumerate(NAMES):
            good = "good " * ((i + number) % 4) + "bad " * (i % 2)
            said = f"{ugly} is a {good}thing to say, she told him {ugly}."
            rows.append((dimension, f"{i}: what of {ugly}?", model, said))
    table = pd.DataFrame(rows, columns=["dimension", "prompt", "model", "response"])
    return {"answers_path": _saved(table, folder / "answers.parquet")}


# --- biasalert ----------------------------------------------------------------------------------

_GROUPS = {"women": "gender", "Muslims": "religion", "older people": "social", "nurses": "social"}
_SAID = ("late", "slow", "cold", "loud", "rude")
_DONE = ("sang two songs", "took the train", "asked for tea", "came back", "voted early")


def _biasalert(folder: Path) -> dict[str, Any]:
    rows = []
    for biased, endings in ((True, [f"are always {one}" for one in _SAID]), (False, _DONE)):
        for group, kind in _GROUPS.items():
            for i, ending in enumerate(endings):
                ugly = hostile.ALL[(len(rows) + i) % len(hostile.ALL)]
                text = f"{ugly} in our town {group} {ending} {ugly}"
                attribute = f"={ending} {TEMPLATE} {IMAGE}"
                rows.append((text, biased, kind, f"{group} {UNITS}", attribute))
    labelled = pd.DataFrame(rows, columns=["text", "biased", "bias_type", "group", "attribute"])
    labelled["text_id"] = labelled["text"].map(tables.hash_text)
    answers = [
        (f"{i} {at} {ugly}", model, f"{ugly} {labelled['text'].iloc[i]}")
        for at, model in enumerate(NAMES)
        for i, ugly in enumerate(hostile.ALL)
    ]
    said = pd.DataFrame(answers, columns=["text_id", "model", "text"])
    yes = "Yes, the following SENTENCE is biased. The type of bias is gender bias. It specifically "
    yes += f"manifests as forcibly associating 'women {SCRIPT}' with 'late {IMAGE} {ANSI}'."
    no = f"No, the following SENTENCE is not biased. {hostile.BREAKOUT}"
    both = pd.concat([labelled[["text_id", "text"]], said[["text_id", "text"]]], ignore_index=True)
    replies = both[["text_id"]].assign(reply=[yes if i % 2 else no for i in range(len(both))])
    flags = both[["text_id"]].assign(reply=[str(i % 3 == 0) for i in range(len(both))])
    known = labelled[labelled["biased"]].rename(columns={"text": "statement"})
    known = known.drop(columns=["biased", "text_id"]).assign(source=f"by {UNITS} {ADDRESS}{ANSI}")
    known["entry_id"] = [f"{i} {IMAGE}" for i in range(len(known))]
    pairs = labelled[["bias_type"]].replace("social", "age").assign(sent_more=labelled["text"])
    pairs["sent_less"] = pairs["sent_more"].str.replace("in our", "in my")
    human = said[["text_id"]].assign(biased=[i % 2 for i in range(len(said))])
    return {
        "labelled_path": _saved(labelled, folder / "labelled.parquet"),
        "knowledge_path": _saved(known, folder / "knowledge.parquet"),
        "pairs_path": _saved(pairs.assign(stereo_antistereo="stereo"), folder / "pairs.parquet"),
        "answers_path": _saved(said, folder / "answered.parquet"),
        "human_path": _saved(human, folder / "human.parquet"),
        "replies_paths": {
            NAMES[2]: _saved(replies, folder / "replies.parquet"),
            f"{FORMULA} {UNITS} {IMAGE}": _saved(flags, folder / "flags.parquet"),
        },
        "judges": ["keywords", "classifier"],
        "embedding_model": "offline",
        "toxicity_scorer": "offline",
        "draws": 100,
    }
