"""File formats: one module for reading and writing each.

In: a tokenizer, or the files of one. Out: the files of other libraries, or a tokenizer with the same ids.
Anything that a format cannot express is an error that says why. Next: `pairity.tokenizer`.
"""
