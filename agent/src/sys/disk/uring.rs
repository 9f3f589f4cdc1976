//! A queue of reads and writes at positions of one file: `io_uring(7)`.
