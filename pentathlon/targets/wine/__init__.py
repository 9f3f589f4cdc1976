"""Wine: the agent's Windows build on this machine's kernel."""
