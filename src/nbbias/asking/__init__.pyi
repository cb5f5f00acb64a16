from . import (
    call as call,
    loop as loop,
    params as params,
    plan as plan,
    prompts as prompts,
    recorded as recorded,
    replies as replies,
    store as store,
    trust as trust,
    view as view,
)
