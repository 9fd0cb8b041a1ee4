"""What may reach a terminal: no control characters from file names or data, nothing it cannot
encode, and no table that cuts a word or a number for want of room.

A file may be called `\x1b]0;owned\x07.npy`. Colours are ours and are added by the console, so
whatever control character is inside a text came from outside.

`plain_text` serves every command and imports nothing; `screen`, with tables and colours, waits
until something is shown.
"""
