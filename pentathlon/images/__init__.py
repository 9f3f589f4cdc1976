"""Root file systems for guests out of archives and OCI images: verified, and unpacked once."""
