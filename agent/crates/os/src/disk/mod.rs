//! Files as the disk workloads use them: how they are opened, which of their pages the system
//! holds in memory, mappings, streams of the C library, and queues of requests.

pub mod map;
pub mod open;
#[cfg(windows)]
mod overlapped;
pub mod pages;
pub mod place;
#[cfg(any(target_os = "linux", windows))]
pub mod queue;
pub mod stream;
#[cfg(target_os = "linux")]
mod uring;

#[cfg(test)]
mod tests {
    use super::map::{boundary, Map};
    use std::fs::File;

    #[test]
    fn a_mapped_part_reads_and_writes_its_own_bytes_of_the_file() {
        let path = std::env::temp_dir().join(format!("part-{}", std::process::id()));
        let content: Vec<u8> = (0..200_000_u32).map(|n| (n % 251) as u8).collect();
        std::fs::write(&path, &content).unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let odd = boundary() + 4_321;
        let part = odd as usize..odd as usize + 70_000;
        let read = Map::new(&file, odd, part.len(), false, boundary()).unwrap();
        assert_eq!(read.bytes(), &content[part.clone()]);
        drop(read);
        let mut map = Map::new(&file, odd, part.len(), true, boundary()).unwrap();
        map.bytes_mut().fill(7);
        map.sync().unwrap();
        drop(map);
        drop(file);
        let written = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(written[part.clone()].iter().all(|&byte| byte == 7));
        assert_eq!(written[..part.start], content[..part.start]);
        assert_eq!(written[part.end..], content[part.end..]);
    }
}
