"""What a capture of a file service's packets says: task time, round trips, exchanges.

Pure functions of a pcapng file that was taken at the client's side of the link. This package
imports from no room.
"""
