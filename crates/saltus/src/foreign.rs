//! External C functions of users: from shared libraries, and from C source where there is a compiler (specification 12.9).
//!
//! Comes in: the call of a function that is not built in, with what its annotation says about its code. Goes out: what it
//! returns, or why it is missing. In this order the function is looked for:
//! 1. in the shared libraries of `Library`, found in `LibraryDirectory`, its folder for this platform, or by the system;
//! 2. in what the C compiler makes of `Include` and of static libraries; the compiler is that of the environment variable
//!    CC, else `cc`, `gcc` or `clang`;
//!
//! A function without both annotations is not there, and a library gives its own functions only, not those of the libraries that it needs: what can be called is what
//! the model names.
//!
//! One set of annotations is one unit, whose static variables live as long as the compiled model. With a compiler the
//! functions of ModelicaUtilities.h are there, and `ModelicaError` ends the call; without one a library that needs them
//! cannot be loaded, which is said. Calls run one at a time.

use crate::private_folder::PrivateFolder;
use rustc_hash::FxHashMap;
use saltus_codegen::{Bridges, CallError, Guard};
use saltus_ir::eval::ExternalError;
use saltus_ir::external::{ForeignCall, ForeignReply};
use saltus_ir::func::ForeignCode;
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};

const HEADER: &str = include_str!("foreign.h");
const UTILITIES: &str = include_str!("foreign.c");
/// Bytes of what a compiler says that a message quotes.
const QUOTE_MAX: usize = 1500;

/// What a call needs once it is known where the function is.
#[derive(Clone, Copy)]
struct Address(*const c_void);

// SAFETY: an address of code; the code is called under a lock only.
unsafe impl Send for Address {}

/// An open shared library; closed when dropped.
struct Library(*mut c_void);

// SAFETY: the loader of the system may be used from any thread.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: the handle came from `dlopen`; whoever has an address from it has this library too.
        unsafe { libc::dlclose(self.0) };
    }
}

impl Library {
    fn open(path: &Path, global: bool) -> Result<Library, String> {
        let text = CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(|_| "a file name with a zero in it".to_string())?;
        let scope = if global {
            libc::RTLD_GLOBAL
        } else {
            libc::RTLD_LOCAL
        };
        // SAFETY: loads the code that the model asks for.
        let handle = unsafe { libc::dlopen(text.as_ptr(), libc::RTLD_NOW | scope) };
        if !handle.is_null() {
            return Ok(Library(handle));
        }
        // SAFETY: the text of the last error of this thread, copied at once.
        let why = unsafe { libc::dlerror() };
        if why.is_null() {
            return Err("it cannot be loaded".into());
        }
        // SAFETY: as above.
        Err(unsafe { CStr::from_ptr(why) }
            .to_string_lossy()
            .into_owned())
    }

    /// A function of this library, not of those that it needs.
    fn symbol(&self, name: &str) -> Option<Address> {
        let text = CString::new(name).ok()?;
        // SAFETY: looks a name up; nothing is called.
        let address = unsafe { libc::dlsym(self.0, text.as_ptr()) };
        (!address.is_null() && self.owns(address)).then_some(Address(address))
    }

    /// Whether an address lies in this library: both have one name for the loader.
    #[cfg(target_os = "linux")]
    fn owns(&self, address: *mut c_void) -> bool {
        /// The beginning of the loader's `struct link_map`.
        #[repr(C)]
        struct LinkMap {
            address: usize,
            name: *const c_char,
        }
        let mut map: *const LinkMap = std::ptr::null();
        // SAFETY: all zeros are a valid value of this plain structure.
        let mut about: libc::Dl_info = unsafe { std::mem::zeroed() };
        // SAFETY: the handle is open, and both pointers are to live variables of this function.
        let found = unsafe {
            libc::dlinfo(self.0, libc::RTLD_DI_LINKMAP, (&raw mut map).cast()) == 0
                && libc::dladdr(address, &mut about) != 0
        };
        // SAFETY: the loader's texts end with a zero and live as long as the library.
        found
            && !map.is_null()
            && unsafe { CStr::from_ptr((*map).name) == CStr::from_ptr(about.dli_fname) }
    }

    #[cfg(not(target_os = "linux"))]
    fn owns(&self, _address: *mut c_void) -> bool {
        true
    }
}

/// Libraries of the C standard, whose files have names of their own.
#[cfg(target_os = "linux")]
const SYSTEM_LIBRARIES: [(&str, &str); 5] = [
    ("c", "libc.so.6"),
    ("m", "libm.so.6"),
    ("dl", "libdl.so.2"),
    ("pthread", "libpthread.so.0"),
    ("rt", "librt.so.1"),
];
#[cfg(not(target_os = "linux"))]
const SYSTEM_LIBRARIES: [(&str, &str); 0] = [];

/// The code of one set of annotations.
struct Unit {
    libraries: Vec<Library>,
    /// Static libraries.
    archives: Vec<PathBuf>,
    compiled: Vec<Library>,
}

/// Finds and calls foreign functions; one per compiled model.
#[derive(Default)]
pub(crate) struct Foreign {
    bridges: OnceLock<Option<Bridges>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    units: FxHashMap<ForeignCode, Unit>,
    found: FxHashMap<(ForeignCode, String), Address>,
}

/// The functions of ModelicaUtilities.h, compiled once per process.
struct Utilities {
    guard: Guard,
    last_words: unsafe extern "C" fn() -> *const c_char,
    said: unsafe extern "C" fn() -> *const c_char,
    release: unsafe extern "C" fn(),
}

static UTILITIES_LOADED: OnceLock<Result<Utilities, String>> = OnceLock::new();
/// Foreign code runs in one thread at a time.
static CALLS: Mutex<()> = Mutex::new(());

impl Foreign {
    /// Calls a function; `resolve` turns a URI into a path.
    pub(crate) fn call(
        &self,
        call: &ForeignCall<'_>,
        resolve: &dyn Fn(&str) -> Result<PathBuf, String>,
    ) -> Result<ForeignReply, ExternalError> {
        if call.language != "C" {
            return Err(ExternalError::Missing(format!(
                "the external function `{}` is written in {}: only C can be called",
                call.name, call.language
            )));
        }
        // A panic elsewhere leaves nothing half done.
        let _one_at_a_time = CALLS.lock().unwrap_or_else(|e| e.into_inner());
        let address = self.find(call, resolve).map_err(ExternalError::Missing)?;
        let Some(bridges) = self.bridges.get_or_init(Bridges::new) else {
            return Err(ExternalError::Missing(format!(
                "the external function `{}` cannot be called: no machine code can be made for this machine",
                call.name
            )));
        };
        let utilities = utilities().as_ref().ok();
        // SAFETY: that the function has these parameters is what its declaration in the model promises.
        let returned = unsafe { bridges.call(address.0, call, utilities.map(|u| u.guard)) };
        let messages = utilities.map_or_else(Vec::new, |u| {
            // SAFETY: the text is copied before it is given back.
            unsafe { words((u.said)()) }
                .lines()
                .map(str::to_owned)
                .collect()
        });
        let reply = match returned {
            Ok(returned) => Ok(ForeignReply {
                result: returned.result,
                outputs: returned.outputs,
                messages,
            }),
            Err(CallError::Type(why)) => Err(ExternalError::Failed(why)),
            Err(CallError::GaveUp) => Err(ExternalError::Failed(match utilities {
                // SAFETY: as above.
                Some(u) => unsafe { words((u.last_words)()) },
                None => "it gave up".into(),
            })),
        };
        if let Some(u) = utilities {
            // SAFETY: texts of the call were copied into the reply.
            unsafe { (u.release)() };
        }
        reply
    }

    fn find(
        &self,
        call: &ForeignCall<'_>,
        resolve: &dyn Fn(&str) -> Result<PathBuf, String>,
    ) -> Result<Address, String> {
        let (name, code) = (call.name, call.code);
        let state = &mut *self.state.lock().unwrap_or_else(|e| e.into_inner());
        let key = (code.clone(), name.to_owned());
        if let Some(address) = state.found.get(&key) {
            return Ok(*address);
        }
        // Before any library that may need them.
        let utilities = utilities();
        let unit = match state.units.entry(code.clone()) {
            std::collections::hash_map::Entry::Occupied(unit) => unit.into_mut(),
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(Unit::open(name, code, resolve, utilities)?)
            }
        };
        let address = unit.find(name, code, resolve)?;
        state.found.insert(key, address);
        Ok(address)
    }
}

impl Unit {
    /// Opens the libraries.
    fn open(
        name: &str,
        code: &ForeignCode,
        resolve: &dyn Fn(&str) -> Result<PathBuf, String>,
        utilities: &Result<Utilities, String>,
    ) -> Result<Unit, String> {
        let mut unit = Unit {
            libraries: Vec::new(),
            archives: Vec::new(),
            compiled: Vec::new(),
        };
        let mut folders = Vec::new();
        for folder in &code.library_directories {
            let folder = resolve(folder)?;
            folders.extend([folder.join(platform()), folder]);
        }
        for library in &code.libraries {
            let file = format!(
                "{}{library}{}",
                std::env::consts::DLL_PREFIX,
                std::env::consts::DLL_SUFFIX
            );
            let shared = folders.iter().map(|f| f.join(&file)).find(|p| p.is_file());
            let archive = (folders.iter())
                .map(|f| f.join(format!("lib{library}.a")))
                .find(|p| p.is_file());
            let opened = match (shared, archive) {
                (Some(path), _) => Library::open(&path, true),
                (None, Some(path)) => {
                    unit.archives.push(path);
                    continue;
                }
                (None, None) => {
                    let system = SYSTEM_LIBRARIES
                        .iter()
                        .find(|(name, _)| **name == **library);
                    Library::open(Path::new(system.map_or(&*file, |(_, file)| file)), true)
                }
            };
            match opened {
                Ok(library) => unit.libraries.push(library),
                Err(why) => {
                    let hint = match utilities {
                        Err(no_compiler) if why.contains("Modelica") => {
                            format!(
                                "; the functions of ModelicaUtilities.h need a C compiler: {no_compiler}"
                            )
                        }
                        _ => String::new(),
                    };
                    return Err(format!(
                        "the library `{library}` of the external function `{name}` cannot be loaded: {why}{hint}; it was looked for as `{file}` in {} and by the system",
                        list(&folders)
                    ));
                }
            }
        }
        Ok(unit)
    }

    fn find(
        &mut self,
        name: &str,
        code: &ForeignCode,
        resolve: &dyn Fn(&str) -> Result<PathBuf, String>,
    ) -> Result<Address, String> {
        let known = (self.libraries.iter().chain(&self.compiled)).find_map(|l| l.symbol(name));
        if let Some(address) = known {
            return Ok(address);
        }
        if code.include.is_empty() && self.archives.is_empty() {
            let missing = format!("the external function `{name}` is not there");
            return Err(match code.libraries[..] {
                [] => format!(
                    "{missing}: it is none of those built in, and its annotation names neither `Library` nor `Include`; for a function of the C library write `annotation(Library = \"c\")`, for one of its mathematical part `Library = \"m\"`"
                ),
                _ => format!(
                    "{missing}: none of the libraries {:?} has it",
                    code.libraries
                ),
            });
        }
        let address_of = format!("saltus_address_of_{name}");
        let mut text = String::from("#include \"ModelicaUtilities.h\"\n");
        for lines in &code.include {
            text.push_str(lines);
            text.push('\n');
        }
        if code.include.is_empty() {
            text.push_str(&format!("extern void {name}(void);\n"));
        }
        text.push_str(&format!(
            "void *{address_of}(void) {{ return (void *)({name}); }}\n"
        ));
        let folders = (code.include_directories.iter())
            .map(|folder| resolve(folder))
            .collect::<Result<Vec<PathBuf>, String>>()?;
        let library = compile(&text, &folders, &self.archives, false)
            .map_err(|why| format!("the external function `{name}` cannot be compiled: {why}"))?;
        let ask = library
            .symbol(&address_of)
            .ok_or("its address is missing")?;
        // SAFETY: the function compiled above has this type.
        let ask = unsafe {
            std::mem::transmute::<*const c_void, unsafe extern "C" fn() -> *const c_void>(ask.0)
        };
        // SAFETY: it returns an address.
        let address = Address(unsafe { ask() });
        self.compiled.push(library);
        Ok(address)
    }
}

fn utilities() -> &'static Result<Utilities, String> {
    UTILITIES_LOADED.get_or_init(|| {
        let library = compile(UTILITIES, &[], &[], true)?;
        let find = |name| library.symbol(name).ok_or("a utility function is missing");
        // SAFETY: the types are those of foreign.c.
        let utilities = unsafe {
            use std::mem::transmute;
            Utilities {
                guard: transmute::<*const c_void, Guard>(find("saltus_guard")?.0),
                last_words: transmute::<*const c_void, unsafe extern "C" fn() -> *const c_char>(
                    find("saltus_last_words")?.0,
                ),
                said: transmute::<*const c_void, unsafe extern "C" fn() -> *const c_char>(
                    find("saltus_said")?.0,
                ),
                release: transmute::<*const c_void, unsafe extern "C" fn()>(
                    find("saltus_release")?.0,
                ),
            }
        };
        // Other code refers to it until the process ends.
        std::mem::forget(library);
        Ok(utilities)
    })
}

/// A copy of a text of C.
///
/// # Safety
/// The text ends with a zero.
unsafe fn words(text: *const c_char) -> String {
    // SAFETY: promised by the caller.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

/// Compiles C text to a shared library and loads it.
fn compile(
    text: &str,
    include: &[PathBuf],
    archives: &[PathBuf],
    global: bool,
) -> Result<Library, String> {
    // The system keeps what is loaded when the folder is gone.
    let scratch = PrivateFolder::new("c").map_err(|e| e.to_string())?;
    let folder = scratch.path();
    let in_folder = |e: std::io::Error| format!("{}: {e}", folder.display());
    std::fs::write(folder.join("ModelicaUtilities.h"), HEADER).map_err(in_folder)?;
    let (source, made) = (folder.join("unit.c"), folder.join("unit.so"));
    std::fs::write(&source, text).map_err(in_folder)?;
    run_compiler(&source, &made, folder, include, archives)?;
    Library::open(&made, global)
}

fn run_compiler(
    source: &Path,
    made: &Path,
    folder: &Path,
    include: &[PathBuf],
    archives: &[PathBuf],
) -> Result<(), String> {
    let stated = std::env::var("CC").ok().filter(|name| !name.is_empty());
    let names: Vec<&str> = match &stated {
        Some(name) => vec![name],
        None => vec!["cc", "gcc", "clang"],
    };
    for name in &names {
        let mut command = Command::new(name);
        // Intermediate files of the compiler stay in the folder too.
        command.env("TMPDIR", folder);
        command.args(["-shared", "-fPIC", "-O2", "-o"]).arg(made);
        for folder in std::iter::once(folder).chain(include.iter().map(PathBuf::as_path)) {
            command.arg("-I").arg(folder);
        }
        command.arg(source).args(archives).arg("-lm");
        match command.output() {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
            Err(e) => return Err(format!("`{name}`: {e}")),
            Ok(output) if output.status.success() => return Ok(()),
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr);
                let quote: String = said.chars().take(QUOTE_MAX).collect();
                return Err(format!("`{name}` says\n{}", quote.trim_end()));
            }
        }
    }
    Err(format!(
        "there is no C compiler (looked for {}); install one, name it by the environment variable CC, or give the function in a shared library by the annotations `Library` and `LibraryDirectory`",
        names.join(", ")
    ))
}

/// The folder for this platform inside of `LibraryDirectory` (specification 12.9.4).
fn platform() -> String {
    let system = if cfg!(target_os = "macos") {
        "darwin"
    } else {
        "linux"
    };
    match (system, std::env::consts::ARCH) {
        ("linux", "aarch64") => "aarch64-linux".into(),
        _ => format!("{system}{}", usize::BITS),
    }
}

fn list(folders: &[PathBuf]) -> String {
    if folders.is_empty() {
        return "no folder".into();
    }
    let quoted: Vec<String> = (folders.iter())
        .map(|folder| format!("`{}`", folder.display()))
        .collect();
    quoted.join(", ")
}
