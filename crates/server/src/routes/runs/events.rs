//! A run as it goes on, as Server-Sent Events.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures_util::{Stream, stream};
use hamlet_models::{LogLine, RunId, RunStatus};
use hamlet_store::RunRecord;

use super::{base_run, find_run};
use crate::{
    auth::CurrentUser,
    error::{ApiError, ApiResult},
    extract::ApiPath,
    recorder::RecordedRun,
    state::AppState,
};

/// How often a stream where nothing happens shows that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// The id of the last event of a run.
const END: &str = "end";

/// A run as it goes on, as Server-Sent Events.
///
/// An event `log` for every line from the first on, each with its number as the event's id; an event `status` with
/// the run whenever that changes. The stream ends with the run: the last event's id is `end`. A client that comes
/// back with `Last-Event-ID` gets the lines that it missed; one that had the last event gets 204.
#[utoipa::path(get, path = "/v1/runs/{run_id}/events", tag = "runs", params(("run_id" = RunId, Path)),
    responses((status = 200, description = "The events", content_type = "text/event-stream", body = String),
        (status = 204, description = "The client has had them all"), ApiError))]
pub(super) async fn follow_run(
    State(state): State<AppState>,
    user: CurrentUser,
    ApiPath(run_id): ApiPath<RunId>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let (record, lines) = find_run(&state, &user, run_id).await?;
    let last = headers
        .get("last-event-id")
        .and_then(|id| id.to_str().ok())
        .unwrap_or_default();
    if last == END && record.status.is_over() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let source = match state.runs.recorder().find(run_id) {
        Some(run) => Source::Live(run),
        None => Source::Stored { record, lines },
    };
    let follower = Follower {
        source,
        lines_sent: last.parse().unwrap_or(0),
        status_sent: None,
    };
    let events = Sse::new(follower.events()).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
    // A proxy that gathers what it passes on would hold events back.
    Ok(([("x-accel-buffering", "no")], events).into_response())
}

/// Where a follower looks.
enum Source {
    Live(Arc<RecordedRun>),
    Stored {
        record: Arc<RunRecord>,
        lines: Vec<LogLine>,
    },
}

/// Someone who follows a run, and what they have been sent.
struct Follower {
    source: Source,
    lines_sent: usize,
    status_sent: Option<RunStatus>,
}

impl Follower {
    fn events(self) -> impl Stream<Item = Result<Event, Infallible>> {
        let batches = stream::unfold(self, |mut follower| async {
            let events = follower.next().await?;
            Some((stream::iter(events.into_iter().map(Ok)), follower))
        });
        futures_util::StreamExt::flatten(batches)
    }

    /// What happened since the last time, as soon as something did; nothing after the run's end.
    async fn next(&mut self) -> Option<Vec<Event>> {
        if self.status_sent.is_some_and(RunStatus::is_over) {
            return None;
        }
        if let (Source::Live(run), Some(status)) = (&self.source, self.status_sent) {
            run.until_changed(self.lines_sent, status).await;
        }
        let (record, lines) = match &self.source {
            Source::Live(run) => {
                let progress = run.progress(self.lines_sent);
                (progress.record, progress.lines)
            }
            Source::Stored { record, lines } => (
                record.clone(),
                lines.get(self.lines_sent..).unwrap_or_default().to_vec(),
            ),
        };
        let mut events = Vec::with_capacity(lines.len() + 1);
        for line in &lines {
            self.lines_sent += 1;
            events.push(event("log", &self.lines_sent.to_string(), line));
        }
        if self.status_sent != Some(record.status) {
            self.status_sent = Some(record.status);
            let id = if record.status.is_over() {
                END.to_owned()
            } else {
                self.lines_sent.to_string()
            };
            events.push(event("status", &id, &base_run(&record)));
        }
        Some(events)
    }
}

fn event(name: &str, id: &str, data: &impl serde::Serialize) -> Event {
    // JSON has no line breaks of its own, and what the models hold can always be written.
    let data = serde_json::to_string(data).unwrap_or_default();
    Event::default().event(name).id(id).data(data)
}
