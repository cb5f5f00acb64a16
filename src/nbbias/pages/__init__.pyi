from . import (
    compare as compare,
    every_eval_ever as every_eval_ever,
    gallery as gallery,
    gate as gate,
    manifest as manifest,
    page as page,
    report as report,
    share as share,
    watch as watch,
)
