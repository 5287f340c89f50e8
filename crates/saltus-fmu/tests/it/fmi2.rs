use crate::host::{BALL, Host, first_impact};
use saltus_fmi::abi::Fmi2Callbacks;
use std::ffi::{CStr, c_char, c_int, c_void};

type Instance = *mut c_void;
type Get<T> = unsafe extern "C" fn(Instance, *const u32, usize, *mut T) -> c_int;
type Set<T> = unsafe extern "C" fn(Instance, *const u32, usize, *const T) -> c_int;
type Plain = unsafe extern "C" fn(Instance) -> c_int;

/// An instance of FMI 2.0.
pub(crate) struct Slave<'h> {
    host: &'h Host,
    instance: Instance,
}

impl<'h> Slave<'h> {
    pub(crate) fn new(host: &'h Host) -> Slave<'h> {
        type Instantiate = unsafe extern "C" fn(
            *const c_char,
            c_int,
            *const c_char,
            *const c_char,
            *const Fmi2Callbacks,
            c_int,
            c_int,
        ) -> Instance;
        let callbacks = Fmi2Callbacks {
            logger: None,
            allocate_memory: None,
            free_memory: None,
            step_finished: None,
            environment: std::ptr::null_mut(),
        };
        let make: Instantiate = host.function(c"fmi2Instantiate");
        // SAFETY: as the standard asks, here and below.
        let instance = unsafe {
            make(
                c"test".as_ptr(),
                saltus_fmi::abi::FMI2_CO_SIMULATION,
                host.token.as_ptr(),
                host.resources_uri().as_ptr(),
                &callbacks,
                0,
                0,
            )
        };
        assert!(!instance.is_null());
        Slave { host, instance }
    }

    pub(crate) fn call(&self, name: &CStr) -> c_int {
        let function: Plain = self.host.function(name);
        // SAFETY: see above.
        unsafe { function(self.instance) }
    }

    pub(crate) fn set_up(&self, start: f64) {
        type Setup = unsafe extern "C" fn(Instance, c_int, f64, f64, c_int, f64) -> c_int;
        let function: Setup = self.host.function(c"fmi2SetupExperiment");
        // SAFETY: see above.
        assert_eq!(
            unsafe { function(self.instance, 1, 1e-8, start, 0, 0.0) },
            0
        );
    }

    pub(crate) fn start(&self) {
        self.set_up(0.0);
        assert_eq!(self.call(c"fmi2EnterInitializationMode"), 0);
        assert_eq!(self.call(c"fmi2ExitInitializationMode"), 0);
    }

    pub(crate) fn real(&self, name: &str) -> f64 {
        let function: Get<f64> = self.host.function(c"fmi2GetReal");
        let mut out = f64::NAN;
        // SAFETY: see above.
        let status = unsafe { function(self.instance, &self.host.reference(name), 1, &mut out) };
        assert_eq!(status, 0, "{name}");
        out
    }

    pub(crate) fn integer(&self, name: &str) -> c_int {
        let function: Get<c_int> = self.host.function(c"fmi2GetInteger");
        let mut out = 0;
        // SAFETY: see above.
        let status = unsafe { function(self.instance, &self.host.reference(name), 1, &mut out) };
        assert_eq!(status, 0, "{name}");
        out
    }

    pub(crate) fn set_real(&self, name: &str, value: f64) -> c_int {
        let function: Set<f64> = self.host.function(c"fmi2SetReal");
        // SAFETY: see above.
        unsafe { function(self.instance, &self.host.reference(name), 1, &value) }
    }

    pub(crate) fn step(&self, time: f64, size: f64) -> c_int {
        type Step = unsafe extern "C" fn(Instance, f64, f64, c_int) -> c_int;
        let function: Step = self.host.function(c"fmi2DoStep");
        // SAFETY: see above.
        unsafe { function(self.instance, time, size, 1) }
    }

    fn save(&self) -> Instance {
        type Save = unsafe extern "C" fn(Instance, *mut Instance) -> c_int;
        let function: Save = self.host.function(c"fmi2GetFMUstate");
        let mut state = std::ptr::null_mut();
        // SAFETY: see above.
        assert_eq!(unsafe { function(self.instance, &mut state) }, 0);
        state
    }

    fn restore(&self, state: Instance) {
        type Restore = unsafe extern "C" fn(Instance, Instance) -> c_int;
        let function: Restore = self.host.function(c"fmi2SetFMUstate");
        // SAFETY: see above.
        assert_eq!(unsafe { function(self.instance, state) }, 0);
    }

    /// The state through bytes.
    fn carried(&self, mut state: Instance) -> Instance {
        let size: unsafe extern "C" fn(Instance, Instance, *mut usize) -> c_int =
            self.host.function(c"fmi2SerializedFMUstateSize");
        let write: unsafe extern "C" fn(Instance, Instance, *mut u8, usize) -> c_int =
            self.host.function(c"fmi2SerializeFMUstate");
        let read: unsafe extern "C" fn(Instance, *const u8, usize, *mut Instance) -> c_int =
            self.host.function(c"fmi2DeSerializeFMUstate");
        let free: unsafe extern "C" fn(Instance, *mut Instance) -> c_int =
            self.host.function(c"fmi2FreeFMUstate");
        let mut n = 0;
        let mut other = std::ptr::null_mut();
        // SAFETY: see above.
        unsafe {
            assert_eq!(size(self.instance, state, &mut n), 0);
            let mut bytes = vec![0; n];
            assert_eq!(write(self.instance, state, bytes.as_mut_ptr(), n), 0);
            assert_eq!(free(self.instance, &mut state), 0);
            assert!(state.is_null());
            assert_eq!(read(self.instance, bytes.as_ptr(), n / 2, &mut other), 3);
            assert_eq!(read(self.instance, bytes.as_ptr(), n, &mut other), 0);
        }
        other
    }
}

impl Drop for Slave<'_> {
    fn drop(&mut self) {
        let free: unsafe extern "C" fn(Instance) = self.host.function(c"fmi2FreeInstance");
        // SAFETY: it is freed once.
        unsafe { free(self.instance) };
    }
}

#[test]
fn events_inside_a_step_are_where_they_are() {
    let host = Host::new(BALL, "Ball");
    let mut run = host
        .model
        .experiment()
        .tolerance(1e-8)
        .without_end()
        .simulator()
        .expect("it runs");
    let slave = Slave::new(&host);
    slave.start();
    // Steps of any size give the same run, bit by bit.
    for (time, size) in [(0.0, 0.3), (0.3, 0.7), (1.0, 0.001), (1.001, 2.0)] {
        assert_eq!(slave.step(time, size), 0);
        run.advance_to(time + size).expect("it runs");
        for name in ["h", "v"] {
            let expected = run.get(name).expect("a variable");
            assert_eq!(
                slave.real(name).to_bits(),
                expected.to_bits(),
                "{name} at {time} + {size}"
            );
        }
    }
    assert_eq!(
        f64::from(slave.integer("n")),
        run.get("n").expect("a variable")
    );
    let (impact, speed) = first_impact();
    let early = Slave::new(&host);
    early.start();
    assert_eq!(early.step(0.0, 0.5), 0);
    let after = 0.5 - impact;
    assert!((early.real("h") - (0.8 * speed * after - 0.5 * 9.81 * after * after)).abs() < 1e-9);
}

#[test]
fn parameters_are_set_before_the_start_and_inputs_at_any_time() {
    let host = Host::new(BALL, "Ball");
    let slave = Slave::new(&host);
    assert_eq!(slave.real("e"), 0.8);
    assert_eq!(slave.set_real("h0", 3.0), 0);
    assert_eq!(slave.set_real("e", 1.5), 3, "beyond its max");
    slave.set_up(0.0);
    assert_eq!(slave.call(c"fmi2EnterInitializationMode"), 0);
    assert_eq!(slave.real("h"), 3.0);
    assert_eq!(slave.set_real("h0", 2.0), 0);
    assert_eq!(
        slave.real("h"),
        2.0,
        "what follows from a parameter follows it"
    );
    assert_eq!(slave.call(c"fmi2ExitInitializationMode"), 0);
    assert_eq!(slave.set_real("e", 0.5), 3);
    assert_eq!(slave.set_real("push", 9.81), 0);
    assert_eq!(slave.step(0.0, 5.0), 0);
    assert!((slave.real("h") - 2.0).abs() < 1e-9, "it floats");
    assert_eq!(slave.step(1.0, 5.0), 3, "the instance stands elsewhere");
    assert_eq!(slave.set_real("push", 100.0), 0);
    assert_eq!(slave.step(5.0, 5.0), 2, "the model ends the run");
    let time = (2.0 * 98.0 / 90.19_f64).sqrt();
    assert!((slave.real("h") - 100.0).abs() < 1e-6);
    let status: Get2 = host.function(c"fmi2GetRealStatus");
    let mut reached = 0.0;
    // SAFETY: as the standard asks.
    assert_eq!(unsafe { status(slave.instance, 2, &mut reached) }, 0);
    assert!((reached - 5.0 - time).abs() < 1e-7);
    assert_eq!(slave.call(c"fmi2Reset"), 0);
    slave.start();
    assert_eq!(slave.real("h"), 1.0);
}

type Get2 = unsafe extern "C" fn(Instance, c_int, *mut f64) -> c_int;

#[test]
fn a_state_that_is_restored_gives_the_same_run() {
    let host = Host::new(BALL, "Ball");
    let slave = Slave::new(&host);
    slave.start();
    for k in 0..20 {
        let (now, size) = (0.17 * f64::from(k), 0.17);
        let state = slave.save();
        assert_eq!(slave.step(now, size), 0);
        let once = slave.real("h").to_bits();
        let state = slave.carried(state);
        slave.restore(state);
        assert_eq!(slave.step(now, size), 0);
        assert_eq!(slave.real("h").to_bits(), once, "step {k}");
        let free: unsafe extern "C" fn(Instance, *mut Instance) -> c_int =
            host.function(c"fmi2FreeFMUstate");
        let mut state = state;
        // SAFETY: as the standard asks.
        assert_eq!(unsafe { free(slave.instance, &mut state) }, 0);
    }
}
