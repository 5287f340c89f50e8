//! An FMU holds the library without symbols: they are two thirds of it, and nobody reads them there.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,--strip-all");
    }
}
