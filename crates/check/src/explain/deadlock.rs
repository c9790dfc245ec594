//! What each process of a deadlock waits for, and who could bring it about.

use super::{MOST, Story, each_place, join, statement, verb, written};
use crate::trace::{chan_name, process_name};
use spinor_model::explain::{Blocked, Why, blocked};
use spinor_model::interp::Interp;
use spinor_model::ir::{Edge, EdgeId, Expr, Guard, Loc, Pid, Place, Scope, System, VarId};
use spinor_model::state::State;
use std::collections::{BTreeMap, BTreeSet};

/// What a process waits for, in words, and who could bring it about.
struct Wait {
    edge: EdgeId,
    reason: String,
    suppliers: BTreeSet<Pid>,
}

enum Need {
    SendOn(u8),
    ReceiveFrom(u8),
    /// A global variable, or the one slot of it that matters.
    Write(VarId, Option<u32>),
}

impl Story<'_> {
    pub(super) fn deadlock(&self) -> Vec<String> {
        let Some(state) = self.trace.last_state() else { return vec!["Nothing can move.".to_string()] };
        let mut lines = Vec::new();
        let mut waits_for: BTreeMap<Pid, BTreeSet<Pid>> = BTreeMap::new();
        for pid in stuck(self.system, state) {
            let name = process_name(self.system, state, pid);
            let proctype = state.proctype(pid);
            let t = &self.system.proctypes[proctype];
            let line = self.line(t.locs[state.loc(pid)].span);
            if let Some(clause) = &t.provided
                && self.interp.value(state, Some(pid), clause) == Ok(0)
            {
                let values = self.values(state, pid, clause);
                lines.push(format!("{name} stands still{line}: its `provided` clause is false{values}."));
                continue;
            }
            let waits: Vec<Wait> =
                blocked(self.interp, state, pid).iter().filter_map(|b| self.wait(state, pid, b)).collect();
            for wait in &waits {
                waits_for.entry(pid).or_default().extend(&wait.suppliers);
            }
            match &waits[..] {
                [] => lines.push(format!("{name} cannot move{line}.")),
                [one] => {
                    let text = statement(self.system, proctype, one.edge);
                    lines.push(format!("{name} waits{line} at {text}: {}.", one.reason));
                }
                several => {
                    lines.push(format!("{name} waits{line}, where none of {} options can run:", several.len()));
                    for wait in several.iter().take(MOST) {
                        let text = statement(self.system, proctype, wait.edge);
                        lines.push(format!("  {text}: {}.", wait.reason));
                    }
                    if several.len() > MOST {
                        lines.push(format!("  … and {} more.", several.len() - MOST));
                    }
                }
            }
        }
        lines.extend(self.circle(state, &waits_for));
        if lines.is_empty() {
            let left = left_over(self.interp, state);
            if !left.is_empty() {
                let it = verb(left.len(), "it", "them");
                let left = join(&left);
                lines.push(format!("Every process stands where it may end, but {left}, and nobody will receive {it}."));
            }
        }
        if lines.is_empty() {
            lines.push("Every process has ended well, but the trace assertion is not at its end.".to_string());
        }
        lines
    }

    /// What keeps an edge, in words, and who could change it.
    fn wait(&self, state: &State, pid: Pid, blocked: &Blocked) -> Option<Wait> {
        let edge = &self.system.proctypes[state.proctype(pid)].edges[blocked.edge];
        let (reason, suppliers) = match blocked.why {
            Why::ConditionFalse(n) => {
                let Guard::Holds(e) = &edge.guards[n] else { return None };
                self.condition_wait(state, pid, e)
            }
            Why::NotYoungest(youngest) => {
                let name = process_name(self.system, state, youngest);
                (format!("{name} is younger and has not ended"), BTreeSet::from([youngest]))
            }
            Why::NoPartner(id) | Why::ChannelFull(id) => {
                let who = self.suppliers(state, pid, &Need::ReceiveFrom(id));
                let name = chan_name(self.interp, state, id);
                let could = format!("{} can still receive from {name}", self.nobody_or(state, &who));
                let n = self.interp.chan(state, id).map_or(0, |c| c.messages.len());
                let room = self.interp.chan(state, id).map_or(0, |c| c.decl.capacity as usize);
                debug_assert!(
                    !matches!(blocked.why, Why::ChannelFull(_)) || n == room,
                    "what is full holds all it can"
                );
                let is = match blocked.why {
                    Why::ChannelFull(_) => format!("{name} is full ({n} of {n})"),
                    _ => format!("nobody stands ready to take this message from {name}"),
                };
                (format!("{is}; {could}"), who)
            }
            Why::WaitsForSender(id) | Why::ChannelEmpty(id) | Why::NoMatchingMessage(id) => {
                let who = self.suppliers(state, pid, &Need::SendOn(id));
                let name = chan_name(self.interp, state, id);
                let could = format!("{} can still send to {name}", self.nobody_or(state, &who));
                let is = match blocked.why {
                    Why::WaitsForSender(_) => format!("nobody offers a message on {name} that fits"),
                    Why::ChannelEmpty(_) => format!("{name} is empty"),
                    _ => format!("the message [{}] at the head of {name} does not match", self.head(state, id)),
                };
                (format!("{is}; {could}"), who)
            }
            Why::Preempted | Why::Provided | Why::Priority | Why::Enabled => return None,
        };
        Some(Wait { edge: blocked.edge, reason, suppliers })
    }

    fn condition_wait(&self, state: &State, pid: Pid, e: &Expr) -> (String, BTreeSet<Pid>) {
        let mut vars = BTreeSet::new();
        each_place(e, &mut |p, _| {
            if p.scope == Scope::Global {
                vars.insert((p.var, self.slot(p, &mut |index| self.interp.value(state, Some(pid), index).ok())));
            }
        });
        let values = self.values(state, pid, e);
        let needs = vars.iter().map(|(var, slot)| Need::Write(*var, *slot));
        let who: BTreeSet<Pid> = needs.flat_map(|need| self.suppliers(state, pid, &need)).collect();
        let vars: BTreeSet<VarId> = vars.into_iter().map(|(var, _)| var).collect();
        let names: Vec<&str> = vars.iter().map(|v| self.system.globals.vars[*v].name.as_str()).collect();
        let could = match names.is_empty() {
            true => String::new(),
            false => format!("; {} can still write {}", self.nobody_or(state, &who), names.join(", ")),
        };
        (format!("the condition is false{values}{could}"), who)
    }

    fn head(&self, state: &State, id: u8) -> String {
        let Some(chan) = self.interp.chan(state, id) else { return String::new() };
        let fields = chan.messages.first().into_iter().flat_map(|m| m.iter().zip(&chan.decl.fields));
        fields.map(|(v, ty)| self.system.show(*ty, *v)).collect::<Vec<_>>().join(",")
    }

    /// The other processes that can, from where they stand, reach an edge that does what is needed.
    fn suppliers(&self, state: &State, pid: Pid, need: &Need) -> BTreeSet<Pid> {
        let others = (0..state.n_procs() as Pid).filter(|p| *p != pid);
        others.filter(|p| self.edges_ahead(state, *p).into_iter().any(|e| self.does(state, *p, e, need))).collect()
    }

    fn does(&self, state: &State, pid: Pid, edge: &Edge, need: &Need) -> bool {
        let on = |e: &Expr, id: u8| self.interp.value(state, Some(pid), e) == Ok(i32::from(id));
        match need {
            Need::SendOn(id) => edge.send().is_some_and(|(e, _)| on(e, *id)),
            Need::ReceiveFrom(id) => edge.receive().is_some_and(|(e, _)| on(e, *id)),
            Need::Write(var, slot) => {
                let known = &mut |e: &Expr| self.constant(state, pid, e);
                let is_it = |p: &Place| slot.is_none() || self.slot(p, known).is_none_or(|own| Some(own) == *slot);
                written(edge).into_iter().filter(|p| p.scope == Scope::Global && p.var == *var).any(is_it)
            }
        }
    }

    /// The slot of a place whose indices have values.
    fn slot(&self, place: &Place, value: &mut dyn FnMut(&Expr) -> Option<i32>) -> Option<u32> {
        place.index.iter().try_fold(place.slot, |slot, step| {
            let index = u32::try_from(value(&step.value)?).ok().filter(|i| *i < step.len)?;
            Some(slot + index * step.stride)
        })
    }

    /// The value of an expression that has the same wherever the process goes: of constants, its number, and variables of its
    /// own that it never writes.
    fn constant(&self, state: &State, pid: Pid, e: &Expr) -> Option<i32> {
        let t = &self.system.proctypes[state.proctype(pid)];
        let writes = |var: VarId| t.edges.iter().flat_map(written).any(|p| p.scope == Scope::Local && p.var == var);
        let mut same = true;
        e.each_part(&mut |e| {
            same &= match e {
                Expr::Const(_) | Expr::Pid | Expr::Unary(..) | Expr::Binary(..) | Expr::Cond(..) => true,
                Expr::Read(place) => place.scope == Scope::Local && !writes(place.var),
                _ => false,
            }
        });
        same.then(|| self.interp.value(state, Some(pid), e).ok()).flatten()
    }

    fn edges_ahead(&self, state: &State, pid: Pid) -> Vec<&Edge> {
        let t = &self.system.proctypes[state.proctype(pid)];
        let mut seen: BTreeSet<Loc> = BTreeSet::from([state.loc(pid)]);
        let mut todo = vec![state.loc(pid)];
        let mut out = Vec::new();
        while let Some(loc) = todo.pop() {
            for edge in t.locs[loc].edges.iter().map(|e| &t.edges[*e]) {
                out.push(edge);
                if seen.insert(edge.to) {
                    todo.push(edge.to);
                }
            }
        }
        out
    }

    /// Processes that wait for one another in a ring.
    fn circle(&self, state: &State, waits_for: &BTreeMap<Pid, BTreeSet<Pid>>) -> Option<String> {
        let ring = waits_for.keys().find_map(|start| {
            let mut path = vec![*start];
            ring_from(waits_for, &mut path, &mut BTreeSet::new()).then_some(path)
        })?;
        let is_link = |i: usize| waits_for[&ring[i]].contains(&ring[(i + 1) % ring.len()]);
        debug_assert!((0..ring.len()).all(is_link), "each in a ring waits for the next");
        let names: Vec<String> = ring.iter().map(|p| process_name(self.system, state, *p)).collect();
        Some(match &names[..] {
            [a, b] => format!("{a} and {b} wait for each other."),
            _ => {
                let links: Vec<String> = (0..names.len())
                    .map(|i| format!("{} waits for {}", names[i], names[(i + 1) % names.len()]))
                    .collect();
                format!("A circle: {}.", join(&links))
            }
        })
    }
}

/// `m is left in c`, of a system whose runs end with empty channels only.
pub(super) fn left_over(interp: &Interp, state: &State) -> Vec<String> {
    let system = interp.system();
    let ids = (1..=state.n_chans()).filter(|_| system.uses.drained);
    let chans = ids.filter_map(|id| interp.chan(state, id as u8)).filter(|c| !c.messages.is_empty());
    chans
        .map(|c| {
            let first = c.messages[0].iter().zip(&c.decl.fields).map(|(v, ty)| system.show(*ty, *v));
            format!("{} is left in {}", first.collect::<Vec<_>>().join(","), chan_name(interp, state, c.id))
        })
        .collect()
}

/// Processes that should not stop where they stand.
pub(super) fn stuck<'a>(system: &'a System, state: &'a State) -> impl Iterator<Item = Pid> + 'a {
    (0..state.n_procs() as Pid).filter(|p| {
        let t = &system.proctypes[state.proctype(*p)];
        state.loc(*p) != t.end && !t.locs[state.loc(*p)].end
    })
}

/// Extends the path until it closes; then it is the ring alone.
fn ring_from(waits_for: &BTreeMap<Pid, BTreeSet<Pid>>, path: &mut Vec<Pid>, dead: &mut BTreeSet<Pid>) -> bool {
    let here = *path.last().expect("a path has a start");
    for next in waits_for.get(&here).into_iter().flatten() {
        if let Some(at) = path.iter().position(|p| p == next) {
            path.drain(..at);
            return path.len() > 1;
        }
        if !dead.contains(next) {
            path.push(*next);
            if ring_from(waits_for, path, dead) {
                return true;
            }
            path.pop();
        }
    }
    dead.insert(here);
    false
}
