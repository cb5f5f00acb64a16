from . import (
    attribution as attribution,
    baselines as baselines,
    classifier as classifier,
    panel as panel,
    prompt as prompt,
    recorded as recorded,
    registry as registry,
    replies as replies,
)
