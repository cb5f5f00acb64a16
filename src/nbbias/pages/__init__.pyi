from . import (
    about as about,
    compare as compare,
    gallery as gallery,
    gate as gate,
    manifest as manifest,
    page as page,
    report as report,
    share as share,
)
