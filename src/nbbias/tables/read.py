"""Read tables of texts from the formats that people keep them in."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd
import pyarrow as pa

from nbbias.tables import notes, sniff
from nbbias.tables.columns import Form, convert_columns, known
from nbbias.tables.errors import DataError
from nbbias.tables.escape import visible
from nbbias.tables.notes import Written
from nbbias.tables.paths import data_path, is_file, resolve

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_SURROGATE = re.compile("[\ud800-\udfff]")
#: How JSON writes half a character, or two halves.
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def read_table(path: str | Path, form: Form, *, rest: bool = False) -> pd.DataFrame:
    """Read a table from Parquet, CSV, JSON or JSON Lines: the door for every file of a user.

    Parameters
    ----------
    path
        The file; its ending tells the format. UTF-8, with or without a byte order mark, and CSV
        by comma, unless notes behind it say otherwise (``a.csv?encoding=cp1252&text=body``). JSON
        is a list of records or of texts, or an object: id → text, id → record, group → texts.
    form
        The columns that the reader knows (`Column`), and what each may hold. Capitals, spaces and
        underscores in their names do not matter.
    rest
        Whether other columns are kept, as text; else they are not read.

    Returns
    -------
    DataFrame
        One row per record; the columns of the form that the file has, in its order, their cells
        text (`str`), numbers, or truth values (`boolean`), or missing.

    Raises
    ------
    DataError
        The file is missing, empty, of an unknown format, or cannot be read as its format.
    ContractError
        Columns are missing or twice, or hold something else than they should: all at once.

    Examples
    --------
    >>> from nbbias.tables import Column
    >>> form = {"dimension": Column("text"), "prompt": Column("text", needed=True)}
    >>> list(read_table(data_path("llmbi_prompts.csv"), form))
    ['dimension', 'prompt']
    """
    shown, path = str(path), resolve(str(path))
    if not is_file(path):
        raise DataError(shown, f"no such file (looked for {path.absolute()})")
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise DataError(shown, f"unknown format {path.suffix!r}; use {', '.join(_READERS)}")
    try:
        how = notes.written(shown)
        if path.stat().st_size == 0:
            raise DataError(shown, "the file is empty")
        names, take = reader(path, how)
        mine = known(form, names, given=how.columns)
        table = take([name for name in dict.fromkeys(names) if rest or name in mine.values()])
    except UnicodeDecodeError as error:
        at = f"byte {error.start}"
        if packed := sniff.packed(bytes(error.object[:4])):
            raise DataError(shown, packed) from None
        if how.encoding != Written().encoding:
            raise DataError(shown, f"is not {how.encoding} ({at})") from None
        how_else = f"{path.name}?encoding=cp1252"
        told = f"is not UTF-8 ({at}); save it as UTF-8 and try again, or say what it is: {how_else}"
        raise DataError(shown, told) from None
    except RecursionError:
        raise DataError(shown, "is nested too deeply to be a table") from None
    except (ValueError, OSError, pd.errors.ParserError, pa.ArrowException) as error:
        reason = visible(str(error).strip().splitlines()[0][:300]) if str(error) else "damaged"
        raise DataError(shown, f"cannot be read as {path.suffix[1:]}: {reason}") from None
    if not len(table):
        raise DataError(shown, "holds no rows")
    heard = FileReading(shown, list(map(str, names)), form, mine)
    for listener in _LISTENERS.get():
        listener.append(heard)
    heard.table = convert_columns(
        table, form, where=shown, rest=rest, names=names, given=how.columns
    )
    return heard.table


@dataclass
class FileReading:
    """What was understood of a file: its columns, which of them is which, and the table made of it.

    Without a table it was refused.
    """

    path: str
    names: list[str]
    form: Form
    columns: dict[str, str]
    table: pd.DataFrame | None = None


_LISTENERS: ContextVar[tuple[list[FileReading], ...]] = ContextVar("_LISTENERS", default=())


@contextmanager
def record_reads() -> Iterator[list[FileReading]]:
    """Return a list that fills with what is understood of each file that is read meanwhile.

    Examples
    --------
    >>> from nbbias.tables import Column
    >>> form = {"text": Column("text", also=("prompt",))}
    >>> with record_reads() as files:
    ...     _ = read_table(data_path("llmbi_prompts.csv"), form)
    >>> files[0].columns
    {'text': 'prompt'}
    """
    found = list[FileReading]()
    token = _LISTENERS.set((*_LISTENERS.get(), found))
    try:
        yield found
    finally:
        _LISTENERS.reset(token)


def read_shipped_table(name: str, **kinds: str) -> pd.DataFrame:
    """Read a table that is shipped with the package; only an empty field is a gap.

    Examples
    --------
    >>> list(read_shipped_table("llmbi_prompts.csv"))
    ['dimension', 'prompt']
    """
    return pd.read_csv(data_path(name), keep_default_na=False, na_values=[""], dtype=kinds or None)


def read_shipped_yaml(name: str) -> Any:
    """Read a file of YAML that is shipped with the package.

    Examples
    --------
    >>> sorted(read_shipped_yaml("biasalert/attributes.yaml"))[0]
    'Black people'
    """
    from ruamel.yaml import YAML

    return YAML(typ="safe", pure=True).load(data_path(name).read_text(encoding="utf-8"))


def read_json(path: Path) -> Any:
    """Read JSON: half a character is U+FFFD (`whole`), and no name may stand twice in one object.

    Raises
    ------
    DataError
        The file is not there, is no UTF-8, no JSON, or nested too deeply.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "one.json").write_text('{"a": 1, "a": 2}')
    ...     read_json(Path(folder, "one.json"))
    Traceback (most recent call last):
        ...
    nbbias.tables.errors.DataError: ...one.json: cannot be read as json: the name 'a'...
    """
    try:
        return _loads(path.read_text(encoding="utf-8-sig"))
    except RecursionError:
        raise DataError(str(path), "cannot be read as json: is nested too deeply") from None
    except (ValueError, OSError) as error:
        raise DataError(str(path), f"cannot be read as json: {error}") from None


def _loads(content: str) -> Any:
    found = json.loads(content, object_pairs_hook=_object)
    return replace_surrogates(found) if _HALF.search(content) else found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, n in Counter(name for name, _ in pairs).items() if n > 1)
        raise ValueError(f"the name {twice!r} stands twice in one object")
    return found


def replace_surrogates(value: Any) -> Any:
    r"""Return what was read from JSON or YAML with each lone surrogate as U+FFFD.

    Such escapes as ``\ud800`` stand for half a character, which no file, hash or request can hold.
    What is replaced counts as wrongly encoded where texts' health is told.

    Raises
    ------
    ValueError
        Two names of one object would become one.

    Examples
    --------
    >>> replace_surrogates(["caf" + chr(0xD800), {"n": 1}]) == ["caf" + chr(0xFFFD), {"n": 1}]
    True
    """
    if isinstance(value, str):
        if not _SURROGATE.search(value):
            return value
        # Both halves side by side, as YAML reads them, are one character.
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [replace_surrogates(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {replace_surrogates(name): replace_surrogates(one) for name, one in value.items()}
    if len(found) < len(value):
        raise ValueError("holds names that differ only in halves of characters (lone surrogates)")
    return found


# --- formats ----------------------------------------------------------------------------------

#: Columns of CSV, each of which takes its time; bytes of a first line in which they are counted.
_WIDEST, _HEAD = 5000, 1 << 24
_USUAL = Written()
#: The names of a file's columns, and a function that returns some of them as a table.
_File: TypeAlias = "tuple[list[str], Callable[[list[str]], pd.DataFrame]]"


def _from_parquet(path: Path, _: Written) -> _File:
    import pyarrow.parquet as pq  # as below: which loads it all, where columns alone are named

    told = pq.read_metadata(path)

    def take(wanted: list[str]) -> pd.DataFrame:
        with path.open("rb") as opened:
            return _laid_out(opened, told, wanted, range(told.num_row_groups))

    return told.schema.to_arrow_schema().names, take


#: The most cells, and bytes of text, of a Parquet file: a few megabytes can stand for any number.
_CELLS, _BYTES = 200_000_000, 4_000_000_000


def _laid_out(opened: Any, told: pq.FileMetaData, wanted: list[str], groups: range) -> pd.DataFrame:
    """Return some columns of some row groups of a Parquet file.

    What is of repeated values that no memory would hold is refused before it is laid out.
    """
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    schema = told.schema.to_arrow_schema()
    if any(schema.names.count(name) > 1 for name in wanted):
        return pd.DataFrame(index=range(1))  # such names are refused
    rows = sum(told.row_group(at).num_rows for at in groups)
    if not wanted:
        return pd.DataFrame(index=range(rows))
    chunks = [one for at in groups for one in _columns(told.row_group(at), wanted)]
    cells = sum(one.num_values for one in chunks)
    size = sum(one.total_uncompressed_size for one in chunks)
    texts = {pa.string(), pa.large_string(), pa.binary(), pa.large_binary()}
    once = [field.name for field in schema if field.type in texts and field.name in wanted]
    parts = []
    with pq.ParquetFile(opened, metadata=told, read_dictionary=once) as file:
        if cells <= _CELLS and size <= _BYTES:
            size = 0
            for batch in file.iter_batches(row_groups=list(groups), columns=wanted):
                size += sum(map(_plain_size, batch.columns))
                if size > _BYTES:
                    break
                columns = [pc.dictionary_decode(one) if _coded(one) else one for one in batch]
                parts.append(pa.RecordBatch.from_arrays(columns, names=batch.schema.names))
    if cells > _CELLS or size > _BYTES:
        most = f"{_CELLS // 10**6} million values and {_BYTES / 10**9:g} GB"
        raise ValueError(f"holds more than is read of a file, {most}")
    held = pa.Table.from_batches(parts) if parts else schema.empty_table().select(wanted)
    held.validate(full=True)  # text that is no UTF-8 is found here, not where it is used
    # What pandas notes beside a table (an index, categories) is no part of it.
    return held.to_pandas(ignore_metadata=True, timestamp_as_object=True)


def _coded(column: pa.Array) -> bool:
    return isinstance(column, pa.DictionaryArray)


def _plain_size(column: pa.Array) -> int:
    """Return the bytes of a column as it is once every repeated value is written out."""
    if not _coded(column):
        return int(column.nbytes)
    import pyarrow.compute as pc

    lengths = pc.binary_length(column.dictionary)
    return int(column.nbytes + (pc.sum(pc.take(lengths, column.indices)).as_py() or 0))


def _columns(group: pq.RowGroupMetaData, wanted: list[str]) -> list[pq.ColumnChunkMetaData]:
    """Return what a row group holds of some columns, and of what is nested in them."""
    inside = tuple(f"{name}." for name in wanted)
    every = [group.column(at) for at in range(group.num_columns)]
    return [one for one in every if f"{one.path_in_schema}.".startswith(inside)]


def from_csv(source: Any, how: Written = _USUAL) -> _File:
    r"""Read CSV as text: only an empty field is a gap, "None" and "NA" are words, "007" is no 7.

    Its header is read as a row, so that a row longer than it is refused and no name is changed.

    Examples
    --------
    >>> from io import StringIO
    >>> names, take = from_csv(StringIO("id,text\n007,NA\n"))
    >>> take(names).values.tolist()
    [['007', 'NA']]
    """
    if isinstance(source, Path):
        _refuse_wide(source, how.separator)
    rows = pd.read_csv(
        source,
        header=None,
        dtype="str",
        encoding=how.encoding,
        sep=how.separator,
        keep_default_na=False,
        na_values=[""],
    )
    names = [str(name) for name in rows.iloc[0].fillna("")]
    table = rows.iloc[1:].reset_index(drop=True).set_axis(names, axis=1)
    return names, lambda wanted: table[wanted]


def _refuse_wide(path: Path, separator: str) -> None:
    with path.open("rb") as file:
        head = re.split(b"[\r\n]", file.readline(_HEAD))[0]
    parted = head.count(separator.encode())
    if parted >= _WIDEST:
        raise ValueError(f"has {parted + 1:,} columns; {_WIDEST:,} or fewer are read")


def _from_json_lines(path: Path, how: Written) -> _File:
    records = []
    lines = path.read_text(encoding=how.encoding).split("\n")
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                records.append(_loads(line))
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None
    return _of_records(records, "record")


def _from_json(path: Path, how: Written) -> _File:
    """Read JSON in any of the layouts in which releases come; a plain text becomes `text`."""
    content = _loads(path.read_text(encoding=how.encoding))
    if isinstance(content, list):
        if content and all(isinstance(one, str) for one in content):
            return _of({"article_id": range(len(content)), "text": content})
        return _of_records(content, "entry")
    if not isinstance(content, dict):
        raise ValueError(f"holds {_kind(content)}, neither a list nor an object")
    values = list(content.values())
    if all(isinstance(value, str) for value in values):
        return _of({"article_id": list(content), "text": values})
    if all(isinstance(value, dict) for value in values):
        records = [{"article_id": key, **value} for key, value in content.items()]
        return _of_records(records, "entry")
    if all(isinstance(value, list) for value in values):
        # Running numbers are articles with several texts; words are groups of sentences.
        name = "article_id" if all(key.isdigit() for key in content) else "group"
        rows = [(key, text) for key, texts in content.items() for text in texts]
        return _of({name: [key for key, _ in rows], "text": [text for _, text in rows]})
    kinds = sorted({_kind(value) for value in values})
    raise ValueError(f"is an object whose values are of several kinds: {', '.join(kinds)}")


def _of(columns: Mapping[str, Any]) -> _File:
    size = len(next(iter(columns.values())))
    return list(columns), lambda wanted: pd.DataFrame(
        {name: pd.Series(list(columns[name]), dtype=object) for name in wanted}, index=range(size)
    )


def _of_records(records: list[Any], what: str) -> _File:
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            told = f"{what} {number} is {_kind(record)}; expected an object, name: value"
            raise ValueError(told)
    names = list(dict.fromkeys(name for record in records for name in record))
    # Only what is wanted is laid out: a thousand records may have a thousand names each.
    return names, lambda wanted: pd.DataFrame(
        {
            name: pd.Series([record.get(name) for record in records], dtype=object)
            for name in wanted
        },
        index=range(len(records)),
    )


def _kind(value: object) -> str:
    if value is None:
        return "null"
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return kinds.get(type(value), "a number")


_READERS: dict[str, Callable[[Path, Written], _File]] = {
    ".parquet": _from_parquet,
    ".csv": from_csv,
    ".tsv": from_csv,
    ".json": _from_json,
    ".jsonl": _from_json_lines,
}
