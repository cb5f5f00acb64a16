from . import (
    columns as columns,
    datasets as datasets,
    escape as escape,
    notes as notes,
    sniff as sniff,
)
from .columns import (
    ONE_SOURCE as ONE_SOURCE,
    Column as Column,
    FileReading as FileReading,
    identify_articles as identify_articles,
)
from .contracts import (
    ANSWERS as ANSWERS,
    CHANCE as CHANCE,
    CLUSTERS as CLUSTERS,
    COGS_ANSWERS as COGS_ANSWERS,
    COGS_JUDGEMENTS as COGS_JUDGEMENTS,
    CONFIDENCE as CONFIDENCE,
    ESTIMATE_KEYS as ESTIMATE_KEYS,
    ESTIMATE_VALUES as ESTIMATE_VALUES,
    ESTIMATES as ESTIMATES,
    GENERATIONS as GENERATIONS,
    ORIGINALS as ORIGINALS,
    PROMPTS as PROMPTS,
    SCORES as SCORES,
    UNIT_KEYS as UNIT_KEYS,
    UNTESTABLE as UNTESTABLE,
    Contract as Contract,
    Estimated as Estimated,
    chance as chance,
    check as check,
    check_blank_texts as check_blank_texts,
    concatenate as concatenate,
    estimates as estimates,
    estimates_and_units as estimates_and_units,
    is_blank as is_blank,
    require_columns as require_columns,
    require_measurable as require_measurable,
    split_groups as split_groups,
    with_chance as with_chance,
)
from .datasets import read_published as read_published
from .errors import (
    ContractError as ContractError,
    DataError as DataError,
    InputsError as InputsError,
    NbbiasError as NbbiasError,
    ParameterError as ParameterError,
    attempt as attempt,
    attempt_all as attempt_all,
    closest_match as closest_match,
    refuse as refuse,
)
from .escape import visible as visible
from .files import (
    csv as csv,
    embed_figure as embed_figure,
    figure_html as figure_html,
    folder as folder,
    read_finding as read_finding,
    read_object as read_object,
    refuse_target as refuse_target,
    regular_files as regular_files,
    save_figure as save_figure,
    save_finding as save_finding,
    save_table as save_table,
    saved_table as saved_table,
    svg as svg,
    unwritable as unwritable,
    write as write,
    write_parquet as write_parquet,
)
from .packages import (
    ExtraError as ExtraError,
    PluginError as PluginError,
    Registry as Registry,
    hide_package as hide_package,
    missing_packages as missing_packages,
    require_packages as require_packages,
)
from .parallel import (
    count_threads as count_threads,
    count_workers as count_workers,
    is_interactive as is_interactive,
    map_chunks as map_chunks,
    map_threads as map_threads,
    progress as progress,
    use_engine as use_engine,
)
from .paths import (
    SAMPLE as SAMPLE,
    START as START,
    check_name as check_name,
    data_path as data_path,
    is_file as is_file,
    others_write as others_write,
    resolve as resolve,
    set_environment as set_environment,
    starting_at as starting_at,
    written_from as written_from,
)
from .provenance import (
    file_sha256 as file_sha256,
    hash_json as hash_json,
    hash_text as hash_text,
    measuring_version as measuring_version,
    versions as versions,
)
from .read import (
    parse_once as parse_once,
    read_shipped_table as read_shipped_table,
    read_shipped_yaml as read_shipped_yaml,
    read_table as read_table,
    record_reads as record_reads,
    replace_surrogates as replace_surrogates,
)
from .stages import default_cache as default_cache, digest as digest, stage as stage, stamp as stamp
