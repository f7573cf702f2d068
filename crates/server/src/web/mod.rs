//! The pages of a server: HTML that is complete without script, written by `karat::write::html`.
//!
//! * `leaderboard`, `subject`, `record`, `verify`, `scorecards`, `what_if`, `arena`, `challenge`, `agent`, `game`, `flows`, `reviews`,
//!   `log`, `keys`, `session`: one file per page; `reference` explains the API, `components` shows the parts of pages; `questions` has
//!   one for all that the command line asks; `breakdown` explains a record
//! * `layout` is the frame of each page, `assets` the files that it loads, and `crate::address` has the addresses of other pages
//! * `browser` is the middleware for all routes: a key in a cookie, forms of other sites, errors as pages
//! * `share` is what other sites show: leaderboards in frames, pictures of links, badges
//! * `items` reads forms and the records that a page is about; `welcome` is shown while there are no records
//!
//! Nothing here changes the API: the pages read the same state, and a key in a browser counts for pages alone.

mod agent;
mod archive;
mod arena;
mod assets;
mod breakdown;
pub mod browser;
mod challenge;
mod components;
mod flows;
mod game;
mod home;
mod items;
mod keys;
mod layout;
mod leaderboard;
mod log;
mod questions;
mod record;
mod reference;
mod reviews;
mod scorecards;
mod session;
pub(crate) mod share;
mod subject;
mod verify;
mod welcome;
mod what_if;

use crate::api;
use crate::prelude::*;
use axum::Router;
use axum::routing::{get, post};
use karat::ask::{Duel, Grid, Judges, Stress, Tasks, Trend};

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(home::show))
        .route("/leaderboards", get(leaderboard::show))
        .route("/leaderboards/picture.png", get(share::picture))
        .route("/embed/{card}", get(share::embed))
        .route("/search", get(home::search))
        .route("/subjects", get(subject::named))
        .route("/subjects/{subject}", get(subject::show))
        .route("/records/{record}", get(record::show))
        .route("/records/{record}/verify", get(verify::show))
        .route("/records/{record}/archive", get(archive::show))
        .route("/records/{record}/files/{file}", get(record::file))
        .route("/verify", get(verify::show_form))
        .route("/scorecards", get(scorecards::show_all))
        .route("/scorecards/{card}", get(scorecards::show))
        .route("/scorecards/{card}/what-if", get(what_if::show))
        .route("/scorecards/{card}/what-if/given", get(what_if::given))
        .route("/judges", get(questions::show::<Judges>))
        .route("/tasks", get(questions::show::<Tasks>))
        .route("/trend", get(questions::show::<Trend>))
        .route("/stress", get(questions::show::<Stress>))
        .route("/compare", get(questions::show::<Duel>))
        .route("/grid", get(questions::show::<Grid>))
        .route("/arena", get(arena::show))
        .route("/arena/challenges/{challenge}", get(challenge::show))
        .route("/arena/agents/{agent}", get(agent::show))
        // For a browser that is signed in: its key counts for pages alone.
        .route("/arena/events", get(api::arena::stream_matches))
        .route("/arena/matches/{match}", get(game::show))
        .route("/workflows", get(flows::show))
        .route("/workflows/{task}", get(flows::task))
        .route("/reviews", get(reviews::show).post(reviews::decide))
        .route("/sign-in", get(session::show).post(session::enter))
        .route("/sign-out", post(session::leave))
        .route("/log", get(log::show))
        .route("/keys", get(keys::show))
        .route("/api", get(reference::show))
        .route("/components", get(components::show))
        .route("/static/{file}", get(assets::file))
}
