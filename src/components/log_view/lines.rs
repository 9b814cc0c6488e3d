//! The lines of a log: made a chunk at a time as the reader comes near, so that a long log costs little.

use std::{collections::HashSet, sync::Arc};

use hamlet_models::{LogLevel, LogLine, LogStream, Timestamp};
use leptos::{html, prelude::*};

use super::LogFilter;
use crate::ui::{part::part, time};

/// How many lines are made at once.
const CHUNK: usize = 100;
/// How near to what is seen, in pixels, a chunk is made.
const NEAR_PX: i32 = 1_200;
/// How high a line is before it is made, in pixels: as `--log-line` in the style.
const LINE_PX: usize = 20;

/// A part of the lines that are shown. It is made anew when its lines change, and only then.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Chunk {
    filter: LogFilter,
    index: usize,
    length: usize,
}

/// The lines at the positions `shown`. A reader at the end of a live log is kept there.
pub(super) fn log_lines(
    lines: Signal<Arc<Vec<LogLine>>>,
    shown: Memo<Arc<Vec<u32>>>,
    filter: RwSignal<LogFilter>,
    started_at: Signal<Timestamp>,
    live: Signal<bool>,
) -> AnyView {
    let container = NodeRef::<html::Div>::new();
    let at_end = StoredValue::new(true);
    // The chunks that have been made once: lines that are added don't take them away again.
    let near = RwSignal::new(HashSet::from([0]));

    let look = move || {
        let Some(container) = container.try_get_untracked().flatten() else {
            return;
        };
        let (top, height) = (container.scroll_top(), container.client_height());
        at_end.set_value(top + height >= container.scroll_height() - 2);
        let bounds = container.get_bounding_client_rect();
        let chunks = container.children();
        let found: Vec<usize> = (0..chunks.length())
            .filter(|&index| {
                chunks.item(index).is_some_and(|chunk| {
                    let place = chunk.get_bounding_client_rect();
                    place.bottom() > bounds.top() - f64::from(NEAR_PX)
                        && place.top() < bounds.bottom() + f64::from(NEAR_PX)
                })
            })
            .map(|index| index as usize)
            .collect();
        let is_new = near.with_untracked(|near| found.iter().any(|index| !near.contains(index)));
        if is_new {
            near.update(|near| near.extend(found));
        }
    };
    Effect::new(move |_| {
        shown.track();
        let follow = live.get_untracked() && at_end.get_value();
        request_animation_frame(move || {
            if let Some(container) = container.try_get_untracked().flatten()
                && follow
            {
                container.set_scroll_top(container.scroll_height());
            }
            look();
        });
    });

    let chunks = move || {
        let filter = filter.get();
        let all = shown.with(|shown| shown.len());
        (0..all.div_ceil(CHUNK))
            .map(|index| Chunk {
                filter: filter.clone(),
                index,
                length: (all - index * CHUNK).min(CHUNK),
            })
            .collect::<Vec<_>>()
    };
    let chunk_view = move |chunk: Chunk| {
        let Chunk {
            filter,
            index,
            length,
        } = chunk;
        let is_near = Memo::new(move |_| near.with(|near| near.contains(&index)));
        let rows = move || {
            is_near.get().then(|| {
                let start = started_at.get();
                lines.with_untracked(|lines| {
                    let shown = shown.get_untracked();
                    let rows = shown.iter().skip(index * CHUNK).take(length);
                    rows.filter_map(|&line| lines.get(line as usize))
                        .map(|line| row(line, start, &filter))
                        .collect::<Vec<_>>()
                })
            })
        };
        let size = format!("{}px", length * LINE_PX);
        view! { <div class="log__chunk" style:--log-lines=length.to_string() style:min-block-size=size>{part(rows)}</div> }
            .into_any()
    };
    view! {
        <div
            class="log__lines"
            node_ref=container
            tabindex="0"
            role="log"
            aria-live="off"
            aria-label="Log lines"
            on:scroll=move |_| look()
        >
            <For each=chunks key=Chunk::clone children=chunk_view />
        </div>
    }
    .into_any()
}

fn row(line: &LogLine, start: Timestamp, filter: &LogFilter) -> AnyView {
    let since = (line.time.as_millis() - start.as_millis()).max(0);
    let class = match line.level {
        LogLevel::Debug => "log__row log__row--debug",
        LogLevel::Info => "log__row",
        LogLevel::Warn => "log__row log__row--warn",
        LogLevel::Error => "log__row log__row--error",
    };
    let source = match line.stream {
        LogStream::Console => None,
        LogStream::Stdout => Some("stdout"),
        LogStream::Stderr => Some("stderr"),
        LogStream::Hamlet => Some("Hamlet"),
    };
    let source = source.map(|source| view! { <span class="log__source">{source}</span> }.into_any());
    view! {
        <div class=class>
            <time class="log__time" datetime=line.time.to_string() title=time::exact(line.time.as_millis())>
                {since_start(since)}
            </time>
            <span class="log__word">{line.level.as_str()}</span>
            <span class="log__message">{source} {marked(&line.message, filter)}</span>
        </div>
    }
    .into_any()
}

/// The time since the run began, as `+0.132` or `+1:02.003`: seconds, with minutes before them where there are any.
fn since_start(ms: i64) -> String {
    let (minutes, seconds, millis) = (ms / 60_000, ms / 1_000 % 60, ms % 1_000);
    match minutes {
        0 => format!("+{seconds}.{millis:03}"),
        _ => format!("+{minutes}:{seconds:02}.{millis:03}"),
    }
}

/// A message with what was searched for marked.
fn marked(message: &str, filter: &LogFilter) -> AnyView {
    let found = filter.found(message);
    if found.is_empty() {
        return message.to_owned().into_any();
    }
    let mut parts: Vec<AnyView> = Vec::new();
    let mut end = 0;
    for place in found {
        parts.push(message[end..place.start].to_owned().into_any());
        parts.push(view! { <mark>{message[place.clone()].to_owned()}</mark> }.into_any());
        end = place.end;
    }
    parts.push(message[end..].to_owned().into_any());
    parts.into_any()
}
