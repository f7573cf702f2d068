fn main() {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap();
        let library = |name: &str| {
            let (id, version) = name.split_once('@')?;
            std::fs::read_to_string(format!("scorecards/{id}/{version}.toml")).ok()
        };
        let checked = karat_checker::check_text(&text, &library);
        println!(
            "== {path} top {:?} {:?}",
            checked.report.as_ref().map(|it| it.top),
            checked.report.as_ref().map(|it| &it.cliffs)
        );
        for it in checked.diagnostics {
            if it.severity.name() != "note" {
                println!("{} {}: {}\n      {}", it.code, it.severity.name(), it.message, it.help);
            }
        }
    }
}
