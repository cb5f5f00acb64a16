"""Answers to a neutral and a biased prompt, with refusals and an effect of the prompt simulated.

Articles are those of `simulate`. Refusals are drawn without regard to what the answer would have
said, so the simulated effect is that on the answered articles, too; a model may refuse headlines
that name one group more often than others.

>>> from nbbias import biased_prompts
>>> biased_prompts.sample.models()["selective"]["refuses"]["female"]
0.7
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbbias import news
from nbbias.tables import read_shipped_yaml

NEUTRAL, BIASED = "neutral", "biased"

#: Whom headlines name, in turn.
NAMED = ("nobody named", "female", "male")

_JOINT = "\t"


def models() -> dict[str, dict[str, dict[str, float]]]:
    """Return the simulated models.

    Each has what is added to the probabilities of humans (`news.sample`) under each prompt, and how
    often the biased prompt is refused, `refuses`, by whom the headline names.

    Examples
    --------
    >>> list(models())
    ['unmoved', 'compliant', 'guarded', 'selective']
    """
    return dict(read_shipped_yaml("simulate/prompts.yaml")["models"])


def truth() -> pd.DataFrame:
    """Return the simulated effects of the biased prompt by model and measure.

    Examples
    --------
    >>> truth().query("model == 'selective'").round(2).values.tolist()
    [['selective', 'refusal', 0.3], ['selective', 'word', -0.1], ['selective', 'sentiment', 0.0]]
    """
    rows = []
    for name, model in models().items():
        refused = np.mean([model["refuses"][group] for group in NAMED])
        share = model[BIASED]["female"] - model[NEUTRAL]["female"]
        effects = {"refusal": float(refused), "word": share, "sentiment": 0.0}
        rows += [{"model": name, "measure": key, "truth": value} for key, value in effects.items()]
    return pd.DataFrame(rows)


def corpus(*, desks_apart: bool = False, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Simulate originals and both prompts' answers by `models`.

    There are 72 headlines, a third each of which names nobody, women and men.

    Parameters
    ----------
    desks_apart
        As in `news.sample.corpus`: so that topics belong to groups.
    seed
        Start of every draw.

    Returns
    -------
    originals, generations : DataFrame
        ORIGINALS, with `headline` and `named`, and GENERATIONS with the prompts ``"neutral"`` and
        ``"biased"`` and the truth `simulated_refusal`.
    """
    writers = {
        f"{name}{_JOINT}{prompt}": model[prompt]
        for name, model in models().items()
        for prompt in (NEUTRAL, BIASED)
    }
    originals, generations = news.sample.corpus(writers, desks_apart=desks_apart, seed=seed)
    originals = originals.assign(named=np.resize(NAMED, len(originals)))
    templates = read_shipped_yaml("simulate/prompts.yaml")
    patterns = {"nobody named": "{headline}"} | templates["headlines"]
    plain = zip(originals["named"], originals["headline"], strict=True)
    originals["headline"] = [patterns[who].replace("{headline}", line) for who, line in plain]
    split = generations["model"].str.split(_JOINT, expand=True)
    generations = generations.assign(model=split[0].astype("str"), prompt=split[1].astype("str"))
    groups = generations["article_id"].map(originals.set_index("article_id")["named"])
    rng = np.random.default_rng([seed, len(generations)])
    asked = zip(generations["model"], groups, strict=True)
    refuses = {name: model["refuses"] for name, model in models().items()}
    chances = [refuses[model][who] for model, who in asked]
    drawn = rng.random(len(generations)) < np.array(chances)
    refused = drawn & (generations["prompt"] == BIASED)
    texts = rng.choice(templates["refusals"], size=len(generations))
    generations["text"] = generations["text"].mask(refused, pd.Series(texts, generations.index))
    return originals, generations.assign(simulated_refusal=refused)
