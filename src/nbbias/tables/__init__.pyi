from . import (
    columns as columns,
    datasets as datasets,
    escape as escape,
    notes as notes,
    sniff as sniff,
)
from .articles import ONE_SOURCE as ONE_SOURCE, identified as identified
from .chunks import (
    Engine as Engine,
    engage as engage,
    engaged as engaged,
    environment as environment,
    map_chunks as map_chunks,
    workers as workers,
)
from .columns import Column as Column, Form as Form, flag as flag, typed as typed
from .contracts import (
    ANSWERS as ANSWERS,
    CHANCE as CHANCE,
    COGS_ANSWERS as COGS_ANSWERS,
    COGS_JUDGEMENTS as COGS_JUDGEMENTS,
    ESTIMATES as ESTIMATES,
    GENERATIONS as GENERATIONS,
    ORIGINALS as ORIGINALS,
    PROMPTS as PROMPTS,
    REFERENCES as REFERENCES,
    SCORES as SCORES,
    UNTOLD as UNTOLD,
    Contract as Contract,
    Measured as Measured,
    chance as chance,
    check as check,
    estimates as estimates,
    need as need,
    with_chance as with_chance,
)
from .errors import (
    ContractError as ContractError,
    DataError as DataError,
    InputsError as InputsError,
    NbbiasError as NbbiasError,
    ParameterError as ParameterError,
    meant as meant,
)
from .escape import visible as visible, without_control as without_control
from .extras import (
    ExtraError as ExtraError,
    demand as demand,
    lacking as lacking,
    spare_examples as spare_examples,
    spare_grammar as spare_grammar,
    sparing as sparing,
)
from .files import (
    csv as csv,
    figure_html as figure_html,
    folder as folder,
    latex_table as latex_table,
    read_finding as read_finding,
    refuse_target as refuse_target,
    regular_files as regular_files,
    save_figure as save_figure,
    save_finding as save_finding,
    save_latex as save_latex,
    save_table as save_table,
    saved_table as saved_table,
    svg as svg,
    unwritable as unwritable,
    write as write,
    write_parquet as write_parquet,
)
from .inputs import (
    attempt as attempt,
    heard as heard,
    named as named,
    refuse as refuse,
    spoken as spoken,
)
from .keys import ESTIMATE_KEYS as ESTIMATE_KEYS, ESTIMATE_VALUES as ESTIMATE_VALUES
from .late import late as late
from .paths import (
    SAMPLE as SAMPLE,
    START as START,
    data_path as data_path,
    is_file as is_file,
    others_write as others_write,
    resolve as resolve,
    starting_at as starting_at,
    written_from as written_from,
)
from .plugins import (
    LEFT_OUT as LEFT_OUT,
    Late as Late,
    PluginError as PluginError,
    Registry as Registry,
)
from .provenance import (
    file_sha256 as file_sha256,
    measuring_version as measuring_version,
    versions as versions,
)
from .published import PAPERS as PAPERS, beside_printed as beside_printed, printed as printed
from .read import (
    Heard as Heard,
    from_csv as from_csv,
    overheard as overheard,
    read_json as read_json,
    read_table as read_table,
    shipped_table as shipped_table,
    shipped_yaml as shipped_yaml,
    whole as whole,
)
from .stages import default_cache as default_cache, digest as digest, stage as stage, stamp as stamp
from .threads import side_by_side as side_by_side, threads as threads
from .units import UNIT_KEYS as UNIT_KEYS, units as units
from .waiting import progress as progress, watched as watched
