"""Read tables of texts from the formats that people keep them in."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd
import pyarrow as pa

from nbbias.tables import logs, notes, sniff
from nbbias.tables.columns import FileReading, Form, convert_columns
from nbbias.tables.errors import DataError
from nbbias.tables.escape import visible
from nbbias.tables.notes import Layout
from nbbias.tables.paths import data_path

#: How pandas reads CSV in which only an empty field is missing: "None" and "NA" are words.
ONLY_EMPTY: dict[str, Any] = {"keep_default_na": False, "na_values": [""]}

#: The names of a file's columns, and a function that returns some of them as a table.
_File: TypeAlias = "tuple[list[str], Callable[[list[str]], pd.DataFrame]]"


def read_table(path: str | Path, form: Form, *, rest: bool = False) -> pd.DataFrame:
    """Read a user's table from CSV, Parquet, JSON, JSON Lines or a log.

    Parameters
    ----------
    path
        The file; its ending tells the format. UTF-8, with or without a byte order mark, and CSV
        by comma, unless notes behind it say otherwise (``a.csv?encoding=cp1252&text=body``). JSON
        is a list of records or of texts, or an object: id → text, id → record, group → texts; or
        a log of an evaluation harness (`tables.logs`), as inspect_ai's ``.eval`` is.
    form
        The columns that the reader knows (`Column`), and what each may hold. Capitals, spaces and
        underscores in their names do not matter.
    rest
        Whether other columns are read too, as text.

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
    where, file = str(path), sniff.find_file(str(path))
    try:
        layout = notes.parse(where)
        if file.stat().st_size == 0:
            raise DataError(where, "the file is empty")
        names, take = _parse(file, layout)
        reading = FileReading(where, names, form, layout.columns)
        wanted = set(names if rest else reading.columns.values())
        table = take([name for name in dict.fromkeys(names) if name in wanted])
    except UnicodeDecodeError as error:
        encoding = layout.encoding.removesuffix("-sig").upper()
        hint = f"save it as UTF-8, or say what it is: {file.name}?encoding=cp1252"
        raise DataError(where, f"is not {encoding} (byte {error.start}); {hint}") from None
    except RecursionError:
        raise DataError(where, "is nested too deeply to be a table") from None
    except (ValueError, OSError, pd.errors.ParserError, pa.ArrowException) as error:
        reason = visible(str(error).strip().splitlines()[0][:300]) if str(error) else "damaged"
        raise DataError(where, f"cannot be read as {file.suffix[1:]}: {reason}") from None
    if not len(table):
        raise DataError(where, "holds no rows")
    for listener in _LISTENERS.get():
        listener.append(reading)
    reading.table = convert_columns(table, reading, rest=rest)
    return reading.table


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
    readings = list[FileReading]()
    token = _LISTENERS.set((*_LISTENERS.get(), readings))
    try:
        yield readings
    finally:
        _LISTENERS.reset(token)


_PARSED: ContextVar[dict[Any, _File]] = ContextVar("_PARSED")


@contextmanager
def parse_once() -> Iterator[None]:
    """Parse each file once, however often it is read meanwhile, by whichever forms.

    Examples
    --------
    >>> with parse_once():
    ...     sizes = {len(read_table(data_path("llmbi_prompts.csv"), {}, rest=True)) for _ in "ab"}
    >>> len(sizes)
    1
    """
    token = _PARSED.set({})
    try:
        yield
    finally:
        _PARSED.reset(token)


def _parse(file: Path, layout: Layout) -> _File:
    parsed, key = _PARSED.get({}), (file, layout.encoding, layout.separator)
    if key not in parsed:
        parsed[key] = _READERS[file.suffix.lower()](file, layout)
    return parsed[key]


def read_shipped_table(name: str, **kinds: str) -> pd.DataFrame:
    """Read a table that is shipped with the package; only an empty field is missing.

    Examples
    --------
    >>> list(read_shipped_table("llmbi_prompts.csv"))
    ['dimension', 'prompt', 'prompt_id']
    """
    return pd.read_csv(data_path(name), dtype=kinds or None, **ONLY_EMPTY)


@cache
def read_shipped_yaml(name: str) -> Any:
    """Read a YAML file that is shipped with the package, once: nobody changes what it returns.

    Examples
    --------
    >>> sorted(read_shipped_yaml("biasalert/attributes.yaml"))[0]
    'Black people'
    """
    from ruamel.yaml import YAML

    return YAML(typ="safe", pure=True).load(data_path(name).read_text(encoding="utf-8"))


def parse_json(content: str) -> Any:
    value = json.loads(content, object_pairs_hook=_unique_names)
    if not re.search(r"\\u[dD][89a-fA-F]", content):
        return value
    whole = replace_surrogates(json.dumps(value, ensure_ascii=False))
    return json.loads(whole, object_pairs_hook=_unique_names)


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(value := dict(pairs)) < len(pairs):
        ((name, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the name {name!r} occurs twice in one object")
    return value


def replace_surrogates(text: str) -> str:
    r"""Return a text with each lone surrogate as U+FFFD; two halves side by side are a character.

    Such escapes of JSON as ``\ud800`` stand for half a character, which no file, hash or request
    can hold. What is replaced counts as wrongly encoded in the report on texts.

    Examples
    --------
    >>> replace_surrogates("caf" + chr(0xD800)) == "caf" + chr(0xFFFD)
    True
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# --- formats ----------------------------------------------------------------------------------

#: The most columns of CSV, and cells and bytes of text of a Parquet file: a few megabytes of
#: repeated values can stand for any number.
_COLUMNS, _CELLS, _BYTES = 5000, 200_000_000, 4_000_000_000


def _from_parquet(path: Path, _: Layout) -> _File:
    import pyarrow.parquet as pq

    schema = pq.read_schema(path)
    texts = {pa.string(), pa.large_string(), pa.binary(), pa.large_binary()}
    repeated = [field.name for field in schema if field.type in texts]

    def take(wanted: list[str]) -> pd.DataFrame:
        if any(schema.names.count(name) > 1 for name in wanted):
            return pd.DataFrame(index=range(1))  # such names are refused
        batches, n_bytes = [], 0
        with pq.ParquetFile(path, read_dictionary=repeated) as file:
            if (n_rows := file.metadata.num_rows) == 0 or not wanted:
                return pd.DataFrame(columns=wanted, index=range(n_rows))
            for batch in file.iter_batches(columns=wanted):
                n_bytes += sum(map(_decoded_bytes, batch.columns))
                if n_rows * len(wanted) > _CELLS or n_bytes > _BYTES:
                    most = f"{_CELLS // 10**6} million values and {_BYTES / 10**9:g} GB"
                    raise ValueError(f"holds more than is read of a file, {most}")
                batches.append(batch)
        table = pa.Table.from_batches(batches)
        kinds = [t.value_type if pa.types.is_dictionary(t) else t for t in table.schema.types]
        table = table.cast(pa.schema(list(zip(table.column_names, kinds, strict=True))))
        table.validate(full=True)  # text that is no UTF-8 is found here, not where it is used
        # What pandas notes beside a table (an index, categories) is no part of it.
        return table.to_pandas(ignore_metadata=True, timestamp_as_object=True)

    return schema.names, take


def _decoded_bytes(column: pa.Array) -> int:
    """Return the bytes of a column with every repeated value written out."""
    if not isinstance(column, pa.DictionaryArray):
        return int(column.nbytes)
    import pyarrow.compute as pc

    lengths = pc.binary_length(column.dictionary)
    return int(column.nbytes + (pc.sum(pc.take(lengths, column.indices)).as_py() or 0))


def _from_csv(path: Path, layout: Layout) -> _File:
    """Read CSV as text: only an empty field is missing, "None" and "NA" are words, "007" is no 7.

    Its header is read as a row, so that a row longer than it is refused and no name is changed.
    """
    with path.open("rb") as file:  # each column takes its time
        header = re.split(b"[\r\n]", file.readline(1 << 24))[0]
    if (n_columns := header.count(layout.separator.encode()) + 1) > _COLUMNS:
        raise ValueError(f"has {n_columns:,} columns; {_COLUMNS:,} or fewer are read")
    form: dict[str, Any] = {"encoding": layout.encoding, "sep": layout.separator, **ONLY_EMPTY}
    rows = pd.read_csv(path, header=None, dtype="str", **form)
    names = [str(name) for name in rows.iloc[0].fillna("")]
    table = rows.iloc[1:].reset_index(drop=True).set_axis(names, axis=1)
    return names, lambda wanted: table[wanted]


def _from_json_lines(path: Path, layout: Layout) -> _File:
    records = []
    for number, line in enumerate(path.read_text(encoding=layout.encoding).split("\n"), start=1):
        if line.strip():
            try:
                records.append(parse_json(line))
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None
    return _from_records(logs.read_answers(records, path) or records, "record")


def _from_json(path: Path, layout: Layout) -> _File:
    """Read JSON in any of the layouts in which releases come; a plain text becomes `text`."""
    content = parse_json(path.read_text(encoding=layout.encoding))
    if (answers := logs.read_answers(content, path)) is not None:
        return _from_records(answers, "answer")
    if isinstance(content, list):
        if content and all(isinstance(item, str) for item in content):
            content = [{"article_id": at, "text": text} for at, text in enumerate(content)]
        return _from_records(content, "entry")
    if not isinstance(content, dict):
        raise ValueError("holds neither a list nor an object")
    kinds = {type(value) for value in content.values()}
    if kinds <= {str}:
        records = [{"article_id": name, "text": text} for name, text in content.items()]
    elif kinds == {dict}:
        records = [{"article_id": name, **value} for name, value in content.items()]
    elif kinds == {list}:
        # Running numbers are articles with several texts; words are groups of sentences.
        key = "article_id" if all(name.isdigit() for name in content) else "group"
        records = [{key: name, "text": t} for name, texts in content.items() for t in texts]
    else:
        raise ValueError("is an object whose values are of several kinds")
    return _from_records(records, "entry")


def _from_records(records: list[Any], noun: str) -> _File:
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise ValueError(f"{noun} {number} is not an object of name: value")
    names = list(dict.fromkeys(name for record in records for name in record))

    def take(wanted: list[str]) -> pd.DataFrame:
        # Only what is wanted is laid out: a thousand records may have a thousand names each.
        columns = {name: [record.get(name) for record in records] for name in wanted}
        return pd.DataFrame(columns, index=range(len(records)), dtype=object)

    return names, take


_READERS: dict[str, Callable[[Path, Layout], _File]] = {
    ".parquet": _from_parquet,
    ".csv": _from_csv,
    ".tsv": _from_csv,
    ".json": _from_json,
    ".jsonl": _from_json_lines,
    ".eval": lambda path, _: _from_records(logs.read_eval(path, parse_json), "answer"),
}
