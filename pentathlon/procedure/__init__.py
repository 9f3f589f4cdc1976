"""How it is measured: blocks of boots, retries, interruption, resumption and the pilot."""
