//! Contents that are their own number.
//!
//! # The argument
//!   Of the eight words of a leaf most bits are the same in all states: a location has a few bits, a flag one. If
//!   those that differ are few, their sequence says everything, and is a number that needs no table: nothing to
//!   look up, nothing to keep, no cache to miss. The same goes for an inner node whose children are all such numbers.
//!   Which bits differ is learned from a sample. A content that has another bit where the sample has none is no
//!   mistake: it gets the number of a node, and nothing else is lost but time. Numbers of nodes are odd, these are even.
//!
//! # Invariants
//!   I1 `content(number(c)) == c` wherever there is a number, so different contents have different numbers

use crate::memory::{gather, scatter};
use crate::nodes::Content;

/// A number has so many bits at most.
const MOST_BITS: u32 = 27;
/// Up to here there is room for bits that the sample does not have but the search may.
pub const ROOMY_BITS: u32 = 22;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Direct {
    mask: Content,
    /// The other bits, which are always the same.
    rest: Content,
    shifts: [u32; 4],
    pub bits: u32,
}

/// What one of the 32-bit parts of a content contributes to the number.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    pub mask: u32,
    pub rest: u32,
    pub shift: u32,
}

impl Direct {
    /// For leaves with contents like these; with room for more, if asked for.
    pub fn of_leaf(sample: &[Content], room: bool) -> Option<Direct> {
        let first = *sample.first()?;
        let mut mask = [0; 4];
        for content in sample {
            (0..4).for_each(|i| mask[i] |= content[i] ^ first[i]);
        }
        let more = |byte: u8| if room && byte != 0 { byte << 1 | 1 } else { byte };
        Direct::new(mask.map(|word| each_byte(word, |byte| more(filled(byte)))), first)
    }

    /// For an inner node, `bits[i]` for each child that is there.
    pub fn of_inner(bits: &[Option<u32>; 8]) -> Option<Direct> {
        let field = |i: usize| bits[i].map_or(0, |bits| ((1u64 << bits) - 1) << 1);
        let mask = std::array::from_fn(|i| field(2 * i) | field(2 * i + 1) << 32);
        Direct::new(mask, [0; 4])
    }

    fn new(mask: Content, like: Content) -> Option<Direct> {
        let mut bits = 0;
        let shifts = mask.map(|word| {
            let shift = bits;
            bits += word.count_ones();
            shift
        });
        let rest = std::array::from_fn(|i| like[i] & !mask[i]);
        (bits <= MOST_BITS).then_some(Direct { mask, rest, shifts, bits })
    }

    pub fn part(&self, i: usize) -> Part {
        let (word, high) = (i / 2, i % 2 == 1);
        let half = |word: u64| if high { (word >> 32) as u32 } else { word as u32 };
        let below = if high { (self.mask[word] as u32).count_ones() } else { 0 };
        Part { mask: half(self.mask[word]), rest: half(self.rest[word]), shift: self.shifts[word] + below + 1 }
    }

    /// The content's number, if it is like the sample.
    #[inline(always)]
    pub fn number(&self, content: Content) -> Option<u32> {
        let Direct { mask, rest, shifts, .. } = self;
        let odd = |i: usize| (content[i] & !mask[i]) ^ rest[i];
        let part = |i: usize| gather(content[i], mask[i]) << shifts[i];
        let number = part(0) | part(1) | part(2) | part(3);
        let number = (odd(0) | odd(1) | odd(2) | odd(3) == 0).then_some((number as u32) << 1);
        debug_assert!(number.is_none_or(|number| self.content(number) == content), "I1");
        number
    }

    #[inline(always)]
    pub fn content(&self, number: u32) -> Content {
        debug_assert!(number & 1 == 0 && number >> 1 < 1 << self.bits, "a number of this kind");
        let Direct { mask, rest, shifts, .. } = self;
        let bits = u64::from(number >> 1);
        let part = |i: usize| rest[i] | scatter(bits >> shifts[i], mask[i]);
        [part(0), part(1), part(2), part(3)]
    }
}

/// A number that grows uses the bits below its highest one.
fn filled(byte: u8) -> u8 {
    u8::MAX.checked_shr(byte.leading_zeros()).unwrap_or(0)
}

fn each_byte(word: u64, change: impl Fn(u8) -> u8) -> u64 {
    u64::from_le_bytes(word.to_le_bytes().map(change))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::testing::Rng;

    #[test]
    fn a_number_says_its_content() {
        let mut rng = Rng(3);
        for _ in 0..2000 {
            let like: Content = std::array::from_fn(|_| rng.next());
            let bits: Vec<(usize, u32)> = (0..rng.below(24)).map(|_| (rng.below(4), rng.below(64) as u32)).collect();
            let any = |rng: &mut Rng| {
                let mut content = like;
                bits.iter().for_each(|(i, bit)| content[*i] ^= (rng.next() & 1) << bit);
                content
            };
            let sample: Vec<Content> = (0..30).map(|_| any(&mut rng)).collect();
            let Some(direct) = Direct::of_leaf(&sample, rng.below(2) == 0) else { continue };
            assert!(sample.iter().all(|content| direct.number(*content).is_some()));
            let mut strange = like;
            strange[rng.below(4)] ^= 1 << rng.below(64);
            for content in sample.into_iter().chain([any(&mut rng), strange]) {
                if let Some(number) = direct.number(content) {
                    assert!(number % 2 == 0 && number >> 1 < 1 << direct.bits);
                    assert_eq!(direct.content(number), content, "I1");
                }
            }
        }
    }

    #[test]
    fn a_node_that_is_no_direct_number_makes_none_above_it() {
        let direct = Direct::of_inner(&[Some(5), Some(0), Some(7), None, None, None, None, None]).expect("few bits");
        let content = |a: u64, b: u64, c: u64| [a | b << 32, c, 0, 0];
        assert_eq!(direct.bits, 12);
        assert_eq!(direct.number(content(62, 0, 254)), Some(0b1111_1111_1111 << 1));
        for strange in [content(1, 0, 0), content(64, 0, 0), content(0, 2, 0), content(0, 0, 3), [0, 0, 0, 2]] {
            assert_eq!(direct.number(strange), None);
        }
        assert!(Direct::of_inner(&[Some(20); 8]).is_none());
    }
}
