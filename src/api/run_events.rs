//! A run as it goes on, told by the server as things happen.

use std::{cell::RefCell, mem, rc::Rc, time::Duration};

use hamlet_models::{BaseRun, FullRun, LogLine, RunId};
use leptos::prelude::set_timeout;
use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::{Event, EventSource, MessageEvent};

use super::ApiClient;
use crate::hooks::clock;

/// For how long what comes is gathered before it is told: a val may print faster than anyone reads.
const GATHERING_MS: i64 = 50;
/// What took long to show is followed by a rest of so many times as long.
const REST: i64 = 4;

/// What is told of a run that is followed.
pub enum RunNews {
    /// What happened since the last time.
    Progress(RunProgress),
    /// The stream broke off; the browser tries to take it up where it was.
    Interrupted,
    /// It is over: everything recorded is to be asked for.
    Over,
    /// There is no stream to be had: who follows must look again and again.
    Unavailable,
}

/// What happened in a run since the last time.
#[derive(Default)]
pub struct RunProgress {
    run: Option<Box<BaseRun>>,
    /// Lines with their numbers, from 1.
    lines: Vec<(usize, LogLine)>,
}

impl RunProgress {
    /// Adds it to what is known of the run; a line that is known already stays as it is.
    pub fn add_to(self, run: &mut FullRun) {
        if let Some(now) = self.run {
            run.run = *now;
        }
        for (number, line) in self.lines {
            if number == run.logs.len() + 1 {
                run.logs.push(line);
            }
        }
    }
}

/// Follows a run as long as it is kept.
pub struct RunEvents {
    source: EventSource,
    _hear: Closure<dyn FnMut(Event)>,
}

impl Drop for RunEvents {
    fn drop(&mut self) {
        self.source.close();
    }
}

impl ApiClient {
    /// Follows a run; `tell` is called with what happens, and at last once with its end or that there is no stream.
    /// `None` where there can be none: the stream of another origin takes no token.
    pub fn follow_run(self, id: RunId, tell: Box<dyn Fn(RunNews)>) -> Option<RunEvents> {
        if self.is_remote() {
            return None;
        }
        let source = EventSource::new(&format!("/v1/runs/{id}/events")).ok()?;
        let follower = Rc::new(Follower {
            source: source.clone(),
            tell,
            gathered: RefCell::default(),
        });
        let hear = Closure::<dyn FnMut(Event)>::new(move |event| hear(&follower, &event));
        for name in ["log", "status", "error"] {
            source
                .add_event_listener_with_callback(name, hear.as_ref().unchecked_ref())
                .ok()?;
        }
        Some(RunEvents { source, _hear: hear })
    }
}

struct Follower {
    source: EventSource,
    tell: Box<dyn Fn(RunNews)>,
    gathered: RefCell<Gathered>,
}

#[derive(Default)]
struct Gathered {
    progress: RunProgress,
    /// Whether it will be told by itself.
    planned: bool,
    /// How long it took to show what was told last.
    effort_ms: i64,
}

fn hear(follower: &Rc<Follower>, event: &Event) {
    let news = match event.type_().as_str() {
        "error" if follower.source.ready_state() == EventSource::CLOSED => RunNews::Unavailable,
        "error" => RunNews::Interrupted,
        "log" => return gather_line(follower, event),
        _ => match read::<BaseRun>(event) {
            // How it ended is told together with what came of it.
            Some(run) if run.status.is_over() => RunNews::Over,
            run => return gather(follower, |progress| progress.run = run.map(Box::new)),
        },
    };
    if !matches!(news, RunNews::Interrupted) {
        follower.source.close();
        tell_gathered(follower);
    }
    (follower.tell)(news);
}

fn gather_line(follower: &Rc<Follower>, event: &Event) {
    let number = event
        .dyn_ref::<MessageEvent>()
        .and_then(|event| event.last_event_id().parse().ok());
    if let (Some(number), Some(line)) = (number, read(event)) {
        gather(follower, |progress| progress.lines.push((number, line)));
    }
}

fn read<T: serde::de::DeserializeOwned>(event: &Event) -> Option<T> {
    let text = event.dyn_ref::<MessageEvent>()?.data().as_string()?;
    serde_json::from_str(&text).ok()
}

fn gather(follower: &Rc<Follower>, add: impl FnOnce(&mut RunProgress)) {
    let mut gathered = follower.gathered.borrow_mut();
    add(&mut gathered.progress);
    if mem::replace(&mut gathered.planned, true) {
        return;
    }
    let pause = GATHERING_MS.max(REST * gathered.effort_ms);
    let follower = Rc::clone(follower);
    let tell = move || {
        if follower.source.ready_state() != EventSource::CLOSED {
            tell_gathered(&follower);
        }
    };
    set_timeout(tell, Duration::from_millis(pause.unsigned_abs()));
}

fn tell_gathered(follower: &Follower) {
    let progress = {
        let mut gathered = follower.gathered.borrow_mut();
        gathered.planned = false;
        mem::take(&mut gathered.progress)
    };
    if progress.run.is_none() && progress.lines.is_empty() {
        return;
    }
    let began = clock::now();
    (follower.tell)(RunNews::Progress(progress));
    follower.gathered.borrow_mut().effort_ms = clock::now() - began;
}
