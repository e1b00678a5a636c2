"""Damaged files: solutions that `Solution.save` wrote, and stores of `solve_many`, with bits flipped, parts missing or swapped,
numbers replaced, and seals made again. Each must be refused by an error of the library, or give the right values, or say what
is damaged: no crash, no hang, no wrong value without a word, no other exception.

    python -m tests.attacks.damaged                                   # 300 solutions and 60 stores
    python -m tests.attacks.damaged --solutions 10000 --stores 1000
    python -m tests.attacks.damaged --solutions 1 --first 4711        # one again

`tests/solution/test_damaged.py` and `tests/ensembles/test_damaged.py` run some of them.
"""
