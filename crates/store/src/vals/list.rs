//! Lists of vals: their ids from an index, the vals themselves from memory.

use std::sync::Arc;

use hamlet_models::{PageQuery, Privacy, Timestamp, UserId, ValFilter, ValId};
use sea_orm::{
    ConnectionTrait,
    sea_query::{Expr, ExprTrait, LikeExpr, Order, Query, SelectStatement, UnionType},
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

/// Vals of one privacy, perhaps of one owner: an index has them in order.
#[derive(Clone, Copy)]
struct Part {
    owner: Option<UserId>,
    privacy: Privacy,
}

impl ValScope {
    /// Whether a list may show this val.
    fn shows(&self, val: &ValRecord) -> bool {
        self.owner.is_none_or(|owner| owner == val.owner.id)
            && (val.privacy == Privacy::Public || self.viewer == Some(val.owner.id))
    }

    /// What the list is put together from; no val is in two parts.
    fn parts(&self, filter: &ValFilter) -> Vec<Part> {
        let owner = match (self.owner, filter.user_id) {
            (Some(owner), Some(user)) if owner != user => return Vec::new(),
            (owner, user) => owner.or(user),
        };
        let part = |privacy| match (privacy, owner, self.viewer) {
            (Privacy::Public, owner, _) => Some(Part { owner, privacy }),
            (_, Some(owner), viewer) if viewer != Some(owner) => None,
            (_, _, viewer) => viewer.map(|viewer| Part {
                owner: Some(viewer),
                privacy,
            }),
        };
        let wanted = |privacy: &Privacy| filter.privacy.is_none_or(|wanted| wanted == *privacy);
        Privacy::ALL.into_iter().filter(wanted).filter_map(part).collect()
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
        let select = select(scope, filter, None).map(|mut select| select.offset(page.offset).to_owned());
        let places = self.places_up_to(select, page.limit + 1).await?;
        self.records(scope, Slice::cut(places, page.limit)).await
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
        let made = || column(val::Column::CreatedAt);
        let select_when = |when| select(scope, filter, when);
        let earlier = before.map(|time| made().lt(time.as_millis()));
        let mut places = self.places_up_to(select_when(earlier), limit + 1).await?;
        let next = usize::try_from(limit).ok().and_then(|limit| places.get(limit));
        let Some(&(moment, _)) = next else {
            return self
                .records(
                    scope,
                    Slice {
                        items: places,
                        more: false,
                    },
                )
                .await;
        };
        // The vals of the moment that the limit cuts through go to the next slice, or all into this one.
        places.retain(|place| place.0 != moment);
        let mut more = true;
        if places.is_empty() {
            places = self
                .places_up_to(select_when(Some(made().eq(moment))), u64::MAX >> 1)
                .await?;
            more = !self
                .places_up_to(select_when(Some(made().lt(moment))), 1)
                .await?
                .is_empty();
        }
        self.records(scope, Slice { items: places, more }).await
    }

    async fn places_up_to(
        &self,
        select: Option<SelectStatement>,
        limit: u64,
    ) -> Result<Vec<Place>, StoreError> {
        let Some(mut select) = select else {
            return Ok(Vec::new());
        };
        let rows = self.vals().readers.query_all(select.limit(limit)).await?;
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

/// The places of the vals that the list shows and that were made then, newest first; nothing if there can be none.
fn select(scope: &ValScope, filter: &ValFilter, made: Option<Expr>) -> Option<SelectStatement> {
    let kind = filter
        .kind
        .map(|kind| column(val::Column::Kind).eq(kind.as_str()));
    let query = filter
        .query
        .as_deref()
        .map(str::trim)
        .filter(|query| !query.is_empty());
    // No name has this character, and PostgreSQL has no text with it.
    if query.is_some_and(|query| query.contains('\0')) {
        return None;
    }
    let named = query.map(|query| column(val::Column::NameKey).like(containing(query)));
    let select = |part: Part| {
        Query::select()
            .columns([val::Column::CreatedAt, val::Column::Id])
            .from(val::Entity)
            .and_where(column(val::Column::Privacy).eq(part.privacy.as_str()))
            .and_where_option(part.owner.map(|owner| column(val::Column::OwnerId).eq(owner.0)))
            .and_where_option(made.clone())
            .and_where_option(kind.clone())
            .and_where_option(named.clone())
            .to_owned()
    };
    let mut parts = scope.parts(filter).into_iter().map(select);
    let mut all = parts.next()?;
    for part in parts {
        all.union(UnionType::All, part);
    }
    all.order_by(val::Column::CreatedAt, Order::Desc)
        .order_by(val::Column::Id, Order::Desc);
    Some(all)
}

/// The pattern of a name that has this text in it.
fn containing(text: &str) -> LikeExpr {
    let mut pattern = String::from("%");
    for c in text.to_ascii_lowercase().chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    LikeExpr::new(pattern).escape('\\')
}
