"""Makes the pages of the documentation's site from docs/, the command, the model, and the agent.

`python -m website DIRECTORY` writes them; `scripts/site` renders them with MkDocs Material.
"""
