"""The names of the package py_ecc, computed by quorate: see :mod:`quorate.py_ecc.bls`."""
