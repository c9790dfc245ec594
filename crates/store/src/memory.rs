//! Zeroed memory that grows where it is, on huge pages. The one unsafe file of this crate.
//!
//! # The argument
//!   Address space is free. A region reserves as much of it as it could ever need, and makes its beginning
//!   readable and writable as it grows; so growing copies nothing, and nothing that was there moves. Fresh pages
//!   are zero, and zero is a valid `T`. From 2 MiB on the system is asked for huge pages: a probe of a large
//!   table on small pages misses the page tables too (measured: 1.35 times the whole search).
//!
//!   Where there is no mmap (or under Miri, or a schedule explorer), a region is a vector.
//!
//! # Invariants
//!   I1 the first `len` elements lie in readable and writable memory that belongs to this region alone
//!   I2 every element was zero before it was first written

#![allow(unsafe_code)]

use crate::sync::{AtomicU32, AtomicU64};
use crate::{Account, Full};
use std::ops::Deref;

/// A type made of atomics alone, for which all bits zero is a value: `zero()`.
///
/// # Safety
/// Memory of zero bytes, well aligned, must be a valid `Self`; and `Self` must be `Sync` and need no drop.
pub unsafe trait Zeroed: Sync + Send {
    #[cfg_attr(not(any(loom, miri)), allow(dead_code))] // where memory is mapped, it comes as zero
    fn zero() -> Self;
}

// SAFETY: an atomic integer has the size and the bit validity of its integer (only used where it is std's: a loom
// atomic never meets the mapped region).
unsafe impl Zeroed for AtomicU32 {
    fn zero() -> Self {
        AtomicU32::new(0)
    }
}

// SAFETY: as above.
unsafe impl Zeroed for AtomicU64 {
    fn zero() -> Self {
        AtomicU64::new(0)
    }
}

/// Sixteen slots on one cache line.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Line(pub [AtomicU32; 16]);

// SAFETY: an array of zeroable elements; the alignment adds no bytes, and a region is aligned to a page.
unsafe impl Zeroed for Line {
    fn zero() -> Self {
        Line(std::array::from_fn(|_| AtomicU32::zero()))
    }
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Line>() == 64 && size_of::<Octet>() == 32, "the alignment adds no bytes");

impl Line {
    /// Which slots are this number, and which are zero: a bit each. Slots are read one by one, in any order.
    #[inline(always)]
    pub fn find(&self, number: u32) -> (u32, u32) {
        #[cfg(all(target_arch = "x86_64", not(miri), not(all(loom, test))))]
        // SAFETY: the line is 64 readable bytes, aligned to 64. That other threads write it meanwhile is why the
        // loads are in assembly, which the compiler takes for sixteen relaxed loads of a slot each: on this machine
        // every aligned four bytes of an aligned vector load come from one write. The rest is arithmetic of
        // SSE2, which every x86-64 has.
        unsafe {
            use std::arch::x86_64::*;
            let (a, b, c, d): (__m128i, __m128i, __m128i, __m128i);
            std::arch::asm!(
                "movdqa {a}, [{at}]",
                "movdqa {b}, [{at} + 16]",
                "movdqa {c}, [{at} + 32]",
                "movdqa {d}, [{at} + 48]",
                at = in(reg) self.0.as_ptr(),
                a = out(xmm_reg) a,
                b = out(xmm_reg) b,
                c = out(xmm_reg) c,
                d = out(xmm_reg) d,
                options(nostack, preserves_flags, readonly),
            );
            let find = |wanted: __m128i| {
                let [a, b, c, d] = [a, b, c, d].map(|four| _mm_cmpeq_epi32(four, wanted));
                _mm_movemask_epi8(_mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d))) as u32
            };
            (find(_mm_set1_epi32(number as i32)), find(_mm_setzero_si128()))
        }
        #[cfg(not(all(target_arch = "x86_64", not(miri), not(all(loom, test)))))]
        {
            let (mut found, mut empty) = (0, 0);
            for (i, slot) in self.0.iter().enumerate() {
                let there = slot.load(crate::sync::Relaxed);
                found |= u32::from(there == number) << i;
                empty |= u32::from(there == 0) << i;
            }
            (found, empty)
        }
    }
}

/// Eight words, as four.
#[derive(Debug)]
#[repr(C, align(32))]
pub struct Octet(pub [AtomicU64; 4]);

// SAFETY: as for a line.
unsafe impl Zeroed for Octet {
    fn zero() -> Self {
        Octet(std::array::from_fn(|_| AtomicU64::zero()))
    }
}

/// Starts fetching `it` into the cache. Says nothing about when.
#[inline(always)]
pub fn prefetch<T>(it: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: prefetching changes no memory and cannot fault, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(it).cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = it;
}

/// The same for what is likely to be written: the line is taken from other cores at once, and not first read and then
/// taken from them.
#[inline(always)]
pub fn prefetch_to_write<T>(it: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: as above; machines without this instruction take it for one that does nothing.
    unsafe {
        let at = std::ptr::from_ref(it);
        std::arch::asm!("prefetchw [{at}]", at = in(reg) at, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = it;
}

/// The bits of `word` where `mask` has ones, side by side from the lowest on.
#[inline(always)]
pub fn gather(word: u64, mask: u64) -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if std::is_x86_feature_detected!("bmi2") {
        let gathered: u64;
        // SAFETY: the machine has this instruction; it touches these registers and nothing else.
        unsafe {
            std::arch::asm!(
                "pext {out}, {word}, {mask}",
                out = out(reg) gathered,
                word = in(reg) word,
                mask = in(reg) mask,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        debug_assert_eq!(gathered, gather_one_by_one(word, mask), "the machine does the same");
        return gathered;
    }
    gather_one_by_one(word, mask)
}

/// The lowest bits of `word` to where `mask` has ones.
#[inline(always)]
pub fn scatter(word: u64, mask: u64) -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if std::is_x86_feature_detected!("bmi2") {
        let scattered: u64;
        // SAFETY: as above.
        unsafe {
            std::arch::asm!(
                "pdep {out}, {word}, {mask}",
                out = out(reg) scattered,
                word = in(reg) word,
                mask = in(reg) mask,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        debug_assert_eq!(scattered, scatter_one_by_one(word, mask), "the machine does the same");
        return scattered;
    }
    scatter_one_by_one(word, mask)
}

fn gather_one_by_one(word: u64, mut mask: u64) -> u64 {
    let mut gathered = 0;
    for to in 0..mask.count_ones() {
        gathered |= (word >> mask.trailing_zeros() & 1) << to;
        mask &= mask - 1;
    }
    gathered
}

fn scatter_one_by_one(word: u64, mut mask: u64) -> u64 {
    let mut scattered = 0;
    for from in 0..mask.count_ones() {
        scattered |= (word >> from & 1) << mask.trailing_zeros();
        mask &= mask - 1;
    }
    scattered
}

/// Which of at most 64 words of four bytes differ: a bit each.
#[inline(always)]
pub fn differing(new: &[[u8; 16]], old: &[[u8; 16]]) -> u64 {
    assert!(new.len() == old.len() && new.len() <= 16);
    let mut differ = 0;
    let ((new4, new1), (old4, old1)) = (new.as_chunks::<4>(), old.as_chunks::<4>());
    for (i, (new, old)) in new4.iter().zip(old4).enumerate() {
        differ |= u64::from(differing_of_16(new, old)) << (16 * i);
    }
    for (i, (new, old)) in new1.iter().zip(old1).enumerate() {
        differ |= u64::from(differing_of_4(new, old)) << (16 * new4.len() + 4 * i);
    }
    debug_assert_eq!(differ, differing_one_by_one(new, old), "the machine does the same");
    differ
}

fn differing_one_by_one(new: &[[u8; 16]], old: &[[u8; 16]]) -> u64 {
    let words = |quads| <[[u8; 16]]>::as_flattened(quads).as_chunks::<4>().0.iter();
    words(new).zip(words(old)).enumerate().fold(0, |differ, (n, (new, old))| differ | u64::from(new != old) << n)
}

#[inline(always)]
fn differing_of_4(new: &[u8; 16], old: &[u8; 16]) -> u8 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: as below.
    unsafe {
        use std::arch::x86_64::*;
        let load = |bytes: &[u8; 16]| _mm_loadu_si128(bytes.as_ptr().cast());
        !_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(load(new), load(old)))) as u8 & 15
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let (new, old) = (new.as_chunks::<4>().0, old.as_chunks::<4>().0);
        (0..4).fold(0, |differ, i| differ | u8::from(new[i] != old[i]) << i)
    }
}

#[inline(always)]
fn differing_of_16(new: &[[u8; 16]; 4], old: &[[u8; 16]; 4]) -> u16 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: each load is of sixteen bytes that are there and have no alignment to keep; the rest is arithmetic of
    // SSE2, which every x86-64 has.
    unsafe {
        use std::arch::x86_64::*;
        let load = |bytes: &[u8; 16]| _mm_loadu_si128(bytes.as_ptr().cast());
        let same = |i: usize| _mm_cmpeq_epi32(load(&new[i]), load(&old[i]));
        let halves = (_mm_packs_epi32(same(0), same(1)), _mm_packs_epi32(same(2), same(3)));
        !_mm_movemask_epi8(_mm_packs_epi16(halves.0, halves.1)) as u16
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let (new, old) = (new.as_flattened().as_chunks::<4>().0, old.as_flattened().as_chunks::<4>().0);
        (0..16).fold(0, |differ, i| differ | u16::from(new[i] != old[i]) << i)
    }
}

/// See the module.
#[derive(Debug)]
pub struct Region<T: Zeroed> {
    memory: imp::Memory<T>,
    /// What was charged for it.
    bytes: u64,
}

impl<T: Zeroed> Region<T> {
    /// Empty, and able to grow to `max` elements.
    pub fn new(max: usize) -> Result<Self, Full> {
        const { assert!(size_of::<T>() > 0, "elements take room") };
        Ok(Region { memory: imp::Memory::reserve(max).ok_or(Full::Memory)?, bytes: 0 })
    }

    /// At least `len` elements. Charged first; nothing is changed if it is refused.
    pub fn grow_to(&mut self, len: usize, account: &Account) -> Result<(), Full> {
        let bytes = round(len.checked_mul(size_of::<T>()).ok_or(Full::Memory)?) as u64;
        if bytes > self.bytes {
            account.charge(bytes - self.bytes)?;
            if !self.memory.extend(bytes as usize) {
                account.release(bytes - self.bytes);
                return Err(Full::Memory);
            }
            self.bytes = bytes;
        }
        assert!(self.len() >= len, "I1");
        Ok(())
    }

    /// Memory held, in bytes: to be released when it is dropped before its account.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl<T: Zeroed> Deref for Region<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        self.memory.as_slice()
    }
}

/// The explorer slows with every atomic there is.
const PAGE: usize = if cfg!(loom) { 1 } else { 1 << 12 };
const HUGE: usize = 1 << 21;

/// To whole pages; to whole huge pages where that adds little.
fn round(bytes: usize) -> usize {
    bytes.next_multiple_of(if bytes >= 8 * HUGE { HUGE } else { PAGE })
}

#[cfg(all(unix, not(all(loom, test)), not(miri)))]
mod imp {
    use super::{HUGE, Zeroed};
    use std::ptr::NonNull;

    #[derive(Debug)]
    pub struct Memory<T> {
        start: NonNull<T>,
        len: usize,
        /// The reservation: from `mapped`, `reserved` bytes; `start` is its first multiple of a huge page.
        mapped: NonNull<libc::c_void>,
        reserved: usize,
    }

    // SAFETY: the memory belongs to this region alone (I1), and `T` may be shared and sent.
    unsafe impl<T: Zeroed> Send for Memory<T> {}
    // SAFETY: as above; through a shared region one gets only `&T`.
    unsafe impl<T: Zeroed> Sync for Memory<T> {}

    impl<T: Zeroed> Memory<T> {
        /// Takes less address space where that much is not given.
        pub fn reserve(max: usize) -> Option<Self> {
            let mut reserved = max.checked_mul(size_of::<T>())?.checked_next_multiple_of(HUGE)? + HUGE;
            loop {
                let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
                // SAFETY: a new mapping at an address of the system's choice touches no memory of ours.
                let mapped = unsafe { libc::mmap(std::ptr::null_mut(), reserved, libc::PROT_NONE, flags, -1, 0) };
                if mapped != libc::MAP_FAILED {
                    let mapped = NonNull::new(mapped)?;
                    let skip = mapped.as_ptr().align_offset(HUGE);
                    assert!(skip < HUGE && align_of::<T>() <= HUGE);
                    // SAFETY: `reserved` is more than a huge page, so `skip` bytes on is inside the mapping.
                    let start = unsafe { mapped.byte_add(skip) }.cast();
                    return Some(Memory { start, len: 0, mapped, reserved });
                }
                reserved /= 2;
                if reserved <= 2 * HUGE {
                    return None;
                }
            }
        }

        /// Makes the first `bytes` bytes usable.
        pub fn extend(&mut self, bytes: usize) -> bool {
            if bytes > self.reserved - HUGE {
                return false;
            }
            let start = self.start.as_ptr().cast();
            // SAFETY: `start` is less than a huge page into the mapping and `bytes` at most a huge page less than
            // it, so this is our own mapping; what is usable already stays as it is.
            if unsafe { libc::mprotect(start, bytes, libc::PROT_READ | libc::PROT_WRITE) } != 0 {
                return false;
            }
            #[cfg(target_os = "linux")]
            if bytes >= HUGE {
                // SAFETY: the same range; advice changes no contents. That it is refused does not matter.
                unsafe { libc::madvise(start, bytes, libc::MADV_HUGEPAGE) };
            }
            self.len = bytes / size_of::<T>();
            true
        }

        #[inline(always)]
        pub fn as_slice(&self) -> &[T] {
            // SAFETY: I1; `start` is aligned; fresh pages of an anonymous mapping are zero, a valid `T` (I2); `T`
            // is only ever written through its atomics.
            unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
        }
    }

    impl<T> Drop for Memory<T> {
        fn drop(&mut self) {
            // SAFETY: exactly our mapping, to which nobody has a reference any more; `T` needs no drop.
            let done = unsafe { libc::munmap(self.mapped.as_ptr(), self.reserved) };
            debug_assert_eq!(done, 0);
        }
    }
}

#[cfg(not(all(unix, not(all(loom, test)), not(miri))))]
mod imp {
    use super::Zeroed;

    #[derive(Debug)]
    pub struct Memory<T> {
        all: Vec<T>,
        max: usize,
    }

    impl<T: Zeroed> Memory<T> {
        pub fn reserve(max: usize) -> Option<Self> {
            Some(Memory { all: Vec::new(), max })
        }

        pub fn extend(&mut self, bytes: usize) -> bool {
            let len = bytes / size_of::<T>();
            let more = len.saturating_sub(self.all.len());
            if len > self.max.max(bytes) || self.all.try_reserve_exact(more).is_err() {
                return false;
            }
            self.all.resize_with(len, T::zero);
            true
        }

        #[inline(always)]
        pub fn as_slice(&self) -> &[T] {
            &self.all
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::Budget;
    use crate::sync::Relaxed;

    #[test]
    fn a_line_tells_where_a_number_is() {
        let line = Line(std::array::from_fn(|i| AtomicU32::new([7, 0, u32::MAX, 1 << 31][i % 4])));
        assert_eq!(line.find(7), (0x1111, 0x2222));
        assert_eq!(line.find(u32::MAX), (0x4444, 0x2222));
        assert_eq!(line.find(1 << 31), (0x8888, 0x2222));
        assert_eq!(line.find(8), (0, 0x2222));
        line.0[15].store(8, Relaxed);
        assert_eq!(line.find(8), (0x8000, 0x2222));
    }

    #[test]
    fn bits_are_gathered_and_scattered() {
        assert_eq!(gather(0b1011_0110, 0b1110_0100), 0b1011);
        assert_eq!(scatter(0b1011, 0b1110_0100), 0b1010_0100);
        let mut rng = crate::testing::Rng(1);
        for _ in 0..1000 {
            let (word, mask) = (rng.next(), rng.next() & rng.next());
            assert_eq!(gather(word, mask), gather_one_by_one(word, mask));
            assert_eq!(scatter(word, mask), scatter_one_by_one(word, mask));
            assert_eq!(scatter(gather(word, mask), mask), word & mask);
        }
    }

    #[test]
    fn differing_words_are_found_wherever_they_are() {
        for n in 0..=16 {
            let old = vec![[0xA5; 16]; n];
            assert_eq!(differing(&old, &old), 0);
            for bit in 0..n * 128 {
                let mut new = old.clone();
                new.as_flattened_mut()[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(differing(&new, &old), 1 << (bit / 32));
            }
        }
    }

    #[test]
    fn what_is_there_stays_and_what_comes_is_zero() {
        let budget = Budget::new(20 << 20);
        let account = budget.account();
        let mut region: Region<AtomicU32> = Region::new(1 << 30).expect("address space");
        assert_eq!(region.len(), 0);
        let mut before = 0;
        for len in [1, 1024, 1025, 100_000, 4_000_000] {
            region.grow_to(len, &account).expect("room");
            assert!(region[before..].iter().all(|x| x.load(Relaxed) == 0), "I2");
            assert!(region[..before].iter().enumerate().all(|(i, x)| x.load(Relaxed) == i as u32));
            before = region.len();
            region.iter().enumerate().for_each(|(i, x)| x.store(i as u32, Relaxed));
            assert_eq!(budget.used(), region.bytes());
        }
        assert_eq!(region.grow_to(10_000_000, &account), Err(Full::Memory));
        assert_eq!(budget.used(), region.bytes());
    }
}
