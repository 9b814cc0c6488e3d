//! Taking turns: of what waits to run, what is taken at a time, so that much of one owner's leaves room for others'.

use std::collections::HashMap;

use hamlet_models::UserId;
use sea_orm::{
    ColumnTrait, ConnectionTrait, Order,
    sea_query::{Expr, ExprTrait, Func, Query, SelectStatement, WindowStatement},
};
use uuid::Uuid;

use crate::{StoreError, entity::val};

/// How much is taken at a time: every owner's first before anybody's second, the longest waiting first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turns {
    /// The most in all.
    pub most: u64,
    /// The most of one owner.
    pub of_each: u64,
    /// Owners of whom nothing is taken: they have what they may have.
    pub without: Vec<UserId>,
}

/// Something whose turn it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) id: Uuid,
    /// The val that is to run.
    pub(crate) val_id: Uuid,
    /// Whose that is.
    pub(crate) owner_id: Uuid,
    /// Since when it waits.
    pub(crate) since: i64,
}

impl Turns {
    /// So much, whoever's it is.
    pub fn of_all(most: u64) -> Self {
        Self {
            most,
            of_each: most,
            without: Vec::new(),
        }
    }

    /// Whose turn it is among what waits, in the order of the turns. `waiting` selects nothing yet and has the vals
    /// beside it.
    pub(crate) async fn take<D: ConnectionTrait>(
        &self,
        db: &D,
        mut waiting: SelectStatement,
        id: impl ColumnTrait,
        since: impl ColumnTrait,
    ) -> Result<Vec<Taken>, StoreError> {
        const TURN: &str = "turn";
        let of_owner = WindowStatement::partition_by(val::Column::OwnerId.as_column_ref())
            .order_by(since.as_column_ref(), Order::Asc)
            .order_by(id.as_column_ref(), Order::Asc)
            .to_owned();
        let without = self.without.iter().map(|owner| owner.0);
        waiting
            .expr_as(Expr::col(id.as_column_ref()), "waiting_id")
            .expr_as(Expr::col(val::Column::Id.as_column_ref()), "its_val")
            .expr_as(Expr::col(val::Column::OwnerId.as_column_ref()), "its_owner")
            .expr_as(Expr::col(since.as_column_ref()), "since")
            .expr_window_as(Func::cust("ROW_NUMBER"), of_owner, TURN)
            .and_where(val::Column::OwnerId.is_not_in(without));
        let turns = Query::select()
            .columns(["waiting_id", "its_val", "its_owner", "since"])
            .from_subquery(waiting, "waiting")
            .and_where(Expr::col(TURN).lte(i64::try_from(self.of_each).unwrap_or(i64::MAX)))
            .order_by(TURN, Order::Asc)
            .order_by("since", Order::Asc)
            .order_by("waiting_id", Order::Asc)
            .limit(self.most)
            .to_owned();
        let rows = db.query_all(&turns).await?;
        let taken = rows.iter().map(|row| {
            let (id, val_id, owner_id, since) = row.try_get_many_by_index()?;
            Ok(Taken {
                id,
                val_id,
                owner_id,
                since,
            })
        });
        taken.collect()
    }
}

/// The rows of what is taken, in its order; those that are gone by now are left out.
pub(crate) fn in_order<R>(taken: &[Taken], rows: Vec<R>, id: impl Fn(&R) -> Uuid) -> Vec<R> {
    let mut rows: HashMap<Uuid, R> = rows.into_iter().map(|row| (id(&row), row)).collect();
    taken.iter().filter_map(|taken| rows.remove(&taken.id)).collect()
}
