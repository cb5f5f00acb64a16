from . import (
    asked as asked,
    execute as execute,
    labelled as labelled,
    measured as measured,
    names as names,
    own as own,
    place as place,
    plan as plan,
    planned as planned,
    run as run,
    texts as texts,
)
