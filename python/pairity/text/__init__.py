"""Text: turn what the user gave into blocks of text, language by language.

In: SOURCEs (`sources`): folders, files, globs, `LANG=PATH`, iterables of lines. Out: blocks of whole texts
(`reading`), and the rule that cuts them into pre-tokens (`pretokenizers`). Next: `pairity.counts`.
"""
