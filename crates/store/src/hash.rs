//! A 64-bit hash of byte strings.
//!
//! Each 16 bytes are folded into the running value by one widening multiplication whose halves are joined by
//! exclusive or, the construction known from wyhash; the constants are our own. It need not resist an
//! adversary: a bad hash costs time and changes no answer, because the store compares whole keys.

const K0: u64 = 0x9e6c_63d0_873f_a2d5;
const K1: u64 = 0xc2b2_ae3d_27d4_eb4f;
const K2: u64 = 0x1656_67b1_9e37_79f9;
const K3: u64 = 0xd6e8_feb8_6659_fd93;

#[inline]
pub fn hash64(bytes: &[u8]) -> u64 {
    let mut h = K0 ^ (bytes.len() as u64).wrapping_mul(K3);
    let mut rest = bytes;
    while let Some((block, tail)) = rest.split_first_chunk::<16>() {
        h = fold(word(&block[..8]) ^ K1, word(&block[8..]) ^ h);
        rest = tail;
    }
    let (a, b) = if bytes.len() >= 16 {
        // The last 16 bytes once more, overlapping: no branch per remaining byte.
        match (rest.is_empty(), bytes.last_chunk::<16>()) {
            (false, Some(last)) => (word(&last[..8]), word(&last[8..])),
            _ => (0, 0),
        }
    } else if let (Some(first), Some(last)) = (rest.first_chunk::<8>(), rest.last_chunk::<8>()) {
        (u64::from_le_bytes(*first), u64::from_le_bytes(*last))
    } else if let (Some(first), Some(last)) = (rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
        (u64::from(u32::from_le_bytes(*first)), u64::from(u32::from_le_bytes(*last)))
    } else {
        (rest.iter().fold(0, |a, &b| a << 8 | u64::from(b)), 0)
    };
    fold(fold(a ^ K2, b ^ h), K1)
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    (wide as u64) ^ (wide >> 64) as u64
}

#[inline]
fn word(eight: &[u8]) -> u64 {
    u64::from_le_bytes(eight.try_into().expect("eight bytes"))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn keys_that_differ_in_one_bit_or_in_length_hash_differently() {
        for len in 0..70usize {
            let mut seen = BTreeSet::new();
            let mut key = vec![0u8; len];
            assert!(seen.insert(hash64(&key)));
            for bit in 0..len * 8 {
                key[bit / 8] ^= 1 << (bit % 8);
                assert!(seen.insert(hash64(&key)), "length {len}, bit {bit}");
                key[bit / 8] ^= 1 << (bit % 8);
            }
        }
        let zeros = [0u8; 70];
        let hashes: BTreeSet<u64> = (0..=70).map(|n| hash64(&zeros[..n])).collect();
        assert_eq!(hashes.len(), 71);
    }

    #[test]
    fn every_output_bit_depends_on_every_input_bit() {
        for len in [1usize, 3, 4, 7, 8, 13, 16, 17, 32, 40] {
            for bit in 0..len * 8 {
                let mut flips = [0u32; 64];
                const TRIES: u64 = 256;
                for t in 0..TRIES {
                    let mut key: Vec<u8> = (0..len).map(|i| (hash64(&[t as u8, i as u8, 77]) >> 13) as u8).collect();
                    let a = hash64(&key);
                    key[bit / 8] ^= 1 << (bit % 8);
                    let d = a ^ hash64(&key);
                    for (i, f) in flips.iter_mut().enumerate() {
                        *f += (d >> i & 1) as u32;
                    }
                }
                assert!(flips.iter().all(|&f| (64..=192).contains(&f)), "length {len}, bit {bit}: {flips:?}");
            }
        }
    }

    #[test]
    fn counters_spread_evenly_over_the_high_and_the_low_bits() {
        let mut high = [0u32; 256];
        let mut low = [0u32; 256];
        for n in 0..65_536u64 {
            let mut key = [0u8; 40];
            key[9..17].copy_from_slice(&n.to_le_bytes());
            let h = hash64(&key);
            high[(h >> 56) as usize] += 1;
            low[(h & 255) as usize] += 1;
        }
        assert!(high.iter().chain(&low).all(|&n| (150..=370).contains(&n)), "{high:?} {low:?}");
    }
}
