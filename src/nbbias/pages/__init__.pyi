from . import (
    about as about,
    compare as compare,
    failed as failed,
    gallery as gallery,
    manifest as manifest,
    page as page,
    report as report,
    share as share,
)
