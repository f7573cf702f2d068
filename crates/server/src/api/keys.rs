//! Keys, for administrators: created, listed, revoked; and what a revoked key sent, withdrawn.

use karat::look_alikes::{Alike, LookAlikes};
use karat_core::timestamp::TimestampError;
use karat_store::Term;
use karat_store::port::Order;

use super::weights::{REASON_MAX_CHARACTERS, is_text};
use super::{done, json};
use crate::arrival;
use crate::authority::Revoked;
use crate::clock::random;
use crate::keys::{KeyRequest, SERVER, Scope, Withdrawal};
use crate::prelude::*;
use crate::turn::new_key;

/// A key, without its secret.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KnownKey {
    /// The id of the key.
    id: String,
    /// The name of its holder.
    name: String,
    /// The scopes that it grants.
    scopes: Vec<Scope>,
    /// The only subject for which it may act.
    subject: Option<String>,
    /// The provenances of the facts that it may report; empty if it may report all.
    reports: Vec<String>,
    #[serde(flatten)]
    alike: Alike,
}

/// A key that was just created.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MadeKey {
    /// The secret. It is shown only here: the server keeps only its hash.
    secret: String,
    #[serde(flatten)]
    key: KnownKey,
}

/// The keys that are not revoked.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KnownKeys {
    keys: Vec<KnownKey>,
}

impl KnownKey {
    fn new(key: &Key, look_alikes: &LookAlikes) -> Self {
        Self {
            alike: look_alikes.of(&key.name).clone(),
            id: key.id.clone(),
            name: key.name.clone(),
            scopes: key.scopes.iter().copied().collect(),
            subject: key.subject.clone(),
            reports: key.reports.iter().cloned().collect(),
        }
    }
}

/// Lists the keys that are not revoked, without secrets.
#[utoipa::path(get, operation_id = "list_keys", path = "/v1/keys", tag = "keys", security(("key" = ["admin"])), responses(
    (status = 200, body = KnownKeys)))]
pub(crate) async fn list(State(app): State<Arc<App>>, caller: Caller) -> Answer {
    caller.may(&Act::ReadKeys)?;
    let keys = app.memory.keys();
    let look_alikes = LookAlikes::among(keys.iter().map(|key| key.name.as_str()));
    let known = keys.iter().map(|key| KnownKey::new(key, &look_alikes)).collect();
    drop(keys);
    json(StatusCode::OK, &KnownKeys { keys: known })
}

/// Creates a key. Its secret is in the answer and nowhere else.
#[utoipa::path(post, operation_id = "make_key", path = "/v1/keys", tag = "keys", security(("key" = ["admin"])), request_body = KeyRequest, responses(
    (status = 201, body = MadeKey), Taken))]
pub(crate) async fn make(Post { app, caller, body }: Post) -> Answer {
    let maker = Arc::clone(caller.key(&Act::MakeKey)?);
    let request: KeyRequest = body.json(&app).await?;
    let random = random::<32>().map_err(|error| Problem::internal(&error))?;
    let made = request.make(random)?;
    new_key(&app.memory.keys(), &made.key)?;
    let effect = Effect::Key(made.key.clone(), false);
    app.append_one(Submission::by(&maker).with(made.key.item(false), Some(effect))).await?;
    let look_alikes = LookAlikes::among(app.memory.keys().iter().map(|key| key.name.as_str()));
    json(StatusCode::CREATED, &MadeKey { secret: made.secret, key: KnownKey::new(&made.key, &look_alikes) })
}

/// Revokes a key, at once and for good.
#[utoipa::path(delete, operation_id = "revoke_key", path = "/v1/keys/{key}", tag = "keys", security(("key" = ["admin"])), params(
    ("key" = String, Path, description = "the id of the key")), responses((status = 204, description = "It was revoked."), Taken,
    ))]
pub(crate) async fn revoke(State(app): State<Arc<App>>, caller: Caller, Named(id): Named<String>) -> Answer {
    caller.may(&Act::RevokeKey(None))?;
    let (key, is_last) = {
        let keys = app.memory.keys();
        let is_other = |key: &&Arc<Key>| key.id != id && key.allows(Scope::Admin);
        (keys.get(&id), keys.iter().find(is_other).is_none())
    };
    let key =
        key.ok_or_else(|| Problem::not_found(format!("there is no key `{}` in force", id.escape_debug())))?;
    let is_last_admin = is_last && key.allows(Scope::Admin);
    let revoker = caller.key(&Act::RevokeKey(Some(Revoked { is_last_admin })))?;
    let effect = Effect::Key(Key::clone(&key), true);
    app.append_one(Submission::by(revoker).with(key.item(true), Some(effect))).await?;
    done()
}

/// The request to withdraw what a revoked key sent.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WithdrawalRequest {
    /// The moment from which on its evidence and records do not count: an RFC 3339 timestamp.
    #[schema(example = "2026-11-22T08:00:00Z")]
    since: String,
    /// The reason, in up to 1000 characters.
    #[schema(min_length = 1, max_length = 1000)]
    reason: String,
}

/// A withdrawal, as the log has it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StoredWithdrawal {
    /// The id of the key.
    key: String,
    /// The moment from which on it is withdrawn.
    since: String,
    /// The position of the first entry of the log at that moment or later.
    from: u64,
    /// The position of the withdrawal in the log.
    position: u64,
    /// The number of records that no longer count.
    records: u64,
}

/// Withdraws the evidence and records that a revoked key sent since a moment, once and for good: they stay in the log
/// and do not count, and corrections among them are undone.
///
/// What else the key sent stays: scorecards, keys, decisions, weights, and the ratings of the arena.
#[utoipa::path(post, operation_id = "withdraw_sent", path = "/v1/keys/{key}/withdrawal", tag = "keys", security(("key" = ["admin"])), params(
    ("key" = String, Path, description = "the id of a revoked key")), request_body = WithdrawalRequest, responses(
    (status = 201, body = StoredWithdrawal), Absent, Taken))]
pub(crate) async fn withdraw(Named(id): Named<String>, Post { app, caller, body }: Post) -> Answer {
    let sender = Arc::clone(caller.key(&Act::Withdraw)?);
    let request: WithdrawalRequest = body.json(&app).await?;
    let wrong = |error: TimestampError| Problem::new(Code::BadRequest, error.to_string()).at("$.since");
    let since = Timestamp::parse(&request.since).map_err(wrong)?;
    arrival::refuse_ahead(app.clock.now(), since).map_err(|problem| problem.at("$.since"))?;
    is_text("$.reason", &request.reason, REASON_MAX_CHARACTERS)?;
    let (is_active, is_revoked) = {
        let keys = app.memory.keys();
        (keys.get(&id).is_some(), keys.is_revoked(&id))
    };
    match (is_active, is_revoked) {
        (true, _) => {
            refuse!(Conflict, "the key is in force: revoke it first, so that it sends nothing more");
        }
        (false, false) => {
            let detail = format!("there is no revoked key `{}`", id.escape_debug());
            return Err(Problem::not_found(detail));
        }
        (false, true) => {}
    }
    let before = Timestamp { milliseconds: since.milliseconds.saturating_sub(1) };
    let from = app.read(move |reader| Ok(reader.size_at(before)?)).await?;
    let withdrawal = Withdrawal::new(&id, &since.to_string(), from, &request.reason);
    let effect = Effect::Withdrawn(withdrawal.clone());
    let batch = Submission::by(&sender).with(withdrawal.item(), Some(effect));
    let accepted = app.append_one(batch).await?;
    let position = accepted.first().map_or(0, |it| it.position);
    let (key, since) = (withdrawal.key.clone(), withdrawal.since.clone());
    let records = app.indexed(move |_, index| {
        let sent = index.number(&withdrawal.key);
        let rows = index.from(from, position).filter(|row| row.sender().is_some() && row.sender() == sent);
        Ok(rows.count() as u64)
    });
    json(StatusCode::CREATED, &StoredWithdrawal { key, since, from, position, records: records.await? })
}

/// The most states of keys that are read from the log; the memory has all that are in force.
const READ: usize = 1000;

/// The number of records that each key sent, and the position of its last one.
type Sent = BTreeMap<String, (usize, Option<u64>)>;

/// A key, with what the log says of it.
pub(crate) struct KeyInLog {
    pub key: Key,
    /// The moment at which it was made.
    pub made: String,
    /// The moment at which it was revoked.
    pub revoked: Option<String>,
    pub withdrawal: Option<Withdrawal>,
    pub trust: Trust,
    /// The number of records that it sent.
    pub records: usize,
    /// The position of its last record.
    pub last: Option<u64>,
}

/// Returns all keys that there were, the oldest first, and the number of records of the server itself.
pub(crate) async fn in_log(app: &Arc<App>) -> Result<(Vec<KeyInLog>, usize), Problem> {
    let sent = app.indexed(|_, index| {
        let mut sent = Sent::new();
        for row in index.rows(u64::MAX) {
            if let Some(sender) = row.sender() {
                let (records, last) = sent.entry(index.name(sender).to_owned()).or_default();
                (*records, *last) = (*records + 1, Some(row.position));
            }
        }
        Ok(sent)
    });
    let sent = sent.await?;
    let of_server = sent.get(SERVER).map_or(0, |it| it.0);
    let shared = Arc::clone(app);
    Ok((app.read(move |reader| read(&shared, reader, &sent)).await?, of_server))
}

/// Reads the states of keys from the log, the oldest key first.
fn read(app: &App, reader: &mut Reader, sent: &Sent) -> Result<Vec<KeyInLog>, Problem> {
    let size = reader.head()?.size;
    let mut states = reader.list(Term::kind(Kind::Key), 0..size, Order::Newest, READ)?;
    states.reverse();
    let mut known: Vec<KeyInLog> = Vec::new();
    for Item { entry, content, .. } in states {
        let moment = entry.moment.to_string();
        if let Some(withdrawal) = Withdrawal::parse(&content) {
            let of = known.iter_mut().find(|it| it.key.id == withdrawal.key);
            of.into_iter().for_each(|it| it.withdrawal = Some(withdrawal.clone()));
        } else if let Ok((key, is_revoked)) = Key::parse(&content) {
            let revoked = is_revoked.then(|| moment.clone());
            match known.iter_mut().find(|it| it.key.id == key.id) {
                Some(it) if is_revoked => it.revoked = revoked,
                _ => {
                    let trust = app.memory.keys().ceiling(Some(&key.id));
                    let (records, last) = sent.get(&key.id).copied().unwrap_or_default();
                    known.push(KeyInLog {
                        key,
                        made: moment,
                        revoked,
                        withdrawal: None,
                        trust,
                        records,
                        last,
                    });
                }
            }
        }
    }
    Ok(known)
}
