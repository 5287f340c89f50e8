//! The model of an FMU, read once for all its instances.

use saltus::{Model, ValueType, VariableInfo};
use saltus_fmi::MODEL_FILE;
use saltus_fmi::interface::{Interface, ValueReference};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

pub(crate) struct Loaded {
    pub(crate) model: Model,
    pub(crate) interface: Interface,
    pub(crate) token: String,
}

impl Loaded {
    pub(crate) fn variable(&self, reference: ValueReference) -> Result<&VariableInfo, String> {
        self.interface
            .variable(reference)
            .ok_or_else(|| format!("there is no variable with the value reference {reference}"))
    }

    /// The same, if it is of a type that `fits`.
    pub(crate) fn typed(
        &self,
        reference: ValueReference,
        fits: impl Fn(ValueType) -> bool,
    ) -> Result<&VariableInfo, String> {
        let variable = self.variable(reference)?;
        match fits(variable.ty) {
            true => Ok(variable),
            false => Err(format!(
                "`{}` is {:?}, and the function is for another type",
                variable.name, variable.ty
            )),
        }
    }
}

/// Models in use, by the folder that they come from.
static IN_USE: Mutex<Vec<(PathBuf, Weak<Loaded>)>> = Mutex::new(Vec::new());

/// The model of a folder `resources`. It is read again when no instance uses it any more.
pub(crate) fn load(resources: &Path) -> Result<Arc<Loaded>, String> {
    let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
    in_use.retain(|(_, loaded)| loaded.strong_count() > 0);
    let known = in_use.iter().find(|(folder, _)| folder == resources);
    if let Some(loaded) = known.and_then(|(_, loaded)| loaded.upgrade()) {
        return Ok(loaded);
    }
    let file = resources.join(MODEL_FILE);
    let bytes = std::fs::read(&file).map_err(|e| {
        format!(
            "the model of the FMU cannot be read: `{}`: {e}",
            file.display()
        )
    })?;
    let model = Model::from_bytes(&bytes).map_err(|error| error.to_string())?;
    let loaded = Arc::new(Loaded {
        interface: Interface::new(&model),
        token: saltus_fmi::token(&bytes),
        model,
    });
    in_use.push((resources.to_owned(), Arc::downgrade(&loaded)));
    Ok(loaded)
}
