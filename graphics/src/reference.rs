//! The small pictures that every system's frames are compared with.
//!
//! `references.png` holds them side by side, in the order of the cases of the catalog; the program
//! makes it anew by `pentathlon-graphics references FILE`. It was drawn by a software rasteriser and
//! looked at.

use crate::picture::{Picture, SMALL};
use std::io::Cursor;
use std::sync::OnceLock;

pub const COLUMNS: u32 = 8;
const FILE: &[u8] = include_bytes!("../references.png");

/// Greatest distance on the whole and in one place, of 255, of a frame drawn as the reference was.
/// Drivers differ in the rounding of edges and texels, which small copies average out; a missing
/// light, texture or object is far beyond it. Lines, which drivers draw the least alike, are 2.1 apart
/// between Mesa's Vulkan and OpenGL.
pub const TOLERANCE: (f64, f64) = (3.0, 12.0);
/// The same for canvases and scenes of other sizes, which look alike and not the same: a line is a
/// pixel wide on every canvas.
pub const ALIKE: (f64, f64) = (20.0, 90.0);

/// The reference at this place of the catalog, if there is one.
pub fn at(place: usize) -> Option<Picture> {
    static ATLAS: OnceLock<Option<Picture>> = OnceLock::new();
    let atlas = ATLAS.get_or_init(|| decode(FILE)).as_ref()?;
    let (left, top) = corner(place);
    if top + SMALL.1 > atlas.height {
        return None;
    }
    let mut rgb = Vec::new();
    for y in top..top + SMALL.1 {
        let from = ((y * atlas.width + left) * 3) as usize;
        rgb.extend_from_slice(&atlas.rgb[from..from + SMALL.0 as usize * 3]);
    }
    Some(Picture::new(SMALL.0, SMALL.1, rgb))
}

fn corner(place: usize) -> (u32, u32) {
    let place = place as u32;
    (place % COLUMNS * SMALL.0, place / COLUMNS * SMALL.1)
}

fn decode(file: &[u8]) -> Option<Picture> {
    let mut reader = png::Decoder::new(Cursor::new(file)).read_info().ok()?;
    let mut rgb = vec![0; reader.output_buffer_size()?];
    let frame = reader.next_frame(&mut rgb).ok()?;
    rgb.truncate(frame.buffer_size());
    (frame.color_type == png::ColorType::Rgb).then(|| Picture::new(frame.width, frame.height, rgb))
}

/// A PNG file of these small pictures side by side.
pub fn encode(pictures: &[Picture]) -> Vec<u8> {
    let rows = (pictures.len() as u32).div_ceil(COLUMNS).max(1);
    let (width, height) = (COLUMNS * SMALL.0, rows * SMALL.1);
    let mut rgb = vec![0; (width * height * 3) as usize];
    for (place, picture) in pictures.iter().enumerate() {
        let (left, top) = corner(place);
        for y in 0..SMALL.1 {
            let to = (((top + y) * width + left) * 3) as usize;
            let from = (y * SMALL.0 * 3) as usize;
            let bytes = SMALL.0 as usize * 3;
            rgb[to..to + bytes].copy_from_slice(&picture.rgb[from..from + bytes]);
        }
    }
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    let mut writer = encoder.write_header().expect("writing to memory");
    writer.write_image_data(&rgb).expect("writing to memory");
    writer.finish().expect("writing to memory");
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_side_by_side_comes_back() {
        let picture = |value| {
            Picture::new(
                SMALL.0,
                SMALL.1,
                vec![value; (SMALL.0 * SMALL.1 * 3) as usize],
            )
        };
        let all: Vec<_> = (0..11).map(picture).collect();
        let atlas = decode(&encode(&all)).unwrap();
        assert_eq!((atlas.width, atlas.height), (8 * SMALL.0, 2 * SMALL.1));
        let (left, top) = corner(10);
        let at = ((top * atlas.width + left) * 3) as usize;
        assert_eq!(atlas.rgb[at], 10);
    }
}
