//! WASI for components, answered by type: nothing exists but the clock, random bytes and the standard streams.
//!
//! What a component imports is read from the component. Functions that are not named here fail in the way that their type
//! offers: `Err(access)`, an empty list, nothing. So a runtime that imports more than today's is answered as well.

use std::collections::BTreeMap;

use wasmtime::component::types::{ComponentFunc, ComponentItem, Type};
use wasmtime::component::{
    Component, ComponentType, Lift, Linker, LinkerInstance, Lower, Resource, ResourceType, Val,
};
use wasmtime::{AsContextMut, Engine, Error, Result, StoreContextMut};

use crate::host::{Host, Stop, asked, burn};

/// Most bytes that one read of a stream or of the source of random bytes moves.
const CHUNK: u64 = 64 * 1024;

/// The standard streams: the numbers that programs know them by.
const STDOUT: u32 = 1;
const STDERR: u32 = 2;

struct InputStream;
struct OutputStream;
struct Pollable;
struct IoError;
struct Network;

#[derive(ComponentType, Lift, Lower)]
#[component(variant)]
enum StreamError {
    #[component(name = "last-operation-failed")]
    #[allow(dead_code, reason = "the type has this case, but no stream here fails")]
    Failed(Resource<IoError>),
    #[component(name = "closed")]
    Closed,
}

#[derive(ComponentType, Lift, Lower)]
#[component(record)]
struct Datetime {
    seconds: u64,
    nanoseconds: u32,
}

impl Datetime {
    fn of(nanoseconds: u64) -> Self {
        const SECOND: u64 = 1_000_000_000;
        Self { seconds: nanoseconds / SECOND, nanoseconds: (nanoseconds % SECOND) as u32 }
    }
}

/// Defines everything that a component imports.
///
/// # Errors
///
/// If it imports something that is neither an interface of WASI nor the question to the host.
pub fn link(engine: &Engine, component: &Component) -> Result<Linker<Host>> {
    let mut linker = Linker::new(engine);
    // A resource has one type, by whatever interface it is reached.
    let mut resources = BTreeMap::<String, u32>::new();
    for (name, import) in component.component_type().imports(engine) {
        match import.ty {
            ComponentItem::ComponentInstance(interface) => {
                let mut instance = linker.instance(name)?;
                let short = name.split('@').next().unwrap_or(name);
                for (member, item) in interface.exports(engine) {
                    match item.ty {
                        ComponentItem::ComponentFunc(_) => define(&mut instance, short, member)?,
                        ComponentItem::Resource(_) => {
                            let next = resources.len() as u32;
                            let ty = match member {
                                "input-stream" => ResourceType::host::<InputStream>(),
                                "output-stream" => ResourceType::host::<OutputStream>(),
                                "pollable" => ResourceType::host::<Pollable>(),
                                "error" => ResourceType::host::<IoError>(),
                                "network" => ResourceType::host::<Network>(),
                                _ => ResourceType::host_dynamic(
                                    *resources.entry(member.to_owned()).or_insert(next),
                                ),
                            };
                            let is_pollable = member == "pollable";
                            instance.resource(member, ty, move |mut store, number| {
                                if is_pollable {
                                    store.data_mut().unsubscribe(number);
                                }
                                Ok(())
                            })?;
                        }
                        _ => {}
                    }
                }
            }
            ComponentItem::ComponentFunc(_) if name == "ask" => linker.root().func_wrap(name, ask)?,
            _ => return Err(Error::msg(format!("the runtime imports `{name}`, which no judge offers"))),
        }
    }
    Ok(linker)
}

fn ask(store: StoreContextMut<'_, Host>, (what, request): (String, String)) -> Result<(String,)> {
    Ok((asked(store, &what, &request)?,))
}

fn define(instance: &mut LinkerInstance<'_, Host>, interface: &str, name: &str) -> Result<()> {
    type Context<'a> = StoreContextMut<'a, Host>;
    match (interface, name) {
        ("wasi:clocks/monotonic-clock", "now") => {
            instance.func_wrap(name, |mut store: Context<'_>, ()| Ok((store.data_mut().monotonic(),)))
        }
        ("wasi:clocks/monotonic-clock", "resolution") => {
            instance.func_wrap(name, |_: Context<'_>, ()| Ok((1_u64,)))
        }
        ("wasi:clocks/monotonic-clock", "subscribe-instant") => instance
            .func_wrap(name, |mut store: Context<'_>, (when,): (u64,)| {
                Ok((subscribe(store.data_mut(), when)?,))
            }),
        ("wasi:clocks/monotonic-clock", "subscribe-duration") => {
            instance.func_wrap(name, |mut store: Context<'_>, (duration,): (u64,)| {
                let host = store.data_mut();
                let when = host.monotonic().saturating_add(duration);
                Ok((subscribe(host, when)?,))
            })
        }
        ("wasi:clocks/wall-clock", "now") => instance
            .func_wrap(name, |mut store: Context<'_>, ()| Ok((Datetime::of(store.data_mut().wall()),))),
        ("wasi:clocks/wall-clock", "resolution") => {
            instance.func_wrap(name, |_: Context<'_>, ()| Ok((Datetime::of(1),)))
        }
        ("wasi:random/random" | "wasi:random/insecure", "get-random-bytes" | "get-insecure-random-bytes") => {
            instance.func_wrap(name, |mut store: Context<'_>, (count,): (u64,)| {
                burn(&mut store, count)?;
                let host = store.data_mut();
                if count > host.memory_max as u64 {
                    return Err(Error::from(Stop::Memory));
                }
                Ok((host.random(count as usize),))
            })
        }
        ("wasi:io/poll", "[method]pollable.block") => {
            instance.func_wrap(name, |mut store: Context<'_>, (pollable,): (Resource<Pollable>,)| {
                let host = store.data_mut();
                let when = deadline(host, &pollable);
                host.sleep_until(when);
                Ok(())
            })
        }
        ("wasi:io/poll", "[method]pollable.ready") => {
            instance.func_wrap(name, |mut store: Context<'_>, (pollable,): (Resource<Pollable>,)| {
                let host = store.data_mut();
                let when = deadline(host, &pollable);
                Ok((when <= host.monotonic(),))
            })
        }
        ("wasi:io/poll", "poll") => {
            instance.func_wrap(name, |mut store: Context<'_>, (all,): (Vec<Resource<Pollable>>,)| {
                let host = store.data_mut();
                let whens: Vec<u64> = all.iter().map(|pollable| deadline(host, pollable)).collect();
                let Some(&first) = whens.iter().min() else {
                    return Err(Error::from(Stop::Trap("waits for nothing".to_owned())));
                };
                host.sleep_until(first);
                let now = host.monotonic();
                let ready = whens.iter().zip(0_u32..).filter(|(when, _)| **when <= now);
                Ok((ready.map(|(_, at)| at).collect::<Vec<u32>>(),))
            })
        }
        ("wasi:cli/stdin", "get-stdin") => {
            instance.func_wrap(name, |_: Context<'_>, ()| Ok((Resource::<InputStream>::new_own(0),)))
        }
        ("wasi:cli/stdout", "get-stdout") => {
            instance.func_wrap(name, |_: Context<'_>, ()| Ok((Resource::<OutputStream>::new_own(STDOUT),)))
        }
        ("wasi:cli/stderr", "get-stderr") => {
            instance.func_wrap(name, |_: Context<'_>, ()| Ok((Resource::<OutputStream>::new_own(STDERR),)))
        }
        ("wasi:cli/exit", "exit") => {
            instance.func_wrap(name, |_: Context<'_>, (status,): (Result<(), ()>,)| -> Result<()> {
                Err(Error::from(Stop::Exit(i32::from(status.is_err()))))
            })
        }
        ("wasi:cli/exit", "exit-with-code") => {
            instance.func_wrap(name, |_: Context<'_>, (status,): (u8,)| -> Result<()> {
                Err(Error::from(Stop::Exit(i32::from(status))))
            })
        }
        ("wasi:sockets/instance-network", "instance-network") => {
            // A network, on which nothing can be done.
            instance.func_wrap(name, |_: Context<'_>, ()| Ok((Resource::<Network>::new_own(0),)))
        }
        ("wasi:io/streams", method) => define_stream(instance, method),
        _ => define_by_type(instance, name),
    }
}

fn define_stream(instance: &mut LinkerInstance<'_, Host>, name: &str) -> Result<()> {
    type Context<'a> = StoreContextMut<'a, Host>;
    match name {
        "[method]input-stream.read" | "[method]input-stream.blocking-read" => {
            instance.func_wrap(name, |mut store: Context<'_>, (_, count): (Resource<InputStream>, u64)| {
                let bytes = store.data_mut().read(count.min(CHUNK) as usize).to_vec();
                let end = bytes.is_empty() && count > 0;
                Ok((if end { Err(StreamError::Closed) } else { Ok(bytes) },))
            })
        }
        "[method]output-stream.check-write" => {
            instance.func_wrap(name, |_: Context<'_>, (_,): (Resource<OutputStream>,)| {
                // All at once: Python does not buffer here, and forgets what a write leaves over.
                Ok((Ok::<u64, StreamError>(u32::MAX.into()),))
            })
        }
        "[method]output-stream.write" | "[method]output-stream.blocking-write-and-flush" => instance
            .func_wrap(name, |mut store: Context<'_>, (stream, bytes): (Resource<OutputStream>, Vec<u8>)| {
                // Standard error is not part of the answer: it goes nowhere.
                if stream.rep() == STDOUT {
                    store.data_mut().write(&bytes)?;
                }
                Ok((Ok::<(), StreamError>(()),))
            }),
        "[method]output-stream.flush" | "[method]output-stream.blocking-flush" => instance
            .func_wrap(name, |_: Context<'_>, (_,): (Resource<OutputStream>,)| {
                Ok((Ok::<(), StreamError>(()),))
            }),
        "[method]output-stream.subscribe" => instance
            .func_wrap(name, |mut store: Context<'_>, (_,): (Resource<OutputStream>,)| {
                Ok((subscribe(store.data_mut(), 0)?,))
            }),
        "[method]input-stream.subscribe" => instance
            .func_wrap(name, |mut store: Context<'_>, (_,): (Resource<InputStream>,)| {
                Ok((subscribe(store.data_mut(), 0)?,))
            }),
        _ => define_by_type(instance, name),
    }
}

fn subscribe(host: &mut Host, when: u64) -> Result<Resource<Pollable>> {
    Ok(Resource::new_own(host.subscribe(when)?))
}

fn deadline(host: &Host, pollable: &Resource<Pollable>) -> u64 {
    host.deadline(pollable.rep())
}

/// Defines a function by what its type says: there is nothing, and nothing is allowed.
fn define_by_type(instance: &mut LinkerInstance<'_, Host>, name: &str) -> Result<()> {
    let called = name.to_owned();
    instance.func_new(name, move |mut store, ty: ComponentFunc, parameters, results| {
        // What was lent must be given back, or the engine ends the instance.
        for parameter in parameters {
            give_back(&mut store, parameter)?;
        }
        for (result, ty) in results.iter_mut().zip(ty.results()) {
            let Some(value) = nothing(&ty) else {
                return Err(Error::from(Stop::Trap(format!("`{called}` is not available"))));
            };
            *result = value;
        }
        Ok(())
    })
}

/// Gives back the resources in a value.
fn give_back(store: &mut StoreContextMut<'_, Host>, value: &Val) -> Result<()> {
    match value {
        Val::Resource(resource) => resource.resource_drop(store.as_context_mut()),
        Val::List(values) | Val::Tuple(values) => values.iter().try_for_each(|value| give_back(store, value)),
        Val::Record(fields) => fields.iter().try_for_each(|(_, value)| give_back(store, value)),
        Val::Variant(_, Some(value))
        | Val::Option(Some(value))
        | Val::Result(Ok(Some(value)) | Err(Some(value))) => give_back(store, value),
        _ => Ok(()),
    }
}

/// The errors that say best what is wrong, the best first.
const REFUSALS: [&str; 4] = ["access", "access-denied", "not-supported", "no-entry"];

/// Returns a value of a type that says that there is nothing, if the type has one.
fn nothing(ty: &Type) -> Option<Val> {
    Some(match ty {
        Type::Bool => Val::Bool(false),
        Type::S8 => Val::S8(0),
        Type::U8 => Val::U8(0),
        Type::S16 => Val::S16(0),
        Type::U16 => Val::U16(0),
        Type::S32 => Val::S32(0),
        Type::U32 => Val::U32(0),
        Type::S64 => Val::S64(0),
        Type::U64 => Val::U64(0),
        Type::Float32 => Val::Float32(0.0),
        Type::Float64 => Val::Float64(0.0),
        Type::Char => Val::Char('\0'),
        Type::String => Val::String(String::new()),
        Type::List(_) => Val::List(Vec::new()),
        Type::Option(_) => Val::Option(None),
        Type::Flags(_) => Val::Flags(Vec::new()),
        Type::Record(record) => {
            let fields = record.fields().map(|field| Some((field.name.to_owned(), nothing(&field.ty)?)));
            Val::Record(fields.collect::<Option<_>>()?)
        }
        Type::Tuple(tuple) => Val::Tuple(tuple.types().map(|ty| nothing(&ty)).collect::<Option<_>>()?),
        Type::Enum(names) => {
            let refusal = REFUSALS.into_iter().find(|refusal| names.names().any(|name| name == *refusal));
            let first = names.names().next()?;
            Val::Enum(refusal.unwrap_or(first).to_owned())
        }
        Type::Variant(variant) => {
            let case = variant.cases().find(|case| case.ty.is_none())?;
            Val::Variant(case.name.to_owned(), None)
        }
        Type::Result(result) => match result.err() {
            Some(error) => Val::Result(Err(Some(Box::new(nothing(&error)?)))),
            None => Val::Result(Err(None)),
        },
        _ => return None,
    })
}
