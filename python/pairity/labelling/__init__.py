"""Labelling: text in unknown languages becomes one file per language.

Out comes what the room of text reads, so whatever takes text takes this too. Nothing here is needed by later rooms.
"""
