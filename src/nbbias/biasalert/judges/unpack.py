"""A language model that comes as one GGUF file, unpacked into a folder that a judge is asked from.

The folder is what `lora.asker` and ``nbbias generate`` (``hf/…``) load: safetensors, and a
tokenizer with the chat's form. A GGUF file holds numbers and words and no code; nothing is
downloaded. As a command::

    python -m nbbias.biasalert.judges.unpack model.gguf folder
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from nbbias.biasalert.judges import lora
from nbbias.tables import DataError, NbbiasError, require_packages
from nbbias.text.instruments import loading


def unpack(file: str | Path, folder: str | Path) -> Path:
    """Write a GGUF file's model as a folder of safetensors, whole or not at all.

    Parameters
    ----------
    file
        A causal language model of an architecture that transformers reads from GGUF (Llama's among
        them). What was rounded for the file stays rounded: its numbers become plain 32-bit ones.
    folder
        The model's folder; it must not be there yet. It takes four bytes a number.

    Raises
    ------
    DataError
        The file is no such model, or the folder is there already.
    ExtraError
        What reads it is not installed.

    Examples
    --------
    >>> unpack("none.gguf", "models/none")
    Traceback (most recent call last):
    nbbias.tables.errors.DataError: none.gguf: is not there
    """
    source, out = Path(file).absolute(), Path(folder).absolute()
    if not source.is_file():
        raise DataError(str(file), "is not there")
    require_packages("gguf", where="a GGUF file")
    torch, transformers, _ = lora.libraries()
    if out.exists():
        raise DataError(str(folder), "is there already; name another folder for the model")
    with loading(str(file), "cannot be read as a language model in one GGUF file"):
        how = {"gguf_file": source.name, "local_files_only": True, "trust_remote_code": False}
        model = transformers.AutoModelForCausalLM.from_pretrained(
            source.parent, dtype=torch.float32, **how
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(source.parent, **how)
    # The numbers are plain ones by now, which transformers does not save while it holds the model
    # for a packed one.
    model.hf_quantizer = None
    del model.config.quantization_config
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as scratch:
        ready = Path(scratch) / "model"
        for one in (model, tokenizer):
            one.save_pretrained(ready)
        ready.rename(out)
    return out


def main(
    file: Annotated[Path, typer.Argument(help="a language model, one GGUF file")],
    folder: Annotated[Path, typer.Argument(help="where it is unpacked to")],
) -> None:
    """Unpack a language model that comes as one GGUF file."""
    try:
        print(unpack(file, folder))
    except NbbiasError as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    typer.run(main)
