use crate::fmi2::Slave;
use crate::host::{BALL, Host};

#[test]
fn instances_in_threads_of_their_own_do_not_meet() {
    let host = Host::new(BALL, "Ball");
    let run = |e: f64| {
        let slave = Slave::new(&host);
        assert_eq!(slave.set_real("e", e), 0);
        slave.start();
        for k in 0..20 {
            assert_eq!(slave.step(0.1 * f64::from(k), 0.1), 0);
        }
        slave.real("h").to_bits()
    };
    let alone: Vec<u64> = (0..8).map(|k| run(0.1 * f64::from(k))).collect();
    let run = &run;
    let together: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|k| scope.spawn(move || run(0.1 * f64::from(k))))
            .collect();
        threads
            .into_iter()
            .map(|t| t.join().expect("no panic"))
            .collect()
    });
    assert_eq!(alone, together);
}

/// Resident memory of this process, in pages.
#[cfg(target_os = "linux")]
fn resident() -> i64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    text.split(' ')
        .nth(1)
        .and_then(|n| n.parse().ok())
        .expect("the second number")
}

#[test]
#[cfg(target_os = "linux")]
fn instances_that_are_freed_leave_nothing_behind() {
    let host = Host::new(BALL, "Ball");
    let cycle = || {
        let slave = Slave::new(&host);
        slave.start();
        assert_eq!(slave.step(0.0, 1.0), 0);
    };
    (0..200).for_each(|_| cycle());
    let before = resident();
    (0..400).for_each(|_| cycle());
    // Other tests run in this process, too: 16 MB are theirs.
    let grown = resident() - before;
    assert!(grown < 4096, "{grown} pages");
}
