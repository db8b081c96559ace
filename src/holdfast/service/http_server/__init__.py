"""The HTTP/1.1 server that Holdfast brings: uvloop's sockets, llhttp's parser (httptools), work in turns.

Alternating between socket and database for each request costs more than both: the processor forgets one while it does
the other. So a turn of the event loop first reads and parses what every connection has, then lets the tasks answer,
then writes all the answers (docs/decisions/0008).
"""
