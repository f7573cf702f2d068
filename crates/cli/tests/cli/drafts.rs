//! Drafts of `karat init` for data of many shapes: the score that an expert would publish, or a question.

use crate::common::Folder;
use crate::project::alone;

/// Some data after a public table, and what becomes of it.
struct Set {
    file: &'static str,
    text: &'static str,
    flags: &'static str,
    /// Parts of what it says; of an error, if there are no scores.
    says: &'static [&'static str],
    /// Subjects with their scores.
    scores: &'static [(&'static str, f64)],
}

const SETS: &[Set] = &[
    // One benchmark a column; a mean of them does not count again.
    Set {
        file: "helm.csv",
        text: "Model,Mean win rate,MMLU - EM,NarrativeQA - F1,GSM8K - EM\nm1,.9,.7,.8,.6\nm2,.4,.5,.6,.1\n",
        flags: "",
        says: &["scored: Model", "counts: MMLU - EM, more", "counts: NarrativeQA - F1", "counts: GSM8K - EM"],
        scores: &[("m1", 70.0), ("m2", 40.0)],
    },
    Set {
        file: "open-llm.csv",
        text: "model,params_b,Average,IFEval,BBH,MATH,MT-Bench\nm1,7,50,40,60,50,8.5\nm2,70,70,80,60,70,9.1\n",
        flags: "",
        says: &["counts: IFEval", "counts: MATH", "left out: MT-Bench: up to 9.1 beside columns up to 80"],
        scores: &[("m1", 50.0), ("m2", 70.0)],
    },
    Set {
        file: "scorecard.jsonl",
        text: "{\"repo\":{\"name\":\"a\"},\"check\":\"Fuzzing\",\"score\":-1}\n{\"repo\":{\"name\":\"a\"},\"check\":\"CI\",\"score\":10}\n\
               {\"repo\":{\"name\":\"b\"},\"check\":\"CI\",\"score\":4}\n",
        flags: "",
        says: &["score: -1 among 4 to 10 looks like the mark of a missing value", "--higher score"],
        scores: &[],
    },
    Set {
        file: "ragas.csv",
        text: "pipeline,question,faithfulness,answer_relevancy,context_recall,latency_s\n\
               p1,q1,.9,.8,.7,1\np1,q2,.7,.8,.9,2\np2,q1,.5,.5,.5,1\np2,q2,.2,.5,.8,9\n",
        flags: "",
        says: &[
            "scored: pipeline", "task: question", "counts: faithfulness", "beside the score: latency_s, less",
        ],
        scores: &[("p1", 80.0), ("p2", 50.0)],
    },
    Set {
        file: "deepeval.jsonl",
        text: "{\"model\":\"m\",\"testCase\":\"a\",\"metric\":\"G-Eval\",\"success\":true,\"score\":0.8,\"threshold\":0.5,\"evaluationCost\":0.2}\n\
               {\"model\":\"m\",\"testCase\":\"b\",\"metric\":\"G-Eval\",\"success\":false,\"score\":0.4,\"threshold\":0.5,\"evaluationCost\":0.1}\n",
        flags: "",
        says: &[
            "task: testCase", "success: success", "beside the score: evaluationCost",
            "beside the score: score",
        ],
        scores: &[("m", 50.0)],
    },
    Set {
        file: "swe.jsonl",
        text: "{\"instance_id\":\"x-1\",\"model_name_or_path\":\"m1\",\"resolved\":true,\"cost\":0.5}\n\
               {\"instance_id\":\"x-2\",\"model_name_or_path\":\"m1\",\"resolved\":false}\n\
               {\"instance_id\":\"x-1\",\"model_name_or_path\":\"m2\",\"resolved\":true,\"cost\":2}\n",
        flags: "",
        says: &[
            "scored: model_name_or_path", "task: instance_id", "success: resolved", "beside the score: cost",
        ],
        scores: &[("m1", 50.0), ("m2", 100.0)],
    },
    Set {
        file: "arena.csv",
        text: "rank,model,arena_score,votes,organization\n1,m1,1439,9000,x\n2,m2,1187,5000,y\n",
        flags: "",
        says: &["arena_score: a rating has no end that could be 100", "--higher arena_score"],
        scores: &[],
    },
    Set {
        file: "votes.jsonl",
        text: "{\"model_a\":\"m1\",\"model_b\":\"m2\",\"winner\":\"model_a\"}\n",
        flags: "",
        says: &["are rated and not scored", "karat rate votes.jsonl"],
        scores: &[],
    },
    Set {
        file: "likert.csv",
        text: "assistant,respondent,item,rating\nm1,r1,useful,5\nm1,r2,clear,3\nm2,r1,useful,1\nm2,r2,clear,2\n",
        flags: "",
        says: &["scored: assistant", "task: item", "success: rating"],
        scores: &[("m1", 75.0), ("m2", 12.5)],
    },
    // Common words as names of fields.
    Set {
        file: "nested.jsonl",
        text: "{\"run_id\":\"r1\",\"match_id\":\"x\",\"metadata\":{\"model\":\"m1\"},\"steps\":[{\"tool\":\"sh\"}],\"scores\":{\"accuracy\":0.5},\
               \"task\":{\"id\":\"t1\"},\"usage\":{\"total_tokens\":10},\"memory\":{},\"evaluations\":[],\"submission\":\"s\"}\n\
               {\"run_id\":\"r2\",\"match_id\":\"y\",\"metadata\":{\"model\":\"m1\"},\"steps\":[],\"scores\":{\"accuracy\":0.75},\
               \"task\":{\"id\":\"t2\"},\"usage\":{\"total_tokens\":20},\"memory\":{},\"evaluations\":[],\"submission\":\"s\"}\n",
        flags: "",
        says: &[
            "scored: $.metadata.model", "task: $.task.id", "success: scores.accuracy",
            "beside the score: usage.total_tokens",
        ],
        scores: &[("m1", 62.5)],
    },
    Set {
        file: "percent.csv",
        text: "Model,Task,Accuracy,Cost\nm1,a,26.09%,$1\nm2,a,85%,$2\n",
        flags: "",
        says: &["Accuracy: texts such as `26.09%`; write 95 % as 0.95"],
        scores: &[],
    },
    // A task that was tried again counts once.
    Set {
        file: "retries.csv",
        text: "model,task,attempt,passed,seconds\nm1,a,1,no,5\nm1,a,2,yes,5\nm1,b,1,yes,5\nm2,a,1,yes,9\nm2,b,1,no,9\n",
        flags: "",
        says: &["success: passed", "beside the score: seconds"],
        scores: &[("m1", 75.0), ("m2", 50.0)],
    },
    Set {
        file: "pandas.csv",
        text: ",model,task,solved\n0,m1,a,True\n1,m1,b,False\n2,m2,a,True\n3,m2,b,True\n",
        flags: "",
        says: &["scored: model", "success: solved"],
        scores: &[("m1", 50.0), ("m2", 100.0)],
    },
    Set {
        file: "wide-pandas.csv",
        text: ",mmlu,gsm8k\nm1,0.5,0.7\nm2,0.4,0.2\n",
        flags: "",
        says: &["scored: index", "counts: mmlu", "counts: gsm8k"],
        scores: &[("m1", 60.0), ("m2", 30.0)],
    },
    Set {
        file: "mt-bench.jsonl",
        text: "{\"question_id\":81,\"model\":\"m1\",\"judge\":[\"g\",\"single\"],\"turn\":1,\"score\":8,\"tstamp\":1690000000.5}\n\
               {\"question_id\":81,\"model\":\"m1\",\"judge\":[\"g\",\"single\"],\"turn\":2,\"score\":9,\"tstamp\":1690000001.5}\n\
               {\"question_id\":81,\"model\":\"m2\",\"judge\":[\"g\",\"single\"],\"turn\":1,\"score\":2,\"tstamp\":1690000002.5}\n",
        flags: "",
        says: &["task: question_id", "success: score, more"],
        scores: &[("m1", 85.0), ("m2", 20.0)],
    },
    Set {
        file: "gaia.jsonl",
        text: "{\"agent_name\":\"a1\",\"task_id\":\"x\",\"Level\":1,\"model_answer\":\"3\",\"is_correct\":true}\n\
               {\"agent_name\":\"a1\",\"task_id\":\"y\",\"Level\":3,\"model_answer\":\"\",\"is_correct\":false}\n",
        flags: "",
        says: &["scored: agent_name", "task: task_id", "success: is_correct"],
        scores: &[("a1", 50.0)],
    },
    Set {
        file: "tau.jsonl",
        text: "{\"model\":\"m1\",\"domain\":\"airline\",\"task_id\":3,\"trial\":0,\"reward\":1.0,\"agent_cost\":0.2}\n\
               {\"model\":\"m1\",\"domain\":\"airline\",\"task_id\":3,\"trial\":1,\"reward\":0.0,\"agent_cost\":0.1}\n\
               {\"model\":\"m1\",\"domain\":\"retail\",\"task_id\":4,\"trial\":0,\"reward\":1.0,\"agent_cost\":null}\n",
        flags: "",
        says: &["success: reward", "beside the score: agent_cost"],
        scores: &[("m1", 75.0)],
    },
    Set {
        file: "polyglot.csv",
        text: "model,edit_format,pass_rate_1,pass_rate_2,percent_cases_well_formed,total_cost,seconds_per_case\n\
               m1,diff,3.5,8.9,99.1,,20\nm2,whole,2,3.6,100,14.4,9\n",
        flags: "",
        says: &["success: pass_rate_2", "beside the score: seconds_per_case"],
        scores: &[("m1", 8.9), ("m2", 3.6)],
    },
    Set {
        file: "mmlu.csv",
        text: "model,subject,acc\nm1,algebra,.5\nm1,law,.7\nm2,algebra,.2\nm2,law,.4\n",
        flags: "",
        says: &["scored: model", "task: subject", "success: acc"],
        scores: &[("m1", 60.0), ("m2", 30.0)],
    },
    Set {
        file: "latency.csv",
        text: "model,prompt,ttft_ms,tokens_per_second\nm1,p1,200,80\nm1,p2,250,90\nm2,p1,400,20\n",
        flags: "",
        says: &["say what a run takes, and none whether it succeeded"],
        scores: &[],
    },
    Set {
        file: "costs.csv",
        text: "model,task,cost_usd,tokens\nm1,a,1,10\nm1,b,3,20\nm2,a,4,30\nm2,b,4,40\n",
        flags: "--lower cost_usd",
        says: &["counts: cost_usd, less", "beside the score: tokens"],
        scores: &[("m1", 50.0), ("m2", 0.0)],
    },
    // All judges have one scale, also the one that gave no more than 5.
    Set {
        file: "judges.csv",
        text: "model,prompt_id,judge_1,judge_2,judge_3\nm1,p1,8,9,4\nm1,p2,6,7,2\nm2,p1,2,4,3\nm2,p2,1,3,5\n",
        flags: "",
        says: &["counts: judge_1", "counts: judge_2", "counts: judge_3"],
        scores: &[("m1", 60.0), ("m2", 30.0)],
    },
    Set {
        file: "log.jsonl",
        text: "{\"build\":\"b1\",\"test\":\"x\",\"outcome\":\"passed\",\"duration\":1.5}\n\
               {\"build\":\"b1\",\"test\":\"y\",\"outcome\":\"failed\",\"duration\":0.5}\n\
               {\"build\":\"b2\",\"test\":\"x\",\"outcome\":\"passed\",\"duration\":0.1}\n",
        flags: "",
        says: &["scored: build", "task: test", "success: outcome", "beside the score: duration"],
        scores: &[("b1", 50.0), ("b2", 100.0)],
    },
    Set {
        file: "grades.csv",
        text: "agent,case,score,seconds\na1,x,C,1\na1,y,I,2\na2,x,P,3\na2,y,C,4\n",
        flags: "",
        says: &["score: `P` is neither passed nor failed"],
        scores: &[],
    },
    Set {
        file: "all-pass.csv",
        text: "agent,case,verdict,cost\na1,x,pass,1\na1,y,PASS,2\na2,x,pass,3\n",
        flags: "",
        says: &["success: verdict", "beside the score: cost"],
        scores: &[("a1", 100.0), ("a2", 100.0)],
    },
    Set {
        file: "excel.csv",
        text: "sep=;\nmodel;item;grade\nm1;1;correct\nm1;2;incorrect\nm2;1;incorrect\n",
        flags: "",
        says: &["scored: model", "task: item", "success: grade"],
        scores: &[("m1", 50.0), ("m2", 0.0)],
    },
    // What was asked for counts, and a cost that is not told earns nothing.
    Set {
        file: "hidden.csv",
        text: "agent,case,solved,cost\na1,x,1,0\na1,y,1,0\na2,x,1,\na2,y,1,4\na3,x,0,1\na3,y,0,1\n",
        flags: "--lower cost",
        says: &["success: solved", "counts: cost, less"],
        scores: &[("a1", 100.0), ("a2", 70.0), ("a3", 0.0)],
    },
];

#[test]
fn data_of_each_shape_gives_the_score_of_an_expert_or_a_question() {
    let mut problems = Vec::new();
    for Set { file, text, flags, says, scores } in SETS {
        let folder = Folder::new();
        folder.write(file, text);
        let flags = flags.split_whitespace();
        let drafted =
            alone(folder.path(), &["init", "--yes", file].into_iter().chain(flags).collect::<Vec<_>>());
        let said = if scores.is_empty() { &drafted.stderr } else { &drafted.stdout };
        let absent: Vec<_> = says.iter().filter(|part| !said.contains(**part)).collect();
        if (drafted.status == 0) == scores.is_empty() || !absent.is_empty() {
            problems.push(format!("{file}: no {absent:?}\n{}{}", drafted.stdout, drafted.stderr));
            continue;
        }
        if scores.is_empty() {
            continue;
        }
        let card = std::fs::read_to_string(folder.path().join("scorecard.toml")).unwrap();
        let shown = alone(folder.path(), &["leaderboard", "--format", "csv"]);
        let mut rows = csv::Reader::from_reader(shown.stdout.as_bytes());
        let head = rows.headers().unwrap().clone();
        let at = |name: &str| head.iter().position(|column| column == name).unwrap();
        let (subject, official, mean) = (at("subject"), at("official"), at("mean"));
        let score = |row: &csv::StringRecord| {
            let ranked = if row[official].is_empty() { &row[mean] } else { &row[official] };
            ranked.parse().unwrap_or(f64::NAN)
        };
        let mut found: Vec<(String, f64)> = rows
            .records()
            .map(|row| row.unwrap())
            .map(|row| (row[subject].to_owned(), score(&row)))
            .collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        let is_equal = found.len() == scores.len()
            && found.iter().zip(*scores).all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < 0.051);
        // A warning of the checker is the author's to keep.
        if !is_equal || card.contains("[[keep]]") {
            problems.push(format!("{file}: {found:?}\n{card}{}{}", drafted.stdout, shown.stderr));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}

#[test]
fn no_data_is_refused_for_the_name_of_a_field() {
    const NAMES: &str = "run_id match_id challenge submission score_breakdown scores trajectory metadata steps memory bond \
        evaluations verdicts dimensions workflow_plan miner_uid output_quality @context @type";
    for (name, value) in
        NAMES.split(' ').flat_map(|name| ["{}", "[1]", "\"x\"", "3.5"].map(|value| (name, value)))
    {
        let item = |case: &str, solved: u8| {
            format!("{{\"model\":\"m\",\"case\":\"{case}\",\"solved\":{solved},\"{name}\":{value}}}\n")
        };
        let folder = Folder::new();
        folder.write("data.jsonl", &(item("a", 1) + &item("b", 0)));
        let run = alone(folder.path(), &["init", "--dry-run", "data.jsonl"]);
        assert!(run.stdout.contains("formula = \"solved\""), "{name}: {value}: {}", run.stderr);
    }
    // An item that the reader of another kind takes whole is of that kind.
    let folder = Folder::new();
    folder.write("data.json", &crate::common::example("trace/same-trace-default.json"));
    let run = alone(folder.path(), &["init", "--dry-run", "data.json"]);
    assert!(run.stderr.contains("this looks like evidence of kind `reasoning-trace`"), "{}", run.stderr);
}
