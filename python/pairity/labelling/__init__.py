"""Labelling: sort text in unknown languages into one file per language.

The result is ordinary text for `pairity.text`, so every command can read it. No later room needs this one.
"""
