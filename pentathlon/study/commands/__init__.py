"""The user's own commands as workloads: `[[workload]]` tables of a study."""
