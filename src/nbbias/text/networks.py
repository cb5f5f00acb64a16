"""How networks read texts: where, with which numbers, and how many texts at a time.

Where is told in a word, by the parameter `device`: ``cpu``, ``mps``, ``cuda``, ``cuda:1``. With
``-bf16`` behind it a network multiplies numbers of 16 bits, which is two to five times as fast
where the processor can, and moves what it says: how much is measured on some of the texts, and
told. ``onnx`` is the processor by ONNX Runtime, at 32 bits.
"""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any, TypeVar

import numpy as np

from nbbias import tables

T = TypeVar("T")

#: The device that is the processor by ONNX Runtime, and what it needs to be installed.
ONNX, PACKAGES = "onnx", ("onnx", "onnxruntime")

_SHORT = "-bf16"

#: Texts that are read twice, to say what numbers of 16 bits change.
_TRIED = 64

#: What torch calls processors that do not multiply numbers of 16 bits, and imitate it.
_WITHOUT = ("AVX2",)

#: Of which instruments that was said, and where they ran.
_told: set[tuple[str, str]] = set()

#: Texts at a time, where nobody says: on a processor more is slower, and a GPU halves its own.
_ON_CPU, _ON_GPU = 16, 4096

log = logging.getLogger("nbbias")


def place(device: str) -> str:
    """Return the device as torch calls it.

    Examples
    --------
    >>> place("cuda:1-bf16"), place("onnx")
    ('cuda:1', 'cpu')
    """
    return "cpu" if device == ONNX else device.removesuffix(_SHORT)


def short(device: str) -> bool:
    """Tell whether a device multiplies numbers of 16 bits.

    Examples
    --------
    >>> short("cpu-bf16"), short("cpu")
    (True, False)
    """
    return device.endswith(_SHORT)


@contextmanager
def numbers(device: str) -> Iterator[None]:
    """Let torch multiply with the numbers that a device says.

    Examples
    --------
    >>> import torch
    >>> with numbers("cpu-bf16"):
    ...     str((torch.ones(2, 2) @ torch.ones(2, 2)).dtype)
    'torch.bfloat16'
    """
    import torch

    kind = place(device).partition(":")[0]
    if short(device) and kind == "cpu" and torch.backends.cpu.get_cpu_capability() in _WITHOUT:
        _slow()
    with torch.autocast(kind, dtype=torch.bfloat16) if short(device) else nullcontext():
        yield


@cache
def _slow() -> None:
    log.warning(
        "this processor has no numbers of 16 bits: with them networks take five to "
        "eleven times as long as with 32 (device: cpu)"
    )


def halving(
    read: Callable[[int], T], device: str, batch: int | None = None, *, on_cpu: int = _ON_CPU
) -> T:
    """Read texts by a function of the number at a time, which is halved while memory runs out.

    Where no `batch` is named, a processor takes `on_cpu` texts and a GPU thousands. The function
    goes from the longest texts to the shortest: what is too much shows at once.

    Examples
    --------
    >>> def read(batch):
    ...     if batch > 10:
    ...         raise RuntimeError("CUDA out of memory.")
    ...     return batch
    >>> halving(read, "cpu", 32)
    8
    """
    size = batch or (on_cpu if place(device) == "cpu" else _ON_GPU)
    while True:
        try:
            return read(size)
        except RuntimeError as error:  # of torch, and by other names of its backends
            if size == 1 or "out of memory" not in str(error):
                raise
        size //= 2


def tell(
    what: str, device: str, texts: Sequence[str], read: Callable[[Sequence[str], str], np.ndarray]
) -> None:
    """Say what numbers of 16 bits change, once: some texts are read with 32 bits as well.

    Parameters
    ----------
    what
        The instrument, as it is told.
    device
        Where texts are read; nothing is done where its numbers are of 32 bits.
    texts
        Texts, of which at most 64 are read, evenly from all.
    read
        Texts and a device in, an array out.

    Examples
    --------
    >>> tell("model", "cpu", ["a text"], lambda texts, device: np.ones(1))
    """
    if not short(device) or not len(texts) or (what, device) in _told:
        return
    _told.add((what, device))
    some = [texts[at] for at in np.unique(np.linspace(0, len(texts) - 1, _TRIED).astype(int))]
    apart = np.abs(read(some, device) - read(some, place(device)))
    apart = apart[np.isfinite(apart)]  # a model that gives no number is told of elsewhere
    if not len(apart):
        return
    log.warning(
        "%s with numbers of 16 bits: on %d of %d texts it says what it says with 32 bits but for "
        "%.1g at most, %.1g on average",
        what,
        len(some),
        len(texts),
        apart.max(),
        apart.mean(),
    )


def ready(model: Any, device: str) -> Any:
    """Return a transformer where it is to run: moved there, or read by ONNX Runtime.

    The outcome is called as the model is, with tensors by name, and gives what the model gives
    first, by place or as `last_hidden_state`.
    """
    if device != ONNX:
        return model.to(place(device)).eval()
    tables.require_packages(*PACKAGES, where="device onnx")
    return _by_onnx(model.cpu().eval())


def _by_onnx(model: Any) -> Any:
    import onnxruntime
    import torch
    from transformers.modeling_outputs import BaseModelOutput

    class First(torch.nn.Module):
        """The model with its inputs by place, and its first output."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            return self.model(input_ids=input_ids, attention_mask=attention_mask)[0]

    names = ["input_ids", "attention_mask"]
    written = io.BytesIO()
    example = torch.ones(2, 8, dtype=torch.long)
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what does not depend on the texts
        torch.onnx.export(
            First().eval(),
            (example, example),
            written,
            input_names=names,
            output_names=["first"],
            dynamic_axes={name: {0: "texts", 1: "pieces"} for name in names},
            dynamo=False,
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # others compute, too
    session = onnxruntime.InferenceSession(
        written.getvalue(), options, providers=["CPUExecutionProvider"]
    )

    class Session(torch.nn.Module):
        """What stands in for the model."""

        device = torch.device("cpu")
        config = model.config

        def forward(self, **given: Any) -> BaseModelOutput:
            own = {name: given[name].numpy() for name in names}
            return BaseModelOutput(last_hidden_state=torch.from_numpy(session.run(None, own)[0]))

    return Session()
