//! The modules of one worker: its program and every val that it imports, as files in its folder.

mod locks;

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, OnceLock, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
};

use hamlet_models::RunError;
use url::Url;

use crate::{
    BoxError, ModuleSource, Program, ProgramKey, RuntimeError, ValReference,
    compile::{
        Compiled, Compiler, Form, RemoteImport, Specifier, import_mark, module_file, read_specifier,
        thrown_at,
    },
    shared::Shared,
    stock::Stock,
};

/// Vals that one worker may load, and names by which it may ask for them.
const MOST_MODULES: usize = 1000;
/// What every module's file name has in it.
const FILE_MARK: &str = "hamlet-module-";

/// Why a program could not be made ready.
pub(crate) enum LinkError {
    /// The val's own fault.
    Broken(RunError),
    /// Ours.
    Fault(RuntimeError),
}

/// What a worker has loaded or is about to, and where more comes from.
pub(crate) struct Modules {
    compiler: Compiler,
    stock: Arc<Stock>,
    source: Arc<dyn ModuleSource>,
    bootstrap_url: String,
    dir: OnceLock<PathBuf>,
    loaded: RwLock<Vec<Module>>,
    /// What the worker has to be started with, if what is imported from elsewhere could lead to something else.
    lock: Option<Arc<str>>,
    /// Held while modules are added, so that one val is loaded once.
    adding: tokio::sync::Mutex<Adding>,
    imported: Mutex<Arc<Vec<Imported>>>,
    /// Whether there is anything in `imported`, for those who ask at every request.
    imports_vals: AtomicBool,
}

/// What a worker's import of a val led to.
pub(crate) type Imported = (ValReference, ProgramKey);

struct Module {
    key: ProgramKey,
    url: String,
    compiled: Arc<Compiled>,
    /// The files of the vals that it imports, by their marks.
    files: Vec<usize>,
}

#[derive(Default)]
struct Adding {
    by_program: HashMap<(ProgramKey, String), usize>,
    by_reference: HashMap<ValReference, usize>,
    /// Modules before this one are files already.
    written: usize,
}

impl Modules {
    /// Compiles a program and all that it imports, and has fetched what that imports from elsewhere; nothing is written
    /// yet.
    pub(crate) async fn link(
        shared: &Shared,
        source: Arc<dyn ModuleSource>,
        program: &Program,
        form: Form,
    ) -> Result<Self, LinkError> {
        let mut modules = Self {
            compiler: shared.compiler.clone(),
            stock: shared.stock.clone(),
            source,
            bootstrap_url: dir_url(shared.nursery.launch.bootstrap_dir()),
            dir: OnceLock::new(),
            loaded: RwLock::default(),
            lock: None,
            adding: tokio::sync::Mutex::default(),
            imported: Mutex::default(),
            imports_vals: AtomicBool::new(false),
        };
        let mut adding = modules.adding.lock().await;
        modules.add(&mut adding, program, form).await?;
        drop(adding);
        modules.lock = modules.locked().await?;
        Ok(modules)
    }

    /// Writes the files; gives the address of the program's own.
    pub(crate) async fn install(&self, dir: &Path) -> io::Result<String> {
        let dir = self.dir.get_or_init(|| dir.to_owned());
        self.write_new(&mut *self.adding.lock().await, dir)?;
        Ok(file_url(dir, 0))
    }

    /// Whether any val was imported up to now.
    pub(crate) fn imports_vals(&self) -> bool {
        self.imports_vals.load(Ordering::Acquire)
    }

    /// What every import of a val led to up to now, to see whether a warm worker still has the right versions.
    pub(crate) fn imported(&self) -> Arc<Vec<Imported>> {
        self.imported
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn note_import(&self, reference: &ValReference, key: &ProgramKey) {
        let mut imported = self.imported.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(&mut imported).push((reference.clone(), key.clone()));
        self.imports_vals.store(true, Ordering::Release);
    }

    /// An import at run time: the address of the module, or a sentence that says why there is none.
    pub(crate) async fn import(&self, importer: &str, specifier: &str) -> Result<String, String> {
        let reference = match read_specifier(specifier, importer, self.compiler.hosts()) {
            Specifier::Val(reference) => reference,
            Specifier::Direct(text) => {
                let import = RemoteImport::read(&text, None);
                self.stock.fetch(import.into_iter().collect()).await;
                return Ok(text);
            }
            Specifier::Refused(why) => return Err(why),
        };
        let ours = |cause: BoxError| {
            tracing::error!(%cause, "a module could not be added to a worker");
            format!("{specifier:?} could not be loaded")
        };
        let mut adding = self.adding.lock().await;
        let index = match adding.by_reference.get(&reference) {
            Some(index) => *index,
            // One val has many names: each costs a look at every request to come.
            None if adding.by_reference.len() >= MOST_MODULES => {
                return Err(format!("a val may import vals by at most {MOST_MODULES} names"));
            }
            None => {
                let found = self.source.module(&reference).await.map_err(ours)?;
                let program = found.ok_or_else(|| missing(&reference, specifier))?;
                let index =
                    self.add(&mut adding, &program, Form::Module)
                        .await
                        .map_err(|error| match error {
                            LinkError::Broken(error) => format!("{}: {}", error.name, error.stack),
                            LinkError::Fault(cause) => ours(cause.into()),
                        })?;
                self.note_import(&reference, &program.key);
                adding.by_reference.insert(reference, index);
                index
            }
        };
        let dir = self
            .dir
            .get()
            .ok_or_else(|| format!("{specifier:?} was imported too early"))?;
        // The worker goes by the lock that it was started with, and else by what the cache has.
        self.stock.fetch(self.new_remote(&adding)).await;
        self.write_new(&mut adding, dir)
            .map_err(|cause| ours(cause.into()))?;
        Ok(file_url(dir, index))
    }

    /// Adds a program with all that it imports, each once, or nothing.
    async fn add(&self, adding: &mut Adding, program: &Program, form: Form) -> Result<usize, LinkError> {
        let before = self.loaded.read().unwrap_or_else(PoisonError::into_inner).len();
        let imported_before = self.imported().len();
        let added = self.add_all(adding, program, form).await;
        if added.is_err() {
            self.loaded
                .write()
                .unwrap_or_else(PoisonError::into_inner)
                .truncate(before);
            adding.by_program.retain(|_, index| *index < before);
            adding.by_reference.retain(|_, index| *index < before);
            let mut imported = self.imported.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::make_mut(&mut imported).truncate(imported_before);
        }
        added
    }

    /// Goes through the imports of imports; they may go round in circles.
    async fn add_all(&self, adding: &mut Adding, program: &Program, form: Form) -> Result<usize, LinkError> {
        let first = match self.place(adding, program, form).await? {
            (index, false) => return Ok(index),
            (index, true) => index,
        };
        let mut next = first;
        while let Some((compiled, url)) = self.module(next) {
            let mut files = Vec::with_capacity(compiled.imports.len());
            for (import, (line, column)) in compiled.imports.iter().zip(&compiled.positions) {
                let index = match adding.by_reference.get(&import.reference) {
                    Some(index) => *index,
                    None => {
                        let found = self.source.module(&import.reference).await;
                        let found = found.map_err(|cause| LinkError::Fault(RuntimeError::Modules(cause)))?;
                        let Some(imported) = found else {
                            let why = missing(&import.reference, &import.specifier);
                            return Err(LinkError::Broken(thrown_at(
                                "TypeError",
                                &why,
                                &url,
                                *line,
                                *column,
                            )));
                        };
                        let (index, _) = self.place(adding, &imported, Form::Module).await?;
                        adding.by_reference.insert(import.reference.clone(), index);
                        self.note_import(&import.reference, &imported.key);
                        index
                    }
                };
                files.push(index);
            }
            if let Some(module) = self
                .loaded
                .write()
                .unwrap_or_else(PoisonError::into_inner)
                .get_mut(next)
            {
                module.files = files;
            }
            next += 1;
        }
        Ok(first)
    }

    /// The place of a program among the modules; says whether it is new there.
    async fn place(
        &self,
        adding: &mut Adding,
        program: &Program,
        form: Form,
    ) -> Result<(usize, bool), LinkError> {
        let key = (program.key.clone(), program.url.clone());
        if let Some(index) = adding.by_program.get(&key) {
            return Ok((*index, false));
        }
        let compiled = self.compiler.compile(program, form).await;
        let compiled = compiled.map_err(|error| LinkError::Broken((*error).clone()))?;
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        if loaded.len() == MOST_MODULES {
            let why = format!("a val may import at most {MOST_MODULES} vals, with those that they import");
            return Err(LinkError::Broken(thrown_at(
                "TypeError",
                &why,
                &program.url,
                1,
                1,
            )));
        }
        let index = loaded.len();
        loaded.push(Module {
            key: program.key.clone(),
            url: program.url.clone(),
            compiled,
            files: Vec::new(),
        });
        adding.by_program.insert(key, index);
        Ok((index, true))
    }

    fn module(&self, index: usize) -> Option<(Arc<Compiled>, String)> {
        let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner);
        loaded
            .get(index)
            .map(|module| (module.compiled.clone(), module.url.clone()))
    }

    /// What the modules that are no files yet import from elsewhere.
    fn new_remote(&self, adding: &Adding) -> Vec<RemoteImport> {
        let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner);
        let new = loaded.iter().skip(adding.written);
        new.flat_map(|module| module.compiled.remote.clone()).collect()
    }

    fn write_new(&self, adding: &mut Adding, dir: &Path) -> io::Result<()> {
        let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner);
        for (index, module) in loaded.iter().enumerate().skip(adding.written) {
            let path = dir.join(module_file(index));
            if module.files.is_empty() {
                fs::write(path, &module.compiled.code)?;
            } else {
                let imports = module.files.iter().enumerate();
                let code = imports.fold(module.compiled.code.clone(), |code, (mark, file)| {
                    code.replace(&import_mark(mark), &module_file(*file))
                });
                fs::write(path, code)?;
            }
        }
        adding.written = loaded.len();
        Ok(())
    }

    /// The text with the public addresses of vals in place of this worker's files, and without the frames of the
    /// worker's own modules.
    pub(crate) fn clean(&self, text: String) -> String {
        let ours = text.contains(&self.bootstrap_url);
        if !ours && !text.contains(FILE_MARK) {
            return text;
        }
        let mut kept = Vec::new();
        for line in text.split('\n') {
            if ours && line.trim_start().starts_with("at ") && line.contains(&self.bootstrap_url) {
                continue;
            }
            kept.push(self.clean_line(line));
        }
        kept.join("\n")
    }

    /// An error as its val's author may see it: with [`Modules::clean`], and without the engine's frames that only
    /// called the val.
    pub(crate) fn clean_error(&self, error: RunError) -> RunError {
        let mut stack = self.clean(error.stack);
        while let Some((above, last)) = stack.rsplit_once('\n')
            && last.trim_start().starts_with("at ")
            && last.contains("ext:")
        {
            stack.truncate(above.len());
        }
        RunError {
            name: error.name,
            message: self.clean(error.message),
            stack,
        }
    }

    fn clean_line(&self, line: &str) -> String {
        let dir_url = self.dir.get().map(|dir| dir_url(dir)).unwrap_or_default();
        let mut clean = String::with_capacity(line.len());
        let mut rest = line;
        while let Some(at) = rest.find(FILE_MARK) {
            let (before, from) = rest.split_at(at);
            let Some((index, after)) = read_file_name(from) else {
                clean.push_str(&rest[..at + FILE_MARK.len()]);
                rest = &rest[at + FILE_MARK.len()..];
                continue;
            };
            let Some((compiled, url)) = self.module(index) else {
                clean.push_str(&rest[..rest.len() - after.len()]);
                rest = after;
                continue;
            };
            let before = before
                .strip_suffix(&dir_url)
                .filter(|_| !dir_url.is_empty())
                .unwrap_or(before);
            clean.push_str(before.strip_suffix("./").unwrap_or(before));
            clean.push_str(&url);
            rest = after;
            if let Some((line, column, after)) = read_position(after) {
                let (line, column) = compiled.original(line, column).unwrap_or((line, column));
                clean.push_str(&format!(":{line}:{column}"));
                rest = after;
            }
        }
        clean.push_str(rest);
        clean
    }
}

/// The index in `hamlet-module-00012.mjs`, and what comes after the name.
fn read_file_name(text: &str) -> Option<(usize, &str)> {
    let digits = text.get(FILE_MARK.len()..FILE_MARK.len() + 5)?;
    let after = text.get(FILE_MARK.len() + 5..)?.strip_prefix(".mjs")?;
    Some((digits.parse().ok()?, after))
}

/// The numbers in `:12:3`, and what comes after them.
fn read_position(text: &str) -> Option<(u32, u32, &str)> {
    let number = |text: &str| -> Option<(u32, usize)> {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        Some((text[..end].parse().ok()?, end))
    };
    let text = text.strip_prefix(':')?;
    let (line, end) = number(text)?;
    let text = text[end..].strip_prefix(':')?;
    let (column, end) = number(text)?;
    Some((line, column, &text[end..]))
}

fn missing(reference: &ValReference, specifier: &str) -> String {
    format!("there is no val {reference} that this val may import, as {specifier:?} asks for")
}

fn file_url(dir: &Path, index: usize) -> String {
    format!("{}{}", dir_url(dir), module_file(index).trim_start_matches("./"))
}

/// The address of a folder, with a slash at its end.
fn dir_url(dir: &Path) -> String {
    Url::from_directory_path(dir)
        .map(String::from)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_positions_are_read_exactly() {
        assert_eq!(
            read_file_name("hamlet-module-00012.mjs:3:4)"),
            Some((12, ":3:4)"))
        );
        assert_eq!(read_file_name("hamlet-module-x0012.mjs"), None);
        assert_eq!(read_file_name("hamlet-module-0001"), None);
        assert_eq!(read_position(":3:14)"), Some((3, 14, ")")));
        assert_eq!(read_position(":3"), None);
        assert_eq!(read_position(" and"), None);
    }
}
