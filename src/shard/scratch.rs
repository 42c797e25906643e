//! What one merge collects before it touches the index of pairs.
//!
//! In: the neighbours of the new token, one occurrence after the other. Out: each distinct neighbour once, with its weight
//! and its boundaries in ascending order.

/// Kept between merges so that nothing is allocated.
pub struct Scratch {
    /// The boundaries of the pair, and then where the new token starts.
    pub spots: Vec<u32>,
    pub coded: Vec<u8>,
    pub before: Side,
    pub after: Side,
    /// Where one new token ends and the next begins.
    pub twins: Vec<u32>,
    pub twin_weight: u64,
}

impl Scratch {
    pub fn new(tokens: usize) -> Scratch {
        Scratch {
            spots: Vec::new(),
            coded: Vec::new(),
            before: Side::new(tokens),
            after: Side::new(tokens),
            twins: Vec::new(),
            twin_weight: 0,
        }
    }

    /// The number of token ids that it has room for.
    pub fn capacity(&self) -> usize {
        self.before.sums.len()
    }
}

/// The neighbours on one side of the new token: dense by id, so that the index is asked once for each
/// distinct neighbour and not once for each occurrence.
pub struct Side {
    sums: Vec<NeighbourSum>,
    touched: Vec<u32>,
    spots: Vec<(u32, u32)>,
    grouped: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct NeighbourSum {
    weight: u64,
    number: u32,
    offset: u32,
}

impl Side {
    fn new(tokens: usize) -> Side {
        Side {
            sums: vec![NeighbourSum::default(); tokens],
            touched: Vec::new(),
            spots: Vec::new(),
            grouped: Vec::new(),
        }
    }

    pub fn note(&mut self, neighbour: u32, boundary: u32, weight: u64) {
        let sum = &mut self.sums[neighbour as usize];
        if sum.number == 0 {
            self.touched.push(neighbour);
        }
        sum.number += 1;
        sum.weight += weight;
        self.spots.push((neighbour, boundary));
    }

    /// Hands out each neighbour with its weight and its boundaries in ascending order, and empties itself.
    pub fn drain(&mut self, mut each: impl FnMut(u32, u64, &[u32])) {
        let mut offset = 0;
        for &neighbour in &self.touched {
            let sum = &mut self.sums[neighbour as usize];
            sum.offset = offset;
            offset += sum.number;
        }
        self.grouped.resize(offset as usize, 0);
        for &(neighbour, boundary) in &self.spots {
            let sum = &mut self.sums[neighbour as usize];
            self.grouped[sum.offset as usize] = boundary;
            sum.offset += 1;
        }
        for &neighbour in &self.touched {
            let sum = std::mem::take(&mut self.sums[neighbour as usize]);
            let end = sum.offset as usize;
            each(neighbour, sum.weight, &self.grouped[end - sum.number as usize..end]);
        }
        self.touched.clear();
        self.spots.clear();
    }
}
