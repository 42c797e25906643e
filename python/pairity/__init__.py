"""Train, judge and ship multilingual BPE tokenizers that treat languages alike."""
