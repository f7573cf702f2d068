//! The style, the script and the icon of the pages: named by their digests, so that a browser may cache them for good.

use std::sync::LazyLock;

use axum::http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH};
use karat::write::html;

use crate::prelude::*;

/// A file that the server provides.
#[derive(Debug)]
pub struct Asset {
    pub path: String,
    media_type: &'static str,
    /// The digest, as an entity tag.
    tag: String,
    body: String,
}

impl Asset {
    fn new(stem: &str, ending: &str, media_type: &'static str, body: String) -> Self {
        let digest = Digest::of(body.as_bytes()).to_string();
        let short: String = digest.trim_start_matches("sha256:").chars().take(12).collect();
        Self {
            path: format!("/static/{stem}-{short}.{ending}"),
            media_type,
            tag: format!("\"{short}\""),
            body,
        }
    }
}

/// The style of all pages, both static files and pages of the server.
pub static STYLE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("style", "css", "text/css; charset=utf-8", html::compact(html::STYLE)));

/// The script: sorting and filtering as in static files, and the weight sliders. Every page is complete without it.
pub static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    let text = [html::SCRIPT, include_str!("script.js")].map(html::compact).join("\n");
    Asset::new("script", "js", "text/javascript; charset=utf-8", text)
});

pub static ICON: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("icon", "svg", "image/svg+xml", html::compact(include_str!("icon.svg"))));

pub async fn file(headers: HeaderMap, Named(name): Named<String>) -> Answer {
    let path = format!("/static/{name}");
    let Some(asset) = [&*STYLE, &*SCRIPT, &*ICON].into_iter().find(|asset| asset.path == path) else {
        return Err(Problem::not_found("there is no such file"));
    };
    let is_known = headers.get(IF_NONE_MATCH).is_some_and(|tag| tag.as_bytes() == asset.tag.as_bytes());
    let mut response = match is_known {
        true => Response::new(Body::empty()),
        false => Response::new(Body::from(asset.body.as_str())),
    };
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    if let Ok(tag) = HeaderValue::from_str(&asset.tag) {
        headers.insert(ETAG, tag);
    }
    Ok(response)
}
