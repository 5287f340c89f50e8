use crate::host::{BALL, Host, first_impact, log3, said};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Mutex;

type Instance = *mut c_void;
type Update = unsafe extern "C" fn(*mut c_void, f64, bool, bool, bool, bool, *mut bool, *mut f64);

struct Slave<'h> {
    host: &'h Host,
    instance: Instance,
}

#[derive(Default, Debug, PartialEq)]
struct Stepped {
    event: bool,
    terminate: bool,
    early: bool,
    time: f64,
}

impl<'h> Slave<'h> {
    fn new(
        host: &'h Host,
        token: &CStr,
        event_mode: bool,
        update: Option<Update>,
    ) -> Option<Slave<'h>> {
        type Instantiate = unsafe extern "C" fn(
            *const c_char,
            *const c_char,
            *const c_char,
            bool,
            bool,
            bool,
            bool,
            *const u32,
            usize,
            *mut c_void,
            Option<extern "C" fn(*mut c_void, c_int, *const c_char, *const c_char)>,
            Option<Update>,
        ) -> Instance;
        let make: Instantiate = host.function(c"fmi3InstantiateCoSimulation");
        // SAFETY: as the standard asks, here and below.
        let instance = unsafe {
            make(
                c"test".as_ptr(),
                token.as_ptr(),
                host.resources().as_ptr(),
                false,
                true,
                event_mode,
                true,
                std::ptr::null(),
                0,
                std::ptr::null_mut(),
                Some(log3),
                update,
            )
        };
        (!instance.is_null()).then_some(Slave { host, instance })
    }

    fn start(&self) {
        type Enter = unsafe extern "C" fn(Instance, bool, f64, f64, bool, f64) -> c_int;
        let enter: Enter = self.host.function(c"fmi3EnterInitializationMode");
        // SAFETY: see above.
        assert_eq!(
            unsafe { enter(self.instance, true, 1e-8, 0.0, false, 0.0) },
            0
        );
        assert_eq!(self.call(c"fmi3ExitInitializationMode"), 0);
    }

    fn call(&self, name: &CStr) -> c_int {
        let function: unsafe extern "C" fn(Instance) -> c_int = self.host.function(name);
        // SAFETY: see above.
        unsafe { function(self.instance) }
    }

    fn real(&self, name: &str) -> f64 {
        real(self.host, self.instance, name)
    }

    fn step(&self, time: f64, size: f64) -> Stepped {
        type Step = unsafe extern "C" fn(
            Instance,
            f64,
            f64,
            bool,
            *mut bool,
            *mut bool,
            *mut bool,
            *mut f64,
        ) -> c_int;
        let function: Step = self.host.function(c"fmi3DoStep");
        let mut s = Stepped::default();
        // SAFETY: see above.
        let status = unsafe {
            function(
                self.instance,
                time,
                size,
                true,
                &mut s.event,
                &mut s.terminate,
                &mut s.early,
                &mut s.time,
            )
        };
        assert_eq!(status, 0);
        s
    }

    fn update_discrete(&self) {
        type UpdateStates = unsafe extern "C" fn(
            Instance,
            *mut bool,
            *mut bool,
            *mut bool,
            *mut bool,
            *mut bool,
            *mut f64,
        ) -> c_int;
        let function: UpdateStates = self.host.function(c"fmi3UpdateDiscreteStates");
        let (mut again, mut ends, mut nominals, mut values, mut next, mut time) =
            (true, true, true, false, true, 0.0);
        // SAFETY: see above.
        let status = unsafe {
            function(
                self.instance,
                &mut again,
                &mut ends,
                &mut nominals,
                &mut values,
                &mut next,
                &mut time,
            )
        };
        assert_eq!((status, again, ends), (0, false, false));
    }
}

fn real(host: &Host, instance: Instance, name: &str) -> f64 {
    type Get = unsafe extern "C" fn(Instance, *const u32, usize, *mut f64, usize) -> c_int;
    let function: Get = host.function(c"fmi3GetFloat64");
    let mut out = f64::NAN;
    // SAFETY: see above.
    assert_eq!(
        unsafe { function(instance, &host.reference(name), 1, &mut out, 1) },
        0
    );
    out
}

impl Drop for Slave<'_> {
    fn drop(&mut self) {
        let free: unsafe extern "C" fn(Instance) = self.host.function(c"fmi3FreeInstance");
        // SAFETY: it is freed once.
        unsafe { free(self.instance) };
    }
}

#[test]
fn a_step_ends_at_an_event_with_the_values_before_it() {
    let host = Host::new(BALL, "Ball");
    let slave = Slave::new(&host, &host.token, true, None).expect("an instance");
    slave.start();
    slave.update_discrete();
    assert_eq!(slave.call(c"fmi3EnterStepMode"), 0);
    let stepped = slave.step(0.0, 1.0);
    let (impact, speed) = first_impact();
    assert!(stepped.event && stepped.early && !stepped.terminate);
    assert!((stepped.time - impact).abs() < 1e-12);
    assert!((slave.real("v") + speed).abs() < 1e-9, "the left limit");
    assert_eq!(slave.call(c"fmi3EnterEventMode"), 0);
    slave.update_discrete();
    assert!(
        (slave.real("v") - 0.8 * speed).abs() < 1e-9,
        "the right limit"
    );
    assert_eq!(slave.call(c"fmi3EnterStepMode"), 0);
    let stepped = slave.step(stepped.time, 0.1);
    assert!(!stepped.event && !stepped.early);
}

static TIMES: Mutex<Vec<f64>> = Mutex::new(Vec::new());

/// Asks for the end of the step after the first second.
unsafe extern "C" fn update(
    _: *mut c_void,
    time: f64,
    _: bool,
    may_read: bool,
    finished: bool,
    can_return: bool,
    wants: *mut bool,
    until: *mut f64,
) {
    assert!(may_read && finished);
    TIMES.lock().expect("no panic").push(time);
    // SAFETY: the pointers are those of the library.
    unsafe {
        *wants = can_return && time > 1.0;
        *until = time;
    }
}

#[test]
fn the_caller_is_told_of_steps_in_between_and_may_end_one() {
    let host = Host::new(BALL, "Ball");
    let slave = Slave::new(&host, &host.token, false, Some(update)).expect("an instance");
    slave.start();
    let stepped = slave.step(0.0, 5.0);
    let times = TIMES.lock().expect("no panic").clone();
    assert!(times.windows(2).all(|pair| pair[0] <= pair[1]) && times.len() > 2);
    assert!(stepped.early && stepped.time > 1.0 && stepped.time < 5.0);
    assert_eq!(times.last(), Some(&stepped.time));
}

#[test]
fn another_model_than_that_of_the_description_is_refused() {
    let host = Host::new(BALL, "Ball");
    said();
    assert!(Slave::new(&host, c"{0}", false, None).is_none());
    let said = said();
    assert!(
        said.iter()
            .any(|(status, text)| *status == 3 && text.contains("instantiation token")),
        "{said:?}"
    );
}
