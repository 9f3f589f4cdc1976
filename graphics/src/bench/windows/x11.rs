//! Windows of the X Window System, through its protocol (X11R7, Composite 0.4).

use super::{near, Desk, BACKDROP, BELOW, BLENDED, PATIENCE, WINDOW};
use pentathlon_harness::measure::Failure;
use std::time::Instant;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    ColormapAlloc, ConfigureWindowAux, ConnectionExt, CreateWindowAux, ImageFormat, StackMode,
    WindowClass,
};
use x11rb::rust_connection::RustConnection;

/// White at half strength, premultiplied.
const GLASS: u32 = 0x8080_8080;

struct X11 {
    connection: RustConnection,
    root: u32,
    backdrop: u32,
    visual: u32,
    colormap: u32,
}

fn failed(what: &'static str) -> impl Fn(x11rb::errors::ReplyOrIdError) -> Failure {
    move |error| Failure::Failed(format!("{what}: {error}"))
}

/// A backdrop on the display that the environment names.
///
/// # Errors
/// There is no display, no visual with transparency, or nobody who composes (`unsupported`).
pub fn desk() -> Result<impl Desk, Failure> {
    let (connection, screen) = x11rb::connect(None)
        .map_err(|error| Failure::Unsupported(format!("no X11 display can be opened: {error}")))?;
    let chosen = &connection.setup().roots[screen];
    let (root, root_visual) = (chosen.root, chosen.root_visual);
    let depth = chosen.allowed_depths.iter().find(|depth| depth.depth == 32);
    let Some(visual) = depth
        .and_then(|depth| depth.visuals.first())
        .map(|one| one.visual_id)
    else {
        return Err(Failure::Unsupported(
            "the display has no visual with transparency".into(),
        ));
    };
    composed(&connection, screen)?;
    let make = || -> Result<X11, x11rb::errors::ReplyOrIdError> {
        let colormap = connection.generate_id()?;
        connection.create_colormap(ColormapAlloc::NONE, colormap, root, visual)?;
        let backdrop = connection.generate_id()?;
        let aux = CreateWindowAux::new()
            .background_pixel(BELOW)
            .override_redirect(1);
        connection.create_window(
            x11rb::COPY_DEPTH_FROM_PARENT,
            backdrop,
            root,
            0,
            0,
            BACKDROP,
            BACKDROP,
            0,
            WindowClass::INPUT_OUTPUT,
            root_visual,
            &aux,
        )?;
        connection.map_window(backdrop)?;
        connection.flush()?;
        Ok(X11 {
            connection,
            root,
            backdrop,
            visual,
            colormap,
        })
    };
    let desk = make().map_err(failed("the backdrop cannot be opened"))?;
    desk.wait(i16::try_from(BACKDROP / 2).expect("small"), BELOW)?;
    Ok(desk)
}

/// Whether somebody composes: the manager owns a selection (ICCCM, EWMH `_NET_WM_CM_Sn`).
fn composed(connection: &RustConnection, screen: usize) -> Result<(), Failure> {
    let owner = || -> Result<u32, x11rb::errors::ReplyOrIdError> {
        let name = format!("_NET_WM_CM_S{screen}");
        let atom = connection
            .intern_atom(false, name.as_bytes())?
            .reply()?
            .atom;
        Ok(connection.get_selection_owner(atom)?.reply()?.owner)
    };
    match owner().map_err(failed("the display does not report who composes"))? {
        x11rb::NONE => Err(Failure::Unsupported(
            "no compositing manager runs on the X11 display, so windows are not blended".into(),
        )),
        _ => Ok(()),
    }
}

impl X11 {
    /// Colour of the screen at a place on its diagonal.
    fn color(&self, at: i16) -> Result<u32, Failure> {
        let read = || -> Result<Vec<u8>, x11rb::errors::ReplyOrIdError> {
            let image =
                self.connection
                    .get_image(ImageFormat::Z_PIXMAP, self.root, at, at, 1, 1, !0)?;
            Ok(image.reply()?.data)
        };
        let data = read().map_err(failed("the screen cannot be looked at"))?;
        let bytes = data
            .get(..4)
            .and_then(|four| four.try_into().ok())
            .unwrap_or_default();
        Ok(u32::from_le_bytes(bytes) & 0x00ff_ffff)
    }

    /// Waits until the screen shows this colour, within the rounding of a blend.
    fn wait(&self, at: i16, wanted: u32) -> Result<(), Failure> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let seen = self.color(at)?;
            if near(seen, wanted) {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(super::unseen(seen, wanted));
            }
        }
    }
}

impl Desk for X11 {
    fn window(&mut self, number: u64) -> Result<u32, Failure> {
        let place = super::place(number);
        let middle = place + i16::try_from(WINDOW / 2).expect("small");
        let open = || -> Result<u32, x11rb::errors::ReplyOrIdError> {
            let window = self.connection.generate_id()?;
            let aux = CreateWindowAux::new()
                .background_pixel(GLASS)
                .border_pixel(0)
                .colormap(self.colormap)
                .override_redirect(1);
            self.connection.create_window(
                32,
                window,
                self.root,
                place,
                place,
                WINDOW,
                WINDOW,
                0,
                WindowClass::INPUT_OUTPUT,
                self.visual,
                &aux,
            )?;
            self.connection.map_window(window)?;
            let above = ConfigureWindowAux::new()
                .sibling(self.backdrop)
                .stack_mode(StackMode::ABOVE);
            self.connection.configure_window(window, &above)?;
            self.connection.flush()?;
            Ok(window)
        };
        let window = open().map_err(failed("a window cannot be opened"))?;
        let seen = self.wait(middle, BLENDED);
        self.connection.destroy_window(window).ok();
        self.connection.flush().ok();
        seen?;
        self.wait(middle, BELOW)?;
        Ok(BLENDED)
    }
}

impl Drop for X11 {
    fn drop(&mut self) {
        self.connection.destroy_window(self.backdrop).ok();
        self.connection.flush().ok();
    }
}
