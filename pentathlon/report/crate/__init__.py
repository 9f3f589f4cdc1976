"""A result with its plan, data and report as an RO-Crate, and the check of one."""
