//! Runs that go beyond their limits: each ends, says why, and keeps what it had printed.

use hamlet_models::{Limits, ValKind};
use hamlet_runtime::{End, Input};
use uuid::Uuid;

use crate::harness::{Host, LIMITS, Val};

#[tokio::test]
async fn a_run_that_waits_for_ever_is_ended_by_the_clock() {
    let host = Host::limited(Limits {
        wall_seconds: 1,
        ..LIMITS
    })
    .await;
    let ran = host
        .script("console.log('before'); await new Promise((resolve) => setTimeout(resolve, 1e6));")
        .await;
    assert_eq!(ran.outcome.end, End::TimedOut);
    assert_eq!(ran.error().message, "ran longer than the 1 s that a run may take");
    assert_eq!(ran.record.lines(), ["before"]);
}

#[tokio::test]
async fn an_endless_loop_is_ended_by_its_cpu_time() {
    let host = Host::limited(Limits {
        cpu_seconds: 1,
        ..LIMITS
    })
    .await;
    let ran = host.script("console.log('before'); for (;;);").await;
    assert_eq!(ran.outcome.end, End::TimedOut);
    assert_eq!(
        ran.error().message,
        "used more than the 1 s of CPU time that a run may use"
    );
    assert_eq!(ran.record.lines(), ["before"]);
    assert!(ran.outcome.cpu_ms > Some(900.0), "{:?}", ran.outcome.cpu_ms);
}

#[tokio::test]
async fn a_heap_that_grows_without_end_is_out_of_memory() {
    let host = Host::limited(Limits {
        memory_mb: 64,
        ..LIMITS
    })
    .await;
    let ran = host
        .script(
            "console.log('before'); const all = []; for (;;) all.push({ more: new Array(100).fill({}) });",
        )
        .await;
    assert_eq!(ran.outcome.end, End::OutOfMemory, "{:?}", ran.outcome);
    assert_eq!(
        ran.error().message,
        "used more than the 64 MB of memory that a run may use"
    );
    assert_eq!(
        ran.record.lines(),
        ["before"],
        "what the engine says of itself is not the val's"
    );
}

#[tokio::test]
async fn buffers_outside_the_heap_are_memory_too() {
    let host = Host::limited(Limits {
        memory_mb: 64,
        ..LIMITS
    })
    .await;
    let ran = host
        .script(
            "console.log('before'); const all = [];
             for (;;) { all.push(new Uint8Array(8e6).fill(1)); await new Promise((resolve) => setTimeout(resolve)); }",
        )
        .await;
    assert_eq!(ran.outcome.end, End::OutOfMemory, "{:?}", ran.outcome);
    assert_eq!(ran.record.lines(), ["before"]);
}

#[tokio::test]
async fn a_flood_of_lines_is_cut_and_says_so() {
    let host = Host::limited(Limits { log_kb: 10, ..LIMITS }).await;
    let ran = host
        .script("for (let i = 0; i < 20_000; i++) console.log('line', i); export default 'done';")
        .await;
    assert_eq!(ran.outcome.end, End::Ok);
    assert!(ran.outcome.truncated.logs);
    let lines = ran.record.lines();
    assert_eq!(lines[0], "line 0");
    assert!(
        lines.iter().map(String::len).sum::<usize>() < 11_000,
        "{} lines are kept",
        lines.len()
    );
    let remarks = ran.record.remarks();
    assert_eq!(remarks.len(), 1);
    assert_eq!(lines.last(), remarks.first(), "the remark comes last");
    let cut: usize = remarks[0]
        .split(' ')
        .next()
        .and_then(|word| word.parse().ok())
        .expect("how many lines");
    assert!(
        remarks[0].starts_with(&format!("{cut} lines ("))
            && remarks[0].ends_with(" kB) were cut here: the logs of a run are kept up to 10 kB."),
        "{}",
        remarks[0]
    );
    let kept = lines.iter().filter(|line| line.starts_with("line ")).count();
    assert!(
        (20_000..=20_001).contains(&(kept + cut)),
        "{kept} kept and {cut} cut, one of them in its middle"
    );
}

#[tokio::test]
async fn a_flood_of_empty_lines_is_cut_too() {
    let host = Host::limited(Limits { log_kb: 10, ..LIMITS }).await;
    for print in ["console.log('')", "Deno.stdout.writeSync(new Uint8Array([10]))"] {
        let ran = host
            .script(&format!("for (let i = 0; i < 20_000; i++) {print};"))
            .await;
        assert!(ran.outcome.truncated.logs, "{print}");
        let kept = ran.record.lines().len();
        assert!((1_000..2_000).contains(&kept), "{print}: {kept} lines are kept");
    }
}

#[tokio::test]
async fn a_flood_that_never_ends_is_cut_and_ended() {
    let host = Host::limited(Limits {
        log_kb: 10,
        cpu_seconds: 1,
        ..LIMITS
    })
    .await;
    let ran = host
        .script("for (;;) Deno.stdout.writeSync(new Uint8Array(1000).fill(97));")
        .await;
    assert_eq!(ran.outcome.end, End::TimedOut);
    assert!(ran.outcome.truncated.logs);
    assert_eq!(ran.record.remarks().len(), 1);
}

#[tokio::test]
async fn one_huge_line_is_cut() {
    let host = Host::limited(Limits { log_kb: 10, ..LIMITS }).await;
    let ran = host
        .script("console.log('x'.repeat(5e6)); console.log('after');")
        .await;
    assert_eq!(ran.outcome.end, End::Ok);
    assert!(ran.outcome.truncated.logs);
    let lines = ran.record.lines();
    assert_eq!(lines.len(), 2, "the beginning of the line, and the remark");
    assert_eq!(lines[0].len(), 10_000);
}

#[tokio::test]
async fn values_and_errors_are_cut_to_their_limits() {
    let host = Host::with(
        Limits {
            value_kb: 10,
            ..LIMITS
        },
        |config| config.answer_kb = 20,
    )
    .await;
    let ran = host.script("export default 'é'.repeat(50_000);").await;
    assert_eq!(ran.outcome.end, End::Ok);
    assert!(ran.outcome.truncated.return_value);
    assert_eq!(
        ran.outcome.return_value.expect("a value").len(),
        19_999,
        "never in the middle of a character"
    );
    let ran = host.script("throw new Error('x'.repeat(50_000));").await;
    assert!(ran.outcome.truncated.error);
    assert!(ran.error().message.len() + ran.error().stack.len() <= 10_000);
}

#[tokio::test]
async fn a_run_can_be_cancelled_and_keeps_its_lines() {
    let host = Host::new().await;
    let val = Val {
        run: Some(Uuid::new_v4().into()),
        ..Val::new(
            ValKind::Script,
            "console.log('in'); await new Promise((resolve) => setTimeout(resolve, 1e6));",
        )
    };
    let id = val.run.expect("an id");
    assert!(!host.runtime.cancel(id), "it has not begun");
    let (ran, ()) = tokio::join!(host.run(&val, Input::Script { args: None }), async {
        val.record.until_line("in").await;
        assert!(host.runtime.cancel(id));
    });
    assert_eq!(ran.outcome.end, End::Cancelled);
    assert_eq!(ran.error().message, "the run was cancelled");
    assert_eq!(val.record.now().ended.len(), 1);
}

#[tokio::test]
async fn a_run_that_waits_for_its_place_can_be_cancelled() {
    let host = Host::limited(Limits {
        user_runs: 1,
        ..LIMITS
    })
    .await;
    let first = Val {
        run: Some(Uuid::new_v4().into()),
        ..Val::new(
            ValKind::Script,
            "console.log('in'); await new Promise((resolve) => setTimeout(resolve, 1e6));",
        )
    };
    let second = Val {
        run: Some(Uuid::new_v4().into()),
        ..Val::new(ValKind::Script, "1")
    };
    let (_, ran, ()) = tokio::join!(
        host.run(&first, Input::Script { args: None }),
        host.run(&second, Input::Script { args: None }),
        async {
            first.record.until_line("in").await;
            assert!(host.runtime.cancel(second.run.expect("an id")));
            assert!(host.runtime.cancel(first.run.expect("an id")));
        }
    );
    assert_eq!(ran.outcome.end, End::Cancelled);
    assert_eq!(second.record.now().started, 0, "it never had a place");
}

#[tokio::test]
async fn what_is_cut_in_the_middle_of_a_character_is_still_text() {
    let host = Host::limited(Limits {
        log_kb: 1,
        value_kb: 1,
        ..LIMITS
    })
    .await;
    // Of the two the one or the other is cut in a character's middle.
    for start in ["", "x"] {
        let ran = host
            .script(&format!(
                "console.log('{start}' + '😀'.repeat(5000)); throw new Error('{start}' + '😀'.repeat(5000));"
            ))
            .await;
        assert_eq!(ran.error().name, "Error", "{:?}", ran.error());
        assert!(ran.outcome.truncated.error && ran.outcome.truncated.logs);
    }
}
