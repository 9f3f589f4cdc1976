"""Debian's kernels in a virtual machine of QEMU."""
