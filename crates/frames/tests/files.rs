//! Files of other writers (`files/make.py`), and files that are damaged.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of a test may stop it")]

use std::fs;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use karat::inputs::{Inputs, Silent};
use karat::{CompiledCard, Engine, Error, Options};
use karat_frames::files::{Format, Scores, install, is_own, row};
use karat_frames::{Answer, Frame, score};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

const CARD: &str = include_str!("files/points.toml");

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files")
}

fn own(name: &str) -> String {
    folder().join(name).display().to_string()
}

fn engine(card: &str) -> Engine {
    install();
    let card =
        if card == "points" { CompiledCard::parse(CARD).map(Arc::new) } else { CompiledCard::open(card) };
    Engine::new(card.unwrap(), Options::default()).unwrap()
}

/// Returns the record of each row of these files, or the words of its refusal.
fn records(card: &str, paths: &[String]) -> Result<Vec<String>, Error> {
    let mut engine = engine(card);
    let wanted = engine.wanted();
    let mut records = Vec::new();
    Inputs::new(paths)?.each(&wanted, &Silent, |place, item| {
        let record = item.and_then(|item| {
            engine.visit_at(place, item, |scored| {
                let mut line = Vec::new();
                scored.write(&mut line);
                String::from_utf8(line).unwrap()
            })
        });
        records.push(record.unwrap_or_else(|error| error.to_string()));
        Ok::<_, Error>(ControlFlow::Continue(()))
    })?;
    Ok(records)
}

fn parquet(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(fs::File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn files_of_other_writers_have_the_same_items() {
    let expected = records("points", &[own("items.jsonl")]).unwrap();
    assert!(expected.len() == 12 && expected.iter().all(|record| record.starts_with('{')), "{expected:?}");
    for name in [
        "pyarrow-dictionaries.parquet", "pyarrow-views.arrow", "pyarrow.feather", "polars.parquet",
        "polars.arrows", "duckdb.parquet", "duckdb-json.parquet",
    ] {
        assert_eq!(records("points", &[own(name)]).unwrap(), expected, "{name}");
    }
}

#[test]
fn nested_items_are_structures_or_texts() {
    /// Leaves out structures without a field, which Parquet does not have.
    fn full(value: &mut serde_json::Value) {
        if let Some(members) = value.as_object_mut() {
            members.values_mut().for_each(full);
            members.retain(|_, member| member.as_object().is_none_or(|it| !it.is_empty()));
        }
        value.as_array_mut().into_iter().flatten().for_each(full);
    }
    let run = include_str!("../../../examples/workflow/worked-example.json");
    let mut of_parquet = serde_json::from_str(run).unwrap();
    full(&mut of_parquet);
    let found = records("workflow", &[own("pyarrow-nested.parquet")]).unwrap();
    let mut engine = engine("workflow");
    assert_eq!(found[0].as_bytes(), engine.score_value(&of_parquet).unwrap().as_bytes());
    let record = engine.score(run.as_bytes()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("texts.parquet");
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some(run), None]));
    parquet(&path, vec![("at", Arc::new(Int64Array::from(vec![1, 2]))), ("item", texts)]);
    let found = records("workflow", &[path.display().to_string()]).unwrap();
    assert_eq!(found[0].as_bytes(), record.as_bytes());
    assert!(found[1].contains("texts.parquet:2") && found[1].contains("found nothing"), "{}", found[1]);
}

#[test]
fn what_cannot_be_read_is_refused_by_name() {
    let no_zone = records("points", &[own("pyarrow-no-zone.parquet")]).unwrap();
    assert!(no_zone[0].contains("time: found a time without a zone"), "{}", no_zone[0]);
    let empty = records("points", &[own("pyarrow-no-rows.parquet")]).unwrap_err();
    assert!(empty.to_string().contains("pyarrow-no-rows.parquet` has no row in it"), "{empty}");
    let encrypted = records("points", &[own("duckdb-encrypted.parquet")]).unwrap_err().to_string();
    assert!(encrypted.contains("duckdb-encrypted.parquet") && encrypted.contains("encrypt"), "{encrypted}");
    // An empty part beside others is usual.
    let both = records("points", &[own("pyarrow-no-rows.parquet"), own("duckdb.parquet")]).unwrap();
    assert_eq!(both.len(), 12);
}

#[test]
fn a_packed_file_is_refused_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("items.parquet.gz");
    let mut packed = flate2::write::GzEncoder::new(fs::File::create(&path).unwrap(), Default::default());
    packed.write_all(&fs::read(own("duckdb.parquet")).unwrap()).unwrap();
    packed.finish().unwrap();
    let refused = records("points", &[path.display().to_string()]).unwrap_err().to_string();
    assert!(refused.contains("a file of Parquet") && refused.contains("unpacked"), "{refused}");
}

/// A column of the folders is as good as one of the file; a fact is what the card declares.
#[test]
fn folders_give_columns() {
    let root = tempfile::tempdir().unwrap();
    let mut lines = String::new();
    for (at, points) in ["0.25", "0.5"].into_iter().enumerate() {
        let folder = root.path().join(format!("subject=agent%2F{at}")).join(format!("points={points}"));
        fs::create_dir_all(&folder).unwrap();
        parquet(&folder.join("part-0.parquet"), vec![("id", Arc::new(Int64Array::from(vec![7])))]);
        fs::write(folder.join("_SUCCESS"), "").unwrap();
        lines.push_str(&format!("{{\"id\": \"7\", \"subject\": \"agent/{at}\", \"points\": {points}}}\n"));
    }
    fs::create_dir_all(root.path().join("_temporary")).unwrap();
    parquet(
        &root.path().join("_temporary/part-1.parquet"),
        vec![("id", Arc::new(Int64Array::from(vec![8])))],
    );
    let path = root.path().join("lines");
    fs::write(&path, lines).unwrap();
    let expected = records("points", &[path.display().to_string()]).unwrap();
    fs::remove_file(path).unwrap();
    assert_eq!(records("points", &[root.path().display().to_string()]).unwrap(), expected);
    assert_eq!(
        records("points", &[root.path().join("*/*/*.parquet").display().to_string()]).unwrap(),
        expected
    );
}

/// Every file with bytes that are changed or gone is read, or refused with its name.
#[test]
fn damaged_files_are_refused_by_name() {
    let root = tempfile::tempdir().unwrap();
    let names = [
        "pyarrow-dictionaries.parquet", "polars.parquet", "pyarrow-nested.parquet", "duckdb.parquet",
        "pyarrow-views.arrow", "polars.arrows",
    ];
    let (mut refused, mut state) = (0, 1_u64);
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !karat::inputs::frames::is_guarded() {
            others(panic);
        }
    }));
    for round in 0..120 {
        for name in names {
            let mut bytes = fs::read(own(name)).unwrap();
            match round % 4 {
                0 => bytes.truncate(8 + draw(bytes.len() - 8)),
                1 => (0..3).for_each(|_| {
                    let at = 8 + draw(bytes.len() - 8);
                    bytes[at] ^= 1 << draw(8);
                }),
                2 => {
                    let at = 8 + draw(bytes.len() - 16);
                    bytes[at..at + 8].fill(0xff);
                }
                // The footer has the lengths.
                _ => {
                    let at = bytes.len() - 1 - draw(bytes.len().min(600));
                    bytes[at] = draw(256) as u8;
                }
            }
            let path = root.path().join(format!("damaged-{name}"));
            fs::write(&path, bytes).unwrap();
            if let Err(error) = records("points", &[path.display().to_string()]) {
                refused += 1;
                assert!(error.to_string().contains("damaged-"), "{round} {name}: {error}");
            }
        }
    }
    assert!(refused > 300, "only {refused} were refused");
}

#[test]
fn scores_are_written_as_a_table_gives_them() {
    let root = tempfile::tempdir().unwrap();
    let table = vec![
        ("subject", Arc::new(StringArray::from(vec!["a", "b", "c", "d"])) as ArrayRef),
        ("id", Arc::new(StringArray::from(vec!["1", "2", "3", "4"]))),
        ("points", Arc::new(Float64Array::from(vec![Some(0.123_456_789), Some(1.0), None, Some(7.0)]))),
        ("passed", Arc::new(arrow_array::BooleanArray::from(vec![Some(true), None, None, Some(true)]))),
    ];
    let input = root.path().join("in.parquet");
    parquet(&input, table.clone());
    let batch = RecordBatch::try_from_iter(table).unwrap();
    let mut engine = engine("points");
    let (expected, _) = score(&mut engine, &Frame::new(&batch), &Answer::default()).unwrap();
    let output = root.path().join("out.parquet");
    let output = output.to_str().unwrap();
    assert!(is_own(output) && !is_own(input.to_str().unwrap()));
    let mut scores = Scores::new(output, Format::of(output).unwrap(), engine.card()).unwrap();
    let wanted = engine.wanted();
    Inputs::new(&[input.display().to_string()])
        .unwrap()
        .each(&wanted, &Silent, |place, item| {
            let mut line = Vec::new();
            match item
                .and_then(|item| engine.visit_at(place, item, |scored| row(Ok(&scored.record), &mut line)))
            {
                Ok(()) => {}
                Err(error) => row(Err(&error), &mut line),
            }
            scores.write_all(&line).unwrap();
            Ok::<_, Error>(ControlFlow::Continue(()))
        })
        .unwrap();
    let mut file = scores.end().unwrap();
    std::io::copy(&mut file, &mut fs::File::create(output).unwrap()).unwrap();
    assert!(is_own(output));
    let written = ParquetRecordBatchReaderBuilder::try_new(fs::File::open(output).unwrap()).unwrap();
    let mut read = ParquetRecordBatchReader::try_new(fs::File::open(output).unwrap(), 100).unwrap();
    let found = read.next().unwrap().unwrap();
    for (at, field) in expected.schema().fields().iter().enumerate().filter(|(_, it)| it.name() != "reason") {
        assert_eq!(found.column_by_name(field.name()).unwrap(), expected.column(at), "{}", field.name());
    }
    assert_eq!(
        written.schema().metadata().get("karat.digest"),
        expected.schema().metadata().get("karat.digest")
    );
}
