//! The pages of questions that the command line asks, too: each is the document of the answer.

use axum::http::Uri;
use karat::document::Kind;
use karat::question::Question;
use karat::write::html;

use super::layout::*;
use crate::api::questions::{Made, asked};
use crate::prelude::*;

/// Shows the answer to the question of the address.
pub(crate) async fn show<Q>(Get(app, caller): Get, uri: Uri) -> Answer
where
    Q: Question + Send + 'static,
    Q::Answer: Send,
{
    let Made { card, mut document, .. } = asked::<Q>(&app, &uri).await?;
    let card = card.unwrap_or_default();
    let is_of_subjects =
        |it: &&mut Table| it.columns.iter().any(|it| it.kind == Kind::Name && it.key == "subject");
    for table in document.tables_mut().filter(is_of_subjects) {
        table.link(|name| Some(address::subject(name, Some(&card))));
    }
    let board = address::query("/leaderboards", &[("card", &card)]);
    let sheet = Sheet { title: html::heading(&document), part: "/leaderboards", caller: Some(&caller) };
    let json = format!("/v1{}", uri.path_and_query().map_or("", |it| it.as_str()));
    Ok(sheet.answer(html! {
        (above(&[("/", "Home"), (&board, &card)], html! {}))
        (html::opening(html! { (told(&document.title)) }, &document))
        (body(Q::NAME, &document))
        (acts(&[(json, "JSON")]))
        (html::reproduce(&document))
    }))
}
