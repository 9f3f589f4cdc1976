"""Messages between this program and the agent, and where the agent's file is (docs/protocol.md)."""
