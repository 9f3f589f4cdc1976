"""What other tools printed or wrote, as rows: a small module for each tool."""
