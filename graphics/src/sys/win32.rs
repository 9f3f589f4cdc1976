//! Windows of Win32: plain coloured panes without a frame, and what the screen shows of them.

use std::io;
use std::num::NonZeroIsize;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use wgpu::rwh::{
    DisplayHandle, HandleError, HasDisplayHandle, HasWindowHandle, Win32WindowHandle, WindowHandle,
};
use windows_sys::Win32::Foundation::{HWND, LPARAM, LRESULT, WPARAM};
use windows_sys::Win32::Graphics::Gdi::{
    BitBlt, CreateCompatibleBitmap, CreateCompatibleDC, CreateSolidBrush, DeleteDC, DeleteObject,
    FillRect, GdiFlush, GetDC, GetDIBits, GetPixel, ReleaseDC, SelectObject, BITMAPINFO,
    BITMAPINFOHEADER, BI_RGB, CAPTUREBLT, CLR_INVALID, DIB_RGB_COLORS, HDC, SRCCOPY,
};
use windows_sys::Win32::System::LibraryLoader::GetModuleHandleW;
use windows_sys::Win32::UI::WindowsAndMessaging::{
    CreateWindowExW, DefWindowProcW, DestroyWindow, DispatchMessageW, GetClientRect,
    GetSystemMetrics, GetWindowLongPtrW, PeekMessageW, RegisterClassExW,
    SetLayeredWindowAttributes, SetProcessDPIAware, SetWindowLongPtrW, ShowWindow, GWLP_USERDATA,
    LWA_ALPHA, MSG, PM_REMOVE, SM_CXSCREEN, SM_CYSCREEN, SW_SHOWNOACTIVATE, WM_ERASEBKGND,
    WNDCLASSEXW, WS_EX_LAYERED, WS_EX_NOACTIVATE, WS_EX_TOOLWINDOW, WS_EX_TOPMOST, WS_POPUP,
};

/// A window of one colour above all others. It belongs to the thread that opened it.
pub struct Pane(HWND);

/// Name of the class of all panes, in UTF-16, with its final 0.
const CLASS: [u16; 16] = {
    let name = b"pentathlon-pane";
    let mut wide = [0; 16];
    let mut at = 0;
    while at < name.len() {
        wide[at] = name[at] as u16;
        at += 1;
    }
    wide
};

/// Registers the class once in a process.
fn class() -> io::Result<()> {
    static DONE: OnceLock<bool> = OnceLock::new();
    let done = DONE.get_or_init(|| {
        // Pixels of the screen are counted, not those of a picture that Windows would stretch.
        // SAFETY: it takes nothing, and no window has been opened yet.
        unsafe { SetProcessDPIAware() };
        let class = WNDCLASSEXW {
            cbSize: size_of::<WNDCLASSEXW>() as u32,
            lpfnWndProc: Some(answer),
            // SAFETY: null requests the module of this program, which is always there.
            hInstance: unsafe { GetModuleHandleW(null()) },
            lpszClassName: CLASS.as_ptr(),
            style: 0,
            cbClsExtra: 0,
            cbWndExtra: 0,
            hIcon: null_mut(),
            hCursor: null_mut(),
            hbrBackground: null_mut(),
            lpszMenuName: null(),
            hIconSm: null_mut(),
        };
        // SAFETY: every field is set, and the name and the function live as long as the program.
        unsafe { RegisterClassExW(&raw const class) != 0 }
    });
    if *done {
        Ok(())
    } else {
        Err(io::Error::other("the window class cannot be registered"))
    }
}

/// Answers a message: the background is filled with the pane's colour, all else is the default.
///
/// # Safety
/// Only Windows calls it, with a window of the class.
unsafe extern "system" fn answer(
    window: HWND,
    message: u32,
    first: WPARAM,
    second: LPARAM,
) -> LRESULT {
    if message != WM_ERASEBKGND {
        // SAFETY: these are the arguments that Windows gave.
        return unsafe { DefWindowProcW(window, message, first, second) };
    }
    let mut area = windows_sys::Win32::Foundation::RECT::default();
    // SAFETY: the window is the caller's, the first argument of this message is a device context,
    // and the brush is used before it is given back.
    unsafe {
        let color = GetWindowLongPtrW(window, GWLP_USERDATA) as u32;
        GetClientRect(window, &raw mut area);
        let brush = CreateSolidBrush(color);
        FillRect(first as HDC, &raw const area, brush);
        DeleteObject(brush);
    }
    1
}

/// Red, green and blue in the order of this interface (COLORREF).
fn reversed(rgb: u32) -> u32 {
    rgb.swap_bytes() >> 8
}

impl Pane {
    /// Opens a pane of this colour (0xRRGGBB), translucent if its `opacity` is below 255.
    ///
    /// # Errors
    /// There is no desktop to open it on, for instance in a service.
    pub fn open(place: (i32, i32), size: (i32, i32), rgb: u32, opacity: u8) -> io::Result<Self> {
        class()?;
        let layered = if opacity < 255 { WS_EX_LAYERED } else { 0 };
        let style = WS_EX_TOPMOST | WS_EX_TOOLWINDOW | WS_EX_NOACTIVATE | layered;
        // SAFETY: the class is registered, the pointers are null or live throughout the call.
        let window = unsafe {
            CreateWindowExW(
                style,
                CLASS.as_ptr(),
                null(),
                WS_POPUP,
                place.0,
                place.1,
                size.0,
                size.1,
                null_mut(),
                null_mut(),
                GetModuleHandleW(null()),
                null(),
            )
        };
        if window.is_null() {
            return Err(io::Error::last_os_error());
        }
        let pane = Self(window);
        // SAFETY: the window was made just now by this thread.
        unsafe {
            SetWindowLongPtrW(window, GWLP_USERDATA, reversed(rgb) as isize);
            if layered != 0 && SetLayeredWindowAttributes(window, 0, opacity, LWA_ALPHA) == 0 {
                return Err(io::Error::last_os_error());
            }
            ShowWindow(window, SW_SHOWNOACTIVATE);
        }
        answer_all();
        Ok(pane)
    }

    /// What a driver is given of it. The pane must be kept until the driver has forgotten it.
    pub fn handle(&self) -> Handle {
        Handle(NonZeroIsize::new(self.0 as isize).expect("an open window has a handle"))
    }
}

/// What a driver is given of a pane: a number, which any thread may have.
#[derive(Clone, Copy, Debug)]
pub struct Handle(NonZeroIsize);

impl HasDisplayHandle for Handle {
    fn display_handle(&self) -> Result<DisplayHandle<'_>, HandleError> {
        Ok(DisplayHandle::windows())
    }
}

impl HasWindowHandle for Handle {
    fn window_handle(&self) -> Result<WindowHandle<'_>, HandleError> {
        let raw = Win32WindowHandle::new(self.0);
        // SAFETY: the window is open: `gpu::screen::Screen`, the only one that gives handles to a
        // driver, closes it after the surface that was made with them.
        Ok(unsafe { WindowHandle::borrow_raw(raw.into()) })
    }
}

impl Drop for Pane {
    fn drop(&mut self) {
        // SAFETY: the window is this thread's: a pane cannot be sent to another one.
        unsafe { DestroyWindow(self.0) };
        answer_all();
    }
}

/// Answers what Windows has to say to the windows of this thread.
pub fn answer_all() {
    let mut message = MSG::default();
    // SAFETY: the message is this function's own.
    unsafe {
        while PeekMessageW(&raw mut message, null_mut(), 0, 0, PM_REMOVE) != 0 {
            DispatchMessageW(&raw const message);
        }
        GdiFlush();
    }
}

/// Width and height of the first screen, in pixels.
pub fn screen_size() -> (i32, i32) {
    // SAFETY: it takes two numbers and changes nothing.
    unsafe { (GetSystemMetrics(SM_CXSCREEN), GetSystemMetrics(SM_CYSCREEN)) }
}

/// The screen's device context, given back at the end.
struct Context(HDC);

impl Context {
    fn of_screen() -> io::Result<Self> {
        // SAFETY: null requests the whole screen.
        let context = unsafe { GetDC(null_mut()) };
        if context.is_null() {
            return Err(io::Error::other("the screen cannot be looked at"));
        }
        Ok(Self(context))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context came from GetDC with the same window.
        unsafe { ReleaseDC(null_mut(), self.0) };
    }
}

/// The colour (0xRRGGBB) that the screen shows at a place.
///
/// # Errors
/// The place is not on the screen.
pub fn color(x: i32, y: i32) -> io::Result<u32> {
    let screen = Context::of_screen()?;
    // SAFETY: the context is open.
    match unsafe { GetPixel(screen.0, x, y) } {
        CLR_INVALID => Err(io::Error::other("the screen does not show the place")),
        color => Ok(reversed(color)),
    }
}

/// Red, green and blue of the upper left part of the screen, row by row from the top.
///
/// # Errors
/// The screen cannot be copied.
pub fn picture(width: i32, height: i32) -> io::Result<Vec<u8>> {
    let screen = Context::of_screen()?;
    let mut info = BITMAPINFO {
        bmiHeader: BITMAPINFOHEADER {
            biSize: size_of::<BITMAPINFOHEADER>() as u32,
            biWidth: width,
            // Negative: rows from the top.
            biHeight: -height,
            biPlanes: 1,
            biBitCount: 32,
            biCompression: BI_RGB,
            ..Default::default()
        },
        ..Default::default()
    };
    let mut pixels = vec![0u8; (width * height * 4) as usize];
    // SAFETY: what is made here is given back here, and the buffer has four bytes for each of the
    // pixels that the header reports.
    let lines = unsafe {
        let memory = CreateCompatibleDC(screen.0);
        let bitmap = CreateCompatibleBitmap(screen.0, width, height);
        let before = SelectObject(memory, bitmap);
        let copied = BitBlt(
            memory,
            0,
            0,
            width,
            height,
            screen.0,
            0,
            0,
            SRCCOPY | CAPTUREBLT,
        );
        SelectObject(memory, before);
        let lines = if copied == 0 {
            0
        } else {
            let to = pixels.as_mut_ptr().cast();
            GetDIBits(
                memory,
                bitmap,
                0,
                height as u32,
                to,
                &raw mut info,
                DIB_RGB_COLORS,
            )
        };
        DeleteObject(bitmap);
        DeleteDC(memory);
        lines
    };
    if lines != height {
        return Err(io::Error::other("the screen cannot be copied"));
    }
    Ok(pixels
        .chunks_exact(4)
        .flat_map(|pixel| [pixel[2], pixel[1], pixel[0]])
        .collect())
}
