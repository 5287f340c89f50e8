//! The models of the start page: each shows something that is special, runs at once, and says what to look at.

use serde_json::{Value as Json, json};

struct StartModel {
    name: &'static str,
    title: &'static str,
    /// What to look at.
    teaser: &'static str,
    text: &'static str,
    /// Variables that are drawn.
    plotted: &'static [&'static str],
    /// Parameters that have sliders.
    sliders: &'static [&'static str],
}

macro_rules! start_models {
    ($($name:ident, $title:literal, $teaser:literal, $plotted:expr, $sliders:expr;)*) => {
        const MODELS: &[StartModel] = &[$(StartModel {
            name: stringify!($name),
            title: $title,
            teaser: $teaser,
            text: include_str!(concat!("../start/", stringify!($name), ".mo")),
            plotted: &$plotted,
            sliders: &$sliders,
        },)*];
    };
}

start_models! {
    BouncingBall, "Bouncing ball", "Infinitely many bounces in finite time; the run goes on behind them.", ["h", "v"], ["e", "g"];
    RectifierBridge, "Rectifier bridge", "Six ideal diodes: every commutation is an event, no resistance is needed.", ["ud", "i[1]", "i[2]", "i[3]"], ["Id", "L"];
    Clutch, "Clutch", "Two inertias lock: two states become one, angular momentum is kept.", ["w1", "w2", "tau"], ["J1", "J2", "torque"];
    Cradle, "Newton's cradle", "Five balls, simultaneous impacts: the last one leaves.", ["x[1]", "x[5]", "v[1]", "v[5]"], ["m"];
    CupAndBall, "Cup and ball", "A string that is slack or taut: the index of the equations changes.", ["x", "y", "F"], ["L", "g"];
    BuckConverter, "Buck converter", "A switch of 20 kHz and an ideal diode: drag the duty cycle.", ["v", "i"], ["duty", "R", "Lf"];
    DryFriction, "Dry friction", "Slides, turns, sticks: sliding motion is computed, not smoothed.", ["x", "v", "f"], ["F0", "x0"];
    DelayLine, "Delay line", "A wave between two mismatched ends; jumps travel with the delay.", ["v", "forth", "back"], ["T", "r0", "r1"];
    Thermostat, "Thermostat", "An automaton of two locations that switches a heater.", ["T", "heating"], ["low", "high", "power"];
    DoublePendulum, "Double pendulum", "Chaotic, in Cartesian coordinates: states are chosen anew on the way.", ["x2", "y2", "energy"], ["L1", "L2", "m2"];
}

/// The robot of the Modelica Standard Library, where that is.
const ROBOT: &str = "Modelica.Mechanics.MultiBody.Examples.Systems.RobotR3.FullRobot";

/// The models, with those of libraries that are there.
pub(crate) fn models(is_there: &dyn Fn(&str) -> bool) -> Vec<Json> {
    let mut out: Vec<Json> = (MODELS.iter())
        .map(|model| {
            json!({
                "name": model.name,
                "title": model.title,
                "teaser": model.teaser,
                "text": model.text,
                "plotted": model.plotted,
                "sliders": model.sliders,
            })
        })
        .collect();
    if is_there(ROBOT) {
        out.push(json!({
            "name": "FullRobot",
            "title": "Robot",
            "teaser": "Six axes with controllers, gears and friction, from the Modelica Standard Library.",
            "class": ROBOT,
            "plotted": ["axis1.angle", "axis2.angle", "axis3.angle", "axis4.angle", "axis5.angle", "axis6.angle"],
            "sliders": ["mLoad"],
        }));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus::Session;

    #[test]
    fn start_models_run_and_have_what_is_drawn_and_set() {
        for start in MODELS {
            let mut session = Session::new();
            session.set_text(format!("/start/{}.mo", start.name), start.text);
            let model = session.compile(start.name);
            let model = model.unwrap_or_else(|e| panic!("{}: {e}", start.name));
            let parameters = model.parameters();
            for slider in start.sliders {
                let found = parameters.iter().find(|p| p.name == *slider);
                assert!(
                    found.is_some_and(|p| p.settable && p.structural.is_none()),
                    "{}: {slider}",
                    start.name
                );
            }
            let run = model.experiment().simulate();
            let run = run.unwrap_or_else(|e| panic!("{}: {e}", start.name));
            for name in start.plotted {
                let signal = run.table.signal(name).map(|s| s.to_vec());
                let moves = signal.is_some_and(|s| s.iter().any(|x| *x != s[0]));
                assert!(moves, "{}: {name} does not move", start.name);
            }
        }
    }
}
