"""What a BPE tokenizer is made of: the byte-level alphabet, tokens and merges, special tokens.

In: merges, or tokens and merges that a file held. Out: the table that encodes. Next: `pairity.formats` reads
and writes it, `pairity.tokenizer` encodes with it.
"""
