//! Runs and their logs: in a file of their own, so that a flood of them never holds up the vals.

mod prune;
mod write;

use std::{collections::HashMap, sync::Arc};

use hamlet_models::{
    Author, HttpResponse, LastRun, LogLine, PageQuery, RunError, RunFilter, RunId, RunInput, RunPhases,
    RunRequest, RunStatus, Timestamp, Trigger, Truncated, UserId, ValId, ValName, VersionNumber,
};
use serde::{Deserialize, Serialize};

use sea_orm::{
    ColumnTrait, Condition, EntityTrait, Iterable, QueryFilter, QueryOrder, QuerySelect, Select,
    sea_query::Expr,
};

use crate::{
    Slice, Store, StoreError,
    entity::{last_run, run, run_log},
    rows,
};

/// The ids that one statement names at most.
const IDS: usize = 500;

/// A run with everything that is kept of it, its logs and its input aside.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// Names the run for ever.
    pub id: RunId,
    /// The val; none for an evaluation.
    pub val_id: Option<ValId>,
    /// The val's owner; the caller for an evaluation.
    pub owner: Author,
    /// The val's name when it ran; none for an evaluation.
    pub val_name: Option<ValName>,
    /// The version that ran; none for an evaluation.
    pub version: Option<VersionNumber>,
    /// The run that started this one, if a run did.
    pub parent_id: Option<RunId>,
    /// The run whose input it was started with again.
    pub replay_of: Option<RunId>,
    /// How it stands.
    pub status: RunStatus,
    /// What started it.
    pub trigger: Trigger,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended; none while it goes on.
    pub ended_at: Option<Timestamp>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<f64>,
    /// CPU time in milliseconds.
    pub cpu_ms: Option<f64>,
    /// The most memory that its worker held, in bytes.
    pub memory_bytes: Option<u64>,
    /// What was thrown.
    pub error: Option<RunError>,
    /// The request, for a run of an HTTP val.
    pub request: Option<RunRequest>,
    /// The arguments, as JSON text.
    pub args: Option<String>,
    /// What it returned, as JSON text.
    pub return_value: Option<String>,
    /// What an HTTP val answered to a request from its page.
    pub response: Option<HttpResponse>,
    /// Which parts were cut.
    pub truncated: Truncated,
    /// Where its time went.
    pub phases: RunPhases,
}

impl RunRecord {
    /// A run that waits for its turn, of which nothing else is known yet.
    pub fn queued(id: RunId, owner: Author, trigger: Trigger, started_at: Timestamp) -> Self {
        Self {
            id,
            val_id: None,
            owner,
            val_name: None,
            version: None,
            parent_id: None,
            replay_of: None,
            status: RunStatus::Queued,
            trigger,
            started_at,
            ended_at: None,
            duration_ms: None,
            cpu_ms: None,
            memory_bytes: None,
            error: None,
            request: None,
            args: None,
            return_value: None,
            response: None,
            truncated: Truncated::default(),
            phases: RunPhases::default(),
        }
    }
}

/// What a run was given, and whether that is all of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptInput {
    /// What it was given, as far as it is kept.
    pub input: RunInput,
    /// Whether a part of it is missing, so that it can't be given again.
    pub cut: bool,
}

/// How a run stands now, and what it has printed since it was last written.
#[derive(Clone, Debug)]
pub struct RunWrite {
    /// The whole run: it takes the place of what was written before.
    pub record: Arc<RunRecord>,
    /// New lines; they follow those written before.
    pub logs: Vec<LogLine>,
    /// What it was given, in one write of a run at most: the others leave it as it is.
    pub input: Option<KeptInput>,
}

/// Whose runs to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunScope {
    /// Those of one val.
    Val(ValId),
    /// Those of a user's vals, and the user's evaluations.
    User(UserId),
}

impl Store {
    /// The runs of the scope, newest first, without `args`, `return_value` and `response`, which may be large.
    pub async fn list_runs(
        &self,
        scope: RunScope,
        filter: &RunFilter,
        page: PageQuery,
    ) -> Result<Slice<RunRecord>, StoreError> {
        let whose = match scope {
            RunScope::Val(id) => run::Column::ValId.eq(id.0),
            RunScope::User(id) => run::Column::OwnerId.eq(id.0),
        };
        let rows = without(is_large)
            .filter(whose)
            .filter(conditions(filter))
            .order_by_desc(run::Column::StartedAt)
            .order_by_desc(run::Column::Id)
            .offset(page.offset)
            .limit(page.limit + 1)
            .all(&self.runs().readers)
            .await?;
        Slice::cut(rows, page.limit).try_map(RunRecord::try_from)
    }

    /// The run of this id.
    pub async fn get_run(&self, id: RunId) -> Result<RunRecord, StoreError> {
        let row = without(|column| matches!(column, run::Column::Input))
            .filter(run::Column::Id.eq(id.0))
            .one(&self.runs().readers)
            .await?;
        row.ok_or(StoreError::NotFound("run"))?.try_into()
    }

    /// What the run of this id was given; nothing where nothing was kept, or for a run that isn't there.
    pub async fn get_run_input(&self, id: RunId) -> Result<Option<KeptInput>, StoreError> {
        let found: Option<Option<String>> = run::Entity::find_by_id(id.0)
            .select_only()
            .column(run::Column::Input)
            .into_tuple()
            .one(&self.runs().readers)
            .await?;
        found.flatten().as_deref().map(rows::json).transpose()
    }

    /// What a run has printed so far, in order; nothing for a run that isn't there.
    pub async fn get_run_logs(&self, id: RunId) -> Result<Vec<LogLine>, StoreError> {
        let rows = run_log::Entity::find()
            .filter(run_log::Column::RunId.eq(id.0))
            .order_by_asc(run_log::Column::Seq)
            .all(&self.runs().readers)
            .await?;
        let mut lines = Vec::new();
        for row in rows {
            lines.extend(rows::json::<Vec<LogLine>>(&row.lines)?);
        }
        Ok(lines)
    }

    /// How the last run of each of these vals stands; vals that never ran are left out.
    pub async fn last_runs(&self, val_ids: &[ValId]) -> Result<HashMap<ValId, LastRun>, StoreError> {
        let mut last_runs = HashMap::with_capacity(val_ids.len());
        for ids in val_ids.chunks(IDS) {
            let found = last_run::Entity::find()
                .filter(last_run::Column::ValId.is_in(ids.iter().map(|id| id.0)))
                .all(&self.runs().readers)
                .await?;
            for row in found {
                let last_run = LastRun {
                    id: row.run_id.into(),
                    status: rows::status(&row.status)?,
                    run_start_at: rows::time(row.started_at),
                    duration_ms: row.duration_ms,
                };
                last_runs.insert(row.val_id.into(), last_run);
            }
        }
        Ok(last_runs)
    }
}

/// Runs, of which nothing is read for these columns.
fn without(is_left_out: fn(&run::Column) -> bool) -> Select<run::Entity> {
    let select = run::Entity::find()
        .select_only()
        .columns(run::Column::iter().filter(|column| !is_left_out(column)));
    run::Column::iter()
        .filter(is_left_out)
        .fold(select, |select, column| {
            select.column_as(Expr::cust("NULL"), column)
        })
}

/// What may be large and no list shows.
fn is_large(column: &run::Column) -> bool {
    use run::Column::{Args, Input, Response, ReturnValue};
    matches!(column, Args | ReturnValue | Response | Input)
}

fn conditions(filter: &RunFilter) -> Condition {
    let failures = || {
        RunStatus::ALL
            .into_iter()
            .filter(|status| status.is_failure())
            .map(RunStatus::as_str)
    };
    Condition::all()
        .add_option(
            filter
                .status
                .map(|status| run::Column::Status.eq(status.as_str())),
        )
        .add_option(
            filter
                .trigger
                .map(|trigger| run::Column::Trigger.eq(trigger.as_str())),
        )
        .add_option(
            filter
                .version
                .map(|version| run::Column::Version.eq(i64::from(version))),
        )
        .add_option(
            filter
                .since
                .map(|time| run::Column::StartedAt.gte(time.as_millis())),
        )
        .add_option(
            filter
                .until
                .map(|time| run::Column::StartedAt.lt(time.as_millis())),
        )
        .add_option(filter.error.map(|error| {
            if error {
                run::Column::Status.is_in(failures())
            } else {
                run::Column::Status.is_not_in(failures())
            }
        }))
}

impl TryFrom<run::Model> for RunRecord {
    type Error = StoreError;

    fn try_from(row: run::Model) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.into(),
            val_id: row.val_id.map(ValId::from),
            owner: Author {
                id: row.owner_id.into(),
                username: rows::name(&row.owner_name)?,
            },
            val_name: row.val_name.as_deref().map(rows::name).transpose()?,
            version: row.version.map(rows::version).transpose()?,
            parent_id: row.parent_id.map(RunId::from),
            replay_of: row.replay_of.map(RunId::from),
            status: rows::status(&row.status)?,
            trigger: rows::trigger(&row.trigger)?,
            started_at: rows::time(row.started_at),
            ended_at: row.ended_at.map(rows::time),
            duration_ms: row.duration_ms,
            cpu_ms: row.cpu_ms,
            memory_bytes: row.memory_bytes.and_then(|bytes| u64::try_from(bytes).ok()),
            error: row.error.as_deref().map(rows::json).transpose()?,
            request: row.request.as_deref().map(rows::json).transpose()?,
            args: row.args,
            return_value: row.return_value,
            response: row.response.as_deref().map(rows::json).transpose()?,
            truncated: rows::json(&row.truncated)?,
            phases: rows::json(&row.phases)?,
        })
    }
}
