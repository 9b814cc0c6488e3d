//! Lists of vals: their ids from an index, the vals themselves from memory.

use std::sync::Arc;

use hamlet_models::{PageQuery, Privacy, Timestamp, UserId, ValFilter, ValId};
use sea_orm::{
    ConnectionTrait,
    sea_query::{Expr, ExprTrait, LikeExpr, Order, Query, SelectStatement},
};
use uuid::Uuid;

use crate::{
    Slice, Store, StoreError,
    cache::Ticket,
    entity::val,
    vals::{
        ValRecord, ValScope,
        rows::{Which, load_records},
    },
};

/// A place in a list: when the val was made, and its id.
type Place = (i64, Uuid);

impl ValScope {
    /// Whether a list may show this val.
    fn shows(&self, val: &ValRecord) -> bool {
        self.owner.is_none_or(|owner| owner == val.owner.id)
            && (val.privacy == Privacy::Public || self.viewer == Some(val.owner.id))
    }

    /// The conditions under which a val is in the list: each can be answered by one index, and no val meets two.
    fn conditions(&self, filter: &ValFilter) -> Vec<Expr> {
        let owned_by = |owner: UserId| column(val::Column::OwnerId).eq(owner.0);
        let public = || column(val::Column::Privacy).eq(Privacy::Public.as_str());
        let owner = match (self.owner, filter.user_id) {
            (Some(owner), Some(user)) if owner != user => return Vec::new(),
            (owner, user) => owner.or(user),
        };
        match (owner, self.viewer) {
            (Some(owner), Some(viewer)) if owner == viewer => vec![owned_by(owner)],
            (Some(owner), _) => vec![owned_by(owner).and(public())],
            (None, None) => vec![public()],
            (None, Some(viewer)) => {
                let hidden = column(val::Column::Privacy).ne(Privacy::Public.as_str());
                vec![public(), owned_by(viewer).and(hidden)]
            }
        }
    }
}

impl Store {
    /// The vals that the scope shows, newest first.
    pub async fn list_vals(
        &self,
        scope: &ValScope,
        filter: &ValFilter,
        page: PageQuery,
    ) -> Result<Slice<Arc<ValRecord>>, StoreError> {
        let PageQuery { offset, limit } = page;
        let places = match scope.conditions(filter).as_slice() {
            [one] => {
                self.places(select(one, filter).limit(limit + 1).offset(offset))
                    .await?
            }
            several => {
                // Each part as far as the page may reach into it.
                let reach = offset.saturating_add(limit + 1);
                let mut places = Vec::new();
                for part in several {
                    places.extend(self.places(select(part, filter).limit(reach)).await?);
                }
                places.sort_unstable_by(|a, b| b.cmp(a));
                let offset = usize::try_from(offset).unwrap_or(usize::MAX);
                places.into_iter().skip(offset).collect()
            }
        };
        self.records(scope, Slice::cut(places, limit)).await
    }

    /// The vals that the scope shows and that were made before this time, newest first. Vals made in the same
    /// millisecond come together, so that the last one's `created_at` is where the next call goes on: that may make
    /// the slice shorter than `limit`, or longer when more vals than that share one millisecond.
    pub async fn list_vals_before(
        &self,
        scope: &ValScope,
        filter: &ValFilter,
        before: Option<Timestamp>,
        limit: u64,
    ) -> Result<Slice<Arc<ValRecord>>, StoreError> {
        let made = |part: &Expr, when: Option<Expr>| select(part, filter).and_where_option(when).to_owned();
        let mut places = Vec::new();
        for part in scope.conditions(filter) {
            let earlier = before.map(|time| column(val::Column::CreatedAt).lt(time.as_millis()));
            places.extend(self.places(made(&part, earlier).limit(limit + 1)).await?);
        }
        places.sort_unstable_by(|a, b| b.cmp(a));
        let mut slice = Slice::cut(places.clone(), limit);
        if let (true, Some(next)) = (slice.more, places.get(slice.items.len())) {
            slice.items.retain(|place| place.0 != next.0);
            if slice.items.is_empty() {
                slice = self.places_of_one_moment(scope, filter, next.0).await?;
            }
        }
        self.records(scope, slice).await
    }

    async fn places_of_one_moment(
        &self,
        scope: &ValScope,
        filter: &ValFilter,
        millis: i64,
    ) -> Result<Slice<Place>, StoreError> {
        let mut items = Vec::new();
        let mut more = false;
        for part in scope.conditions(filter) {
            let now = select(&part, filter)
                .and_where(column(val::Column::CreatedAt).eq(millis))
                .to_owned();
            items.extend(self.places(&now).await?);
            let later = select(&part, filter)
                .and_where(column(val::Column::CreatedAt).lt(millis))
                .limit(1)
                .to_owned();
            more |= !self.places(&later).await?.is_empty();
        }
        items.sort_unstable_by(|a, b| b.cmp(a));
        Ok(Slice { items, more })
    }

    async fn places(&self, select: &SelectStatement) -> Result<Vec<Place>, StoreError> {
        let rows = self.vals().readers.query_all(select).await?;
        rows.iter()
            .map(|row| Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?)))
            .collect()
    }

    /// The vals of these places. One that was deleted or hidden since the places were read is left out.
    async fn records(
        &self,
        scope: &ValScope,
        places: Slice<Place>,
    ) -> Result<Slice<Arc<ValRecord>>, StoreError> {
        let cache = &self.caches().vals;
        let ids: Vec<ValId> = places.items.into_iter().map(|(_, id)| id.into()).collect();
        let mut records: Vec<_> = ids.iter().map(|id| cache.get(id)).collect();
        let missing: Vec<(usize, ValId, Ticket)> = ids
            .into_iter()
            .enumerate()
            .filter(|(index, _)| records[*index].is_none())
            .map(|(index, id)| (index, id, cache.ticket(&id)))
            .collect();
        if !missing.is_empty() {
            let which =
                Expr::col((val::Entity, val::Column::Id)).is_in(missing.iter().map(|(_, id, _)| id.0));
            for record in load_records(&self.vals().readers, which, Which::Latest).await? {
                let Some(&(index, id, ticket)) = missing.iter().find(|(_, id, _)| *id == record.id) else {
                    continue;
                };
                let record = Arc::new(record);
                cache.fill(ticket, id, record.clone());
                records[index] = Some(record);
            }
        }
        let items = records
            .into_iter()
            .flatten()
            .filter(|val| scope.shows(val))
            .collect();
        Ok(Slice {
            items,
            more: places.more,
        })
    }
}

fn column(column: val::Column) -> Expr {
    Expr::col(column)
}

/// The places of the vals that meet the condition and the filter, newest first.
fn select(condition: &Expr, filter: &ValFilter) -> SelectStatement {
    let kind = filter
        .kind
        .map(|kind| column(val::Column::Kind).eq(kind.as_str()));
    let privacy = filter
        .privacy
        .map(|privacy| column(val::Column::Privacy).eq(privacy.as_str()));
    let query = filter
        .query
        .as_deref()
        .map(str::trim)
        .filter(|query| !query.is_empty());
    let named = query.map(|query| {
        let mut pattern = String::from("%");
        for c in query.to_ascii_lowercase().chars() {
            if matches!(c, '%' | '_' | '\\') {
                pattern.push('\\');
            }
            pattern.push(c);
        }
        pattern.push('%');
        column(val::Column::NameKey).like(LikeExpr::new(pattern).escape('\\'))
    });
    Query::select()
        .columns([val::Column::CreatedAt, val::Column::Id])
        .from(val::Entity)
        .and_where(condition.clone())
        .and_where_option(kind)
        .and_where_option(privacy)
        .and_where_option(named)
        .order_by(val::Column::CreatedAt, Order::Desc)
        .order_by(val::Column::Id, Order::Desc)
        .to_owned()
}
