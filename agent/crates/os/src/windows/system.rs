//! Which system this is: `RtlGetVersion`, `GetNativeSystemInfo`, and whether Wine provides it.

use std::ffi::{c_char, CStr};
use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::Foundation::HMODULE;
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleA, GetProcAddress};
use windows_sys::Win32::System::SystemInformation::{
    GetNativeSystemInfo, OSVERSIONINFOW, SYSTEM_INFO,
};

/// Major, minor and build number of the Windows that this is, or that Wine says it is.
pub fn version() -> Option<(u32, u32, u32)> {
    let mut information = OSVERSIONINFOW {
        dwOSVersionInfoSize: std::mem::size_of::<OSVERSIONINFOW>() as u32,
        ..Default::default()
    };
    // SAFETY: the structure states its own length.
    let status = unsafe { RtlGetVersion(&mut information) };
    (status == 0).then_some((
        information.dwMajorVersion,
        information.dwMinorVersion,
        information.dwBuildNumber,
    ))
}

/// Version of Wine, its build, and the system below it as (name, release).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wine {
    pub version: String,
    pub build: Option<String>,
    pub host: Option<(String, String)>,
}

/// Wine is recognised by functions that ntdll exports there alone.
pub fn wine() -> Option<Wine> {
    type Text = extern "C" fn() -> *const c_char;
    type Host = extern "C" fn(*mut *const c_char, *mut *const c_char);
    // SAFETY: ntdll is in every process and never leaves it.
    let ntdll = unsafe { GetModuleHandleA(c"ntdll.dll".as_ptr().cast()) };
    if ntdll.is_null() {
        return None;
    }
    // SAFETY: of the functions called so, Wine's has this form (include/wine/library.h), and no
    // other system has any; they return strings that live as long as ntdll.
    let ask = |name: &CStr| unsafe {
        let function: Text = std::mem::transmute(find(ntdll, name)?);
        text(function())
    };
    let version = ask(c"wine_get_version")?;
    // SAFETY: as above; the function writes one pointer to each place.
    let host = unsafe {
        find(ntdll, c"wine_get_host_version").and_then(|function| {
            let function: Host = std::mem::transmute(function);
            let (mut name, mut release) = (std::ptr::null(), std::ptr::null());
            function(&mut name, &mut release);
            Some((text(name)?, text(release)?))
        })
    };
    Some(Wine {
        version,
        build: ask(c"wine_get_build_id"),
        host,
    })
}

/// # Safety
/// `module` is loaded.
unsafe fn find(module: HMODULE, name: &CStr) -> Option<unsafe extern "system" fn() -> isize> {
    // SAFETY: the name ends with NUL, and the module is loaded.
    unsafe { GetProcAddress(module, name.as_ptr().cast()) }
}

/// # Safety
/// `start` is null or a string that ends with NUL.
unsafe fn text(start: *const c_char) -> Option<String> {
    // SAFETY: promised by the caller.
    (!start.is_null()).then(|| {
        unsafe { CStr::from_ptr(start) }
            .to_string_lossy()
            .into_owned()
    })
}

/// Page size, allocation granularity, and the processor's architecture (PROCESSOR_ARCHITECTURE_*).
pub fn native() -> (u32, u32, u16) {
    let mut information = SYSTEM_INFO::default();
    // SAFETY: the structure is valid to write to; the union's live field is the architecture.
    unsafe {
        GetNativeSystemInfo(&mut information);
        (
            information.dwPageSize,
            information.dwAllocationGranularity,
            information.Anonymous.Anonymous.wProcessorArchitecture,
        )
    }
}
