"""The command line: every command, the screens, and the exit codes."""
