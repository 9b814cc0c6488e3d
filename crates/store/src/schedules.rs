//! Schedules: which vals are to run, and claiming each tick for one server.

mod claims;
mod holds;
mod ticks;

use hamlet_models::{Timestamp, ValKind};
use sea_orm::{
    ActiveValue, ColumnTrait, Condition, DatabaseTransaction, EntityTrait, QueryFilter,
    sea_query::{Expr, ExprTrait, Query, SelectStatement},
};

use crate::{Store, StoreError, Turns, entity::val, rows, turns::in_order};
use claims::{Origin, free_all, owes_nothing};

pub(crate) use claims::forget_claims;
pub use claims::{ClaimedTick, DueTick};
pub use ticks::{InvalidSchedule, Ticks};

impl Store {
    /// Ticks whose time has come and that wait for no other run: first those that were claimed and never begun, then
    /// those of the schedules, which wait for those too unless they may overlap. Of each of both, so many as these
    /// turns take.
    pub async fn list_due_ticks(&self, now: Timestamp, turns: &Turns) -> Result<Vec<DueTick>, StoreError> {
        let mut due = self.list_unbegun_ticks(now, turns).await?;
        let db = &self.vals().readers;
        let is_due = may_run(now)
            .add(val::Column::NextRunAt.lte(now.as_millis()))
            .add(owes_nothing());
        let waiting = Query::select()
            .from(val::Entity)
            .cond_where(is_due.clone())
            .to_owned();
        let taken = turns
            .take(db, waiting, val::Column::Id, val::Column::NextRunAt)
            .await?;
        if taken.is_empty() {
            return Ok(due);
        }
        let rows = val::Entity::find()
            .filter(val::Column::Id.is_in(taken.iter().map(|taken| taken.id)))
            // Another server may have claimed it between: then the row tells of the tick after it.
            .filter(is_due)
            .all(db)
            .await?;
        let rows = in_order(&taken, rows, |row| row.id);
        due.extend(rows.into_iter().filter_map(|row| planned(row, now)));
        Ok(due)
    }

    /// Passes over the ticks from before `missed_before` of schedules that don't catch up, and plans those that are not
    /// planned yet. `alone`: no other server runs, so that nothing that was claimed goes on, and what was claimed and
    /// not begun is due. Otherwise a tick was not missed whose val, or another val of its owner, runs by its schedule
    /// elsewhere: it waits for that to end, or for a place.
    pub async fn resume_schedules(
        &self,
        now: Timestamp,
        missed_before: Timestamp,
        alone: bool,
    ) -> Result<(), StoreError> {
        self.change_vals(
            (now, missed_before, alone),
            |(now, missed_before, alone), tx| Box::pin(resume(*now, *missed_before, *alone, tx)),
            |caches, ()| caches.vals.clear(),
        )
        .await
    }
}

/// Sets when a val runs next from what its row says of its schedule, as from now.
pub(crate) fn plan(row: &mut val::ActiveModel, now: Timestamp) {
    let (kind, cron, zone) = (row.kind.as_ref(), row.cron.as_ref(), row.timezone.as_ref());
    let next = match cron {
        Some(cron) if kind == ValKind::Interval.as_str() && !row.paused.as_ref() => {
            let zone = zone.as_deref().unwrap_or("UTC");
            Ticks::parse(cron, zone)
                .ok()
                .and_then(|ticks| ticks.next(now, now))
        }
        _ => None,
    };
    row.next_run_at = ActiveValue::Set(next.map(Timestamp::as_millis));
}

/// Whether anything that says when a val runs was changed.
pub(crate) fn is_replanned(row: &val::ActiveModel) -> bool {
    row.kind.is_set() || row.cron.is_set() || row.timezone.is_set() || row.paused.is_set()
}

fn may_run(now: Timestamp) -> Condition {
    let free = Condition::any()
        .add(val::Column::Overlap.eq(true))
        .add(is_idle(now));
    Condition::all()
        .add(val::Column::Kind.eq(ValKind::Interval.as_str()))
        .add(val::Column::Paused.eq(false))
        .add(free)
}

/// Whether neither a tick's run nor one that its owner started goes on.
fn is_idle(now: Timestamp) -> Condition {
    let until = val::Column::RunningUntil;
    Condition::all()
        .add(until.is_null().or(until.lte(now.as_millis())))
        .add(holds::is_free(now))
}

/// Vals of the owner of the val in question whose runs keep ticks waiting.
fn runs_of_owner(now: Timestamp) -> SelectStatement {
    const OTHER: &str = "other";
    let owner = Expr::col(val::Column::OwnerId.as_column_ref());
    Query::select()
        .expr(Expr::value(1))
        .from_as(val::Entity, OTHER)
        .and_where(Expr::col((OTHER, val::Column::OwnerId)).eq(owner))
        .and_where(Expr::col((OTHER, val::Column::RunningUntil)).gt(now.as_millis()))
        .to_owned()
}

fn planned(row: val::Model, now: Timestamp) -> Option<DueTick> {
    let at = rows::time(row.next_run_at?);
    let ticks = Ticks::parse(&row.cron?, row.timezone.as_deref().unwrap_or("UTC")).ok();
    let next = ticks.and_then(|ticks| ticks.next(at, now));
    Some(DueTick {
        val_id: row.id.into(),
        owner: row.owner_id.into(),
        at,
        last_run_at: row.last_run_at.map(rows::time),
        overlap: row.overlap,
        origin: Origin::Plan { next },
    })
}

async fn resume(
    now: Timestamp,
    missed_before: Timestamp,
    alone: bool,
    tx: &DatabaseTransaction,
) -> Result<(), StoreError> {
    if alone {
        val::Entity::update_many()
            .col_expr(val::Column::RunningUntil, Expr::value(None::<i64>))
            .filter(val::Column::RunningUntil.is_not_null())
            .exec(tx)
            .await?;
        free_all(tx).await?;
    }
    holds::forget(now, alone, tx).await?;
    let missed = Condition::all()
        .add(val::Column::NextRunAt.lt(missed_before.as_millis()))
        .add(val::Column::CatchUp.eq(false))
        .add(is_idle(now))
        .add(Expr::exists(runs_of_owner(now)).not());
    let rows = val::Entity::find()
        .filter(val::Column::Kind.eq(ValKind::Interval.as_str()))
        .filter(val::Column::Paused.eq(false))
        .filter(val::Column::Cron.is_not_null())
        .filter(Condition::any().add(val::Column::NextRunAt.is_null()).add(missed))
        .all(tx)
        .await?;
    for row in rows {
        let last = row.next_run_at.map_or(now, rows::time);
        let zone = row.timezone.as_deref().unwrap_or("UTC");
        let ticks = row.cron.and_then(|cron| Ticks::parse(&cron, zone).ok());
        let next = ticks.and_then(|ticks| ticks.next(last, now));
        val::Entity::update_many()
            .col_expr(
                val::Column::NextRunAt,
                Expr::value(next.map(Timestamp::as_millis)),
            )
            .filter(val::Column::Id.eq(row.id))
            .exec(tx)
            .await?;
    }
    Ok(())
}
