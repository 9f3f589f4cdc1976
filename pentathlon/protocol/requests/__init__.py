"""One type for each request to the agent (docs/protocol.md), a file for each group.

`tests/protocol/test_requests.py` compares them with the schema that the agent prints.
"""
