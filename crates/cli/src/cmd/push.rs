//! `karat push`: items to a server, in batches, until all are answered.

use std::io::Write as _;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use karat::answers::push::Pushed;
use karat::cards::{CardText, unknown};
use karat::document;
use karat::engine::{Engine, HandedOn};
use karat::error::Error;
use karat::inputs::Inputs;
use karat::text::clean;

use crate::args::{Cli, PushArgs};
use crate::client::KeyFile;
use crate::graders;
use crate::progress::Progress;
use crate::push::{Courier, Packer, Parcel, Reply};
use karat_terminal::cards;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format::show;
use karat_terminal::output::{CARE, Screen};

/// Most refused items on a screen.
const SHOWN: usize = 20;

/// Sends all evidence given.
///
/// # Errors
/// If the evidence cannot be read, or the server does not take it.
pub fn run(args: &PushArgs, cli: &Cli) -> Result<Exit, Failure> {
    let inputs = Inputs::new(&args.files)?;
    let key = KeyFile { path: args.key_file.as_deref(), is_insecure: args.insecure };
    let client = Courier::client(&args.to, key)?;
    let card = match cards::is_here(&args.card) {
        true => cards::for_inputs(&args.card, &inputs, cli.color)?,
        false => match client.card(&args.card)? {
            Some(text) => cards::of_text(&CardText { name: args.card.clone(), text }, cli.color)?,
            None => return Err(not_there(&args.card, &args.to)),
        },
    };
    let mut engine =
        Engine::new(Arc::clone(&card), graders::options(card.card(), &Default::default(), &args.fields)?)?;
    let wanted = engine.wanted();
    let progress = Progress::new(args.no_progress, cli);
    let as_of = args.as_of.as_ref().map(|as_of| as_of.written().text);
    let id = card.name().to_owned();
    let mut query = vec![("card", id.as_str())];
    query.extend(as_of.map(|as_of| ("as_of", as_of)));
    let mut courier = Courier::new(client, &query, args.attempts);
    let mut pushed = Pushed { card: id.clone(), to: args.to.clone(), ..Pushed::default() };
    let mut packer = Packer::default();
    let sent = inputs.each(&wanted, &progress, |place, item| {
        match item.and_then(|bytes| engine.hand_on(bytes)) {
            Ok(HandedOn { item, is_nameless }) => {
                // The file names an item that has no id.
                let file = || place.name().split(':').next().map(str::to_owned);
                let name = is_nameless.then(|| args.name.clone().or_else(file)).flatten();
                for parcel in packer.add(place, name.as_deref(), &item) {
                    send(&parcel, &mut courier, &mut pushed, &progress, cli)?;
                }
            }
            Err(error) => pushed.refuse(place.to_string(), reason(&error)),
        }
        Ok::<_, Failure>(ControlFlow::Continue(()))
    });
    let sent = sent.and_then(|_| match packer.take() {
        Some(parcel) => send(&parcel, &mut courier, &mut pushed, &progress, cli),
        None => Ok(()),
    });
    progress.end();
    pushed.repeats = courier.repeats;
    if let Err(failure) = sent {
        let stored = pushed.accepted + pushed.repeated;
        let help = format!("{stored} items are stored; run the same again: nothing is stored twice");
        return Err(failure.help(help));
    }
    let all = "; --json lists them";
    show(&pushed, &document::pushed(&pushed), args.format.chosen()?, (SHOWN, all), cli.color)?;
    Ok(if pushed.refused > 0 { Exit::CouldNotRun } else { Exit::Done })
}

fn not_there(card: &str, to: &str) -> Failure {
    let failure = Failure::from(unknown(card));
    failure.help(format!("`{}` has none of that name either", clean(to)))
}

fn send(
    parcel: &Parcel,
    courier: &mut Courier,
    pushed: &mut Pushed,
    progress: &Progress,
    cli: &Cli,
) -> Result<(), Failure> {
    let mut wait = |why: &str, pause: Duration| {
        progress.aside(|| {
            let text = format!("{CARE}waiting{CARE:#} {:.1} s: {why}", pause.as_secs_f64());
            // Only for eyes: the request is repeated whether it can be shown or not.
            let _ = writeln!(Screen::stderr(cli.color), "{text}");
        });
    };
    let replies = courier.deliver(parcel, &mut wait)?;
    for ((_, place), reply) in parcel.places.iter().zip(replies) {
        match reply {
            Reply::Accepted => pushed.accepted += 1,
            Reply::Repeated => pushed.repeated += 1,
            Reply::Refused(reason) => pushed.refuse(place.clone(), reason),
        }
    }
    Ok(())
}

fn reason(error: &Error) -> String {
    let hints = error.hints().iter().map(|hint| format!("; {hint}")).collect::<String>();
    format!("{}{hints}", error.summary())
}
