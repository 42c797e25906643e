"""The tokenizer: text to ids and back, and what each of its tokens is.

In: a table of tokens and merges, from training or from a file. Out: ids, counts of tokens, smaller and larger
tokenizers, files. Next: `pairity.judging` measures it.
"""
