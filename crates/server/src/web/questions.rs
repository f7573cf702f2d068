//! The pages of questions that the command line asks, too: each is the document of the answer.

use axum::http::Uri;
use karat::question::Question;

use super::layout::*;
use crate::api::questions::asked;
use crate::prelude::*;

/// Shows the answer to the question of the address.
pub(crate) async fn show<Q>(Get(app, caller): Get, uri: Uri) -> Answer
where
    Q: Question + Send + 'static,
    Q::Answer: Send,
{
    let document = asked::<Q>(&app, &uri).await?.document;
    let sheet = Sheet { title: &document.title, part: "/", caller: Some(&caller) };
    Ok(sheet.answer(html! {
        h1 { (document.title) }
        @for line in &document.lines { p { (line) } }
        (body(Q::NAME, &document))
    }))
}
