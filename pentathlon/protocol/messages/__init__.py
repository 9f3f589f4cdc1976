"""One type for each message of a measuring session (docs/protocol.md), a file for each group."""
