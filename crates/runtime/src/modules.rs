//! The modules of one worker: its program and every val that it imports, as files in its folder.

mod locks;
mod stacks;

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
use uuid::Uuid;

use crate::{
    BoxError, ModuleSource, Program, ProgramKey, RunRequest, RuntimeError, ValReference,
    compile::{
        Compiled, Compiler, Form, RemoteImport, Specifier, import_mark, module_file, read_specifier,
        thrown_at,
    },
    lock::has_npm_packages,
    shared::Shared,
    stock::Stock,
};

/// Vals that one worker may load, and names by which it may ask for them.
pub const MOST_MODULES: usize = 1000;

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
    /// For whom it is compiled.
    group: Uuid,
    stock: Arc<Stock>,
    source: Arc<dyn ModuleSource>,
    /// Another instance, which is asked for what is not here.
    fallback: Option<String>,
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

/// What a worker's import of a val led to; no program where it is another instance's.
pub(crate) type Imported = (ValReference, Option<ProgramKey>);

/// What the name of a val leads to.
pub(crate) enum Found {
    /// A val of this instance.
    Val(Program),
    /// The module at this address, which is another host's.
    Elsewhere(String),
}

/// Looks for a val here, and then where else it may be; `None` if there is none that may be imported.
pub(crate) async fn look_up(
    source: &dyn ModuleSource,
    fallback: Option<&str>,
    reference: &ValReference,
) -> Result<Option<Found>, BoxError> {
    if let Some(program) = source.module(reference).await? {
        return Ok(Some(Found::Val(program)));
    }
    let at_fallback = || fallback.and_then(|origin| reference.address_at(origin));
    let Some(address) = reference.otherwise.clone().or_else(at_fallback) else {
        return Ok(None);
    };
    let elsewhere = source.may_be_elsewhere(reference).await?;
    Ok(elsewhere.then_some(Found::Elsewhere(address)))
}

struct Module {
    key: ProgramKey,
    url: String,
    compiled: Arc<Compiled>,
    /// What stands for the vals that it imports, by their marks.
    targets: Vec<Target>,
}

impl Module {
    /// What it imports from elsewhere.
    fn remote(&self) -> Vec<RemoteImport> {
        let others = self.targets.iter().filter_map(|target| match target {
            Target::Elsewhere(address) => RemoteImport::read(address, None),
            Target::File(_) => None,
        });
        self.compiled.remote.iter().cloned().chain(others).collect()
    }
}

#[derive(Clone)]
enum Target {
    /// A module of this worker.
    File(usize),
    /// An address of another instance's.
    Elsewhere(String),
}

#[derive(Default)]
struct Adding {
    by_program: HashMap<(ProgramKey, String), usize>,
    by_reference: HashMap<ValReference, Target>,
    /// Modules before this one are files already.
    written: usize,
}

impl Modules {
    /// Compiles a program and all that it imports, and has fetched what that imports from elsewhere; nothing is written
    /// yet.
    pub(crate) async fn link(shared: &Shared, request: &RunRequest, form: Form) -> Result<Self, LinkError> {
        let mut modules = Self {
            compiler: shared.compiler.clone(),
            group: request.group,
            stock: shared.stock.clone(),
            source: request.modules.clone(),
            fallback: shared.config.module_fallback.clone(),
            bootstrap_url: dir_url(shared.nursery.launch.bootstrap_dir()),
            dir: OnceLock::new(),
            loaded: RwLock::default(),
            lock: None,
            adding: tokio::sync::Mutex::default(),
            imported: Mutex::default(),
            imports_vals: AtomicBool::new(false),
        };
        let mut adding = modules.adding.lock().await;
        modules.add(&mut adding, &request.program, form).await?;
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

    /// Whether code that is known by now may reach for the network by node's own modules: a val names them, and a package
    /// may.
    pub(crate) fn may_use_node_network(&self) -> bool {
        let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner);
        self.lock.as_deref().is_some_and(has_npm_packages)
            || loaded.iter().any(|module| module.compiled.uses_node_network)
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

    fn note_import(&self, reference: &ValReference, key: Option<&ProgramKey>) {
        let mut imported = self.imported.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(&mut imported).push((reference.clone(), key.cloned()));
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
        let target = match adding.by_reference.get(&reference) {
            Some(target) => target.clone(),
            // One val has many names: each costs a look at every request to come.
            None if adding.by_reference.len() >= MOST_MODULES => {
                return Err(format!("a val may import vals by at most {MOST_MODULES} names"));
            }
            None => {
                let found = self.look_up(&reference).await.map_err(ours)?;
                let target = match found.ok_or_else(|| missing(&reference, specifier))? {
                    Found::Val(program) => {
                        let added = self.add(&mut adding, &program, Form::Module).await;
                        let index = added.map_err(|error| match error {
                            LinkError::Broken(error) => format!("{}: {}", error.name, error.stack),
                            LinkError::Fault(cause) => ours(cause.into()),
                        })?;
                        self.note_import(&reference, Some(&program.key));
                        Target::File(index)
                    }
                    Found::Elsewhere(address) => {
                        self.note_import(&reference, None);
                        Target::Elsewhere(address)
                    }
                };
                adding.by_reference.insert(reference, target.clone());
                target
            }
        };
        let index = match target {
            Target::File(index) => index,
            Target::Elsewhere(address) => {
                drop(adding);
                let import = RemoteImport::read(&address, None);
                self.stock.fetch(import.into_iter().collect()).await;
                return Ok(address);
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

    async fn look_up(&self, reference: &ValReference) -> Result<Option<Found>, BoxError> {
        look_up(&*self.source, self.fallback.as_deref(), reference).await
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
            adding
                .by_reference
                .retain(|_, target| !matches!(target, Target::File(index) if *index >= before));
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
            let mut targets = Vec::with_capacity(compiled.imports.len());
            for (import, (line, column)) in compiled.imports.iter().zip(&compiled.positions) {
                let reference = &import.reference;
                let target = match adding.by_reference.get(reference) {
                    Some(target) => target.clone(),
                    None => {
                        let found = self.look_up(reference).await;
                        let found = found.map_err(|cause| LinkError::Fault(RuntimeError::Modules(cause)))?;
                        let target = match found {
                            None => {
                                let why = missing(reference, &import.specifier);
                                let thrown = thrown_at("TypeError", &why, &url, *line, *column);
                                return Err(LinkError::Broken(thrown));
                            }
                            Some(Found::Val(imported)) => {
                                let (index, _) = self.place(adding, &imported, Form::Module).await?;
                                self.note_import(reference, Some(&imported.key));
                                Target::File(index)
                            }
                            Some(Found::Elsewhere(address)) => {
                                self.note_import(reference, None);
                                Target::Elsewhere(address)
                            }
                        };
                        adding.by_reference.insert(reference.clone(), target.clone());
                        target
                    }
                };
                targets.push(target);
            }
            if let Some(module) = self
                .loaded
                .write()
                .unwrap_or_else(PoisonError::into_inner)
                .get_mut(next)
            {
                module.targets = targets;
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
        let compiled = self.compiler.compile(self.group, program, form).await;
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
            targets: Vec::new(),
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
        new.flat_map(Module::remote).collect()
    }

    fn write_new(&self, adding: &mut Adding, dir: &Path) -> io::Result<()> {
        let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner);
        for (index, module) in loaded.iter().enumerate().skip(adding.written) {
            let path = dir.join(module_file(index));
            if module.targets.is_empty() {
                fs::write(path, &module.compiled.code)?;
            } else {
                let targets = module.targets.iter().enumerate();
                let code = targets.fold(module.compiled.code.clone(), |code, (mark, target)| {
                    let mark = import_mark(mark);
                    match target {
                        Target::File(index) => code.replace(&mark, &module_file(*index)),
                        Target::Elsewhere(address) => code.replace(&mark, address),
                    }
                });
                fs::write(path, code)?;
            }
        }
        adding.written = loaded.len();
        Ok(())
    }
}

fn missing(reference: &ValReference, specifier: &str) -> String {
    format!("{}, as {specifier:?} asks for", no_such_val(reference))
}

/// Says the same of a val that is not there and of one that the importer may not read.
pub(crate) fn no_such_val(reference: &ValReference) -> String {
    format!("there is no val {reference} that this val may import")
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
