//! What a worker says of its files, as the val's author knows them.

use hamlet_models::RunError;

use super::{Modules, dir_url};

/// What every module's file name has in it.
const FILE_MARK: &str = "hamlet-module-";
/// What Deno says of a val's address that it came upon where no compiler was before it.
const DENIED: &str = "Requires import access to \"esm.town:443\", run again with the --allow-import flag";
const NO_VAL_HERE: &str =
    "a val can't be imported from within eval, new Function or a module that is not a val's own, as of data:";

impl Modules {
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
        let stack = stack.replace(DENIED, NO_VAL_HERE);
        RunError {
            name: error.name,
            message: self.clean(error.message).replace(DENIED, NO_VAL_HERE),
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
