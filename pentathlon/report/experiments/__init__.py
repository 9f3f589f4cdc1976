"""How the report shows each experiment between two hosts."""
