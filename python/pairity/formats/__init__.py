"""File formats: one module each, read and written.

In: a tokenizer, or the files of one. Out: the files of other libraries, or a tokenizer with the ids it had.
What a format cannot express is refused with the reason. Next: `pairity.tokenizer`.
"""
