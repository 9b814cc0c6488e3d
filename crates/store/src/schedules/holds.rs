//! Runs of scheduled vals that are no ticks: started by their owners, they keep the ticks waiting as a tick's run does.

use hamlet_models::{Timestamp, ValId};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, sea_query::Expr};

use crate::{Store, StoreError, entity::val};

impl Store {
    /// Keeps the ticks of a val from running until then, or until [`Store::release_schedule`], unless they may overlap.
    pub async fn hold_schedule(&self, id: ValId, until: Timestamp) -> Result<(), StoreError> {
        let sooner = Condition::any()
            .add(val::Column::HeldUntil.is_null())
            .add(val::Column::HeldUntil.lt(until.as_millis()));
        self.set_held(id, sooner, Some(until)).await
    }

    /// Lets the ticks of a val run again that were held until then; those that another run holds for longer stay held.
    pub async fn release_schedule(&self, id: ValId, until: Timestamp) -> Result<(), StoreError> {
        let this = Condition::all().add(val::Column::HeldUntil.eq(until.as_millis()));
        self.set_held(id, this, None).await
    }

    async fn set_held(
        &self,
        id: ValId,
        which: Condition,
        until: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        self.change_vals(
            (id, which, until),
            |(id, which, until), tx| {
                Box::pin(async move {
                    let until = Expr::value(until.map(Timestamp::as_millis));
                    val::Entity::update_many()
                        .col_expr(val::Column::HeldUntil, until)
                        .filter(val::Column::Id.eq(id.0))
                        .filter(which.clone())
                        .exec(tx)
                        .await?;
                    Ok(())
                })
            },
            |_, ()| (),
        )
        .await
    }
}
