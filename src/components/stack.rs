//! A stack trace whose frames lead to the lines that they name.

use hamlet_models::{Username, ValName, VersionNumber};
use leptos::prelude::*;

use crate::{api::ApiClient, paths};

/// A frame of a stack that lies in a val.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValFrame {
    /// Whose val.
    pub username: Username,
    /// Which val.
    pub val: ValName,
    /// Which version; `None` where the frame's address leaves it out.
    pub version: Option<VersionNumber>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// Reads one line of a stack: the place in it that lies in a val of this instance, and where in the line it is written.
///
/// `hosts` are the origins under which vals are imported here, as `https://esm.town`.
pub fn val_frame(line: &str, hosts: &[String]) -> Option<(ValFrame, std::ops::Range<usize>)> {
    let start = line.find("http://").or_else(|| line.find("https://"))?;
    let end = line[start..]
        .find([')', ' '])
        .map_or(line.len(), |length| start + length);
    let place = &line[start..end];
    let (rest, column) = place.rsplit_once(':')?;
    let (address, line_number) = rest.rsplit_once(':')?;
    let path = hosts
        .iter()
        .find_map(|host| address.strip_prefix(host.as_str()))?;
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let (username, val) = path.strip_prefix("/v/")?.split_once('/')?;
    let frame = ValFrame {
        username: username.parse().ok()?,
        val: val.parse().ok()?,
        version: query
            .split('&')
            .find_map(|part| part.strip_prefix("v=")?.parse().ok()),
        line: line_number.parse().ok()?,
        column: column.parse().ok()?,
    };
    Some((frame, start..end))
}

/// The first frame of a stack that lies in a val of this instance.
pub fn first_val_frame(stack: &str, hosts: &[String]) -> Option<ValFrame> {
    stack
        .lines()
        .find_map(|line| val_frame(line, hosts).map(|(frame, _)| frame))
}

/// The origins under which this instance's vals appear in stacks: the field's own, where this page came from, and where
/// the interface is. A server on this machine has two names, and a stack may tell the other one.
pub fn module_hosts() -> Vec<String> {
    let page = window().location().origin().ok();
    let interface = use_context::<ApiClient>().map(ApiClient::origin);
    let mut hosts = vec!["https://esm.town".to_owned()];
    for origin in page
        .into_iter()
        .chain(interface)
        .filter(|origin| !origin.is_empty())
    {
        hosts.extend(other_name(&origin));
        hosts.push(origin);
    }
    hosts
}

/// The same origin by the other name that this machine has for itself.
fn other_name(origin: &str) -> Option<String> {
    const NAMES: [&str; 2] = ["//localhost:", "//127.0.0.1:"];
    let used = NAMES.into_iter().find(|name| origin.contains(name))?;
    let other = NAMES.into_iter().find(|name| *name != used)?;
    Some(origin.replace(used, other))
}

/// Shows a stack; the frames that lie in vals are links to the version's line.
#[component]
pub fn StackTrace(
    /// The stack as it was recorded.
    #[prop(into)]
    stack: String,
    /// The version to link to where a frame doesn't name one: the one that ran.
    version: Option<VersionNumber>,
) -> AnyView {
    let hosts = module_hosts();
    let lines: Vec<AnyView> = stack
        .lines()
        .map(|line| stack_line(line, version, &hosts))
        .collect();
    view! { <pre class="stack" tabindex="0" aria-label="Stack">{lines}</pre> }.into_any()
}

fn stack_line(line: &str, version: Option<VersionNumber>, hosts: &[String]) -> AnyView {
    let found =
        val_frame(line, hosts).and_then(|(frame, place)| Some((frame.version.or(version)?, frame, place)));
    let Some((version, frame, place)) = found else {
        return view! { <span class="stack__line">{format!("{line}\n")}</span> }.into_any();
    };
    let path = paths::version(frame.username.as_str(), frame.val.as_str(), version);
    let href = format!("{path}#L{}", frame.line);
    let label = format!(
        "{}/{} v{version}:{}:{}",
        frame.username.as_str(),
        frame.val.as_str(),
        frame.line,
        frame.column
    );
    let (before, after) = (
        line[..place.start].to_owned(),
        format!("{}\n", &line[place.end..]),
    );
    view! {
        <span class="stack__line stack__line--val">{before} <a href=href>{label}</a> {after}</span>
    }
    .into_any()
}
