"""Training: counts become merges, one policy at a time.

In: train counts, dev counts and a policy (`Classical`, `Parity`). Out: a `Tokenizer` with the record and the
trace of how it was learned. Next: `pairity.tokenizer` uses it, `pairity.judging` judges it.
"""
