from . import (
    compare as compare,
    gallery as gallery,
    gate as gate,
    manifest as manifest,
    page as page,
    report as report,
    share as share,
    watch as watch,
)
