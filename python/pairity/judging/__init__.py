"""Judging: measure any tokenizer on parallel text, all in the same way.

In: tokenizers (ours, Hugging Face's, tiktoken's, SentencePiece's) and parallel text.
Out: `Scores`, one tidy table with intervals. Next: `pairity.reporting` shows them.

    opening       a spec or an object -> a tokenizer with the interface of `protocol`; one module per library
    measurement   a tokenizer and the text -> tokens per line, token frequencies, lost text
    metrics       the formulas, and the entries that name them
    tabulation    all of it -> the rows of the score tables
    evaluation    the steps in their order
    scores        the result: queried, saved and loaded
    sizes         a tokenizer truncated to several sizes
    profile       everything about one language under one tokenizer: cost, merges, words, characters, neighbours
    tax           what the same content costs in each language, given a price
"""
