//! Pictures in the format that the ending of a file asks for.

use std::io::Write;
use std::path::Path;

use crate::exit::Failure;
use crate::files;

/// Of a picture, by the end of its file's name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PictureFormat {
    Svg,
    Pdf,
    Png,
}

/// Pixels of a PNG for one of the SVG.
#[cfg(feature = "png")]
const PNG_SCALE: f32 = 2.0;

impl PictureFormat {
    pub(crate) fn of(path: &Path) -> Result<PictureFormat, Failure> {
        let ending = path.extension().map(|e| e.to_ascii_lowercase());
        match ending.as_ref().and_then(|e| e.to_str()) {
            Some("svg") => Ok(PictureFormat::Svg),
            Some("pdf") => Ok(PictureFormat::Pdf),
            Some("png") if cfg!(feature = "png") => Ok(PictureFormat::Png),
            Some("png") => Err(Failure::command_line(format!(
                "`{}`: this program was built without the feature `png`; pictures end with .svg or .pdf",
                path.display()
            ))),
            _ => Err(Failure::command_line(format!(
                "`{}`: pictures are SVG, PDF or PNG: their names end with .svg, .pdf or .png",
                path.display()
            ))),
        }
    }

    fn bytes(self, svg: String) -> Result<Vec<u8>, Failure> {
        match self {
            PictureFormat::Svg => Ok(svg.into_bytes()),
            PictureFormat::Pdf => saltus_plot::to_pdf(&svg).map_err(Failure::command_line),
            #[cfg(feature = "png")]
            PictureFormat::Png => {
                saltus_plot::to_png(&svg, PNG_SCALE).map_err(Failure::command_line)
            }
            #[cfg(not(feature = "png"))]
            PictureFormat::Png => unreachable!("refused by its ending"),
        }
    }
}

/// Writes a picture in the format of its ending.
pub(crate) fn write_picture(path: &Path, svg: String) -> Result<(), Failure> {
    let bytes = PictureFormat::of(path)?.bytes(svg)?;
    files::write_file(path, |out| out.write_all(&bytes))
}
