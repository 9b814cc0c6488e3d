//! Starting a run and following it until it is over.

use std::time::Duration;

use hamlet_models::{ExtendedVal, FullRun, NewRun, PageQuery, RunFilter, RunId, RunStatus, ValId};
use leptos::{prelude::*, task::spawn_local};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

use crate::{
    api::{
        ApiClient,
        error::ClientError,
        run_events::{RunEvents, RunNews},
    },
    components::{
        code_editor::{LineMark, Place},
        run_outcome::{own_frame, thrown},
        run_panel::RunState,
    },
};

/// How soon after its start a run is looked at.
const FIRST_LOOK: Duration = Duration::from_millis(100);
/// The longest pause between two looks.
const LAST_LOOK: Duration = Duration::from_secs(1);

/// Starts runs of a val and follows the last one; a handle that is copied freely.
#[derive(Clone, Copy)]
pub struct Runner {
    api: ApiClient,
    /// The last run, as far as it is known.
    pub run: RwSignal<Option<FullRun>>,
    /// How it stands.
    pub state: RwSignal<RunState>,
    /// Counts what was begun: what an earlier turn still waits for is dropped.
    turn: StoredValue<u32>,
    /// What tells how the run goes on, as long as it does.
    events: StoredValue<Option<RunEvents>, LocalStorage>,
}

impl Runner {
    /// Nothing has run yet.
    pub fn new(api: ApiClient) -> Self {
        Self {
            api,
            run: RwSignal::new(None),
            state: RwSignal::new(RunState::Idle),
            turn: StoredValue::new(0),
            events: StoredValue::new_local(None),
        }
    }

    /// Shows the val's last run, and follows it if it goes on.
    pub async fn show_last(self, val: ValId) {
        let turn = self.begin();
        let page = PageQuery { offset: 0, limit: 1 };
        match self.api.list_val_runs(val, &RunFilter::default(), page).await {
            Ok(runs) => {
                if let Some(run) = runs.data.first() {
                    self.follow(run.id, turn).await;
                }
            }
            Err(error) => self.fail(turn, "The last run could not be looked up.", &error),
        }
    }

    /// Starts a run and follows it.
    pub async fn start(self, val: ValId, run: &NewRun) {
        let turn = self.begin();
        self.state.set(RunState::Starting);
        self.run.set(None);
        match self.api.create_run(val, run).await {
            Ok(run) => {
                if self.is_on(turn) {
                    self.state.set(RunState::Going);
                    self.follow(run.id, turn).await;
                }
            }
            Err(error) => self.fail(turn, "The run could not be started.", &error),
        }
    }

    /// Ends the run that goes on; following it shows that it has ended.
    pub async fn cancel(self, val: ValId) {
        let Some(run) = self.run.with_untracked(|run| run.as_ref().map(|run| run.id)) else {
            return;
        };
        let turn = self.turn.get_value();
        match self.api.cancel_run(val, run).await {
            // It was over already.
            Err(error) if !error.is_not_found() => self.fail(turn, "The run could not be cancelled.", &error),
            _ => {}
        }
    }

    /// Looks at the run, and is told how it goes on; where it can't be told, it looks again and again.
    async fn follow(self, id: RunId, turn: u32) {
        if !self.look(id, turn).await {
            return;
        }
        let tell = Box::new(move |news| self.hear(id, turn, news));
        match self.api.follow_run(id, tell) {
            Some(events) => self.events.set_value(Some(events)),
            None => self.look_until_over(id, turn).await,
        }
    }

    fn hear(self, id: RunId, turn: u32, news: RunNews) {
        if !self.is_on(turn) {
            return;
        }
        match news {
            RunNews::Progress(progress) => {
                self.state.set(RunState::Going);
                self.run.update(|run| {
                    if let Some(run) = run.as_mut().filter(|run| run.id == id) {
                        progress.add_to(run);
                    }
                });
            }
            RunNews::Interrupted => self.state.set(RunState::Unreachable),
            RunNews::Over | RunNews::Unavailable => spawn_local(self.look_until_over(id, turn)),
        }
    }

    async fn look_until_over(self, id: RunId, turn: u32) {
        let mut pause = FIRST_LOOK;
        while self.look(id, turn).await {
            sleep(pause).await;
            pause = LAST_LOOK.min(pause * 3 / 2);
        }
    }

    /// Looks at the run once; says whether there will be more to see.
    async fn look(self, id: RunId, turn: u32) -> bool {
        let answer = self.api.get_run(id).await;
        if !self.is_on(turn) {
            return false;
        }
        match answer {
            Ok(run) => {
                let over = run.status.is_over();
                let state = if over { RunState::Idle } else { RunState::Going };
                self.run.set(Some(run));
                self.state.set(state);
                !over
            }
            Err(ClientError::Offline) => {
                self.state.set(RunState::Unreachable);
                true
            }
            Err(error) => {
                self.fail(turn, "The run can’t be looked at.", &error);
                false
            }
        }
    }

    fn begin(self) -> u32 {
        self.events.set_value(None);
        self.turn.update_value(|turn| *turn += 1);
        self.turn.get_value()
    }

    /// Whether the page is still there and nothing else was begun since.
    fn is_on(self, turn: u32) -> bool {
        self.turn.try_get_value() == Some(turn)
    }

    fn fail(self, turn: u32, what: &str, error: &ClientError) {
        if self.is_on(turn) {
            self.state
                .set(RunState::Refused(format!("{what} {}", error.sentence())));
        }
    }

    /// Where in this text of the val the last run failed: nowhere, if it ran another version.
    pub fn marks(self, val: Signal<ExtendedVal>) -> Signal<Vec<LineMark>> {
        let version = Memo::new(move |_| val.with(|val| val.version));
        let marks = Memo::new(move |_| {
            let version = version.get();
            self.run
                .with(|run| run.as_ref().map(|run| marks(run, version)).unwrap_or_default())
        });
        marks.into()
    }
}

fn marks(run: &FullRun, version: u32) -> Vec<LineMark> {
    if run.version != Some(version) || !run.status.is_failure() || run.status == RunStatus::Cancelled {
        return Vec::new();
    }
    let mark = run
        .error
        .as_ref()
        .zip(own_frame(run))
        .map(|(error, frame)| LineMark {
            place: Place {
                line: frame.line,
                column: frame.column,
            },
            message: thrown(error),
        });
    mark.into_iter().collect()
}

async fn sleep(time: Duration) {
    let waiting = js_sys::Promise::new(&mut |resolve, _| {
        set_timeout(
            move || {
                // A promise's own function never throws.
                let _ = resolve.call0(&JsValue::NULL);
            },
            time,
        );
    });
    // Nothing rejects it.
    let _ = JsFuture::from(waiting).await;
}
