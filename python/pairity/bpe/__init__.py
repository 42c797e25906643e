"""The parts of a BPE tokenizer: the byte-level alphabet, tokens and merges, special tokens.

In: merges, or the tokens and merges of a file. Out: the table that encodes. Next: `pairity.formats` reads
and writes it, `pairity.tokenizer` encodes with it.
"""
