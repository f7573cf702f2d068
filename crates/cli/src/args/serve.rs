//! The arguments of `karat serve`.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::CacheArgs;

/// `karat serve`
#[derive(Debug, Args)]
#[command(after_help = "\
The first start shows the key of an administrator, once. Reading needs no key on
this machine; from others every request does. Ctrl-C stops it gracefully.

Examples:
  karat serve --demo
  karat serve scores --listen 0.0.0.0:8080 --host scores.example.org")]
pub struct ServeArgs {
    /// The folder with the store (karat-data)
    #[arg(value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
    /// The address (127.0.0.1:7373); port 0: a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7373", hide_default_value = true)]
    pub listen: SocketAddr,
    /// The port on this machine, instead of --listen
    #[arg(long, value_name = "PORT", conflicts_with = "listen")]
    pub port: Option<u16>,
    /// Fill a new store with examples and a season
    #[arg(long)]
    pub demo: bool,
    /// Write the first key to FILE, and do not show it
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// A host name that clients use; repeatable
    #[arg(long = "host", value_name = "NAME")]
    pub hosts: Vec<String>,
    /// A proxy in front that says who asks; repeatable
    #[arg(long = "proxy", value_name = "IP")]
    pub proxies: Vec<IpAddr>,
    /// Its header: x-forwarded-for, or forwarded
    #[arg(long, value_enum, default_value_t, hide_default_value = true, hide_possible_values = true)]
    #[arg(value_name = "NAME", requires = "proxies")]
    pub proxy_header: ProxyHeader,
    /// A site whose pages may read, or *; repeatable
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    pub cors: Vec<String>,
    /// A site that may embed boards, or *; repeatable
    #[arg(long = "embed", value_name = "ORIGIN", value_parser = origin)]
    pub frames: Vec<String>,
    /// A witness whose cosignatures are taken; repeatable
    #[arg(long = "witness", value_name = "KEY")]
    pub witnesses: Vec<String>,
    /// The file of webhooks: what events go where
    #[arg(long, value_name = "FILE")]
    pub webhooks: Option<PathBuf>,
    /// Let anyone read, at any address
    #[arg(long)]
    pub public: bool,
    /// The name of a new log; at random if not given
    #[arg(long, value_name = "NAME")]
    pub log_name: Option<String>,
    /// The folder of the model that embeds traces
    #[arg(long, value_name = "DIR")]
    pub embedder: Option<PathBuf>,
    /// The vectors of traces that a new one is compared with
    #[command(flatten)]
    pub cache: CacheArgs,
    /// The program that runs submitted code
    #[arg(long, value_name = "PATH")]
    pub judge: Option<PathBuf>,
    /// The most processes of it (2)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub judges: Option<u16>,
    /// Say whether the server at URL answers, then end
    #[arg(long, value_name = "URL", exclusive = true)]
    pub health: Option<String>,
    /// Messages on standard error: quiet, text or json
    #[arg(long, value_enum, value_name = "WHAT", hide_possible_values = true)]
    pub log: Option<Log>,
    /// The first line as JSON (the default in a pipe)
    #[arg(long, conflicts_with = "table")]
    pub json: bool,
    /// A screen (the default on a terminal)
    #[arg(long)]
    pub table: bool,
}

/// Reads an origin as browsers write it: a scheme and a host, perhaps with a port.
fn origin(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_plain = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || b".-:[]".contains(&it);
    match host {
        Some(host) if !host.is_empty() && host.bytes().all(is_plain) => Ok(text.to_owned()),
        _ if text == "*" => Ok(text.to_owned()),
        _ => Err(String::from("expected an origin in small letters, such as `https://example.org`, or `*`")),
    }
}

/// The header in which a proxy says who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ProxyHeader {
    #[default]
    XForwardedFor,
    Forwarded,
}

/// The messages of the server while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Log {
    // Errors only.
    Quiet,
    // Every request, for people.
    Text,
    // The same for programs.
    Json,
}
