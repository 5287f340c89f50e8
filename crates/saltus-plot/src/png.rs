//! Pictures as PNG, for those who cannot use SVG (cargo feature `png`).

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

use crate::PlotError;

/// Draws an SVG of this crate, `scale` pixels for each of its own. Reads the fonts of the system; the text needs one.
pub fn to_png(svg: &str, scale: f32) -> Result<Vec<u8>, PlotError> {
    let failed = |what: String| PlotError::Drawing(what);
    let mut options = Options::default();
    options.fontdb_mut().load_system_fonts();
    if options.fontdb.is_empty() {
        return Err(failed("no font is installed".to_owned()));
    }
    // The families named in the picture may be missing; any sans-serif will do.
    let family = options.fontdb.faces().find_map(|face| {
        let (name, _) = face.families.first()?;
        name.to_lowercase().contains("sans").then(|| name.clone())
    });
    if let Some(family) = family {
        options.fontdb_mut().set_sans_serif_family(family);
    }
    let tree = Tree::from_str(svg, &options).map_err(|e| failed(e.to_string()))?;
    let size = tree.size();
    let pixels = |length: f32| (length * scale).round() as u32;
    let mut picture = Pixmap::new(pixels(size.width()), pixels(size.height()))
        .ok_or_else(|| failed("the picture has no size".to_owned()))?;
    resvg::render(
        &tree,
        Transform::from_scale(scale, scale),
        &mut picture.as_mut(),
    );
    picture.encode_png().map_err(|e| failed(e.to_string()))
}
