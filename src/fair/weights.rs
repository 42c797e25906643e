//! Powers of costs, which languages weigh by.

/// After every merge up to 2048, every second up to 4096, every fourth up to 8192, and so on.
pub fn is_time_to_weigh(merges: usize) -> bool {
    let doublings = (usize::BITS - merges.leading_zeros()).saturating_sub(11);
    merges.is_multiple_of(1 << doublings)
}

/// The same on every machine: products and square roots are rounded in one way only, `powf` is not.
pub fn power(base: f64, exponent: f64) -> f64 {
    let (mut result, mut square, mut whole) = (1.0, base, exponent.floor());
    while whole > 0.0 {
        let half = (whole / 2.0).floor();
        if whole > 2.0 * half {
            result *= square;
        }
        (square, whole) = (square * square, half);
    }
    let (mut root, mut part) = (base, exponent - exponent.floor());
    while part > 0.0 {
        (root, part) = (root.sqrt(), 2.0 * part);
        if part >= 1.0 {
            (result, part) = (result * root, part - 1.0);
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `tests/training/test_fair.py` has the same numbers.
    #[test]
    fn powers_are_the_same_everywhere() {
        let powers = [(0.97, 150.0), (0.3, 0.1), (0.999, 1234.75), (0.5, 3.5), (0.2, 1e5), (0.7, 0.0)];
        let bits = powers.map(|(base, exponent)| power(base, exponent).to_bits());
        assert_eq!(
            bits,
            [
                0x3f853ca22d9c463f,
                0x3fec5ec42b8b4a10,
                0x3fd29b48d8527e46,
                0x3fb6a09e667f3bcd,
                0x0000000000000000,
                0x3ff0000000000000
            ]
        );
    }

    #[test]
    fn weights_are_renewed_less_often_as_merges_change_less() {
        assert!((0..2048).all(is_time_to_weigh));
        let between = |merges: std::ops::Range<usize>| merges.filter(|&done| is_time_to_weigh(done)).count();
        assert_eq!((between(2048..4096), between(4096..8192), between(16384..32768)), (1024, 1024, 1024));
    }
}
