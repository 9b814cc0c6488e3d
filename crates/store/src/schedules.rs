//! Schedules: which vals are to run, and claiming each tick for one server.

mod ticks;

use hamlet_models::{Timestamp, UserId, ValId, ValKind};
use sea_orm::{
    ActiveValue, ColumnTrait, Condition, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder,
    QuerySelect, sea_query::Expr,
};

use crate::{Store, StoreError, entity::val, rows};

pub use ticks::{InvalidSchedule, Ticks};

/// A tick whose time has come.
#[derive(Clone, Debug)]
pub struct DueTick {
    /// The val that is to run.
    pub val_id: ValId,
    /// Whose it is.
    pub owner: UserId,
    /// When it was to run.
    pub at: Timestamp,
    /// When it last ran.
    pub last_run_at: Option<Timestamp>,
    overlap: bool,
    /// The tick after this one and all that were missed; none if there is none.
    next: Option<Timestamp>,
}

/// A tick that this server runs, and no other.
#[derive(Clone, Debug)]
pub struct ClaimedTick {
    /// The tick.
    pub tick: DueTick,
    /// Until when the next one waits for it; none if it doesn't.
    until: Option<Timestamp>,
}

impl Store {
    /// Ticks whose time has come and that wait for no other run, the most overdue first.
    pub async fn list_due_ticks(&self, now: Timestamp, limit: u64) -> Result<Vec<DueTick>, StoreError> {
        let rows = val::Entity::find()
            .filter(may_run(now))
            .filter(val::Column::NextRunAt.lte(now.as_millis()))
            .order_by_asc(val::Column::NextRunAt)
            .limit(limit)
            .all(&self.vals().readers)
            .await?;
        Ok(rows.into_iter().filter_map(|row| due(row, now)).collect())
    }

    /// Claims a tick: of all who try, one gets it. The next one waits until `until` at most, or until the claim is
    /// given back by [`Store::end_tick`].
    pub async fn claim_tick(
        &self,
        tick: DueTick,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<ClaimedTick>, StoreError> {
        let id = tick.val_id;
        let claim = ClaimedTick {
            until: Some(until).filter(|_| !tick.overlap),
            tick,
        };
        let won = self
            .change_vals(
                (claim.clone(), now),
                |(claim, now), tx| Box::pin(claim_one(claim, *now, tx)),
                move |caches, _| caches.vals.remove(&id),
            )
            .await?;
        Ok(won.then_some(claim))
    }

    /// Lets the next tick run: the run of this one is over.
    pub async fn end_tick(&self, claim: &ClaimedTick) -> Result<(), StoreError> {
        let Some(until) = claim.until else { return Ok(()) };
        self.change_ticks(
            claim.tick.val_id,
            vec![(val::Column::RunningUntil, Expr::value(None::<i64>))],
            Condition::all().add(val::Column::RunningUntil.eq(until.as_millis())),
        )
        .await
    }

    /// Gives a tick back that could not be started: it is due again, unless the schedule was changed.
    pub async fn return_tick(&self, claim: &ClaimedTick) -> Result<(), StoreError> {
        let tick = &claim.tick;
        let unchanged = match tick.next {
            Some(next) => val::Column::NextRunAt.eq(next.as_millis()),
            None => val::Column::NextRunAt.is_null(),
        };
        self.change_ticks(
            tick.val_id,
            vec![
                (val::Column::NextRunAt, Expr::value(Some(tick.at.as_millis()))),
                (
                    val::Column::LastRunAt,
                    Expr::value(tick.last_run_at.map(Timestamp::as_millis)),
                ),
                (val::Column::RunningUntil, Expr::value(None::<i64>)),
            ],
            Condition::all().add(unchanged),
        )
        .await
    }

    /// Passes over the ticks from before `missed_before` of schedules that don't catch up, and plans those that are not
    /// planned yet. `alone`: no other server runs, so that nothing that was claimed goes on.
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

    async fn change_ticks(
        &self,
        id: ValId,
        values: Vec<(val::Column, Expr)>,
        only_if: Condition,
    ) -> Result<(), StoreError> {
        self.change_vals(
            (values, only_if.add(val::Column::Id.eq(id.0))),
            |(values, which), tx| {
                Box::pin(async move {
                    let update = values
                        .iter()
                        .fold(val::Entity::update_many(), |update, (column, value)| {
                            update.col_expr(*column, value.clone())
                        });
                    update.filter(which.clone()).exec(tx).await?;
                    Ok(())
                })
            },
            move |caches, ()| caches.vals.remove(&id),
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
    Condition::all()
        .add(val::Column::Kind.eq(ValKind::Interval.as_str()))
        .add(val::Column::Paused.eq(false))
        .add(
            Condition::any()
                .add(val::Column::RunningUntil.is_null())
                .add(val::Column::RunningUntil.lte(now.as_millis()))
                .add(val::Column::Overlap.eq(true)),
        )
}

fn due(row: val::Model, now: Timestamp) -> Option<DueTick> {
    let at = rows::time(row.next_run_at?);
    let ticks = Ticks::parse(&row.cron?, row.timezone.as_deref().unwrap_or("UTC")).ok();
    Some(DueTick {
        val_id: row.id.into(),
        owner: row.owner_id.into(),
        at,
        last_run_at: row.last_run_at.map(rows::time),
        overlap: row.overlap,
        next: ticks.and_then(|ticks| ticks.next(at, now)),
    })
}

/// One statement: it changes the row for who comes first, and nothing for everyone else.
async fn claim_one(
    claim: &ClaimedTick,
    now: Timestamp,
    tx: &DatabaseTransaction,
) -> Result<bool, StoreError> {
    let tick = &claim.tick;
    let mut update = val::Entity::update_many()
        .col_expr(
            val::Column::NextRunAt,
            Expr::value(tick.next.map(Timestamp::as_millis)),
        )
        .col_expr(val::Column::LastRunAt, Expr::value(Some(now.as_millis())));
    if let Some(until) = claim.until {
        update = update.col_expr(val::Column::RunningUntil, Expr::value(Some(until.as_millis())));
    }
    let claimed = update
        .filter(may_run(now))
        .filter(val::Column::Id.eq(tick.val_id.0))
        .filter(val::Column::NextRunAt.eq(tick.at.as_millis()))
        .exec(tx)
        .await?;
    Ok(claimed.rows_affected == 1)
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
    }
    let missed = Condition::all()
        .add(val::Column::NextRunAt.lt(missed_before.as_millis()))
        .add(val::Column::CatchUp.eq(false));
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
