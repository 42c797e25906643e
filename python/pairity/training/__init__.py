"""Training: from counts to merges; a policy decides which language each merge serves.

In: train text and dev text (or their counts), a policy (such as `Parity`) and a size. Out: a `Tokenizer` with
the record and the trace of how it was learned. Next: `pairity.formats` saves it, `pairity.judging` judges it.

    training    train(), which calls the others in this order:
    settings    what to learn, as one frozen value      (policy: who is served; checks: mistakes)
    texts       counts of train and dev                 (measure: what each language is measured by)
    engine      the one call into Rust                  (checkpoint: the merges so far, to resume from)
    trace       which merge served which language, and what every language cost over time
    record      what pairity.json says about the run
"""
