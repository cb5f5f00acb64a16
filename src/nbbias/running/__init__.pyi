from . import (
    generation as generation,
    kernel as kernel,
    label_sheet as label_sheet,
    measure as measure,
    names as names,
    place as place,
    plan as plan,
    run as run,
    sample_size as sample_size,
    text_blocks as text_blocks,
    user_files as user_files,
)
