"""gVisor: a kernel written in Go that runs as a process."""
