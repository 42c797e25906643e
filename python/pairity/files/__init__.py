"""Files: the one way to write an output, and to know that what is read is whole.

In: what a file or a folder is to hold. Out: the file or folder, whole or as it was before. Every other room
writes through this one.

    writing    files and folders that appear under their name only when they are complete
    places     where an output may go, checked before the work by writing there
    locks      one writer per output
    leftovers  what a killed run leaves, and how the next one knows it
    digests    checksums over what was written, compared when it is read
    pace       how often the state of long work goes to disk
    reading    a folder that another process may be replacing at this moment
"""
