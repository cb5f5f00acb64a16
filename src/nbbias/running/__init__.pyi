from . import (
    asked as asked,
    execute as execute,
    names as names,
    place as place,
    plan as plan,
    run as run,
)
