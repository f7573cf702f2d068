//! The pages of a server: HTML that is complete without script, written by `karat::write::html`.
//!
//! * `leaderboard`, `subject`, `record`, `verify`, `scorecards`, `what_if`, `arena`, `game`,
//!   `flows`, `reviews`, `session`: one file per page; `questions` has one for all that the command line asks; `breakdown` explains a record
//! * `layout` is the frame of each page, `assets` the files that it loads, `address` the addresses of other pages
//! * `browser` is the middleware for all routes: a key in a cookie, forms of other sites, errors as pages
//! * `form` reads forms, `items` the records that a page is about; `welcome` is shown while there are no records
//!
//! Nothing here changes the API: the pages read the same state, and a key in a browser counts for pages alone.

pub(crate) mod address;
mod arena;
mod assets;
mod breakdown;
pub mod browser;
mod flows;
mod game;
mod items;
mod layout;
mod leaderboard;
mod questions;
mod record;
mod reviews;
mod scorecards;
mod session;
mod subject;
mod verify;
mod welcome;
mod what_if;

use crate::prelude::*;
use axum::Router;
use axum::routing::{get, post};
use karat::ask::{Grid, Judges, Tasks, Trend};

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(leaderboard::show))
        .route("/subjects", get(subject::named))
        .route("/subjects/{subject}", get(subject::show))
        .route("/records/{record}", get(record::show))
        .route("/records/{record}/verify", get(verify::show))
        .route("/records/{record}/files/{file}", get(record::file))
        .route("/verify", get(verify::show_form))
        .route("/scorecards", get(scorecards::show_all))
        .route("/scorecards/{card}", get(scorecards::show))
        .route("/scorecards/{card}/what-if", get(what_if::given))
        .route("/judges", get(questions::show::<Judges>))
        .route("/tasks", get(questions::show::<Tasks>))
        .route("/trend", get(questions::show::<Trend>))
        .route("/grid", get(questions::show::<Grid>))
        .route("/arena", get(arena::show))
        .route("/arena/matches/{match}", get(game::show))
        .route("/workflows", get(flows::show))
        .route("/workflows/{task}", get(flows::task))
        .route("/reviews", get(reviews::show).post(reviews::decide))
        .route("/sign-in", get(session::show).post(session::enter))
        .route("/sign-out", post(session::leave))
        .route("/static/{file}", get(assets::file))
}
