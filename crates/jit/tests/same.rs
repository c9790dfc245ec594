//! Native code and the interpreter agree: on every reachable state (up to a limit) the same steps in the same order,
//! and the same outcomes with the same keys, faults and counts; in the end the same edges reached and the same edges
//! that lost bits. And what is looked at from outside is the same, on some of these states.
//!
//! More seeds: `SPINOR_SEEDS=0..5000 cargo test -p spinor-jit --test same`.

use spinor_gen::question::seeds;
use spinor_jit::Jit;
use spinor_lang::{Model, Options, load};
use spinor_model::index::Idx;
use spinor_model::interp::Interp;
use spinor_model::ir::{BinOp, Expr, IndexStep, Pid, Place, Scope, System, UnOp, VarId};
use spinor_model::successors::{Asleep, Batch, Successors};
use std::collections::HashSet;
use std::sync::Arc;

const MOST_STATES: usize = 3_000;
const MOST_LOOKS: usize = 300;

fn loaded(name: &str, text: &str) -> Option<Model> {
    load(name, text, &Options::default(), &|_| Err(std::io::ErrorKind::NotFound.into())).model
}

fn lowered(name: &str, text: &str) -> Option<Arc<System>> {
    loaded(name, text).map(|m| m.system)
}

/// Breadth first through both at once. Returns how many states were seen.
fn compare(name: &str, system: &Arc<System>) -> usize {
    let (interp, jit) = (Interp::new(system.clone()), Jit::new(system.clone()));
    let initial = match (interp.initial(), jit.initial()) {
        (Ok(ours), Ok(theirs)) => {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            interp.pack(&ours, &mut a);
            jit.pack(&theirs, &mut b);
            assert_eq!(a, b, "{name}: the initial state");
            a
        }
        (Err(ours), Err(theirs)) => {
            assert_eq!(ours, theirs, "{name}");
            return 0;
        }
        (ours, theirs) => panic!("{name}: {:?} against {:?}", ours.is_ok(), theirs.is_ok()),
    };
    let mut seen = HashSet::from([initial.clone()]);
    let mut queue = vec![initial.clone()];
    let (mut ours, mut theirs) = (interp.unpack(&initial), jit.unpack(&initial));
    let (mut ours_steps, mut their_steps) = (Vec::new(), Vec::new());
    let (mut our_batch, mut their_batch) = (interp.batch(), jit.batch());
    let mut at = 0;
    while at < queue.len() && at < MOST_STATES {
        let key = queue[at].clone();
        at += 1;
        interp.unpack_into(&key, &mut ours);
        jit.unpack_into(&key, &mut theirs);
        interp.enabled(&mut ours, &mut ours_steps);
        jit.enabled(&mut theirs, &mut their_steps);
        assert_eq!(ours_steps, their_steps, "{name}: state {at}");
        if ours_steps.is_empty() {
            assert_eq!(interp.may_end(&ours), jit.may_end(&theirs), "{name}: state {at}");
        }
        our_batch.clear();
        their_batch.clear();
        interp.fire(&mut ours, &ours_steps, &mut our_batch);
        jit.fire(&mut theirs, &their_steps, &mut their_batch);
        assert_eq!(our_batch.outcomes.len(), their_batch.outcomes.len(), "{name}: state {at}");
        for (ours, theirs) in our_batch.outcomes.iter().zip(&their_batch.outcomes) {
            let step = ours_steps[ours.step as usize];
            assert_eq!((ours.step, ours.path), (theirs.step, theirs.path), "{name}: state {at}, {step:?}");
            assert_eq!(our_batch.key(ours), their_batch.key(theirs), "{name}: state {at}, {step:?}");
            assert_eq!(ours.atomic_steps, theirs.atomic_steps, "{name}: state {at}, {step:?}");
        }
        assert_eq!(our_batch.faults, their_batch.faults, "{name}: state {at}");
        // All at once is the same.
        let mut at_once = jit.batch();
        assert_eq!(jit.expand(&mut theirs, &mut at_once), ours_steps.len(), "{name}: state {at}, at once");
        let outcomes = |batch: &Batch| -> Vec<_> {
            let all = batch.outcomes.iter();
            all.map(|o| (o.step, o.path, o.atomic_steps, batch.key(o).map(<[u8]>::to_vec))).collect()
        };
        assert_eq!(outcomes(&our_batch), outcomes(&at_once), "{name}: state {at}, at once");
        assert_eq!(our_batch.faults, at_once.faults, "{name}: state {at}, at once");
        // One process alone is.
        for pid in 0..ours.n_procs() as Pid {
            let (mut one, mut other) = (vec![], vec![]);
            interp.enabled_of(&mut ours, pid, &mut one);
            jit.enabled_of(&mut theirs, pid, &mut other);
            assert_eq!(one, other, "{name}: state {at}, process {pid}");
        }
        // And so it is for who wants to know whose they are.
        let (mut owned, mut owners) = (jit.batch(), vec![77]);
        assert_eq!(jit.expand_owned(&mut theirs, &mut owned, &mut owners), ours_steps.len(), "{name}: state {at}");
        assert_eq!(owners, ours_steps.iter().map(|s| s.pid).collect::<Vec<_>>(), "{name}: state {at}");
        assert_eq!(outcomes(&our_batch), outcomes(&owned), "{name}: state {at}, owned");
        // Some are asleep, everybody, nobody, and those of processes that have no numbers are not.
        let word = (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let firsts: Vec<u32> = (0..ours.n_procs() as u32).map(|pid| pid * 37).collect();
        for (n, set) in [vec![word, !word], vec![word], vec![u64::MAX; 8], vec![0], vec![]].iter().enumerate() {
            let asleep = Asleep { firsts: &firsts[..firsts.len() - firsts.len().min(n % 2)], set };
            let (mut ours_awake, mut theirs_awake) = (interp.batch(), jit.batch());
            interp.expand_awake(&mut ours, asleep, &mut ours_steps, &mut ours_awake);
            jit.expand_awake(&mut theirs, asleep, &mut their_steps, &mut theirs_awake);
            assert_eq!(ours_steps, their_steps, "{name}: state {at}, {asleep:?}");
            assert_eq!(outcomes(&ours_awake), outcomes(&theirs_awake), "{name}: state {at}, {asleep:?}");
            assert_eq!(ours_awake.faults, theirs_awake.faults, "{name}: state {at}, {asleep:?}");
            let awake = |o: &(u32, u32, u32, Option<Vec<u8>>)| !asleep.has(&ours_steps[o.0 as usize]);
            let awake: Vec<_> = outcomes(&our_batch).into_iter().filter(awake).collect();
            assert_eq!(outcomes(&ours_awake), awake, "{name}: state {at}, {asleep:?}");
        }
        for outcome in &our_batch.outcomes {
            if let Some(key) = our_batch.key(outcome)
                && seen.insert(key.to_vec())
            {
                queue.push(key.to_vec());
            }
        }
    }
    assert_eq!(our_batch.reached, their_batch.reached, "{name}");
    assert_eq!(our_batch.truncated, their_batch.truncated, "{name}");
    at
}

/// No process's own: it can be looked at from outside.
fn is_public(e: &Expr) -> bool {
    let mut public = true;
    e.each_part(&mut |part| {
        public &= !matches!(part, Expr::Read(Place { scope: Scope::Local, .. }) | Expr::Pid | Expr::NewPid);
    });
    public
}

/// What can be looked at: what the model asks itself and others ask about it, and every other kind of question. The
/// first is the only one that asks for `timeout`.
fn questions(system: &System, asked: &[Expr]) -> Vec<Expr> {
    let mut all = vec![Expr::Unary(UnOp::Not, Box::new(Expr::Timeout))];
    all.extend([Expr::NonProgress, Expr::Accepting, Expr::Last, Expr::NrPr]);
    all.extend(asked.iter().cloned());
    let mut more = |e: &Expr| {
        e.each_part(&mut |part| {
            if is_public(part) && !matches!(part, Expr::Const(_)) && !all.contains(part) {
                all.push(part.clone());
            }
        });
    };
    let graphs = system.proctypes.iter().chain(&system.claims).chain(system.monitor.iter().map(|m| &m.graph));
    graphs.for_each(|t| t.edges.iter().for_each(|edge| edge.each_expr(&mut |e| more(e))));
    for (n, (proctype, t)) in system.proctypes.enumerated().enumerate() {
        let number = |n: usize| Box::new(Expr::Const(n as i32));
        all.extend([Expr::Enabled(number(n)), Expr::PcValue(number(n + 1))]);
        if system.uses.priorities {
            all.push(Expr::GetPriority(number(n)));
        }
        for (k, loc) in t.locs.ids().enumerate().take(4) {
            let pid = (k % 2 == 0).then(|| number(n + k));
            all.push(Expr::AtLabel { proctype, pid, loc, label: String::new() });
        }
        for (k, (slot, (_, ty))) in t.frame.slot_names().iter().enumerate().enumerate() {
            let pid = (k % 2 == 1).then(|| number(n));
            // Beyond its end lies nothing: a fault where the process lives, and nothing where it does not.
            let index = if k == 3 { vec![IndexStep { value: Expr::NrPr, len: 1, stride: 1 }] } else { Vec::new() };
            let var = VarId::new(0);
            let place = Place { scope: Scope::Local, var, slot: slot as u32, ty: *ty, index };
            all.push(Expr::Remote { proctype, pid, place });
        }
    }
    all
}

/// Native code sees what the interpreter sees. Returns how often it was looked at something that cannot be.
fn compare_looks(name: &str, system: &Arc<System>, asked: &[Expr]) -> usize {
    let interp = Interp::new(system.clone());
    let Ok(initial) = interp.initial() else { return 0 };
    let mut key = Vec::new();
    interp.pack(&initial, &mut key);
    let mut queue = vec![key];
    let mut seen: HashSet<Vec<u8>> = queue.iter().cloned().collect();
    let (mut at, mut batch) = (0, interp.batch());
    while at < queue.len() && queue.len() < MOST_LOOKS {
        batch.clear();
        interp.expand(&mut interp.unpack(&queue[at]), &mut batch);
        at += 1;
        let next = batch.outcomes.iter().filter_map(|o| batch.key(o)).map(<[u8]>::to_vec);
        queue.extend(next.filter(|key| seen.insert(key.clone())));
    }
    // One that faults hides the others: those that do it at once are by themselves, and so is the first.
    let mut groups = [vec![], vec![], vec![]];
    for (n, e) in questions(system, asked).into_iter().enumerate() {
        let group = if n == 0 { 2 } else { usize::from(interp.value(&initial, None, &e).is_err()) };
        groups[group].push(e);
    }
    let mut faults = 0;
    for looked in groups.iter().filter(|group| !group.is_empty()) {
        let (interp, jit) = (Interp::looking(system.clone(), looked), Jit::looking(system.clone(), looked));
        let (mut ours, mut theirs) = (interp.unpack(&queue[0]), jit.unpack(&queue[0]));
        let (mut our_bits, mut their_bits) = (Vec::new(), vec![7; 3]);
        for (at, key) in queue.iter().enumerate() {
            interp.unpack_into(key, &mut ours);
            jit.unpack_into(key, &mut theirs);
            let (seen, seen_there) = (interp.look(&mut ours, &mut our_bits), jit.look(&mut theirs, &mut their_bits));
            assert_eq!(seen, seen_there, "{name}: state {at}");
            match seen {
                Ok(()) => assert_eq!(our_bits, their_bits, "{name}: state {at}, {looked:?}"),
                Err(_) => faults += 1,
            }
        }
    }
    faults
}

#[test]
fn on_random_models() {
    let (mut states, mut faults, mut asking) = (0, 0, 0);
    for seed in seeds(0..250) {
        for disputed in [false, true] {
            let options = spinor_gen::Options { disputed, ..spinor_gen::Options::default() };
            let text = spinor_gen::generate_with(seed, &options).text;
            let name = format!("seed {seed}, disputed {disputed}");
            let system = lowered(&name, &text).unwrap_or_else(|| panic!("{name} is refused"));
            states += compare(&name, &system);
            faults += compare_looks(&name, &system, &[]);
            // The same beside one who asks who can move; where that may not be asked, the model is refused.
            if let Some(system) = lowered(&name, &format!("{text}\n{ASKS}")) {
                asking += compare(&format!("{name}, asked"), &system);
            }
        }
    }
    assert!(states > 10_000 && faults > 100 && asking > 5_000, "{states}, {faults}, {asking}");
}

const ASKS: &str = "byte who_can;\nactive proctype Asks() { do :: who_can = enabled(0) + 2 * enabled(1)
    :: enabled(1) -> who_can = 4 + enabled(2) :: !enabled(0) && who_can > 4 -> who_can = 0 od }\n";

#[test]
fn on_the_corpus() {
    let (mut models, mut formulas) = (0, 0);
    for path in spinor_gen::corpus::models(&["pml"]) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if let Some(model) = loaded(&name, &std::fs::read_to_string(&path).unwrap()) {
            compare(&name, &model.system);
            let asked: Vec<Expr> = model.formulas.iter().flat_map(|f| f.props.clone()).collect();
            formulas += model.formulas.len();
            compare_looks(&name, &model.system, &asked);
            models += 1;
        }
    }
    assert!(models > 80 && formulas > 5, "{models}, {formulas}");
}

#[test]
fn where_there_is_no_channel_and_no_process() {
    let no_channel = "chan q; active proctype P() { q ! 1; q ? _; assert(len(q) == 0) }";
    compare("no channel", &lowered("no channel", no_channel).expect("a model"));
    let nobody = "int x; proctype P() { do :: enabled(0) :: pc_value(1) == 3 od }";
    let mut system = lowered("nobody", nobody).expect("a model").as_ref().clone();
    compare("nobody", &Arc::new(system.clone()));
    system.proctypes = Default::default();
    compare("nothing", &Arc::new(system));
}

/// What asks who can move lists their steps on the way, and is listed itself: in a guard, in an effect, and in both.
#[test]
fn where_a_step_asks_who_can_move() {
    let models = [
        "byte x; active proctype A() { do :: x = enabled(1) od } active proctype B() { do :: x == 0 -> x = 2; x = 1 od }",
        "byte x; active proctype A() { do :: enabled(1) -> x++ :: !enabled(1) -> x = 0 od }
         active proctype B() { byte z; do :: x % 3 == 1 -> z = 1 - z :: x % 3 == 2 -> z = 0 od }",
        "byte x; active [2] proctype A() { do :: enabled(1 - _pid) -> x = 2 * enabled(2) + enabled(0) od }
         active proctype B() { byte z; z = 1; z = 2; do :: x == 1 -> z = 3 :: x == 3 -> z = 0 od }",
    ];
    let states: usize = models.iter().map(|text| compare(text, &lowered("asks", text).expect("a model"))).sum();
    assert!(states > 50, "{states}");
}

#[test]
fn where_there_is_nothing_to_see_and_where_there_is_much() {
    let text = "byte x, a[3]; active proctype P() { do :: x < 5 -> x++ od } ltl p { [] (a[x] == 0) && [] (x < 5) }";
    let model = loaded("p", text).expect("a model");
    let [beyond, Expr::Binary(BinOp::Lt, x, _)] = &model.formulas[0].props[..] else { panic!("{:?}", model.formulas) };
    assert_eq!(compare_looks("beyond", &model.system, std::slice::from_ref(beyond)), 5);
    let equal = |n| Expr::Binary(BinOp::Eq, x.clone(), Box::new(Expr::Const(n)));
    let many: Vec<Expr> = (0..150).map(|n| equal(n % 7)).collect();
    assert_eq!(compare_looks("many", &model.system, &many), 0);
}
