"""Three languages of a few words, and a training on them."""

from pairity import train

WORDS = {
    "eng": {" the": 9, " then": 4, " them": 3, " he": 5, " hen": 2},
    "deu": {" der": 9, " die": 8, " dies": 3, " er": 4, " sie": 3},
    "tel": {" తెలుగు": 3, " తెలు": 2},
}
DEV = {"eng": [" the hen", " them"], "deu": [" die er", " der"], "tel": [" తెలుగు", " తెలు"]}


def learn(corpus=WORDS, dev=DEV, **settings):
    settings.setdefault("num_merges", 12)
    return train(corpus, dev=dev, progress=False, **settings)
