//! Answers in gzip, for clients that read it.

use std::io::Write as _;

use axum::body::HttpBody as _;
use axum::http::Method;
use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, VARY};
use axum::response::IntoResponse as _;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::BodyExt as _;

use crate::prelude::*;

/// Smaller answers fit into the packet that they are sent in anyway.
const LEAST: u64 = 1200;
/// Larger ones are packed beside the requests of others.
const LARGE: u64 = 64 << 10;
const KINDS: [&str; 5] =
    ["text/", "application/json", "application/problem+json", "application/x-ndjson", "image/svg+xml"];

/// Returns true if the client says that it reads gzip.
pub(crate) fn takes_gzip(headers: &HeaderMap) -> bool {
    let lists = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|it| it.to_str().ok());
    let mut codings = lists.flat_map(|list| list.split(',')).map(|it| it.replace(' ', ""));
    codings.any(|it| match it.split_once(";q=") {
        Some((name, weight)) => name == "gzip" && weight.parse().is_ok_and(|weight: f32| weight > 0.0),
        None => it == "gzip",
    })
}

/// Packs the answer to a request, if it is text, whole and worth it. What is sent piece by piece stays as it is, and so does
/// an answer to more than a question: it may hold a secret beside what a stranger wrote.
pub(crate) async fn packed(method: &Method, takes_gzip: bool, mut answer: Response<Body>) -> Response<Body> {
    let is_text = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_text = is_text.is_some_and(|kind| KINDS.iter().any(|start| kind.starts_with(start)));
    let size = answer.body().size_hint().exact().filter(|size| *size >= LEAST);
    let is_open = method == Method::GET && is_text && !answer.headers().contains_key(CONTENT_ENCODING);
    let Some(size) = size.filter(|_| is_open) else { return answer };
    answer.headers_mut().append(VARY, HeaderValue::from_static("accept-encoding"));
    if !takes_gzip {
        return answer;
    }
    let (mut head, body) = answer.into_parts();
    let Ok(body) = body.collect().await.map(|body| body.to_bytes()) else {
        return Problem::internal(&"the body of an answer broke off").into_response();
    };
    let pack = move || {
        let mut packer = GzEncoder::new(Vec::new(), Compression::new(5));
        packer.write_all(&body).and_then(|()| packer.finish()).map_err(|_| body)
    };
    let packed = if size < LARGE { Ok(pack()) } else { tokio::task::spawn_blocking(pack).await };
    let body = match packed {
        Ok(Ok(packed)) => {
            head.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            head.headers.remove(CONTENT_LENGTH);
            Body::from(packed)
        }
        Ok(Err(body)) => Body::from(body),
        Err(error) => return Problem::internal(&error).into_response(),
    };
    Response::from_parts(head, body)
}
