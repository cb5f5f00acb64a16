from . import asked as asked, execute as execute, plan as plan, run as run
