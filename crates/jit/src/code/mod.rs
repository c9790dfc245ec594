//! Native code for guards, expressions and effects.
//!
//! Each function follows `interp.rs`, `work.rs` and `eval.rs` of the model line by line: what faults there jumps to
//! the block `fault` here, which counts as holding in a guard and asks the interpreter in an effect.

mod chan;
mod edges;
mod expr;
mod monitor;
mod moves;
mod process;

use crate::ctx::{Ctx, RawChan};
use crate::statics::Statics;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, FuncRef, InstBuilder, MemFlagsData, Signature, StackSlotData, StackSlotKind, Type,
    Value, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Linkage, Module};
use spinor_model::index::Idx;
use spinor_model::ir::{Expr, ProctypeId, System};
use spinor_model::layout::{Field, Layout};
use spinor_model::successors::EdgeSet;
use std::collections::HashMap;
use std::mem::offset_of;

/// The functions of one system.
pub(crate) struct Functions {
    pub moves_all: FuncId,
    pub expand_all: FuncId,
    /// By proctype.
    pub moves: Vec<FuncId>,
    expand: Vec<FuncId>,
    pub apply: Vec<FuncId>,
    emit: Vec<FuncId>,
    run: Vec<FuncId>,
    takes: Vec<FuncId>,
    /// All of them over all processes.
    partners: FuncId,
    can_move: FuncId,
    oldest: FuncId,
    non_progress: FuncId,
    accepting: FuncId,
    promised: FuncId,
    pub look: FuncId,
    /// By direction: receive, send.
    event: [FuncId; 2],
}

/// What code is made from.
pub(crate) struct Plan<'a> {
    pub system: &'a System,
    pub layout: &'a Layout,
    pub statics: &'a Statics,
    /// What is looked at, by nobody.
    pub looked: &'a [Expr],
    pub functions: Functions,
}

const PTR: Type = types::I64;

fn signature(call_conv: CallConv, params: &[Type], returns: &[Type]) -> Signature {
    let mut s = Signature::new(call_conv);
    s.params.extend(params.iter().map(|t| AbiParam::new(*t)));
    s.returns.extend(returns.iter().map(|t| AbiParam::new(*t)));
    s
}

impl Functions {
    pub fn declare(module: &mut JITModule, system: &System) -> Functions {
        use types::I32;
        let conv = module.target_config().default_call_conv;
        let mut declare = |name: String, params: &[Type], returns: &[Type]| {
            module
                .declare_function(&name, Linkage::Local, &signature(conv, params, returns))
                .expect("names are distinct")
        };
        let types: Vec<usize> = (0..system.proctypes.len()).collect();
        let mut each = |name: &str, params: &[Type], returns: &[Type]| -> Vec<FuncId> {
            types.iter().map(|t| declare(format!("{name}{t}"), params, returns)).collect()
        };
        Functions {
            moves: each("moves", &[PTR, PTR, I32, PTR], &[]),
            expand: each("expand", &[PTR, PTR, I32, PTR], &[]),
            emit: each("emit", &[PTR, PTR, I32, PTR, I32], &[]),
            apply: each("apply", &[PTR, PTR, I32, PTR, I32, I32, I32, PTR, I32], &[I32]),
            run: each("run", &[PTR, PTR, PTR, I32, PTR], &[I32]),
            takes: each("takes", &[PTR, PTR, I32, PTR, I32, PTR, I32, I32, I32], &[I32]),
            moves_all: declare("moves_all".into(), &[PTR, PTR], &[]),
            expand_all: declare("expand_all".into(), &[PTR, PTR], &[]),
            partners: declare("partners".into(), &[PTR, PTR, I32, I32, I32, PTR, I32], &[I32]),
            can_move: declare("can_move".into(), &[PTR, PTR, I32], &[I32]),
            oldest: declare("oldest".into(), &[PTR, PTR, I32], &[I32]),
            non_progress: declare("non_progress".into(), &[PTR, PTR], &[I32]),
            accepting: declare("accepting".into(), &[PTR, PTR], &[I32]),
            promised: declare("promised".into(), &[PTR, PTR, I32, I32, I32], &[I32]),
            look: declare("look".into(), &[PTR, PTR, PTR], &[I32]),
            event: [
                declare("event_receive".into(), &[PTR, PTR, I32, PTR, I32], &[I32]),
                declare("event_send".into(), &[PTR, PTR, I32, PTR, I32], &[I32]),
            ],
        }
    }
}

/// Makes all functions of the plan.
pub(crate) fn define(module: &mut JITModule, plan: &Plan<'_>) {
    let mut maker = Maker { module, shared: FunctionBuilderContext::new(), plan };
    for (t, _) in plan.system.proctypes.enumerated() {
        let f = &plan.functions;
        maker.make(f.moves[t.index()], |g, p| g.moves(t, Mode::List, p));
        maker.make(f.expand[t.index()], |g, p| g.moves(t, Mode::Do, p));
        maker.make(f.emit[t.index()], |g, p| g.emit(t, p));
        maker.make(f.apply[t.index()], |g, p| g.apply(t, p));
        maker.make(f.run[t.index()], |g, p| g.run(t, p));
        maker.make(f.takes[t.index()], |g, p| g.takes(t, p));
    }
    let f = &plan.functions;
    maker.make(f.moves_all, |g, p| g.all_moves(Mode::List, p));
    maker.make(f.expand_all, |g, p| g.all_moves(Mode::Do, p));
    maker.make(f.partners, |g, p| g.partners(p));
    maker.make(f.can_move, |g, p| g.can_move(p));
    maker.make(f.oldest, |g, p| g.oldest(p));
    maker.make(f.non_progress, |g, _| g.nobody_at(|l| l.progress, 1));
    maker.make(f.accepting, |g, _| g.nobody_at(|l| l.accept, 0));
    maker.make(f.promised, |g, p| g.promised(p));
    maker.make(f.look, |g, p| g.look(p));
    maker.make(f.event[0], |g, p| g.event(false, p));
    maker.make(f.event[1], |g, p| g.event(true, p));
}

struct Maker<'a> {
    module: &'a mut JITModule,
    shared: FunctionBuilderContext,
    plan: &'a Plan<'a>,
}

impl Maker<'_> {
    fn make(&mut self, id: FuncId, body: impl FnOnce(&mut Gen<'_, '_>, &[Value])) {
        let mut context = self.module.make_context();
        context.func.signature = self.module.declarations().get_function_decl(id).signature.clone();
        let config = self.module.target_config();
        {
            let mut b = FunctionBuilder::new(&mut context.func, &mut self.shared);
            let entry = b.create_block();
            b.append_block_params_for_function_params(entry);
            b.switch_to_block(entry);
            let params = b.block_params(entry).to_vec();
            let mut g = Gen {
                b,
                module: self.module,
                plan: self.plan,
                ctx: params[0],
                vec: params[1],
                me: None,
                imported: HashMap::new(),
                at: None,
            };
            body(&mut g, &params);
            let mut b = g.b;
            b.seal_all_blocks();
            b.finalize(config);
        }
        self.module.define_function(id, &mut context).unwrap_or_else(|e| panic!("code that compiles: {e:?}"));
    }
}

/// One function being written.
pub(crate) struct Gen<'a, 'f> {
    b: FunctionBuilder<'f>,
    module: &'a mut JITModule,
    plan: &'a Plan<'a>,
    ctx: Value,
    /// The first byte of the state.
    vec: Value,
    /// Who evaluates; `None` in the trace assertion and for who looks from outside.
    me: Option<Me>,
    imported: HashMap<FuncId, FuncRef>,
    /// Which edge, by its number in the edge sets, is to blame for lost bits.
    at: Option<Blame>,
}

#[derive(Clone, Copy)]
struct Me {
    t: ProctypeId,
    pid: Value,
    /// The first byte of its frame.
    frame: Value,
}

/// What happens to steps that are found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Nothing: only whether there is one counts.
    Ask,
    List,
    /// They are listed and done.
    Do,
}

#[derive(Clone, Copy)]
enum Blame {
    Edge(u32),
    /// A byte to set.
    Byte(Value),
}

/// Memory that is there and needs no particular alignment.
fn plain() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

impl<'a> Gen<'a, '_> {
    fn int(&mut self, n: i32) -> Value {
        self.b.ins().iconst(types::I32, i64::from(n))
    }

    fn type_of(&self, value: Value) -> Type {
        self.b.func.dfg.value_type(value)
    }

    fn ptr(&mut self, base: Value, distance: i64) -> Value {
        if distance == 0 { base } else { self.b.ins().iadd_imm_s(base, distance) }
    }

    fn block(&mut self) -> Block {
        self.b.create_block()
    }

    /// A block that is rarely entered.
    fn cold(&mut self) -> Block {
        let block = self.b.create_block();
        self.b.set_cold_block(block);
        block
    }

    fn go(&mut self, block: Block) {
        self.b.switch_to_block(block);
    }

    fn jump(&mut self, block: Block) {
        self.b.ins().jump(block, &[]);
    }

    fn jump_with(&mut self, block: Block, value: Value) {
        self.b.ins().jump(block, &[BlockArg::Value(value)]);
    }

    fn branch(&mut self, condition: Value, yes: Block, no: Block) {
        self.b.ins().brif(condition, yes, &[], no, &[]);
    }

    /// Goes on in a new block if the condition does not hold.
    fn leave_if(&mut self, condition: Value, to: Block) {
        let rest = self.block();
        self.branch(condition, to, rest);
        self.go(rest);
    }

    fn compare(&mut self, cc: IntCC, a: Value, n: i64) -> Value {
        self.b.ins().icmp_imm_s(cc, a, n)
    }

    /// The same as a value of the model.
    fn whether(&mut self, cc: IntCC, a: Value, n: i64) -> Value {
        let is = self.compare(cc, a, n);
        self.b.ins().uextend(types::I32, is)
    }

    /// A block with one parameter, and the parameter.
    fn join(&mut self, ty: Type) -> (Block, Value) {
        let block = self.block();
        let value = self.b.append_block_param(block, ty);
        (block, value)
    }

    fn call(&mut self, id: FuncId, args: &[Value]) -> Option<Value> {
        let f = match self.imported.get(&id) {
            Some(f) => *f,
            None => {
                let f = self.module.declare_func_in_func(id, self.b.func);
                self.imported.insert(id, f);
                f
            }
        };
        let call = self.b.ins().call(f, args);
        self.b.inst_results(call).first().copied()
    }

    fn wide(&mut self, v: Value) -> Value {
        self.b.ins().uextend(PTR, v)
    }

    /// Memory of the function's own, in bytes.
    fn stack(&mut self, bytes: usize) -> Value {
        let slot =
            self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes.max(4) as u32, 2));
        self.b.ins().stack_addr(PTR, slot, 0)
    }

    fn load_ctx(&mut self, ty: Type, offset: usize) -> Value {
        assert_eq!(Ctx::width_at(offset), Some(ty.bytes() as usize), "what is loaded is a part of the context, whole");
        self.b.ins().load(ty, plain(), self.ctx, offset as i32)
    }

    fn store_ctx(&mut self, value: Value, offset: usize) {
        let bytes = self.b.func.dfg.value_type(value).bytes() as usize;
        assert_eq!(Ctx::width_at(offset), Some(bytes), "what is stored is a part of the context, whole");
        self.b.ins().store(plain(), value, self.ctx, offset as i32);
    }

    fn add_ctx(&mut self, offset: usize, n: i64) -> Value {
        let old = self.load_ctx(types::I32, offset);
        let new = self.b.ins().iadd_imm_s(old, n);
        self.store_ctx(new, offset);
        new
    }

    fn load(&mut self, base: Value, field: Field) -> Value {
        assert!(matches!(field.bytes, 0 | 1 | 2 | 4), "a field of {} bytes", field.bytes);
        assert!(!field.signed || field.bytes > 1, "a byte is loaded without a sign");
        assert_eq!(self.type_of(base), PTR, "what is loaded from is an address");
        let at = field.at as i32;
        match (field.bytes, field.signed) {
            (0, _) => self.int(0),
            (1, _) => self.b.ins().uload8(types::I32, plain(), base, at),
            (2, false) => self.b.ins().uload16(types::I32, plain(), base, at),
            (2, true) => self.b.ins().sload16(types::I32, plain(), base, at),
            _ => self.b.ins().load(types::I32, plain(), base, at),
        }
    }

    /// The value must fit.
    fn store(&mut self, base: Value, field: Field, value: Value) {
        assert!(matches!(field.bytes, 0 | 1 | 2 | 4), "a field of {} bytes", field.bytes);
        assert_eq!((self.type_of(base), self.type_of(value)), (PTR, types::I32), "a value of the model, at an address");
        let at = field.at as i32;
        match field.bytes {
            0 => {}
            1 => {
                self.b.ins().istore8(plain(), value, base, at);
            }
            2 => {
                self.b.ins().istore16(plain(), value, base, at);
            }
            _ => {
                self.b.ins().store(plain(), value, base, at);
            }
        }
    }

    fn n_procs(&mut self) -> Value {
        let field = self.plan.layout.n_procs;
        self.load(self.vec, field)
    }

    /// The frame of a live process.
    fn frame_of(&mut self, pid: Value) -> Value {
        let wide = self.wide(pid);
        let at = self.b.ins().ishl_imm_u(wide, 2);
        let at = self.b.ins().iadd(self.ctx, at);
        let base = self.b.ins().load(types::I32, plain(), at, offset_of!(Ctx, bases) as i32);
        let base = self.wide(base);
        self.b.ins().iadd(self.vec, base)
    }

    fn proctype_of(&mut self, frame: Value) -> Value {
        let field = self.plan.layout.proctype;
        self.load(frame, field)
    }

    fn loc_of(&mut self, frame: Value) -> Value {
        let field = self.plan.layout.loc;
        self.load(frame, field)
    }

    /// Is this a process that lives?
    fn is_live(&mut self, pid: Value) -> Value {
        let n = self.n_procs();
        self.b.ins().icmp(IntCC::UnsignedLessThan, pid, n)
    }

    /// Where a live channel lies and its class, for a number that is in range.
    fn chan_row(&mut self, id: Value) -> (Value, Value) {
        let wide = self.wide(id);
        let at = self.b.ins().imul_imm_s(wide, size_of::<RawChan>() as i64);
        let row = self.b.ins().iadd(self.ctx, at);
        let row = self.ptr(row, offset_of!(Ctx, chans) as i64);
        let at = self.b.ins().load(types::I32, plain(), row, offset_of!(RawChan, at) as i32);
        let class = self.b.ins().load(types::I32, plain(), row, offset_of!(RawChan, class) as i32);
        let at = self.wide(at);
        (self.b.ins().iadd(self.vec, at), class)
    }

    /// Branches on a small number; `otherwise` if it is none of those.
    fn switch(&mut self, value: Value, cases: &[(usize, Block)], otherwise: Block) {
        debug_assert!(cases.is_sorted_by(|a, b| a.0 < b.0), "each number has one block");
        let mut switch = cranelift_frontend::Switch::new();
        for (n, block) in cases {
            switch.set_entry(*n as u128, *block);
        }
        switch.emit(&mut self.b, value, otherwise);
    }

    /// A number that is one of `0..n`: branches to a block for each.
    fn switch_all(&mut self, value: Value, n: usize) -> Vec<Block> {
        let blocks: Vec<Block> = (0..n).map(|_| self.block()).collect();
        if n == 0 {
            // Nobody comes here: there is nothing to be a number of.
            self.b.ins().trap(cranelift_codegen::ir::TrapCode::unwrap_user(1));
        } else if n == 1 {
            self.jump(blocks[0]);
        } else {
            let cases: Vec<(usize, Block)> = blocks.iter().copied().enumerate().skip(1).collect();
            self.switch(value, &cases, blocks[0]);
        }
        blocks
    }

    /// Notes in one of the edge sets.
    fn mark(&mut self, set: usize, blame: Blame) {
        let one = self.int(1);
        match blame {
            Blame::Edge(n) => {
                let n_edges: usize = self.plan.system.proctypes.iter().map(|t| t.edges.len()).sum();
                assert!((n as usize) < n_edges, "an edge set has a byte for each edge");
                let set = self.load_ctx(PTR, set);
                self.b.ins().istore8(plain(), one, set, n as i32);
            }
            Blame::Byte(byte) => {
                self.b.ins().istore8(plain(), one, byte, 0);
            }
        }
    }

    fn edge_number(&self, t: ProctypeId, edge: spinor_model::ir::EdgeId) -> u32 {
        let before: usize = self.plan.system.proctypes.iter().take(t.index()).map(|t| t.edges.len()).sum();
        let n = before + edge.index();
        debug_assert_eq!(n, EdgeSet::new(self.plan.system).number(t, edge), "edges are numbered as in the sets");
        n as u32
    }

    fn own(&self) -> Me {
        self.me.expect("the validator keeps process-local expressions out of global places")
    }

    fn plan(&self) -> &'a Plan<'a> {
        self.plan
    }
}
