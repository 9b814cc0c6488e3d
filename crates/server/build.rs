//! Puts the built web app into release builds: every file of `dist/` in its plain form, and compressed where that is
//! smaller, as a table for `src/static_app.rs` to include. Other builds read the folder when they run.

use std::{
    env,
    error::Error,
    fmt::Write as _,
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
    thread,
};

/// Files that are compressed already, by the end of their name.
const PACKED: [&str; 8] = ["br", "gif", "gz", "jpg", "png", "webp", "woff", "woff2"];

/// One file of the app, and where its forms are.
struct File {
    name: String,
    plain: PathBuf,
    brotli: Option<PathBuf>,
    gzip: Option<PathBuf>,
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let dist = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../dist");
    println!("cargo::rustc-env=HAMLET_APP_DIR={}", dist.display());

    let mut names = Vec::new();
    if env::var("PROFILE")? == "release" {
        // A path that isn't there would make cargo build this crate anew every time.
        if fs::create_dir_all(&dist).is_ok() {
            println!("cargo::rerun-if-changed={}", dist.display());
        }
        list_files(&dist, "", &mut names)?;
    }
    names.sort();
    let next = std::sync::Mutex::new(names.into_iter());
    let files = std::sync::Mutex::new(Vec::new());
    thread::scope(|scope| {
        let workers: Vec<_> = (0..thread::available_parallelism().map_or(1, usize::from))
            .map(|_| {
                scope.spawn(|| -> io::Result<()> {
                    loop {
                        let Some(name) = next
                            .lock()
                            .map_err(|_| io::Error::other("a worker panicked"))?
                            .next()
                        else {
                            return Ok(());
                        };
                        let file = pack(&dist, &out, name)?;
                        files
                            .lock()
                            .map_err(|_| io::Error::other("a worker panicked"))?
                            .push(file);
                    }
                })
            })
            .collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().map_err(|_| io::Error::other("a worker panicked"))?)
    })?;
    let mut files = files.into_inner()?;
    files.sort_by(|one, other| one.name.cmp(&other.name));
    fs::write(out.join("app.rs"), table(&files)?)?;
    Ok(())
}

fn list_files(folder: &Path, prefix: &str, names: &mut Vec<String>) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry
            .file_name()
            .into_string()
            .map_err(|_| io::Error::other("a file's name is not UTF-8"))?;
        let name = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            list_files(&entry.path(), &format!("{name}/"), names)?;
        } else {
            names.push(name);
        }
    }
    Ok(())
}

/// Compresses a file as small as it gets, and keeps what is smaller than the file.
fn pack(dist: &Path, out: &Path, name: String) -> io::Result<File> {
    let plain = fs::canonicalize(dist.join(&name))?;
    let bytes = fs::read(&plain)?;
    let mut file = File {
        name,
        plain,
        brotli: None,
        gzip: None,
    };
    if PACKED.iter().any(|end| file.name.ends_with(&format!(".{end}"))) {
        return Ok(file);
    }
    let keep = |packed: Vec<u8>, end: &str| -> io::Result<Option<PathBuf>> {
        if packed.len() >= bytes.len() {
            return Ok(None);
        }
        let path = out.join(format!("{}.{end}", file.name.replace('/', "~")));
        fs::write(&path, packed)?;
        Ok(Some(path))
    };
    let mut brotli = Vec::new();
    let parameters = brotli::enc::BrotliEncoderParams {
        quality: 11,
        lgwin: 24,
        ..Default::default()
    };
    brotli::BrotliCompress(&mut bytes.as_slice(), &mut brotli, &parameters)?;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&bytes)?;
    let (brotli, gzip) = (keep(brotli, "br")?, keep(gzip.finish()?, "gz")?);
    file.brotli = brotli;
    file.gzip = gzip;
    Ok(file)
}

fn table(files: &[File]) -> Result<String, std::fmt::Error> {
    let mut text = String::from("&[\n");
    for File {
        name,
        plain,
        brotli,
        gzip,
    } in files
    {
        let packed = |path: &Option<PathBuf>| match path {
            Some(path) => format!("Some(include_bytes!({path:?}))"),
            None => "None".to_owned(),
        };
        writeln!(
            text,
            "    Asset {{ name: {name:?}, plain: include_bytes!({plain:?}), brotli: {}, gzip: {} }},",
            packed(brotli),
            packed(gzip)
        )?;
    }
    text.push_str("]\n");
    Ok(text)
}
