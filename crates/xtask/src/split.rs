//! The web app's WebAssembly in several files: what every page needs, and what a page fetches when it is first opened.
//!
//! Trunk has no step for this, so its output is made anew from the module that the linker left: split, joined with its
//! JavaScript, and named by what is in it.

use std::{
    collections::BTreeMap,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::Path,
    process::Command,
};

use anyhow::{Context, Result, anyhow, bail};
use wasmparser::{Parser, Payload};

use crate::project::{self, Project};

/// What the files of the app are named after.
const STEM: &str = "hamlet-app";

/// Files of shared code below this size, in bytes, are in the script: a request of its own would take longer than they do.
const SMALL: usize = 4096;

/// Which addresses begin with which part, as regular expressions of JavaScript; the first that matches counts. It only
/// decides what is fetched ahead: the routes of src/app.rs say what is shown.
const AHEAD: [(&str, &str); 4] = [
    ("home", "^/(u/[^/]+/?)?$"),
    ("val", "^/v/[^/]+/[^/]+/?$"),
    ("history", "/(versions|runs)(/|$)"),
    ("account", ""),
];

/// Has Trunk link the app for [`split`]: the linker keeps the places that refer to functions and data, and their names.
pub(crate) fn prepare(trunk: &mut Command) {
    trunk
        .args(["--features", "split"])
        .env(
            "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS",
            "-Clink-args=--emit-relocs",
        )
        .env("CARGO_PROFILE_APP_STRIP", "none");
}

/// Splits the app that Trunk left in `dist/` after [`prepare`].
pub(crate) fn split(project: &Project) -> Result<()> {
    let linked = project
        .target
        .join("wasm32-unknown-unknown/app")
        .join(format!("{STEM}.wasm"));
    let input = fs::read(&linked).with_context(|| format!("no {}", linked.display()))?;
    let work = project.target.join("xtask/split");
    if work.exists() {
        fs::remove_dir_all(&work)?;
    }
    fs::create_dir_all(&work)?;

    let first = work.join(format!("{STEM}.wasm"));
    let loader = format!("./{STEM}-parts.js");
    let glue = format!("./{STEM}.js");
    let mut options = wasm_split_cli_support::Options::new(&input);
    options.output_dir = &work;
    options.main_out_path = &first;
    options.link_name = &loader;
    options.main_module = &glue;
    let parts = wasm_split_cli_support::transform(options)
        .map_err(|error| anyhow!("can't split the app: {error:?}"))?;
    let mut bindgen = project.command("wasm-bindgen");
    bindgen.args(["--target", "web", "--no-typescript", "--out-name", STEM]);
    // The parts share the first file's table of functions.
    bindgen.args(["--keep-lld-exports", "--out-dir"]);
    project::run(bindgen.arg(&work).arg(&first))?;
    fs::remove_file(&first)?;

    let loader = work.join(loader);
    let mut loading = fs::read_to_string(&loader)?;
    let mut modules = BTreeMap::new();
    for entry in fs::read_dir(&work)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(".wasm") else {
            continue;
        };
        let module = without_custom_sections(&fs::read(work.join(&name))?)?;
        if stem.starts_with("chunk_") && module.len() < SMALL {
            loading = embedded(&loading, stem)?;
            fs::write(work.join(&name), module)?;
        } else {
            modules.insert(name, module);
        }
    }
    fs::write(&loader, loading)?;

    let script = work.join("script.js");
    let mut esbuild = project.command("editor/node_modules/.bin/esbuild");
    esbuild.args(["--bundle", "--minify", "--format=esm", "--log-level=warning"]);
    esbuild.arg("--loader:.wasm=binary");
    // The joined script names the loader once for each function that it takes from there.
    esbuild.arg("--log-override:duplicate-object-key=silent");
    esbuild.arg(format!("--outfile={}", script.display()));
    project::run(esbuild.arg(work.join(&glue)))?;
    let dist = project.root.join("dist");
    let built = Built {
        script: fs::read_to_string(script)?,
        modules,
    };
    let mut parts: BTreeMap<String, Vec<String>> = parts.prefetch_map.into_iter().collect();
    for files in parts.values_mut() {
        files.retain(|file| built.modules.contains_key(&format!("{file}.wasm")));
    }
    built.replace_whole_app(&dist, &parts)
}

/// The script that loads files, with this one inside.
fn embedded(loading: &str, stem: &str) -> Result<String> {
    let fetched = format!(
        "const src = fetch(new URL(\"./{stem}.wasm\", import.meta.url));\n    src.catch(() => {{}});\n    \
         return async (imports) => (WebAssembly.instantiateStreaming(src, imports));"
    );
    if !loading.contains(&fetched) {
        bail!("the script does not fetch {stem} as expected:\n{fetched}");
    }
    let inside = format!("return async (imports) => WebAssembly.instantiate({stem}, imports);");
    Ok(format!(
        "import {stem} from \"./{stem}.wasm\";\n{}",
        loading.replace(&fetched, &inside)
    ))
}

/// Names and what else tools tell each other: half of a part, and nothing to a browser.
fn without_custom_sections(module: &[u8]) -> Result<Vec<u8>> {
    let mut kept = wasm_encoder::Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        if matches!(payload, Payload::CustomSection(_)) {
            continue;
        }
        if let Some((id, range)) = payload.as_section() {
            let data = &module[usize::try_from(range.start)?..usize::try_from(range.end)?];
            kept.section(&wasm_encoder::RawSection { id, data });
        }
    }
    Ok(kept.finish())
}

/// The split app.
struct Built {
    script: String,
    /// By the names that the script knows them under.
    modules: BTreeMap<String, Vec<u8>>,
}

impl Built {
    /// Puts this in the place of what Trunk made, under names that tell one build from another: such files are kept for ever.
    fn replace_whole_app(mut self, dist: &Path, parts: &BTreeMap<String, Vec<String>>) -> Result<()> {
        let mut hasher = DefaultHasher::new();
        self.script.hash(&mut hasher);
        self.modules.hash(&mut hasher);
        let hash = format!("{:016x}", hasher.finish());
        let script = format!("{STEM}-{hash}.js");

        let index = dist.join("index.html");
        let mut html = fs::read_to_string(&index)?;
        for (end, name) in [
            (".js", script.clone()),
            ("_bg.wasm", module_name(&format!("{STEM}_bg.wasm"), &hash)),
        ] {
            let old = whole_app(dist, end)?;
            html = html.replace(&old, &name);
            fs::remove_file(dist.join(old))?;
        }
        fs::write(
            index,
            html.replacen("</head>", &format!("{}</head>", fetch_ahead(parts, &hash)?), 1),
        )?;

        for (name, module) in &self.modules {
            let hashed = module_name(name, &hash);
            if !self.script.contains(name.as_str()) {
                bail!("the script does not name {name}");
            }
            self.script = self.script.replace(name.as_str(), &hashed);
            fs::write(dist.join(hashed), module)?;
        }
        fs::write(dist.join(script), self.script)?;
        Ok(())
    }
}

/// `chunk_4.wasm` as `hamlet-app-chunk_4-0123456789abcdef.wasm`, `hamlet-app_bg.wasm` as `hamlet-app-0123456789abcdef_bg.wasm`.
fn module_name(name: &str, hash: &str) -> String {
    match name.strip_suffix(".wasm") {
        Some(part) if !name.starts_with(STEM) => format!("{STEM}-{part}-{hash}.wasm"),
        _ => format!("{STEM}-{hash}_bg.wasm"),
    }
}

/// The one file of the app that Trunk left with this end.
fn whole_app(dist: &Path, end: &str) -> Result<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dist)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.starts_with(STEM) && name.ends_with(end) {
            names.push(name);
        }
    }
    match names.as_slice() {
        [name] => Ok(name.clone()),
        names => bail!(
            "one {STEM}-*{end} was expected in {}, not {names:?}",
            dist.display()
        ),
    }
}

/// A script for the page's head: the parts of the page at this address are fetched while the app itself still is.
fn fetch_ahead(parts: &BTreeMap<String, Vec<String>>, hash: &str) -> Result<String> {
    let mut pages = Vec::new();
    for (part, addresses) in AHEAD {
        let files = parts
            .get(part)
            .with_context(|| format!("the app has no part {part}"))?;
        let files: Vec<String> = files
            .iter()
            .map(|file| module_name(&format!("{file}.wasm"), hash))
            .collect();
        pages.push((addresses, files));
    }
    let pages = serde_json::to_string(&pages)?;
    Ok(format!(
        "<script>for(const name of {pages}.find(([page])=>RegExp(page).test(location.pathname))[1])\
         document.head.append(Object.assign(document.createElement(\"link\"),\
         {{rel:\"preload\",as:\"fetch\",type:\"application/wasm\",crossOrigin:\"anonymous\",href:\"/\"+name}}))</script>"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_takes_the_place_of_the_whole_app_under_names_of_its_own() {
        let dist = tempfile::tempdir().expect("a folder");
        let page = "<head><link href=\"/hamlet-app-1.js\"></head><script>hamlet-app-1.js hamlet-app-2_bg.wasm</script>";
        for (name, content) in [
            ("index.html", page),
            ("hamlet-app-1.js", "old"),
            ("hamlet-app-2_bg.wasm", "old"),
        ] {
            fs::write(dist.path().join(name), content).expect("a file");
        }
        let parts: BTreeMap<_, _> = AHEAD
            .map(|(part, _)| (part.to_owned(), vec![format!("split_{part}")]))
            .into();
        let mut modules: BTreeMap<_, _> = AHEAD
            .map(|(part, _)| (format!("split_{part}.wasm"), vec![1]))
            .into();
        modules.insert("hamlet-app_bg.wasm".to_owned(), vec![2]);
        let script = modules.keys().map(|name| format!("load(\"{name}\")")).collect();
        Built { script, modules }
            .replace_whole_app(dist.path(), &parts)
            .expect("a build");

        let names: Vec<String> = fs::read_dir(dist.path())
            .expect("a folder")
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        assert_eq!(names.len(), AHEAD.len() + 3, "{names:?}");
        let html = fs::read_to_string(dist.path().join("index.html")).expect("a page");
        let script = names.iter().find(|name| name.ends_with(".js")).expect("a script");
        assert_eq!(html.matches(script.as_str()).count(), 2, "{html}");
        let script = fs::read_to_string(dist.path().join(script)).expect("a script");
        for name in names.iter().filter(|name| name.ends_with(".wasm")) {
            assert!(html.contains(name.as_str()), "{name} in {html}");
            assert!(script.contains(name.as_str()), "{name} in {script}");
        }
    }

    #[test]
    fn a_small_file_is_in_the_script_that_would_fetch_it() {
        let load = |stem: &str| {
            format!(
                "const __{stem} = makeLoad(() => {{\n    const src = fetch(new URL(\"./{stem}.wasm\", import.meta.url));\n    \
                 src.catch(() => {{}});\n    \
                 return async (imports) => (WebAssembly.instantiateStreaming(src, imports));\n}}\n, []);\n"
            )
        };
        let loading = load("chunk_1") + &load("chunk_2");
        let script = embedded(&loading, "chunk_2").expect("a script");
        assert!(
            script.starts_with("import chunk_2 from \"./chunk_2.wasm\";\n"),
            "{script}"
        );
        assert!(
            script.contains("instantiate(chunk_2, imports)") && !script.contains("URL(\"./chunk_2"),
            "{script}"
        );
        assert!(script.contains(&load("chunk_1")), "others are fetched: {script}");
        assert!(embedded(&script, "chunk_2").is_err(), "it would be there twice");
    }

    #[test]
    fn what_tools_wrote_into_a_module_is_left_out_and_the_rest_kept() {
        let mut module = wasm_encoder::Module::new();
        let mut types = wasm_encoder::TypeSection::new();
        types.ty().function([], []);
        module.section(&types);
        let lean = module.clone().finish();
        module.section(&wasm_encoder::CustomSection {
            name: "name".into(),
            data: b"x".as_slice().into(),
        });
        assert_eq!(without_custom_sections(&module.finish()).expect("a module"), lean);
    }
}
