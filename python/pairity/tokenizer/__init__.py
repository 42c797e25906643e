"""The tokenizer: text to ids and back, and a table of its tokens.

In: a table of tokens and merges, from training or from a file. Out: ids, counts of tokens, smaller and larger
tokenizers, files. Next: `pairity.judging` measures it.
"""
