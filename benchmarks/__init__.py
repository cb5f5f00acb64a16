"""What the package costs at the papers' scale, the plain way and as it is.

`corpus` writes the texts, `stages` names what is timed, `python -m benchmarks` times it, and
`linear` says how it grows. docs/howto/scale.md says what came of it.
"""
