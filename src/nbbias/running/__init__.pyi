from . import execute as execute, plan as plan, run as run
