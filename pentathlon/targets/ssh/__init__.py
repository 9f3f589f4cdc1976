"""Another machine, reached with the system's OpenSSH client."""
