"""What was measured: the journal, the tables made from it, and the one module that reads them."""
