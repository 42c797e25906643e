"""Training: counts become merges, and a policy decides whom each merge serves.

In: train text and dev text (or their counts), a policy (`Parity`, for one) and a size. Out: a `Tokenizer` with
the record and the trace of how it was learned. Next: `pairity.formats` saves it, `pairity.judging` judges it.

    training    train(), which calls the others in this order:
    settings    what to learn, as one frozen value      (policy: who is served; checks: what is refused)
    texts       what is read: train counts, dev counts  (measure: what each language is measured by)
    engine      the one call into Rust                  (checkpoint: the merges so far, to resume from)
    trace       who was served by which merge, and what every language cost meanwhile
    record      what pairity.json says of the run
"""
