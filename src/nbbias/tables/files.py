"""What a notebook leaves behind: tables, figures, tables for papers and one finding.

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
from collections.abc import Iterable, Mapping
from colorsys import hls_to_rgb, rgb_to_hls
from functools import cache
from io import BytesIO
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
import pandas as pd

from nbbias.tables import escape
from nbbias.tables.errors import DataError, NbbiasError
from nbbias.tables.read import read_shipped_table

if TYPE_CHECKING:  # what draws loads when a figure is saved
    from IPython.display import HTML
    from matplotlib.figure import Figure

#: What may stand in the address of an image as it is.
_PLAIN = " ;/:@=+$,-_.!~*()"
#: The same in a list of images, where a gap ends an address.
_NO_GAP = _PLAIN.replace(" ", "")
#: Where the drawing for a phone is shown: never on paper.
_PHONE = "screen and (max-width: 40rem)"


def folder(stem: str, differs: str = "") -> Path:
    """Return the folder that this run of a study writes to; `differs` as `params.differing` says.

    Examples
    --------
    >>> folder("cogs").parts[-3:]
    ('runs', 'cogs', 'lab')
    >>> folder("cogs", "draws=500").name
    'lab-draws=500'
    """
    # JupyterLab starts a kernel in the notebook's own folder; runs stand beside that.
    beside = Path("..") if Path.cwd().name == "notebooks" else Path()
    name = f"lab-{differs}" if differs else "lab"
    return Path(os.environ.get("NBBIAS_OUT") or beside / "runs" / stem / name)


def write(path: Path, content: bytes | str) -> Path:
    """Write a file whole or not at all: a reader never sees half of it.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as out:
    ...     write(Path(out) / "notes" / "one.txt", "one").read_text()
    'one'
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Beside it, for whom the user lets read; a name of 255 bytes has no room for more.
        start = os.fsdecode(os.fsencode(path.name)[:99])
        temporary = path.with_name(f".{start}.{secrets.token_hex(4)}")
        try:
            with temporary.open("xb") as file:
                file.write(data)
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:  # of the file that was asked for, not of the one beside it
        raise OSError(error.errno, error.strerror, str(path)) from error
    return path


def refuse_target(path: Path, *, force: bool = False, inputs: Iterable[Path] = ()) -> None:
    """Refuse to write where something is that would be lost, or that is no file.

    Parameters
    ----------
    path
        A file that a user named, to be written.
    force
        Whether a file that is there may be replaced. Links, devices and pipes never are, nor are
        the `inputs`.

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
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if any(path.resolve() == one.resolve() for one in inputs):
        raise NbbiasError(str(path), "is what is read; name another file to be written")
    if not stat.S_ISREG(status.st_mode):
        raise NbbiasError(str(path), "is no regular file (a link, a pipe or a device)")
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
    return sorted(
        path
        for path in {one for pattern in patterns for one in folder.glob(pattern)}
        if path.is_file() and path.resolve() == whole / path.relative_to(folder)
    )


def unwritable(folder: Path) -> str | None:
    """Say why nothing can be written to a folder, which need not be there yet, or None.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as out:
    ...     print(unwritable(Path(out) / "runs"))
    None
    """
    there = folder.absolute()
    try:
        while not os.path.lexists(there):
            there = there.parent
        with tempfile.TemporaryDirectory(dir=there):  # what a system allows shows when it is tried
            return None
    except NotADirectoryError:
        return f"{there} is no folder" if there != folder.absolute() else "is no folder"
    except OSError as error:
        return f"nothing can be written there: {error.strerror}"


_CLIP = re.compile(rb'<clipPath id="(p[0-9a-f]{10})"')

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
    safe = table.copy()
    for name in safe.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in safe.dtypes]]:
        safe[name] = safe[name].astype(object).map(_plain, na_action="ignore")
    return safe.to_csv(index=False, lineterminator="\n")


def _plain(value: object) -> object:
    if not isinstance(value, str):
        return value
    lines = value.replace("\r\n", "\n").replace("\r", "\n")  # a lone return would end a row
    lines = escape.without_control(lines)
    return _FORMULA.sub("'", lines)


def save_table(table: pd.DataFrame, name: str, *, out: Path) -> pd.DataFrame:
    """Save a table as ``tables/<name>.csv`` and, at full precision, ``.parquet``; return it.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as out:
    ...     kept = save_table(pd.DataFrame({"n": [1]}), "counts", out=Path(out))
    ...     sorted(path.name for path in Path(out, "tables").iterdir())
    ['counts.csv', 'counts.parquet']
    """
    write(out / "tables" / f"{name}.csv", csv(table))
    write_parquet(table, out / "tables" / f"{name}.parquet")
    return table


def saved_table(out: Path, name: str) -> pd.DataFrame | None:
    """Return a run's table as it was saved, or None; a published run has its CSV alone.

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


def save_latex(table: pd.DataFrame, name: str, *, caption: str, out: Path) -> pd.DataFrame:
    r"""Save a table for a paper as ``tables/<name>.tex`` (booktabs) and return it.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as out:
    ...     kept = save_latex(pd.DataFrame({"n": [1]}), "counts", caption="Counts", out=Path(out))
    ...     r"\label{tab:counts}" in Path(out, "tables", "counts.tex").read_text()
    True
    """
    text = latex_table(table, caption=caption, label=f"tab:{name}")
    write(out / "tables" / f"{name}.tex", text)
    return table


def save_figure(
    figure: Figure,
    name: str,
    *,
    data: pd.DataFrame,
    out: Path,
    words: Mapping[str, str],
    narrow: Figure | None = None,
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
        `alt`, what a reader who cannot see the figure should hear, in one or two sentences;
        `title`, what it shows; `caption`, what is drawn. Saved as ``figures/<name>.json``.
    narrow
        The same drawn for a phone, saved as ``figures/<name>-narrow.svg``.

    Returns
    -------
    HTML
        The figure with its words, shown in trusted and untrusted notebooks alike.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> drawn = plt.figure()
    >>> with tempfile.TemporaryDirectory() as out:
    ...     shown = save_figure(
    ...         drawn, "empty", data=pd.DataFrame(), out=Path(out), words={"alt": "Nothing."}
    ...     )
    >>> 'alt="Nothing."' in shown.data
    True
    """
    import matplotlib.pyplot as plt
    from IPython.display import HTML

    folder = out / "figures"
    for kind, content in _printed(figure, *_UNDATED).items():
        write(folder / f"{name}.{kind}", content)
    if narrow is not None:
        write(folder / f"{name}-narrow.svg", _printed(narrow, "svg")["svg"])
        plt.close(narrow)
    write(folder / f"{name}.csv", csv(data))
    write(folder / f"{name}.json", json.dumps(dict(words), ensure_ascii=False, indent=2) + "\n")
    plt.close(figure)
    return HTML(figure_html(out, name))


#: What a file would say of when and with what it was made.
_UNDATED: dict[str, dict[str, None]] = {
    "svg": dict.fromkeys(("Date", "Creator", "Format", "Type")),
    "png": {"Software": None},
    "pdf": {"CreationDate": None},
}

_PAINT = re.compile(rb"(fill|stroke): (#[0-9a-f]{6})")


def _printed(figure: Figure, *kinds: str) -> dict[str, bytes]:
    """Return a figure as files; where its parts stand is found once for all of them."""
    import matplotlib.pyplot as plt

    figure.draw_without_rendering()
    box = figure.get_tightbbox().padded(plt.rcParams["savefig.pad_inches"])
    files = {}
    # A figure with any engine of layout, a placeholder too, is drawn twice for each of its files.
    with plt.rc_context({"figure.constrained_layout.use": False, "figure.autolayout": False}):
        figure.set_layout_engine(None)
        for kind in kinds:
            buffer = BytesIO()
            figure.savefig(
                buffer, format=kind, metadata=_UNDATED[kind], dpi=150, bbox_inches=box, pad_inches=0
            )
            files[kind] = buffer.getvalue()
    if "svg" in files:
        files["svg"] = in_the_dark(_numbered(files["svg"]))
    return files


def _numbered(svg: bytes) -> bytes:
    """Number what clips: matplotlib names it by where it lies, which may differ by a rounding."""
    for number, name in enumerate(dict.fromkeys(_CLIP.findall(svg))):
        svg = svg.replace(name, b"clip%d" % number)
    return svg


def svg(figure: Figure) -> bytes:
    """Return a figure as SVG that goes dark with its page; it is closed.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> svg(plt.figure())[:5]
    b'<?xml'
    """
    import matplotlib.pyplot as plt

    drawn = _printed(figure, "svg")["svg"]
    plt.close(figure)
    return drawn


def in_the_dark(svg: bytes) -> bytes:
    """Give an SVG a style by which it goes dark with its page, or with the reader's system.

    An image follows the colour scheme of the element that shows it, so a page needs no twin.

    Examples
    --------
    >>> in_the_dark(b'<svg><defs></defs><path style="fill: #ffffff"/></svg>').decode()[18:90]
    '@media (prefers-color-scheme: dark){[style*="fill: #ffffff"]{fill:#16181'
    """
    rules = "".join(
        f'[style*="{of}: {colour}"]{{{of}:{_in_the_dark(colour)}!important}}'
        for of, colour in sorted({(of.decode(), c.decode()) for of, c in _PAINT.findall(svg)})
    )
    style = f"<style>@media (prefers-color-scheme: dark){{{rules}}}</style></defs>"
    return svg.replace(b"</defs>", style.encode(), 1)


@cache
def _in_the_dark(colour: str) -> str:
    """Return a colour's twin: of the shipped list, else as light as it was dark."""
    known = read_shipped_table("words/colours.csv").set_index("light")["dark"]
    if colour in known:
        return str(known[colour])
    hue, light, much = rgb_to_hls(*(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)))
    dark = hls_to_rgb(hue, 0.95 - 0.85 * light, 0.7 * much)
    return "#" + "".join(f"{round(255 * part):02x}" for part in dark)


def figure_html(out: Path, name: str) -> str:
    """Return a run's saved figure as HTML that needs no file, with its title and caption.

    Nothing where there is no such figure.

    Examples
    --------
    >>> figure_html(Path("no such run"), "means")
    ''
    """
    path = out / "figures" / f"{name}.svg"
    if Path(name).name != name or not path.is_file():  # a run's own figures only
        return ""
    try:
        read = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        read = None
    words = read if isinstance(read, dict) else {}
    title, caption = (escape.html(words.get(key, "")) for key in ("title", "caption"))
    told = " ".join(part for part in (f"<b>{title}</b>" if title else "", caption) if part)
    image = inline(path.read_bytes(), alt=str(words.get("alt", "")))
    narrow = path.with_name(f"{name}-narrow.svg")
    if narrow.is_file():
        phone = f'<source media="{_PHONE}" srcset="{_address(narrow.read_bytes(), plain=_NO_GAP)}">'
        image = f"<picture>{phone}{image}</picture>"
    below = f"<figcaption>{told}</figcaption>" if told else ""
    return f'<figure class="drawn" style="margin:0">{image}{below}</figure>'


def inline(svg: bytes, *, alt: str) -> str:
    """Return an SVG image as HTML that needs no file, with its alternative text.

    Examples
    --------
    >>> inline(b"<svg/>", alt="Nothing.").split('"')[1]
    'data:image/svg+xml,%3Csvg/%3E'
    """
    return (
        f'<img src="{_address(svg)}" alt="{escape.attribute(alt)}" '
        'style="max-width:100%;height:auto">'
    )


def _address(svg: bytes, *, plain: str = _PLAIN) -> str:
    # Lines and indents mean nothing in such a file, and base64 would make it a third longer.
    return "data:image/svg+xml," + quote(re.sub(rb"\s+", b" ", svg), safe=plain)


def save_finding(told: Mapping[str, Any], *, out: Path) -> None:
    """Save what a run found: its `sentence` and `figure`, and what else leads its page.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as out:
    ...     save_finding({"sentence": "It is so.", "figure": "main"}, out=Path(out))
    ...     read_finding(Path(out))["sentence"]
    'It is so.'
    """
    text = json.dumps(dict(told), ensure_ascii=False, indent=2, default=_plainly)
    write(out / "finding.json", text + "\n")


def _plainly(value: Any) -> Any:
    return value.item()  # a number of NumPy's


def read_finding(out: Path) -> dict[str, Any]:
    """Return what leads a run's page (`reading.lead.told`), each part empty where none is read.

    Examples
    --------
    >>> read_finding(Path("no such run"))["sentence"]
    ''
    """
    try:
        path = out / "finding.json"
        found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    except (OSError, ValueError, RecursionError):
        found = None
    told = found if isinstance(found, dict) else {}
    return {
        name: told[name] if _is_part(name, told.get(name)) else kind()
        for name, kind in _FINDING.items()
    }


_FINDING: dict[str, type] = {
    "sentence": str,
    "plain": list,
    "technical": str,
    "figure": str,
    "numbers": list,
    "card": dict,
    "texts": dict,
}
#: What the values of those parts are that hold several.
_WITHIN = {"plain": str, "numbers": dict, "card": str, "texts": str}


def _is_part(name: str, value: Any) -> bool:
    """Tell whether a part of a finding is of the kind that pages show."""
    if not isinstance(value, _FINDING[name]):
        return False
    if name not in _WITHIN:
        return True
    return all(isinstance(one, _WITHIN[name]) for one in _inside(value))


def _inside(value: Any) -> list[Any]:
    return list(value.values() if isinstance(value, dict) else value)


MISSING = "n/m"
_NOTE = r"\par\smallskip\footnotesize n/m: not measured"


def latex_table(frame: pd.DataFrame, *, caption: str, label: str, decimals: int = 3) -> str:
    r"""Write a table for a LaTeX paper; it needs the package booktabs.

    Parameters
    ----------
    frame
        The rows and columns to print, in order; the index is left out.
    caption
        What the table says. Escaped, like every cell and heading.
    label
        What ``\ref`` names it: letters, digits and ``:._-`` only.
    decimals
        Decimals of the fractional columns; columns of whole numbers have none.

    Returns
    -------
    str
        A ``table`` environment. Numbers stand on the right, with true minus signs and without a
        minus before a rounded zero; a number that is missing or infinite is ``n/m``, and then a
        note under the table says that it was not measured. A missing text stays empty. The same
        table always gives the same string.

    Raises
    ------
    ValueError
        The label has other characters, or the table has no column.

    Examples
    --------
    >>> print(latex_table(pd.DataFrame({"share": [-0.5]}), caption="Shares", label="tab:s"))
    \begin{table}[htbp]
    \centering
    \caption{Shares}
    \label{tab:s}
    \begin{tabular}{r}
    \toprule
    share \\
    \midrule
    $-$0.500 \\
    \bottomrule
    \end{tabular}
    \end{table}
    <BLANKLINE>
    """
    if not re.fullmatch(r"[A-Za-z0-9:._-]+", label):
        raise ValueError(f"label {label!r} may only have letters, digits and :._-")
    if not len(frame.columns):
        raise ValueError("a table needs a column")
    columns = [_column(frame.iloc[:, i], decimals) for i in range(frame.shape[1])]
    printed = pd.DataFrame({i: cells for i, (cells, _) in enumerate(columns)}, dtype=object)
    headings = dict(enumerate(escape.latex(name) for name in frame.columns))
    styled = printed.style.hide(axis="index").format_index(headings.get, axis="columns")
    written = styled.to_latex(
        column_format="".join("r" if numeric else "l" for _, numeric in columns),
        hrules=True,
        caption=escape.latex(caption),
        label=label,
        position="htbp",
        position_float="centering",
    )
    has_gap = any(MISSING in cells for cells, numeric in columns if numeric)
    end = "\\end{table}"
    return written.replace(end, f"{_NOTE}\n{end}") if has_gap else written


def _column(values: pd.Series, decimals: int) -> tuple[list[str], bool]:
    """Return a column's cells, and whether they are numbers."""
    present = [value for value in values if not pd.isna(value)]
    known = all(_is_number(value) for value in present)
    # A column with no value at all is one of numbers only if it was made for them.
    numeric = known if present else pd.api.types.is_numeric_dtype(values)
    whole = all(float(v).is_integer() for v in present if _is_number(v) and np.isfinite(v))
    places = 0 if whole else decimals
    return [_cell(value, places, gap=MISSING if numeric else "") for value in values], numeric


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _cell(value: Any, places: int, *, gap: str) -> str:
    if pd.isna(value):
        return gap
    if not _is_number(value):
        return escape.latex(value)
    if not np.isfinite(value):
        return MISSING
    # Adding 0 takes the sign from a rounded zero.
    shown = f"{round(float(value), places) + 0:,.{places}f}"
    return escape.latex(shown.replace("-", "\N{MINUS SIGN}"))
