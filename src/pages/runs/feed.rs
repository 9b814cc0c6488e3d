//! Runs as they come: into the picture at once, into the list when that doesn't move what someone reads.

use std::{collections::HashSet, sync::Arc};

use hamlet_models::{BaseRun, Page, PageQuery, RunFilter, RunId, ValId};
use leptos::{prelude::*, task::spawn_local};

use super::LIMIT;
use crate::{
    api::{ApiClient, error::ClientError},
    components::run_picture::PICTURE_RUNS,
    hooks::fetched::Fetched,
};

/// How many runs are asked for to find the new ones.
const NEWEST: u64 = 20;
/// A reader who has scrolled no further than this is at the top.
const TOP_PX: f64 = 80.0;

/// The runs that the page shows.
#[derive(Clone, Copy)]
pub(super) struct Feed {
    api: ApiClient,
    val: ValId,
    /// The latest runs of any kind, newest first.
    pub(super) recent: RwSignal<Arc<Vec<BaseRun>>>,
    /// The page of the list.
    pub(super) rows: RwSignal<Arc<Vec<BaseRun>>>,
    /// Whether another page follows.
    pub(super) more: RwSignal<bool>,
    /// Runs that belong at the head of the list and are not in it yet, newest first.
    pub(super) waiting: RwSignal<Vec<BaseRun>>,
    /// Whether the latest runs have been fetched.
    filled: RwSignal<bool>,
    looking: StoredValue<bool>,
}

impl Feed {
    pub(super) fn new(api: ApiClient, val: ValId) -> Self {
        Self {
            api,
            val,
            recent: RwSignal::new(Arc::default()),
            rows: RwSignal::new(Arc::default()),
            more: RwSignal::new(false),
            waiting: RwSignal::new(Vec::new()),
            filled: RwSignal::new(false),
            looking: StoredValue::new(false),
        }
    }

    /// Whether there is something to draw; tracked.
    pub(super) fn has_picture(self) -> bool {
        self.filled.get()
    }

    /// Shows a page of the list.
    pub(super) fn show(self, page: Page<BaseRun>) {
        self.waiting.set(Vec::new());
        self.more.set(page.links.next.is_some());
        self.rows.set(Arc::new(page.data));
    }

    /// Fetches the latest runs, as many as the picture has room for.
    pub(super) fn fill(self) {
        spawn_local(async move {
            // The list says why there is nothing, if there is; the picture is tried again at the next look.
            if let Ok(recent) = self.latest().await
                && self.recent.try_set(Arc::new(recent)).is_none()
            {
                self.filled.set(true);
            }
        });
    }

    async fn latest(self) -> Result<Vec<BaseRun>, ClientError> {
        let page = |offset| PageQuery {
            offset,
            limit: PageQuery::MAX_LIMIT,
        };
        let all = RunFilter::default();
        let first = self.api.list_val_runs(self.val, &all, page(0)).await?;
        let mut runs = first.data;
        if first.links.next.is_some() {
            let second = self
                .api
                .list_val_runs(self.val, &all, page(PageQuery::MAX_LIMIT))
                .await?;
            merge(&mut runs, second.data);
        }
        Ok(runs)
    }

    /// Looks for new runs, and how those that were going on stand now.
    pub(super) fn look(self, filter: Memo<RunFilter>, offset: Memo<u64>, list: Fetched<Page<BaseRun>>) {
        if self.looking.try_get_value() != Some(false) {
            return;
        }
        if !self.filled.get_untracked() {
            return self.fill();
        }
        self.looking.set_value(true);
        spawn_local(async move {
            let newest = PageQuery {
                offset: 0,
                limit: NEWEST,
            };
            let answer = self
                .api
                .list_val_runs(self.val, &RunFilter::default(), newest)
                .await;
            if self.looking.try_set_value(false).is_some() {
                return;
            }
            let Ok(answer) = answer else { return };
            self.take(answer.data, &filter.get_untracked(), offset.get_untracked(), list);
        });
    }

    fn take(self, newest: Vec<BaseRun>, filter: &RunFilter, offset: u64, list: Fetched<Page<BaseRun>>) {
        let known: HashSet<RunId> = self
            .recent
            .with_untracked(|runs| runs.iter().map(|run| run.id).collect());
        if !known.is_empty()
            && newest.iter().all(|run| !known.contains(&run.id))
            && newest.len() as u64 == NEWEST
        {
            // More have come than were asked for: there may be others between.
            self.fill();
        }
        update(self.recent, &newest, PICTURE_RUNS);

        let is_unseen = |run: &BaseRun| {
            let in_rows = self
                .rows
                .with_untracked(|rows| rows.iter().any(|row| row.id == run.id));
            !known.contains(&run.id) && !in_rows
        };
        let unseen: Vec<BaseRun> = newest
            .iter()
            .filter(|run| filter.matches(run) && is_unseen(run))
            .cloned()
            .collect();
        refresh(self.rows, &newest);
        if !unseen.is_empty() {
            self.waiting.update(|waiting| {
                let before = std::mem::replace(waiting, unseen);
                merge(waiting, before);
            });
            if offset == 0 && is_at_top() {
                self.bring();
            }
        }
        // A run that goes on may have left the newest ones by now.
        let is_lost = |run: &BaseRun| !run.status.is_over() && newest.iter().all(|new| new.id != run.id);
        if self.rows.with_untracked(|rows| rows.iter().any(is_lost)) {
            list.refetch();
        }
    }

    /// Puts the runs that wait at the head of the list.
    pub(super) fn bring(self) {
        let waiting = self.waiting.try_update(std::mem::take).unwrap_or_default();
        self.rows.update(|rows| {
            let mut runs = waiting;
            merge(&mut runs, rows.to_vec());
            if runs.len() as u64 > LIMIT {
                runs.truncate(LIMIT as usize);
                self.more.set(true);
            }
            *rows = Arc::new(runs);
        });
    }
}

/// Adds those runs that are not there yet.
fn merge(runs: &mut Vec<BaseRun>, others: Vec<BaseRun>) {
    let known: HashSet<RunId> = runs.iter().map(|run| run.id).collect();
    runs.extend(others.into_iter().filter(|run| !known.contains(&run.id)));
}

/// Puts the newest runs, as they stand now, at the head.
fn update(runs: RwSignal<Arc<Vec<BaseRun>>>, newest: &[BaseRun], most: usize) {
    let mut all = newest.to_vec();
    runs.with_untracked(|runs| merge(&mut all, runs.to_vec()));
    all.truncate(most);
    if runs.with_untracked(|runs| **runs != all) {
        runs.set(Arc::new(all));
    }
}

/// Shows runs that are in the list already as they stand now.
fn refresh(rows: RwSignal<Arc<Vec<BaseRun>>>, newest: &[BaseRun]) {
    let current = |row: &BaseRun| newest.iter().find(|run| run.id == row.id).cloned();
    let all: Vec<BaseRun> = rows.with_untracked(|rows| {
        rows.iter()
            .map(|row| current(row).unwrap_or_else(|| row.clone()))
            .collect()
    });
    if rows.with_untracked(|rows| **rows != all) {
        rows.set(Arc::new(all));
    }
}

/// Whether nothing that someone reads moves when runs are put above it.
fn is_at_top() -> bool {
    let scrolled = window().scroll_y().unwrap_or_default() > TOP_PX;
    let reading = document()
        .active_element()
        .is_some_and(|active| active.closest(".run-list").ok().flatten().is_some());
    !scrolled && !reading
}
