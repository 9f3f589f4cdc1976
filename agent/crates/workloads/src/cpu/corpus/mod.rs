//! Seeded inputs that look to a codec like the files people have: text, a photograph, music. Made
//! of sums, products and quotients only, so every system gets the same bytes.

pub mod music;
pub mod photo;
pub mod text;
