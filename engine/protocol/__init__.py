"""The border between the engine and everybody who uses it: frozen messages, nothing else.

Standard library and msgspec only, so that importing it costs nothing and pulls in
neither torch nor numpy, Qt or sockets.
"""

PROTOCOL_VERSION = 1
