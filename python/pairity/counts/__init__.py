"""Counts, the waist of the system: how often each pre-token occurs in each language.

In: blocks of text, counts files, or counts made by hand. Out: `Counts`, in memory or as one Parquet file.
Next: `pairity.training`, which learns merges from them.
"""
