from . import (
    check as check,
    doctor as doctor,
    generation as generation,
    kernel as kernel,
    label_sheet as label_sheet,
    measure as measure,
    place as place,
    plan as plan,
    run as run,
    sample_size as sample_size,
    texts as texts,
    user_files as user_files,
)
