"""Files: the only way to write an output, and to verify that what is read is complete.

In: the contents of a file or folder. Out: the file or folder, complete or as it was before. Every other room
writes through this one.

    writing    files and folders that appear under their name only when they are complete
    places     whether an output can be written, tested before the work by writing there
    locks      one writer per output
    leftovers  what a killed run leaves, and how the next run recognises it
    digests    checksums of what was written, verified when it is read
    pace       how often the state of a long run is saved
    reading    reading a folder that another process may be replacing right now, or a later version wrote
"""
