from . import (
    attribution as attribution,
    baselines as baselines,
    bench as bench,
    classifier as classifier,
    lora as lora,
    prompt as prompt,
    recorded as recorded,
    registry as registry,
    replies as replies,
    tuned as tuned,
    unpack as unpack,
)
