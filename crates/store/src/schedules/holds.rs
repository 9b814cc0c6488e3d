//! Runs of scheduled vals that are no ticks: started by their owners, they keep the ticks waiting as a tick's run does.

use hamlet_models::{RunId, Timestamp, ValId};
use sea_orm::{
    ColumnTrait, Condition, DatabaseTransaction, EntityTrait, IntoActiveModel, QueryFilter,
    sea_query::{Expr, ExprTrait, Query},
};

use crate::{
    Store, StoreError,
    entity::{schedule_hold, val},
    error::is_missing_parent,
};

impl Store {
    /// Keeps the ticks of a val from running while this run goes on: until then, or until
    /// [`Store::release_schedule`]. Ticks that may overlap run all the same.
    pub async fn hold_schedule(&self, val: ValId, run: RunId, until: Timestamp) -> Result<(), StoreError> {
        let hold = schedule_hold::Model {
            id: run.0,
            val_id: val.0,
            until: until.as_millis(),
        };
        self.change_vals(
            hold,
            |hold, tx| {
                Box::pin(async move {
                    let new = hold.clone().into_active_model();
                    match schedule_hold::Entity::insert(new)
                        .exec_without_returning(tx)
                        .await
                    {
                        Ok(_) => Ok(()),
                        Err(error) if is_missing_parent(&error) => Err(StoreError::NotFound("val")),
                        Err(error) => Err(error.into()),
                    }
                })
            },
            |_, ()| (),
        )
        .await
    }

    /// Lets the ticks run again that this run kept waiting, unless another run does.
    pub async fn release_schedule(&self, run: RunId) -> Result<(), StoreError> {
        let this = Condition::all().add(schedule_hold::Column::Id.eq(run.0));
        self.change_vals(this, |this, tx| Box::pin(release(this.clone(), tx)), |_, ()| ())
            .await
    }
}

/// Whether no such run of a val goes on.
pub(super) fn is_free(now: Timestamp) -> Expr {
    let val_id = Expr::col(val::Column::Id.as_column_ref());
    let hold = Query::select()
        .expr(Expr::value(1))
        .from(schedule_hold::Entity)
        .and_where(val_id.eq(Expr::col(schedule_hold::Column::ValId.as_column_ref())))
        .and_where(schedule_hold::Column::Until.gt(now.as_millis()))
        .to_owned();
    Expr::exists(hold).not()
}

/// Forgets the runs that are over by now without a note of that; with `all`, every run.
pub(super) async fn forget(now: Timestamp, all: bool, tx: &DatabaseTransaction) -> Result<(), StoreError> {
    let over = Condition::all();
    let over = if all {
        over
    } else {
        over.add(schedule_hold::Column::Until.lte(now.as_millis()))
    };
    release(over, tx).await
}

async fn release(which: Condition, tx: &DatabaseTransaction) -> Result<(), StoreError> {
    schedule_hold::Entity::delete_many()
        .filter(which)
        .exec(tx)
        .await?;
    Ok(())
}
