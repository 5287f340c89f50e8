//! A folder with a model, as an FMU unpacks it, and the library opened.

use libloading::Library;
use saltus::{Model, Session};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

pub(crate) const BALL: &str = "
model Ball
  parameter Real e(min = 0, max = 1) = 0.8;
  parameter Real h0 = 1;
  parameter String label = \"ball\";
  input Real push(start = 0);
  output Real h(start = h0, fixed = true);
  Real v(start = 0, fixed = true);
  output Integer n(start = 0, fixed = true);
  Boolean up = v > 0;
equation
  der(h) = v;
  der(v) = -9.81 + push;
  when h < 0 then
    reinit(v, -e*pre(v));
    n = pre(n) + 1;
  end when;
  assert(v > -9.5, \"too fast\", AssertionLevel.warning);
  when h > 100 then
    terminate(\"gone\");
  end when;
end Ball;";

/// The first impact of the ball from 1 m, and the speed before it.
pub(crate) fn first_impact() -> (f64, f64) {
    ((2.0 / 9.81_f64).sqrt(), (2.0 * 9.81_f64).sqrt())
}

/// A model in a folder of its own, which goes away with it.
pub(crate) struct Host {
    pub(crate) model: Model,
    pub(crate) library: Library,
    folder: PathBuf,
    pub(crate) token: CString,
}

impl Host {
    pub(crate) fn new(text: &str, class: &str) -> Host {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("saltus fmu {} {number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for the test");
        let mut session = Session::new();
        session.set_text("model.mo", text);
        let model = session.compile(class).expect("the model is right");
        let bytes = model.without_source().to_bytes();
        std::fs::write(folder.join(saltus_fmi::MODEL_FILE), &bytes)
            .expect("the folder can be written");
        // SAFETY: the library is ours, and opening it runs nothing.
        let library = unsafe { Library::new(library_path()) }.expect("cargo has built the library");
        Host {
            model,
            library,
            folder,
            token: CString::new(saltus_fmi::token(&bytes)).expect("no zero byte"),
        }
    }

    /// The number of a variable.
    pub(crate) fn reference(&self, name: &str) -> u32 {
        let interface = saltus_fmi::Interface::new(&self.model);
        let found = interface.variables().find(|(_, v)| v.name == name);
        found
            .unwrap_or_else(|| panic!("the model has a variable `{name}`"))
            .0
    }

    /// A function of the library.
    pub(crate) fn function<F: Copy>(&self, name: &CStr) -> F {
        // SAFETY: the types in the tests are those of the standard.
        *unsafe { self.library.get::<F>(name.to_bytes_with_nul()) }.expect("the function is there")
    }

    pub(crate) fn resources(&self) -> CString {
        CString::new(self.folder.to_str().expect("UTF-8")).expect("no zero byte")
    }

    pub(crate) fn resources_uri(&self) -> CString {
        let path = self.folder.to_str().expect("UTF-8").replace(' ', "%20");
        CString::new(format!("file://{path}")).expect("no zero byte")
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Beside the test program.
fn library_path() -> PathBuf {
    let program = std::env::current_exe().expect("the test program has a path");
    program.with_file_name(saltus_fmi::library_name())
}

/// What instances have said.
pub(crate) static SAID: Mutex<Vec<(c_int, String)>> = Mutex::new(Vec::new());

pub(crate) fn said() -> Vec<(c_int, String)> {
    std::mem::take(&mut *SAID.lock().unwrap_or_else(PoisonError::into_inner))
}

pub(crate) fn note(status: c_int, message: *const c_char) {
    // SAFETY: a message ends with a zero byte.
    let text = unsafe { CStr::from_ptr(message) }
        .to_string_lossy()
        .into_owned();
    SAID.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push((status, text));
}

pub(crate) extern "C" fn log3(
    _: *mut c_void,
    status: c_int,
    _: *const c_char,
    message: *const c_char,
) {
    note(status, message);
}
