//! Where the parts of a graph lie on a page: the layered drawing of Sugiyama, Tagawa and Toda.
//!
//! # The argument
//!   1. *Ranks.* An edge that closes a cycle of a depth-first walk is turned round; then a node's rank is the length of
//!      the longest way to it, so every edge leads to a higher rank. In graphs of states, edges that lead nearer to
//!      the start are turned: there are fewer ranks, and how far down a state lies is how far it is.
//!   2. *Bends.* Nodes lie on even ranks. An edge has a bend on each rank between its ends: one at least, and the one
//!      next to where it comes from carries its label. So labels have room of their own, as nodes have.
//!   3. *Order.* Within a rank, everything is sorted by the mean place of its neighbours, rank by rank, down and up
//!      again; neighbours are swapped where that uncrosses edges. The order with the fewest crossings is kept.
//!   4. *Places.* Each thing is put below the middle one of its neighbours where nothing prevents it, and edges stay
//!      straight where they only pass. This is done from above and from below, to the left and to the right, and the
//!      four are averaged (Brandes and Köpf, 2001). Graphs of states have so many long edges that this would be far too
//!      wide: there everything lies at the mean of its neighbours, or as near to it as the others allow.
//!   5. *Ways.* An edge runs straight down through a rank and bends only between ranks, where nothing else lies. So it
//!      crosses other edges, but no node and no label.
//!
//! Edges from a node to itself are loops at its right side, and belong to the room it takes.
//!
//! # Invariants
//!   L1 on one rank, nothing overlaps
//!   L2 the same graph has the same layout: no step depends on anything but the order of nodes and edges
//!
//! # Cost  a bend for each rank that an edge passes; more than `MOST_BENDS` are refused.

#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Size {
    pub w: f64,
    pub h: f64,
}

/// An edge to be laid out, with the size of its label.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub from: usize,
    pub to: usize,
    pub label: Size,
}

/// The way of an edge: points that are joined by straight lines where they lie one below the other, and by curves
/// that begin and end vertically otherwise. Loops have their own form.
#[derive(Clone, PartialEq, Debug)]
pub enum Way {
    Points(Vec<Point>),
    /// At the right side of its node, at this height.
    Loop(Point),
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Layout {
    pub size: Size,
    /// The middle of each node, and how large its box is: edges may need a larger one than the text.
    pub nodes: Vec<(Point, Size)>,
    /// The way of each edge, and the left end of its label's middle line.
    pub edges: Vec<(Way, Point)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge;

/// Between two things on one rank, and between two ranks.
const APART: f64 = 16.0;
const GAP: f64 = 16.0;
/// Where many edges go far to the side, ranks lie further apart.
const MOST_GAP: f64 = 56.0;
/// From an edge to its label.
pub const BESIDE: f64 = 7.0;
/// How far a loop goes to the right, and the least height it needs.
pub const LOOP: f64 = 22.0;
const LOOP_HEIGHT: f64 = 22.0;
/// Between two edges at a node: if there is room, and always. No edge ends at a corner.
const PORTS: f64 = 18.0;
const LEAST_PORTS: f64 = 9.0;
const CORNERS: f64 = 14.0;
/// What takes minutes to lay out is not looked at either.
pub const MOST_BENDS: usize = 400_000;
/// Swapping neighbours is slow, so only for drawings that people look at closely.
const SWAP_UP_TO: usize = 4000;

/// A node, or a bend of an edge.
#[derive(Clone, Copy, Debug)]
struct Thing {
    rank: usize,
    left: f64,
    right: f64,
    height: f64,
    bend: bool,
}

/// Two things on neighbouring ranks, and where on them the edge ends.
#[derive(Clone, Copy, Debug)]
struct Link {
    upper: usize,
    lower: usize,
    upper_port: f64,
    lower_port: f64,
}

/// `near`: nodes shall lie as near to the start as they are from it, though more edges then lead up.
pub fn layout(nodes: &[Size], lines: &[Line], near: bool) -> Result<Layout, TooLarge> {
    let mut boxes = nodes.to_vec();
    let mut beside = vec![0.0; nodes.len()];
    for line in lines.iter().filter(|l| l.from == l.to) {
        beside[line.from] = f64::max(beside[line.from], LOOP + BESIDE + line.label.w);
    }
    for (n, size) in boxes.iter_mut().enumerate() {
        let loops: f64 = lines.iter().filter(|l| l.from == n && l.to == n).map(loop_height).sum();
        size.h = size.h.max(loops);
    }
    let turned = if near { turned_by_distance(nodes.len(), lines) } else { turned(nodes.len(), lines) };
    // A box is as wide as its edges need side by side.
    let mut sides = vec![(0, 0); nodes.len()];
    for (line, turned) in lines.iter().zip(&turned).filter(|(l, _)| l.from != l.to) {
        let (upper, lower) = if *turned { (line.to, line.from) } else { (line.from, line.to) };
        sides[upper].1 += 1;
        sides[lower].0 += 1;
    }
    for (size, (above, below)) in boxes.iter_mut().zip(sides) {
        size.w = size.w.max(LEAST_PORTS * f64::from(i32::max(above, below) - 1) + CORNERS);
    }
    let ranks = ranks(nodes.len(), lines, &turned);
    let bends: usize = lines.iter().map(|l| (2 * ranks[l.from].abs_diff(ranks[l.to])).saturating_sub(1)).sum();
    if bends > MOST_BENDS {
        return Err(TooLarge);
    }
    let mut page = Page::new(&boxes, &beside, lines, &turned, &ranks);
    page.sort();
    page.set_ports(&boxes);
    if near {
        page.place_close()
    } else {
        page.place()
    }
    Ok(page.draw(&boxes, lines, &turned))
}

fn loop_height(line: &Line) -> f64 {
    f64::max(LOOP_HEIGHT, line.label.h + 6.0)
}

/// The edges that lead back to where a depth-first walk came from.
fn turned(n: usize, lines: &[Line]) -> Vec<bool> {
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut entered = vec![false; n];
    for (e, line) in lines.iter().enumerate().filter(|(_, l)| l.from != l.to) {
        out[line.from].push(e);
        entered[line.to] = true;
    }
    let mut turned = vec![false; lines.len()];
    let mut seen = vec![false; n];
    let mut open = vec![false; n];
    // Where nothing leads to is where to begin.
    let roots = (0..n).filter(|&v| !entered[v]).chain(0..n);
    for root in roots.collect::<Vec<_>>() {
        if seen[root] {
            continue;
        }
        let mut path = vec![(root, 0)];
        (seen[root], open[root]) = (true, true);
        while let Some((v, next)) = path.last_mut() {
            match out[*v].get(*next) {
                Some(&e) => {
                    *next += 1;
                    let to = lines[e].to;
                    turned[e] = open[to];
                    if !seen[to] {
                        (seen[to], open[to]) = (true, true);
                        path.push((to, 0));
                    }
                }
                None => {
                    open[*v] = false;
                    path.pop();
                }
            }
        }
    }
    turned
}

/// The edges that do not lead away from where nothing leads to; of nodes equally far, the first is nearer.
fn turned_by_distance(n: usize, lines: &[Line]) -> Vec<bool> {
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut entered = vec![false; n];
    for line in lines.iter().filter(|l| l.from != l.to) {
        out[line.from].push(line.to);
        entered[line.to] = true;
    }
    let mut order: Vec<usize> = Vec::new();
    let mut number = vec![usize::MAX; n];
    let mut at = 0;
    for root in (0..n).filter(|&v| !entered[v]).chain(0..n) {
        let mut meet = |v: usize, order: &mut Vec<usize>| {
            if number[v] == usize::MAX {
                number[v] = order.len();
                order.push(v);
            }
        };
        meet(root, &mut order);
        while at < order.len() {
            for &to in &out[order[at]] {
                meet(to, &mut order);
            }
            at += 1;
        }
    }
    lines.iter().map(|l| number[l.to] < number[l.from]).collect()
}

/// The longest way to each node; who is entered by nobody lies just above the first it leads to.
fn ranks(n: usize, lines: &[Line], turned: &[bool]) -> Vec<usize> {
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut missing = vec![0; n];
    for (line, turned) in lines.iter().zip(turned).filter(|(l, _)| l.from != l.to) {
        let (a, b) = if *turned { (line.to, line.from) } else { (line.from, line.to) };
        below[a].push(b);
        missing[b] += 1;
    }
    let entered: Vec<bool> = missing.iter().map(|m| *m > 0).collect();
    let mut rank = vec![0; n];
    let mut ready: Vec<usize> = (0..n).filter(|&v| missing[v] == 0).collect();
    let mut at = 0;
    while at < ready.len() {
        let v = ready[at];
        at += 1;
        for &w in &below[v] {
            rank[w] = rank[w].max(rank[v] + 1);
            missing[w] -= 1;
            if missing[w] == 0 {
                ready.push(w);
            }
        }
    }
    debug_assert_eq!(ready.len(), n, "no cycle is left");
    for v in (0..n).filter(|&v| !entered[v]) {
        if let Some(first) = below[v].iter().map(|&w| rank[w]).min() {
            rank[v] = first - 1;
        }
    }
    rank
}

struct Page {
    things: Vec<Thing>,
    links: Vec<Link>,
    /// The links to the rank above, and below, of each thing.
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
    /// The bends of each edge, from the higher end to the lower.
    bends: Vec<Vec<usize>>,
    /// Which of them carries the label.
    labels: Vec<usize>,
    /// What lies on each rank, from the left.
    rows: Vec<Vec<usize>>,
    /// The place of each thing in its row.
    place: Vec<usize>,
    x: Vec<f64>,
}

impl Page {
    fn new(boxes: &[Size], beside: &[f64], lines: &[Line], turned: &[bool], ranks: &[usize]) -> Page {
        let mut things: Vec<Thing> = Vec::new();
        for ((size, beside), rank) in boxes.iter().zip(beside).zip(ranks) {
            let half = size.w / 2.0;
            things.push(Thing { rank: 2 * rank, left: half, right: half + beside, height: size.h, bend: false });
        }
        let mut links = Vec::new();
        let mut bends = Vec::new();
        let mut labels = Vec::new();
        for (line, turned) in lines.iter().zip(turned) {
            let (upper, lower) = if *turned { (line.to, line.from) } else { (line.from, line.to) };
            let mut chain = Vec::new();
            for rank in 2 * ranks[upper] + 1..2 * ranks[lower] {
                things.push(Thing { rank, left: 2.0, right: 2.0, height: 0.0, bend: true });
                chain.push(things.len() - 1);
            }
            let carrier = if *turned { chain.last() } else { chain.first() };
            labels.push(carrier.copied().unwrap_or(usize::MAX));
            if let Some(&carrier) = carrier
                && line.label.w > 0.0
            {
                things[carrier].right = BESIDE + line.label.w;
                things[carrier].height = line.label.h;
            }
            let whole: Vec<usize> = [upper].into_iter().chain(chain.iter().copied()).chain([lower]).collect();
            for pair in whole.windows(2).filter(|_| upper != lower) {
                links.push(Link { upper: pair[0], lower: pair[1], upper_port: 0.0, lower_port: 0.0 });
            }
            bends.push(chain);
        }
        let mut above = vec![Vec::new(); things.len()];
        let mut below = vec![Vec::new(); things.len()];
        for (n, link) in links.iter().enumerate() {
            above[link.lower].push(n);
            below[link.upper].push(n);
        }
        let mut page = Page {
            rows: vec![Vec::new(); things.iter().map(|t| t.rank + 1).max().unwrap_or(0)],
            place: vec![0; things.len()],
            x: vec![0.0; things.len()],
            things,
            links,
            above,
            below,
            bends,
            labels,
        };
        page.first_order();
        page
    }

    /// As a depth-first walk meets them: ways that belong together lie together.
    fn first_order(&mut self) {
        let mut seen = vec![false; self.things.len()];
        let mut roots: Vec<usize> = (0..self.things.len()).collect();
        roots.sort_by_key(|&t| (!self.above[t].is_empty(), self.things[t].rank));
        for root in roots {
            let mut todo = vec![root];
            while let Some(t) = todo.pop() {
                if !std::mem::replace(&mut seen[t], true) {
                    self.rows[self.things[t].rank].push(t);
                    todo.extend(self.below[t].iter().rev().map(|&l| self.links[l].lower));
                }
            }
        }
        self.number_places();
    }

    fn number_places(&mut self) {
        for row in &self.rows {
            for (at, &t) in row.iter().enumerate() {
                self.place[t] = at;
            }
        }
    }

    fn sort(&mut self) {
        let mut best = (self.crossings(), self.rows.clone());
        for sweep in 0..24 {
            let down = sweep % 2 == 0;
            let n = self.rows.len();
            for i in 1..n {
                self.sort_row(if down { i } else { n - 1 - i }, down);
            }
            if self.things.len() <= SWAP_UP_TO {
                self.swap_neighbours();
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.rows.clone());
            }
            if best.0 == 0 {
                break;
            }
        }
        self.rows = best.1;
        self.number_places();
    }

    /// By the mean place of the neighbours on the row above, or below; who has none stays where it is.
    fn sort_row(&mut self, r: usize, down: bool) {
        let mean = |t: usize| {
            let links = if down { &self.above[t] } else { &self.below[t] };
            let other = |&l: &usize| if down { self.links[l].upper } else { self.links[l].lower };
            let sum: usize = links.iter().map(|l| self.place[other(l)]).sum();
            (!links.is_empty()).then(|| sum as f64 / links.len() as f64)
        };
        let row = &self.rows[r];
        let mut moved: Vec<(f64, usize)> = row.iter().filter_map(|&t| Some((mean(t)?, t))).collect();
        moved.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut moved = moved.into_iter();
        let sorted: Vec<usize> =
            row.iter().map(|&t| if mean(t).is_some() { moved.next().map_or(t, |m| m.1) } else { t }).collect();
        for (at, &t) in sorted.iter().enumerate() {
            self.place[t] = at;
        }
        self.rows[r] = sorted;
    }

    fn swap_neighbours(&mut self) {
        for _ in 0..8 {
            let mut changed = false;
            for r in 0..self.rows.len() {
                for i in 1..self.rows[r].len() {
                    let (a, b) = (self.rows[r][i - 1], self.rows[r][i]);
                    if self.crossed(b, a) < self.crossed(a, b) {
                        self.rows[r].swap(i - 1, i);
                        (self.place[a], self.place[b]) = (i, i - 1);
                        changed = true;
                    }
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Crossings of the edges of two neighbours, if `a` lies left of `b`.
    fn crossed(&self, a: usize, b: usize) -> usize {
        let count = |a: &[usize], b: &[usize], end: fn(&Link) -> usize| {
            let place = |l: &usize| self.place[end(&self.links[*l])];
            a.iter().map(|x| b.iter().filter(|y| place(y) < place(x)).count()).sum::<usize>()
        };
        count(&self.above[a], &self.above[b], |l| l.upper) + count(&self.below[a], &self.below[b], |l| l.lower)
    }

    fn crossings(&self) -> usize {
        let mut sum = 0;
        for row in &self.rows {
            // The lower ends in the order of the upper ones: pairs out of order cross.
            let mut ends: Vec<usize> = Vec::new();
            for &t in row {
                let mut own: Vec<usize> = self.below[t].iter().map(|&l| self.place[self.links[l].lower]).collect();
                own.sort_unstable();
                ends.extend(own);
            }
            sum += inversions(&ends);
        }
        sum
    }

    /// Edges leave a node side by side, in the order in which they go on.
    fn set_ports(&mut self, boxes: &[Size]) {
        for (n, size) in boxes.iter().enumerate() {
            for lower_side in [false, true] {
                let mut links = if lower_side { self.below[n].clone() } else { self.above[n].clone() };
                links.sort_by_key(|&l| {
                    let link = &self.links[l];
                    self.place[if lower_side { link.lower } else { link.upper }]
                });
                let room = (size.w - CORNERS).max(0.0);
                let k = links.len();
                let step = if k > 1 { PORTS.min(room / (k - 1) as f64) } else { 0.0 };
                for (i, l) in links.into_iter().enumerate() {
                    let port = (i as f64 - (k - 1) as f64 / 2.0) * step;
                    let link = &mut self.links[l];
                    *(if lower_side { &mut link.upper_port } else { &mut link.lower_port }) = port;
                }
            }
        }
    }

    /// Everything at the mean of its neighbours, as near as the others on its row allow: less straight than `place`,
    /// and much narrower where many edges are long.
    fn place_close(&mut self) {
        for row in &self.rows {
            let mut x = 0.0;
            for &t in row {
                x += self.things[t].left;
                self.x[t] = x;
                x += self.things[t].right + APART;
            }
            for &t in row {
                self.x[t] -= x / 2.0;
            }
        }
        let n = self.rows.len();
        for round in 0..40 {
            // First one side decides, so that the whole takes shape; then both.
            let both = round >= 12;
            for r in 0..n {
                self.place_row(r, true, both);
            }
            for r in (0..n).rev() {
                self.place_row(r, both, true);
            }
        }
    }

    fn place_row(&mut self, r: usize, look_up: bool, look_down: bool) {
        let mut wishes: Vec<(f64, f64)> = Vec::new();
        let mut offsets: Vec<f64> = Vec::new();
        let mut offset = 0.0;
        let mut last: Option<usize> = None;
        for &t in &self.rows[r] {
            if let Some(last) = last {
                offset += self.things[last].right + APART + self.things[t].left;
            }
            last = Some(t);
            offsets.push(offset);
            let (mut sum, mut weight) = (0.0, 0.0);
            let mut wish = |l: usize, x: f64| {
                // Bends that continue a bend count more: an edge shall look like one.
                let w = if self.is_inner(l) { 8.0 } else { 1.0 };
                sum += w * x;
                weight += w;
            };
            for &l in self.above[t].iter().filter(|_| look_up) {
                let link = &self.links[l];
                wish(l, self.x[link.upper] + link.upper_port - link.lower_port);
            }
            for &l in self.below[t].iter().filter(|_| look_down) {
                let link = &self.links[l];
                wish(l, self.x[link.lower] + link.lower_port - link.upper_port);
            }
            // Who has no wish stays, if nobody needs the room.
            let (wish, weight) = if weight > 0.0 { (sum / weight, weight) } else { (self.x[t], 0.01) };
            wishes.push((wish - offset, weight));
        }
        for (i, x) in in_order(&wishes).into_iter().enumerate() {
            self.x[self.rows[r][i]] = x + offsets[i];
        }
    }

    /// Four drawings, each as far to one side as it goes and straight from above or from below; then, for everything,
    /// the middle between the two middle ones. What is apart in all four is apart there, too.
    fn place(&mut self) {
        let crossing = self.crossing_bends();
        let mut drawings: Vec<(bool, Vec<f64>)> = Vec::new();
        for (up, mirrored) in [(false, false), (false, true), (true, false), (true, true)] {
            drawings.push((mirrored, self.one_side(up, mirrored, &crossing)));
        }
        let ends = |x: &[f64]| {
            let left = x.iter().zip(&self.things).map(|(x, t)| x - t.left).fold(f64::INFINITY, f64::min);
            let right = x.iter().zip(&self.things).map(|(x, t)| x + t.right).fold(f64::NEG_INFINITY, f64::max);
            (left, right)
        };
        let all: Vec<(f64, f64)> = drawings.iter().map(|(_, x)| ends(x)).collect();
        let Some(narrow) = all.iter().copied().min_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0))) else { return };
        for ((mirrored, x), (left, right)) in drawings.iter_mut().zip(all) {
            let by = if *mirrored { narrow.1 - right } else { narrow.0 - left };
            x.iter_mut().for_each(|x| *x += by);
        }
        for t in 0..self.things.len() {
            let mut four: Vec<f64> = drawings.iter().map(|(_, x)| x[t]).collect();
            four.sort_by(f64::total_cmp);
            self.x[t] = (four[1] + four[2]) / 2.0;
        }
    }

    /// Links at a node that cross a link between two bends: the latter shall be straight.
    fn crossing_bends(&self) -> Vec<bool> {
        let mut out = vec![false; self.links.len()];
        for row in &self.rows {
            let links = || row.iter().flat_map(|&t| &self.below[t]).copied();
            let inner: Vec<usize> = links().filter(|&l| self.is_inner(l)).collect();
            for l in links().filter(|&l| !self.is_inner(l)) {
                let (a, b) = (self.place[self.links[l].upper], self.place[self.links[l].lower]);
                out[l] = inner.iter().any(|&i| {
                    let (c, d) = (self.place[self.links[i].upper], self.place[self.links[i].lower]);
                    a < c && b > d || a > c && b < d
                });
            }
        }
        out
    }

    fn is_inner(&self, l: usize) -> bool {
        self.things[self.links[l].upper].bend && self.things[self.links[l].lower].bend
    }

    /// Everything goes below the middle one of its neighbours where it can; what is so joined is a block, which moves
    /// as one. Blocks lie as far left as they go, and then as near to those on their right.
    fn one_side(&self, up: bool, mirrored: bool, crossing: &[bool]) -> Vec<f64> {
        let n = self.things.len();
        let mut rows = self.rows.clone();
        if up {
            rows.reverse();
        }
        if mirrored {
            rows.iter_mut().for_each(|row| row.reverse());
        }
        let mut place = vec![0; n];
        for row in &rows {
            row.iter().enumerate().for_each(|(at, &t)| place[t] = at);
        }
        // Of a link: the thing on the row before, and how far to the right of it the other one is straight below.
        let before = |l: usize| if up { self.links[l].lower } else { self.links[l].upper };
        let aside = |l: usize| {
            let by = self.links[l].upper_port - self.links[l].lower_port;
            if up == mirrored { by } else { -by }
        };
        let mut root: Vec<usize> = (0..n).collect();
        let mut shift = vec![0.0; n];
        let mut taken = vec![false; n];
        for row in rows.iter().skip(1) {
            let mut free = 0;
            for &t in row {
                let mut links = if up { self.below[t].clone() } else { self.above[t].clone() };
                links.sort_by_key(|&l| place[before(l)]);
                let Some(last) = links.len().checked_sub(1) else { continue };
                for &l in &links[last / 2..=last.div_ceil(2)] {
                    let other = before(l);
                    if root[t] == t && !crossing[l] && !taken[other] && place[other] >= free {
                        (root[t], taken[other]) = (root[other], true);
                        shift[t] = shift[other] + aside(l);
                        free = place[other] + 1;
                    }
                }
            }
        }
        // What a block must keep from the one on its left.
        let mut right: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
        let mut missing = vec![0; n];
        for row in &rows {
            for pair in row.windows(2) {
                let (a, b) = (&self.things[pair[0]], &self.things[pair[1]]);
                let apart = if mirrored { a.left + APART + b.right } else { a.right + APART + b.left };
                right[root[pair[0]]].push((root[pair[1]], apart + shift[pair[0]] - shift[pair[1]]));
                missing[root[pair[1]]] += 1;
            }
        }
        let mut order: Vec<usize> = (0..n).filter(|&t| root[t] == t && missing[t] == 0).collect();
        let mut x = vec![0.0; n];
        let mut at = 0;
        while at < order.len() {
            let t = order[at];
            at += 1;
            for &(other, apart) in &right[t] {
                x[other] = f64::max(x[other], x[t] + apart);
                missing[other] -= 1;
                if missing[other] == 0 {
                    order.push(other);
                }
            }
        }
        for &t in order.iter().rev() {
            let room = right[t].iter().map(|&(other, apart)| x[other] - apart).fold(f64::INFINITY, f64::min);
            if room.is_finite() {
                x[t] = f64::max(x[t], room);
            }
        }
        let x = (0..n).map(|t| x[root[t]] + shift[t]);
        if mirrored { x.map(|x| -x).collect() } else { x.collect() }
    }

    fn draw(&self, boxes: &[Size], lines: &[Line], turned: &[bool]) -> Layout {
        let left = (0..self.things.len()).map(|t| self.x[t] - self.things[t].left).fold(f64::INFINITY, f64::min);
        let right = (0..self.things.len()).map(|t| self.x[t] + self.things[t].right).fold(left, f64::max);
        let x = |t: usize| self.x[t] - left;
        // The top and the bottom of each rank.
        let mut bands: Vec<(f64, f64)> = Vec::new();
        let mut y = 0.0;
        for row in &self.rows {
            let height = row.iter().map(|&t| self.things[t].height).fold(0.0, f64::max);
            bands.push((y, y + height));
            let far = row.iter().flat_map(|&t| &self.below[t]).map(|&l| {
                let l = &self.links[l];
                (self.x[l.upper] + l.upper_port - self.x[l.lower] - l.lower_port).abs()
            });
            y += height + (GAP + far.fold(0.0, f64::max) / 8.0).min(MOST_GAP);
        }
        let middle = |t: usize| {
            let (top, bottom) = bands[self.things[t].rank];
            (top + bottom) / 2.0
        };
        let nodes: Vec<(Point, Size)> =
            boxes.iter().enumerate().map(|(n, size)| (Point { x: x(n), y: middle(n) }, *size)).collect();
        let mut loops: Vec<f64> = vec![0.0; boxes.len()];
        for line in lines.iter().filter(|l| l.from == l.to) {
            loops[line.from] += loop_height(line);
        }
        let mut next_loop: Vec<f64> = nodes.iter().zip(&loops).map(|((p, _), h)| p.y - h / 2.0).collect();
        let mut links = self.links.iter();
        let mut edges = Vec::new();
        for (e, line) in lines.iter().enumerate() {
            if line.from == line.to {
                let (p, size) = nodes[line.from];
                let y = next_loop[line.from] + loop_height(line) / 2.0;
                next_loop[line.from] += loop_height(line);
                let at = Point { x: p.x + size.w / 2.0, y };
                edges.push((Way::Loop(at), Point { x: at.x + LOOP + BESIDE, y }));
                continue;
            }
            let (upper, lower) = if turned[e] { (line.to, line.from) } else { (line.from, line.to) };
            // The links of an edge were made together, and in this order.
            let own: Vec<&Link> = links.by_ref().take(self.bends[e].len() + 1).collect();
            let mut points = vec![Point { x: x(upper) + own[0].upper_port, y: middle(upper) + boxes[upper].h / 2.0 }];
            points.push(Point { x: points[0].x, y: bands[self.things[upper].rank].1 });
            for &bend in &self.bends[e] {
                let (top, bottom) = bands[self.things[bend].rank];
                points.extend([Point { x: x(bend), y: top }, Point { x: x(bend), y: bottom }]);
            }
            let end = x(lower) + own[own.len() - 1].lower_port;
            points.push(Point { x: end, y: bands[self.things[lower].rank].0 });
            points.push(Point { x: end, y: middle(lower) - boxes[lower].h / 2.0 });
            if turned[e] {
                points.reverse();
            }
            points.dedup();
            let carrier = self.labels[e];
            edges.push((Way::Points(points), Point { x: x(carrier) + BESIDE, y: middle(carrier) }));
        }
        let bottom = bands.last().map_or(0.0, |b| b.1);
        Layout { size: Size { w: (right - left).max(0.0), h: bottom }, nodes, edges }
    }
}

/// Pairs that are out of order, equal ones not counted.
fn inversions(list: &[usize]) -> usize {
    let n = list.iter().map(|v| v + 1).max().unwrap_or(0);
    let mut tree = vec![0usize; n + 1];
    let mut sum = 0;
    for (seen, &v) in list.iter().enumerate() {
        let mut not_above = 0;
        let mut i = v + 1;
        while i > 0 {
            not_above += tree[i];
            i &= i - 1;
        }
        sum += seen - not_above;
        let mut i = v + 1;
        while i <= n {
            tree[i] += 1;
            i += i & i.wrapping_neg();
        }
    }
    sum
}

/// The values nearest to the wishes, by weighted squares, that do not decrease: neighbours whose wishes are out of
/// order share their mean.
fn in_order(wishes: &[(f64, f64)]) -> Vec<f64> {
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for &(wish, weight) in wishes {
        let mut block = (wish, weight, 1);
        while let Some(&(value, w, n)) = blocks.last()
            && value > block.0
        {
            blocks.pop();
            block = ((value * w + block.0 * block.1) / (w + block.1), w + block.1, n + block.2);
        }
        blocks.push(block);
    }
    blocks.into_iter().flat_map(|(value, _, n)| std::iter::repeat_n(value, n)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(from: usize, to: usize) -> Line {
        Line { from, to, label: Size { w: 30.0, h: 14.0 } }
    }

    /// Numbers that are the same on every machine.
    fn random(seed: &mut u64, below: usize) -> usize {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 33) as usize % below
    }

    #[test]
    fn values_in_order_are_the_nearest_ones() {
        assert_eq!(in_order(&[(1.0, 1.0), (2.0, 1.0)]), [1.0, 2.0]);
        assert_eq!(in_order(&[(3.0, 1.0), (1.0, 1.0)]), [2.0, 2.0]);
        assert_eq!(in_order(&[(3.0, 3.0), (1.0, 1.0), (5.0, 1.0)]), [2.5, 2.5, 5.0]);
        assert_eq!(in_order(&[(5.0, 1.0), (4.0, 1.0), (0.0, 1.0)]), [3.0, 3.0, 3.0]);
    }

    #[test]
    fn crossings_are_pairs_out_of_order() {
        assert_eq!(inversions(&[0, 1, 2]), 0);
        assert_eq!(inversions(&[2, 1, 0]), 3);
        assert_eq!(inversions(&[1, 1, 0, 1]), 2);
        assert_eq!(inversions(&[]), 0);
    }

    #[test]
    fn a_cycle_is_cut_once_and_ranks_grow_along_edges() {
        let lines = [line(0, 1), line(1, 2), line(2, 0), line(1, 1)];
        let turned = turned(3, &lines);
        assert_eq!(turned, [false, false, true, false]);
        assert_eq!(ranks(3, &lines, &turned), [0, 1, 2]);
        // The longest way counts, and who is entered by nobody lies just above.
        let lines = [line(0, 1), line(1, 2), line(0, 2), line(3, 2)];
        assert_eq!(ranks(4, &lines, &[false; 4]), [0, 1, 2, 1]);
    }

    #[test]
    fn two_ladders_are_uncrossed() {
        // 0 and 1 lead to 3 and 2: in the order of the numbers the edges would cross.
        let nodes = vec![Size { w: 40.0, h: 20.0 }; 4];
        let out = layout(&nodes, &[line(0, 3), line(1, 2), line(0, 3), line(1, 2)], false).unwrap();
        let x = |n: usize| out.nodes[n].0.x;
        assert_eq!(x(0) < x(1), x(3) < x(2));
    }

    #[test]
    fn nothing_overlaps_and_every_edge_ends_at_its_nodes() {
        let mut seed = 7;
        for round in 0..200 {
            let n = 1 + random(&mut seed, 12);
            let size = |seed: &mut u64| Size { w: 20.0 + random(seed, 90) as f64, h: 16.0 + random(seed, 30) as f64 };
            let nodes: Vec<Size> = (0..n).map(|_| size(&mut seed)).collect();
            let lines: Vec<Line> = (0..random(&mut seed, 24))
                .map(|_| Line { label: size(&mut seed), ..line(random(&mut seed, n), random(&mut seed, n)) })
                .collect();
            let near = round % 2 == 0;
            let out = layout(&nodes, &lines, near).unwrap();
            assert_eq!(out, layout(&nodes, &lines, near).unwrap(), "L2");
            // left, top, right, bottom
            let mut areas: Vec<[f64; 4]> = Vec::new();
            for (p, s) in &out.nodes {
                areas.push([p.x - s.w / 2.0, p.y - s.h / 2.0, p.x + s.w / 2.0, p.y + s.h / 2.0]);
            }
            for (line, (_, p)) in lines.iter().zip(&out.edges) {
                areas.push([p.x, p.y - line.label.h / 2.0, p.x + line.label.w, p.y + line.label.h / 2.0]);
            }
            for (i, a) in areas.iter().enumerate() {
                assert!(a[0] > -0.01 && a[1] > -0.01, "{round}: {a:?} is not on the page");
                assert!(a[2] < out.size.w + 0.01 && a[3] < out.size.h + 0.01, "{round}: {a:?} is not on the page");
                for b in &areas[i + 1..] {
                    let apart =
                        a[2] <= b[0] + 0.01 || b[2] <= a[0] + 0.01 || a[3] <= b[1] + 0.01 || b[3] <= a[1] + 0.01;
                    assert!(apart, "L1 in round {round}: {a:?} {b:?}");
                }
            }
            for (line, (way, _)) in lines.iter().zip(&out.edges) {
                let near = |p: &Point, n: usize| {
                    let (q, s) = out.nodes[n];
                    (p.x - q.x).abs() <= s.w / 2.0 + 0.01 && ((p.y - q.y).abs() - s.h / 2.0).abs() < 0.01
                };
                match way {
                    Way::Points(points) => {
                        assert!(near(&points[0], line.from) && near(&points[points.len() - 1], line.to), "{round}")
                    }
                    Way::Loop(p) => {
                        let (q, s) = out.nodes[line.from];
                        assert!(line.from == line.to && (p.y - q.y).abs() < s.h / 2.0, "{round}");
                    }
                }
                // An edge passes through no node but its own.
                if let Way::Points(points) = way {
                    for (i, &[left, top, right, bottom]) in areas[..n].iter().enumerate() {
                        let through = points.windows(2).any(|w| {
                            let (x, y) = ((w[0].x + w[1].x) / 2.0, (w[0].y + w[1].y) / 2.0);
                            left < x && x < right && top + 0.01 < y && y < bottom - 0.01
                        });
                        assert!(!through, "{round}: an edge from {} to {} passes {i}", line.from, line.to);
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_far_too_large_is_refused() {
        let nodes = vec![Size { w: 10.0, h: 10.0 }; 3000];
        let chain = (1..3000).map(|n| line(n - 1, n));
        let back = (1..3000).map(|n| line(n, 0));
        let lines: Vec<Line> = chain.chain(back).collect();
        assert_eq!(layout(&nodes, &lines, false), Err(TooLarge));
    }
}
