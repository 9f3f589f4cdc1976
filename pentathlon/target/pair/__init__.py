"""Two hosts of one kind of system, joined by a link, for the workloads between hosts."""
