//! Drawing a scene many times, and judging what it drew.

use super::parameters::REFERENCE;
use super::Wanted;
use crate::gpu::{canvas::Canvas, Gpu};
use crate::picture::Picture;
use crate::reference;
use crate::scene::{Order, Scene};
use pentathlon_harness::measure::Failure;

/// A picture with less than this spread (of 255) shows nothing.
const BLANK: f64 = 2.0;
/// Frames in one submission at most: a driver that gets too much at once may be reset.
const TOGETHER: u32 = 64;

/// A scene with the hash of its first picture, and a small copy.
pub struct Drawing {
    pub scene: Box<dyn Scene>,
    first: Option<(u64, Picture)>,
}

impl Drawing {
    pub fn new(scene: Box<dyn Scene>) -> Self {
        Self { scene, first: None }
    }

    /// One whose first operation is drawn, and the picture that it ends with. That operation compiles
    /// shaders; it is looked at and not timed.
    ///
    /// # Errors
    /// As [`Drawing::operation`] and [`Drawing::judge_first`].
    pub fn begun(
        gpu: &Gpu,
        canvas: &Canvas,
        scene: Box<dyn Scene>,
        wanted: Wanted,
    ) -> Result<(Self, Picture), Failure> {
        let mut drawing = Self::new(scene);
        gpu.guarded(|| drawing.operation(gpu, canvas, 1))??;
        let picture = drawing.judge_first(gpu, canvas, wanted)?;
        Ok((drawing, picture))
    }

    /// Frames of one operation: all that the scene goes through before it shows the same again.
    pub fn frames(&self) -> u32 {
        self.scene.period()
    }

    /// Draws so many operations and waits until they are drawn.
    ///
    /// # Errors
    /// The driver refuses or hangs, or what the processor does before a frame fails.
    pub fn operation(
        &mut self,
        gpu: &Gpu,
        canvas: &Canvas,
        operations: u64,
    ) -> Result<(), Failure> {
        let together = if self.scene.alone() || canvas.is_shown() {
            1
        } else {
            TOGETHER
        };
        let refused = canvas.refused();
        let period = u64::from(self.scene.period());
        let total = operations * period;
        let mut drawn = 0;
        while drawn < total {
            let count = u64::from(together).min(total - drawn);
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            for number in drawn..drawn + count {
                if number % period == 0 {
                    self.scene.restart(gpu);
                }
                self.scene.before(gpu)?;
                self.scene.frame(gpu, &mut encoder, canvas);
            }
            canvas.submit(gpu, encoder)?;
            drawn += count;
        }
        gpu.finish()?;
        match canvas.refused() - refused {
            0 => Ok(()),
            some => Err(Failure::Invalid(format!(
                "the window did not take {some} of {total} frames"
            ))),
        }
    }

    /// Draws one frame of what is there, and waits until it is drawn.
    ///
    /// # Errors
    /// The driver refuses or hangs.
    pub fn frame(&mut self, gpu: &Gpu, canvas: &Canvas) -> Result<(), Failure> {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        self.scene.frame(gpu, &mut encoder, canvas);
        canvas.submit(gpu, encoder)?;
        gpu.finish()
    }

    /// Judges the picture that is on the canvas now, and in the window where there is one.
    ///
    /// # Errors
    /// It is blank, is not what the window shows, or is too far from this scene's first one.
    pub fn judge(&mut self, gpu: &Gpu, canvas: &Canvas) -> Result<Picture, Failure> {
        let picture = canvas.look(gpu)?;
        if picture.spread() < BLANK {
            return Err(Failure::Invalid(
                "nothing is seen on the picture that was drawn".into(),
            ));
        }
        let hash = picture.hash();
        let (first, small) = self.first.get_or_insert_with(|| (hash, picture.small()));
        if hash != *first {
            // Adapters may add in any order; what a reader would see must still be the same.
            compare(&picture.small(), small, reference::TOLERANCE)?;
        }
        Ok(picture)
    }

    /// As [`Drawing::judge`], for the first picture, which is compared with the reference.
    ///
    /// # Errors
    /// As [`Drawing::judge`].
    pub fn judge_first(
        &mut self,
        gpu: &Gpu,
        canvas: &Canvas,
        wanted: Wanted,
    ) -> Result<Picture, Failure> {
        let picture = self.judge(gpu, canvas)?;
        // With another number of edges, lines make another picture: see `prove` for those.
        if !self.scene.lines() || wanted.order.scale == REFERENCE.scale {
            like_reference(&picture, wanted)?;
        }
        Ok(picture)
    }
}

fn like_reference(picture: &Picture, wanted: Wanted) -> Result<(), Failure> {
    let Some(right) = reference::at(wanted.place) else {
        return Err(Failure::Invalid(
            "there is no reference picture for this scene".into(),
        ));
    };
    compare(&picture.small(), &right, tolerance(wanted.order))
}

fn tolerance(order: Order) -> (f64, f64) {
    if order == REFERENCE {
        reference::TOLERANCE
    } else {
        reference::ALIKE
    }
}

/// Draws the scene once as the reference was drawn, where another size is requested: whether the
/// driver draws it right is seen there.
///
/// # Errors
/// It cannot be drawn, or is wrong.
pub fn prove(
    gpu: &Gpu,
    wanted: Wanted,
    make: impl FnOnce(&Canvas, Order) -> Result<Box<dyn Scene>, Failure>,
) -> Result<(), Failure> {
    if wanted.order == REFERENCE {
        return Ok(());
    }
    gpu.guarded(|| {
        let canvas = Canvas::new(gpu, REFERENCE.width, REFERENCE.height);
        let scene = make(&canvas, REFERENCE)?;
        prove_scene(gpu, &canvas, wanted.place, scene)
    })?
}

/// Draws this scene, made as the reference was, once.
///
/// # Errors
/// It cannot be drawn, or is wrong.
pub fn prove_scene(
    gpu: &Gpu,
    canvas: &Canvas,
    place: usize,
    scene: Box<dyn Scene>,
) -> Result<(), Failure> {
    let mut drawing = Drawing::new(scene);
    drawing.operation(gpu, canvas, 1)?;
    let order = REFERENCE;
    drawing
        .judge_first(gpu, canvas, Wanted { order, place })
        .map(|_| ())
}

/// # Errors
/// The pictures are further apart than drivers are.
fn compare(small: &Picture, right: &Picture, most: (f64, f64)) -> Result<(), Failure> {
    let (whole, local) = most;
    let (far, far_locally) = (small.distance(right), small.local_distance(right));
    if far > whole || far_locally > local {
        return Err(Failure::Invalid(format!(
            "the picture is wrong: it is {far:.1} from the reference on the whole and \
             {far_locally:.1} in one place, of 255; at most {whole} and {local} are right"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::SMALL;

    #[test]
    fn a_picture_with_one_object_missing_is_wrong() {
        let bytes = (SMALL.0 * SMALL.1 * 3) as usize;
        let right = Picture::new(
            SMALL.0,
            SMALL.1,
            (0..bytes).map(|at| (at % 200) as u8).collect(),
        );
        assert!(compare(&right, &right, reference::TOLERANCE).is_ok());
        let mut wrong = right.clone();
        for y in 16..24 {
            let from = (y * SMALL.0 * 3) as usize + 48;
            wrong.rgb[from..from + 24].fill(255);
        }
        assert!(matches!(
            compare(&wrong, &right, reference::TOLERANCE),
            Err(Failure::Invalid(_))
        ));
    }

    #[test]
    fn every_case_of_the_catalog_has_its_reference_with_something_on_it() {
        let count = super::super::viewsets_start()
            + crate::scene::VIEWSETS.len() * crate::scene::WAYS.len();
        for place in 0..count {
            let picture = reference::at(place).unwrap_or_else(|| panic!("no reference {place}"));
            assert!(picture.spread() > BLANK, "reference {place} is blank");
        }
    }
}
