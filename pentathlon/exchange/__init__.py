"""What other tools recorded, brought into forms that the agent reads."""
