//! The built page, part of the binary. It is made from `web/` by `npm run build`; a test there checks that it equals its source.

use std::borrow::Cow;

/// A file of the page.
pub(crate) struct Asset {
    pub(crate) content: Cow<'static, [u8]>,
    pub(crate) kind: &'static str,
}

/// Names a folder whose files take the place of the built-in ones, for work on the page. Not in release builds.
#[cfg(debug_assertions)]
const FOLDER: &str = "SALTUS_STUDIO_PAGE";

macro_rules! assets {
    ($($path:literal = $file:literal, $kind:literal;)*) => {
        /// The file at a path of the server.
        pub(crate) fn asset(path: &str) -> Option<Asset> {
            let (file, content, kind): (_, &'static [u8], _) = match path {
                $($path => ($file, include_bytes!(concat!("../../../web/dist/", $file)), $kind),)*
                _ => return None,
            };
            Some(Asset { content: newer(file).unwrap_or(content.into()), kind })
        }
    };
}

assets! {
    "/" = "index.html", "text/html; charset=utf-8";
    "/main.js" = "main.js", "text/javascript; charset=utf-8";
    "/share.js" = "share.js", "text/javascript; charset=utf-8";
    "/space.js" = "space.js", "text/javascript; charset=utf-8";
    "/style.css" = "style.css", "text/css; charset=utf-8";
    "/favicon.svg" = "favicon.svg", "image/svg+xml";
}

#[cfg(debug_assertions)]
fn newer(file: &str) -> Option<Cow<'static, [u8]>> {
    let folder = std::env::var_os(FOLDER)?;
    let content = std::fs::read(std::path::Path::new(&folder).join(file));
    Some(content.ok()?.into())
}

#[cfg(not(debug_assertions))]
fn newer(_: &str) -> Option<Cow<'static, [u8]>> {
    None
}
