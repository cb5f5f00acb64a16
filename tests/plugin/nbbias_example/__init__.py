"""A study, a judge and an instrument for nbbias."""
