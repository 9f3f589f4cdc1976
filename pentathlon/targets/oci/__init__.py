"""The kind `oci`: a container of this machine's kernel, by an OCI runtime."""
