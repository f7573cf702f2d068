//! The files of the pages: named by their digests, so that a browser may cache them for good.

use std::borrow::Cow;
use std::io::Read as _;
use std::sync::LazyLock;

use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, ETAG, IF_NONE_MATCH, VARY};
use flate2::read::GzDecoder;
use karat::write::html;

use crate::pack::takes_gzip;
use crate::prelude::*;

/// A file that the server provides.
#[derive(Debug)]
pub struct Asset {
    pub path: String,
    media_type: &'static str,
    /// The digest, as an entity tag.
    tag: String,
    body: Cow<'static, [u8]>,
    /// True if the body is compressed.
    is_packed: bool,
}

impl Asset {
    /// Makes the asset of a script, without what only its readers need.
    fn script(stem: &str, text: &str) -> Self {
        Self::new(stem, "js", "text/javascript; charset=utf-8", html::compact(text).into_bytes())
    }

    fn new(stem: &str, ending: &str, media_type: &'static str, body: impl Into<Cow<'static, [u8]>>) -> Self {
        let body = body.into();
        let digest = Digest::of(&body).to_string();
        let short: String = digest.trim_start_matches("sha256:").chars().take(12).collect();
        Self {
            path: format!("/static/{stem}-{short}.{ending}"),
            media_type,
            // The same for both forms that it is sent in.
            tag: format!("W/\"{short}\""),
            body,
            is_packed: false,
        }
    }
}

/// The style of all pages, both static files and pages of the server.
pub static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new("style", "css", "text/css; charset=utf-8", html::style(&FACE.path).into_bytes())
});

/// The face of all text.
pub static FACE: LazyLock<Asset> = LazyLock::new(|| Asset::new("sans", "woff2", "font/woff2", html::FACE));

/// The script of all pages: sorting and filtering as in static files. Every page is complete without it.
pub static SCRIPT: LazyLock<Asset> = LazyLock::new(|| Asset::script("script", html::SCRIPT));

pub static ICON: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("icon", "svg", "image/svg+xml", html::compact(html::ICON).into_bytes()));

/// The script of the pages of the arena: what is live there renews itself. Every page is complete without it.
pub static LIVE: LazyLock<Asset> = LazyLock::new(|| Asset::script("live", include_str!("live.js")));

/// The script of the pages that compute in the browser.
pub static PAGE: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new("page", "js", "text/javascript; charset=utf-8", karat_browser::PAGE.as_bytes())
});

/// The engine, for that script.
pub static ENGINE: LazyLock<Asset> = LazyLock::new(|| Asset {
    is_packed: true,
    ..Asset::new("engine", "wasm", "application/wasm", karat_browser::ENGINE)
});

/// The engine for clients that do not read gzip. It is part of the program, and a test reads it.
static UNPACKED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut body = Vec::new();
    let _ = GzDecoder::new(karat_browser::ENGINE).read_to_end(&mut body);
    body
});

pub async fn file(headers: HeaderMap, Named(name): Named<String>) -> Answer {
    let path = format!("/static/{name}");
    let all = [&STYLE, &FACE, &SCRIPT, &ICON, &LIVE, &PAGE, &ENGINE];
    let found = all.into_iter().find(|asset| asset.path == path);
    let asset = found.ok_or_else(|| Problem::not_found("there is no such file"))?;
    let is_known = headers.get(IF_NONE_MATCH).is_some_and(|tag| tag.as_bytes() == asset.tag.as_bytes());
    let is_packed = asset.is_packed && takes_gzip(&headers);
    let body: &'static [u8] = if is_packed == asset.is_packed { &asset.body } else { &UNPACKED };
    let mut response = Response::new(if is_known { Body::empty() } else { Body::from(body) });
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    if asset.is_packed {
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    }
    if is_packed && !is_known {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if let Ok(tag) = HeaderValue::from_str(&asset.tag) {
        headers.insert(ETAG, tag);
    }
    Ok(response)
}
