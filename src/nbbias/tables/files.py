"""What a notebook leaves behind: tables, figures and one finding.

A run's folder is named by the environment variable `NBBIAS_OUT`, which the runner sets; a notebook
executed by anything else writes to ``runs/<stem>/lab``, or, with other parameters than its
defaults, to a folder beside that. Every file is written whole or not at all.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pandas as pd
from pydantic import BaseModel, ValidationError

from nbbias.tables import escape
from nbbias.tables.errors import DataError, NbbiasError
from nbbias.tables.paths import data_path

if TYPE_CHECKING:  # loaded when a figure is saved
    from IPython.display import HTML
    from matplotlib.figure import Figure


def folder(stem: str, differs: str = "") -> Path:
    """Return the folder that this run of a study writes to; `differs` is of `name_differences`.

    Examples
    --------
    >>> folder("cogs").parts[-3:]
    ('runs', 'cogs', 'lab')
    >>> folder("cogs", "draws=500").name
    'lab-draws=500'
    """
    # JupyterLab starts a kernel in the notebook's own folder; runs stand beside that.
    parent = Path("..") if Path.cwd().name == "notebooks" else Path()
    name = f"lab-{differs}" if differs else "lab"
    return Path(os.environ.get("NBBIAS_OUT") or parent / "runs" / stem / name)


def write(path: Path, content: bytes | str) -> Path:
    """Write a file whole or not at all: a reader never sees half of it.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as out:
    ...     write(Path(out) / "notes" / "one.txt", "one").read_text()
    'one'
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Beside it, for whom the user lets read; a name of 255 bytes has no room for more.
        start = os.fsdecode(os.fsencode(path.name)[:99])
        temporary = path.with_name(f".{start}.{secrets.token_hex(4)}")
        try:
            with temporary.open("xb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:  # of the file that was asked for, not of the one beside it
        raise OSError(error.errno, error.strerror, str(path)) from error
    return path


def refuse_target(path: Path, *, force: bool = False) -> None:
    """Refuse to write where something is that would be lost, or that is no file.

    Parameters
    ----------
    path
        A file that a user named, to be written.
    force
        Whether a file that is there may be replaced. Links, devices and pipes never are.

    Raises
    ------
    NbbiasError
        Something is there.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as out:
    ...     refuse_target(Path(out) / "new.csv")
    """
    if not path.name or path.is_dir():
        raise NbbiasError(str(path), "is a folder; name a file in it")
    if not os.path.lexists(path):
        return
    if not stat.S_ISREG(path.lstat().st_mode):
        raise NbbiasError(str(path), "is not a regular file (a link, a pipe or a device)")
    if not force:
        raise NbbiasError(str(path), "is there already; name another file, or add --force")


def regular_files(folder: Path, *patterns: str) -> list[Path]:
    """Return the files of some patterns that lie in a folder themselves: links are left out.

    Examples
    --------
    >>> regular_files(Path("no such run"), "tables/*")
    []
    """
    whole = folder.resolve()
    files = {file for pattern in patterns for file in folder.glob(pattern)}
    return sorted(f for f in files if f.is_file() and f.resolve() == whole / f.relative_to(folder))


def unwritable(folder: Path) -> str | None:
    """Say why nothing can be written to a folder, which need not be there yet, or None.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as out:
    ...     print(unwritable(Path(out) / "runs"))
    None
    """
    there = folder.absolute()
    while not os.path.lexists(there):
        there = there.parent
    try:
        with tempfile.TemporaryDirectory(dir=there):  # what a system allows shows when it is tried
            return None
    except NotADirectoryError:
        return f"{there} is not a folder"
    except OSError as error:
        return f"nothing can be written there: {error.strerror}"


#: What a spreadsheet takes for a formula: at the start of a text, of wide letters, too, or where
#: one that parts cells by semicolons has a cell begin. A smiley is none.
_FORMULA = re.compile(
    r"\A(?=\s*[=+@\-\uff1d\uff0b\uff20\uff0d].|\t.)|(?<=;)(?=[=+@\-\uff1d\uff0b\uff20\uff0d][^)\s])",
    re.DOTALL,
)


def csv(table: pd.DataFrame) -> str:
    """Write a table as CSV whose texts no spreadsheet runs: an apostrophe stands before a formula.

    Numbers are left alone, lines end alike, and control characters are written out, which cut a
    cell short or steer a terminal; the Parquet twin holds texts as they came.

    Examples
    --------
    >>> print(csv(pd.DataFrame({"name": ["=1+1"], "n": [-1]})), end="")
    name,n
    '=1+1,-1
    """
    texts = table.select_dtypes(exclude="number").astype(object)
    safe = table.assign(**texts.map(_plain, na_action="ignore")).rename(columns=_plain)
    return safe.to_csv(index=False, lineterminator="\n")


def _plain(value: object) -> object:
    if not isinstance(value, str):
        return value
    lines = value.replace("\r\n", "\n").replace("\r", "\n")  # a lone return would end a row
    return _FORMULA.sub("'", escape.without_control(lines))


def save_table(table: pd.DataFrame, name: str, *, out: Path) -> pd.DataFrame:
    """Save a table as ``tables/<name>.csv`` and, at full precision, ``.parquet``; return it.

    Parameters
    ----------
    table
        The table.
    name
        Name of its files, without ending.
    out
        Folder of the run.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as out:
    ...     _ = save_table(pd.DataFrame({"n": [1]}), "counts", out=Path(out))
    ...     sorted(path.name for path in Path(out, "tables").iterdir())
    ['counts.csv', 'counts.parquet']
    """
    write(out / "tables" / f"{name}.csv", csv(table))
    write_parquet(table, out / "tables" / f"{name}.parquet")
    return table


def saved_table(out: Path, name: str) -> pd.DataFrame | None:
    """Return a run's table as it was saved, or None; a published run has its CSV alone.

    Parameters
    ----------
    out
        Folder of the run.
    name
        Name of the table, without ending.

    Raises
    ------
    DataError
        The file is damaged.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as out:
    ...     print(saved_table(Path(out), "counts"))
    None
    """
    path = out / "tables" / f"{name}.parquet"
    try:
        if path.is_file():
            return pd.read_parquet(path)
        path = path.with_suffix(".csv")
        return pd.read_csv(path) if path.is_file() else None
    except (OSError, ValueError, MemoryError) as error:  # Arrow's and pandas' are among these
        raise DataError(str(path), f"cannot be read: {error}") from None


def write_parquet(table: pd.DataFrame, path: Path) -> Path:
    """Write a table as Parquet, whole or not at all.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as out:
    ...     write_parquet(pd.DataFrame({"n": [1]}), Path(out) / "n.parquet").name
    'n.parquet'
    """
    buffer = BytesIO()
    table.to_parquet(buffer, index=False)
    return write(path, buffer.getvalue())


def save_figure(
    figure: Figure, name: str, *, data: pd.DataFrame, out: Path, words: Mapping[str, str]
) -> HTML:
    """Save a figure as SVG, PNG and PDF with its words and the table that it draws, and show it.

    Parameters
    ----------
    figure
        A finished figure; it is closed.
    name
        File name without an ending, under ``figures/``.
    data
        The table whose rows the figure draws, saved as its CSV twin.
    out
        The run's folder.
    words
        `alt`, a description for readers who cannot see the figure; `title`, what it shows;
        `caption`, what is drawn. Saved as ``figures/<name>.json``.

    Returns
    -------
    HTML
        The figure with its words, shown in trusted and untrusted notebooks alike.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> with tempfile.TemporaryDirectory() as out:
    ...     shown = save_figure(
    ...         plt.figure(), "empty", data=pd.DataFrame(), out=Path(out), words={"alt": "Nothing."}
    ...     )
    >>> 'alt="Nothing."' in shown.data
    True
    """
    from IPython.display import HTML

    path = out / "figures" / name
    for kind in ("png", "pdf"):
        write(path.with_suffix(f".{kind}"), _render(figure, kind))
    write(path.with_suffix(".svg"), svg(figure))
    write(path.with_suffix(".csv"), csv(data))
    write(path.with_suffix(".json"), json.dumps(dict(words), ensure_ascii=False, indent=2) + "\n")
    return HTML(figure_html(out, name))


#: What a file would say of when and with what it was made.
_UNDATED: dict[str, dict[str, None]] = {
    "svg": dict.fromkeys(("Date", "Creator", "Format", "Type")),
    "png": {"Software": None},
    "pdf": {"CreationDate": None},
}


def _render(figure: Figure, kind: str) -> bytes:
    buffer = BytesIO()
    figure.savefig(buffer, format=kind, metadata=_UNDATED[kind], dpi=150)
    return buffer.getvalue()


def svg(figure: Figure) -> bytes:
    """Return a figure as SVG that goes dark with its page; it is closed.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> svg(plt.figure())[:5]
    b'<?xml'
    """
    import matplotlib.pyplot as plt

    style = b"<style>" + data_path("templates/figure.css").read_bytes().strip() + b"</style>"
    image = _render(figure, "svg").replace(b"</defs>", style + b"</defs>", 1)
    plt.close(figure)
    return image


def figure_html(out: Path, name: str) -> str:
    """Return a run's saved figure as HTML that needs no file, with its title and caption.

    The HTML is empty where there is no such figure.

    Examples
    --------
    >>> figure_html(Path("no such run"), "means")
    ''
    """
    path = out / "figures" / f"{name}.svg"
    if Path(name).name != name or not path.is_file():  # a run's own figures only
        return ""
    return embed_figure(path.read_bytes(), read_object(path.with_suffix(".json")))


def embed_figure(image: bytes, words: Mapping[str, str]) -> str:
    """Return an SVG as HTML that needs no file, with its title and caption.

    Examples
    --------
    >>> embed_figure(b"<svg/>", {"caption": "Dots: means."})[-46:]
    '<figcaption>Dots: means.</figcaption></figure>'
    """
    title, caption = (escape.html(words.get(key, "")) for key in ("title", "caption"))
    text = " ".join(part for part in (f"<b>{title}.</b>" if title else "", caption) if part)
    # Line ends mean nothing in such a file, and base64 would make it a third longer.
    address = quote(re.sub(rb"\s+", b" ", image), safe=" ;/:@=+$,-_.!~*()")
    alt, style = escape.attribute(words.get("alt", "")), "max-width:100%;height:auto"
    shown = f'<img src="data:image/svg+xml,{address}" alt="{alt}" style="{style}">'
    shown += f"<figcaption>{text}</figcaption>" if text else ""
    return f'<figure class="drawn" style="margin:0">{shown}</figure>'


def save_finding(finding: Mapping[str, Any], *, out: Path) -> None:
    """Save what leads a run's page (`reading.lead.to_dict`) as ``finding.json``.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as out:
    ...     save_finding({"sentence": "It is so.", "figure": "main"}, out=Path(out))
    ...     read_finding(Path(out))["sentence"]
    'It is so.'
    """
    text = json.dumps(dict(finding), ensure_ascii=False, indent=2, default=lambda n: n.item())
    write(out / "finding.json", text + "\n")


def read_object(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; an empty one if there is none, no file, or a damaged one.

    Examples
    --------
    >>> read_object(Path("no such run") / "finding.json")
    {}
    """
    try:  # a pipe in a stranger's folder would be waited for
        content = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    except (OSError, ValueError, RecursionError):
        content = None
    return content if isinstance(content, dict) else {}


def read_finding(out: Path) -> dict[str, Any]:
    """Return what leads a run's page (`reading.lead.to_dict`); what cannot be read is empty.

    Examples
    --------
    >>> read_finding(Path("no such run"))["sentence"]
    ''
    """
    try:
        return _Finding.model_validate(read_object(out / "finding.json"), strict=True).model_dump()
    except ValidationError:
        return _Finding().model_dump()


class _Finding(BaseModel):
    sentence: str = ""
    plain: list[str] = []
    note: str = ""
    technical: str = ""
    figure: str = ""
    numbers: list[dict[str, Any]] = []
    card: dict[str, str] = {}
    texts: dict[str, str] = {}
