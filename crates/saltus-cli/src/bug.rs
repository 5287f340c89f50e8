//! A panic is a bug in Saltus: say so, briefly, and how to report it. `main` turns it into exit code 4.

use crate::exit;

pub(crate) fn install_hook() {
    std::panic::set_hook(Box::new(|info| {
        let place = info
            .location()
            .map_or_else(String::new, |l| format!(" ({}:{})", l.file(), l.line()));
        let payload = info.payload();
        let what = payload
            .downcast_ref::<&str>()
            .map(|s| (*s).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".into());
        exit::message(&format!(
            "this is a bug in Saltus {version}: {what}{place}\n\
             please report it with the model that shows it",
            version = env!("CARGO_PKG_VERSION"),
        ));
    }));
}
