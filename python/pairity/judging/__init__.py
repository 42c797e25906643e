"""Judging: any tokenizer on parallel text, measured alike.

In: tokenizers (ours, Hugging Face's, tiktoken's, SentencePiece's) and parallel text. Out: `Scores`, one tidy
table with intervals. Next: `pairity.reporting` shows them.
"""
