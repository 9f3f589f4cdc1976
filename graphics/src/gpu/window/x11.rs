//! A window of the X Window System (X11R7).

use crate::picture::Picture;
use crate::sys::x11::Shown;
use pentathlon_harness::measure::Failure;
use std::sync::Arc;
use x11rb::connection::Connection;
use x11rb::errors::ReplyOrIdError;
use x11rb::protocol::xproto::{
    ConfigureWindowAux, ConnectionExt, CreateWindowAux, ImageFormat, ImageOrder, Screen, StackMode,
    VisualClass, WindowClass,
};
use x11rb::xcb_ffi::XCBConnection;

/// A window without a frame, above all others, at the upper left of the first screen.
pub struct Window {
    handle: Handle,
    width: u16,
    height: u16,
}

/// What a driver is given of a window; the window stays open as long as somebody has one.
pub type Handle = Arc<Shown>;

fn failed(what: &'static str) -> impl Fn(ReplyOrIdError) -> Failure {
    move |error| Failure::Failed(format!("{what}: {error}"))
}

impl Window {
    /// Name of the window system.
    pub const SYSTEM: &'static str = "X11";

    /// Opens one of this size, in pixels.
    ///
    /// # Errors
    /// There is no display, or none on which it fits and can be looked at (`unsupported`).
    pub fn open(width: u32, height: u32) -> Result<Self, Failure> {
        let unsupported = |reason: String| Failure::Unsupported(reason);
        x11rb::xcb_ffi::load_libxcb()
            .map_err(|error| unsupported(format!("libxcb cannot be loaded: {error}")))?;
        // The first screen: the drivers do not use another one.
        let (connection, _) = XCBConnection::connect(None)
            .map_err(|error| unsupported(format!("no X11 display can be opened: {error}")))?;
        let setup = connection.setup();
        let screen = &setup.roots[0];
        if !readable(screen, setup.image_byte_order) {
            return Err(unsupported(
                "the display's pixels are not of 24 bits, so a window cannot be looked at".into(),
            ));
        }
        let (most_wide, most_high) = (screen.width_in_pixels, screen.height_in_pixels);
        let fits = |wanted: u32, most: u16| u16::try_from(wanted).ok().filter(|w| *w <= most);
        let (Some(width), Some(height)) = (fits(width, most_wide), fits(height, most_high)) else {
            return Err(unsupported(format!(
                "the display has {most_wide}x{most_high} pixels, too few for a window of \
                 {width}x{height}"
            )));
        };
        let (root, visual) = (screen.root, screen.root_visual);
        let aux = CreateWindowAux::new()
            .background_pixel(screen.black_pixel)
            .override_redirect(1);
        let open = || -> Result<u32, ReplyOrIdError> {
            let window = connection.generate_id()?;
            connection.create_window(
                x11rb::COPY_DEPTH_FROM_PARENT,
                window,
                root,
                0,
                0,
                width,
                height,
                0,
                WindowClass::INPUT_OUTPUT,
                visual,
                &aux,
            )?;
            connection.map_window(window)?;
            let above = ConfigureWindowAux::new().stack_mode(StackMode::ABOVE);
            connection.configure_window(window, &above)?;
            // The answer comes when the server has done what was requested before.
            connection.get_input_focus()?.reply()?;
            Ok(window)
        };
        let window = open().map_err(failed("a window cannot be opened"))?;
        Ok(Self {
            handle: Arc::new(Shown { connection, window }),
            width,
            height,
        })
    }

    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// What the display server has in the window now.
    ///
    /// # Errors
    /// The server refuses, for instance because the window is not on the screen any more.
    pub fn look(&self) -> Result<Picture, Failure> {
        let (width, height) = (self.width, self.height);
        let read = || -> Result<Vec<u8>, ReplyOrIdError> {
            let Shown { connection, window } = &*self.handle;
            let format = ImageFormat::Z_PIXMAP;
            let requested = connection.get_image(format, *window, 0, 0, width, height, !0)?;
            Ok(requested.reply()?.data)
        };
        let data = read().map_err(failed("the window cannot be looked at"))?;
        let (width, height) = (u32::from(width), u32::from(height));
        if data.len() != (width * height * 4) as usize {
            return Err(Failure::Failed(format!(
                "the display server gave {} bytes for a window of {width}x{height} pixels",
                data.len()
            )));
        }
        let rgb = data
            .chunks_exact(4)
            .flat_map(|pixel| [pixel[2], pixel[1], pixel[0]])
            .collect();
        Ok(Picture::new(width, height, rgb))
    }
}

/// Whether pixels come as blue, green, red and an unused byte.
fn readable(screen: &Screen, order: ImageOrder) -> bool {
    let visual = screen
        .allowed_depths
        .iter()
        .flat_map(|depth| &depth.visuals)
        .find(|visual| visual.visual_id == screen.root_visual);
    screen.root_depth == 24
        && order == ImageOrder::LSB_FIRST
        && visual.is_some_and(|visual| {
            visual.class == VisualClass::TRUE_COLOR
                && (visual.red_mask, visual.green_mask, visual.blue_mask)
                    == (0x00ff_0000, 0x0000_ff00, 0x0000_00ff)
        })
}
