//! Taking a tick, so that one server runs it, and no crash makes it run twice or not at all.
//!
//! A claim takes the tick off its schedule and keeps it as a row of its own, in one transaction. The row goes when the
//! run begins: a row that is left, because its server gave it back or died, is a tick that is still owed.

use hamlet_models::{RunId, Timestamp, UserId, ValId};
use sea_orm::{
    ColumnTrait, Condition, DatabaseTransaction, EntityTrait, IntoActiveModel, QueryFilter,
    sea_query::{Expr, ExprTrait, Query},
};
use std::collections::HashMap;
use uuid::Uuid;

use super::may_run;
use crate::{
    Store, StoreError, Turns,
    clock::new_id,
    entity::{claimed_tick, val},
    rows,
    turns::in_order,
};

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
    pub(super) overlap: bool,
    pub(super) origin: Origin,
}

/// Where a tick that is due comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Origin {
    /// The schedule.
    Plan {
        /// The tick after this one and all that were missed; none if there is none.
        next: Option<Timestamp>,
    },
    /// A claim that did not become a run.
    Claim(Uuid),
}

/// A tick that this server may run, and no other before `until`.
#[derive(Clone, Debug)]
pub struct ClaimedTick {
    /// The tick.
    pub tick: DueTick,
    id: Uuid,
    claimed_at: Timestamp,
    until: Timestamp,
}

impl ClaimedTick {
    /// Names the tick's run, the same for each who claims the tick: what one recorded and never began, the next one's
    /// record takes the place of.
    pub fn run_id(&self) -> RunId {
        RunId(self.id)
    }
}

impl Store {
    /// Claims a tick: of all who try, one gets it. It is owed to that one until `until`, then to all again, unless it
    /// was begun; the next one of its val waits for as long, or until [`Store::end_tick`].
    pub async fn claim_tick(
        &self,
        tick: DueTick,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<ClaimedTick>, StoreError> {
        let val_id = tick.val_id;
        let id = match tick.origin {
            Origin::Plan { .. } => new_id().0,
            Origin::Claim(id) => id,
        };
        let claim = ClaimedTick {
            tick,
            id,
            claimed_at: now,
            until,
        };
        let won = self
            .change_vals(
                claim.clone(),
                |claim, tx| Box::pin(claim_one(claim, tx)),
                move |caches, ()| caches.vals.remove(&val_id),
            )
            .await;
        match won {
            Ok(()) => Ok(Some(claim)),
            Err(StoreError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Spends a tick: it never runs again, whatever happens from now on. `false` if it is not the claimer's any more.
    pub async fn begin_tick(&self, claim: &ClaimedTick) -> Result<bool, StoreError> {
        self.change_vals(
            claim.clone(),
            |claim, tx| {
                Box::pin(async move {
                    let spent = claimed_tick::Entity::delete_many().filter(is_held(claim));
                    Ok(spent.exec(tx).await?.rows_affected == 1)
                })
            },
            |_, _| (),
        )
        .await
    }

    /// Gives a tick back that could not be begun: it is due again, and its val has not run.
    pub async fn return_tick(&self, claim: &ClaimedTick) -> Result<(), StoreError> {
        let val_id = claim.tick.val_id;
        self.change_vals(
            claim.clone(),
            |claim, tx| {
                Box::pin(async move {
                    claimed_tick::Entity::update_many()
                        .col_expr(claimed_tick::Column::HeldUntil, Expr::value(None::<i64>))
                        .filter(is_held(claim))
                        .exec(tx)
                        .await?;
                    let last_run_at = claim.tick.last_run_at.map(Timestamp::as_millis);
                    val::Entity::update_many()
                        .col_expr(val::Column::LastRunAt, Expr::value(last_run_at))
                        .filter(val::Column::Id.eq(claim.tick.val_id.0))
                        .filter(val::Column::LastRunAt.eq(claim.claimed_at.as_millis()))
                        .exec(tx)
                        .await?;
                    let_next_run(claim, tx).await
                })
            },
            move |caches, ()| caches.vals.remove(&val_id),
        )
        .await
    }

    /// Lets the next tick run: the run of this one is over.
    pub async fn end_tick(&self, claim: &ClaimedTick) -> Result<(), StoreError> {
        if claim.tick.overlap {
            return Ok(());
        }
        let val_id = claim.tick.val_id;
        self.change_vals(
            claim.clone(),
            |claim, tx| Box::pin(let_next_run(claim, tx)),
            move |caches, ()| caches.vals.remove(&val_id),
        )
        .await
    }

    /// Ticks that were claimed, and that nobody holds and nobody began.
    pub(super) async fn list_unbegun_ticks(
        &self,
        now: Timestamp,
        turns: &Turns,
    ) -> Result<Vec<DueTick>, StoreError> {
        let db = &self.vals().readers;
        let waiting = Query::select()
            .from(claimed_tick::Entity)
            .inner_join(val::Entity, is_of_val())
            .cond_where(is_free(now))
            .cond_where(may_run(now))
            .to_owned();
        let taken = turns
            .take(db, waiting, claimed_tick::Column::Id, claimed_tick::Column::At)
            .await?;
        if taken.is_empty() {
            return Ok(Vec::new());
        }
        let claims = claimed_tick::Entity::find()
            .filter(claimed_tick::Column::Id.is_in(taken.iter().map(|taken| taken.id)))
            .all(db)
            .await?;
        let claims = in_order(&taken, claims, |claim| claim.id);
        let vals = val::Entity::find()
            .filter(val::Column::Id.is_in(claims.iter().map(|claim| claim.val_id)))
            .all(db)
            .await?;
        let vals: HashMap<Uuid, val::Model> = vals.into_iter().map(|row| (row.id, row)).collect();
        let due = claims.into_iter().filter_map(|claim| {
            let val = vals.get(&claim.val_id)?;
            Some(DueTick {
                val_id: claim.val_id.into(),
                owner: val.owner_id.into(),
                at: rows::time(claim.at),
                last_run_at: claim.last_run_at.map(rows::time),
                overlap: val.overlap,
                origin: Origin::Claim(claim.id),
            })
        });
        Ok(due.collect())
    }
}

/// Refused, with nothing changed, for who comes second. One statement on the val decides; it lets the next tick wait.
async fn claim_one(claim: &ClaimedTick, tx: &DatabaseTransaction) -> Result<(), StoreError> {
    let (tick, now) = (&claim.tick, claim.claimed_at);
    let until = Some(claim.until.as_millis());
    let mut update = val::Entity::update_many()
        .col_expr(val::Column::LastRunAt, Expr::value(Some(now.as_millis())))
        .filter(may_run(now))
        .filter(val::Column::Id.eq(tick.val_id.0));
    if !tick.overlap {
        update = update.col_expr(val::Column::RunningUntil, Expr::value(until));
    }
    if let Origin::Plan { next } = tick.origin {
        update = update
            .col_expr(
                val::Column::NextRunAt,
                Expr::value(next.map(Timestamp::as_millis)),
            )
            .filter(val::Column::NextRunAt.eq(tick.at.as_millis()));
    }
    if update.exec(tx).await?.rows_affected != 1 {
        return Err(StoreError::NotFound("tick"));
    }
    match tick.origin {
        Origin::Plan { .. } => {
            let row = claimed_tick::Model {
                id: claim.id,
                val_id: tick.val_id.0,
                at: tick.at.as_millis(),
                last_run_at: tick.last_run_at.map(Timestamp::as_millis),
                held_until: until,
            };
            claimed_tick::Entity::insert(row.into_active_model())
                .exec_without_returning(tx)
                .await?;
        }
        Origin::Claim(id) => {
            let held = claimed_tick::Entity::update_many()
                .col_expr(claimed_tick::Column::HeldUntil, Expr::value(until))
                .filter(is_free(now).add(claimed_tick::Column::Id.eq(id)))
                .exec(tx)
                .await?;
            if held.rows_affected != 1 {
                return Err(StoreError::NotFound("tick"));
            }
        }
    }
    Ok(())
}

/// Ends the waiting for this claim, unless it ran out and is another's.
async fn let_next_run(claim: &ClaimedTick, tx: &DatabaseTransaction) -> Result<(), StoreError> {
    val::Entity::update_many()
        .col_expr(val::Column::RunningUntil, Expr::value(None::<i64>))
        .filter(val::Column::Id.eq(claim.tick.val_id.0))
        .filter(val::Column::RunningUntil.eq(claim.until.as_millis()))
        .exec(tx)
        .await?;
    Ok(())
}

/// Makes all that was claimed and not begun due: nobody is left who would begin it.
pub(super) async fn free_all(tx: &DatabaseTransaction) -> Result<(), StoreError> {
    claimed_tick::Entity::update_many()
        .col_expr(claimed_tick::Column::HeldUntil, Expr::value(None::<i64>))
        .filter(claimed_tick::Column::HeldUntil.is_not_null())
        .exec(tx)
        .await?;
    Ok(())
}

/// Forgets what a val's schedule owes: it has another schedule now, or is paused.
pub(crate) async fn forget_claims<D: sea_orm::ConnectionTrait>(
    val_id: Uuid,
    db: &D,
) -> Result<(), StoreError> {
    claimed_tick::Entity::delete_many()
        .filter(claimed_tick::Column::ValId.eq(val_id))
        .exec(db)
        .await?;
    Ok(())
}

/// Whether nothing is owed by a val beside which the next tick would be run.
pub(super) fn owes_nothing() -> Condition {
    let owed = Query::select()
        .expr(Expr::value(1))
        .from(claimed_tick::Entity)
        .and_where(is_of_val())
        .to_owned();
    Condition::any()
        .add(val::Column::Overlap.eq(true))
        .add(Expr::exists(owed).not())
}

/// Whether a claim is one of a val, of each of both that there are.
fn is_of_val() -> Expr {
    let val_id = Expr::col(val::Column::Id.as_column_ref());
    val_id.eq(Expr::col(claimed_tick::Column::ValId.as_column_ref()))
}

fn is_held(claim: &ClaimedTick) -> Condition {
    Condition::all()
        .add(claimed_tick::Column::Id.eq(claim.id))
        .add(claimed_tick::Column::HeldUntil.eq(claim.until.as_millis()))
}

fn is_free(now: Timestamp) -> Condition {
    let free = Condition::any()
        .add(claimed_tick::Column::HeldUntil.is_null())
        .add(claimed_tick::Column::HeldUntil.lte(now.as_millis()));
    Condition::all().add(free)
}
