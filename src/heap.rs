//! A heap that takes the order with every call: ordering pairs needs the vocabulary, and the standard heap sees only its
//! entries.
//!
//! In: entries. Out: the greatest, which may also be lowered in place.

use std::cmp::Ordering;

pub struct Heap<T>(Vec<T>);

impl<T> Default for Heap<T> {
    fn default() -> Self {
        Heap(Vec::new())
    }
}

impl<T> Heap<T> {
    pub fn top(&self) -> Option<&T> {
        self.0.first()
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn push(&mut self, entry: T, order: impl Fn(&T, &T) -> Ordering) {
        self.0.push(entry);
        let mut at = self.0.len() - 1;
        while at > 0 {
            let parent = (at - 1) / 2;
            if order(&self.0[at], &self.0[parent]).is_le() {
                break;
            }
            self.0.swap(at, parent);
            at = parent;
        }
    }

    pub fn pop(&mut self, order: impl Fn(&T, &T) -> Ordering) {
        self.0.swap_remove(0);
        self.sink(order);
    }

    /// Replaces the greatest entry by `less`.
    pub fn lower_top(&mut self, less: T, order: impl Fn(&T, &T) -> Ordering) {
        self.0[0] = less;
        self.sink(order);
    }

    fn sink(&mut self, order: impl Fn(&T, &T) -> Ordering) {
        let (entries, mut at) = (&mut self.0, 0);
        loop {
            let mut child = 2 * at + 1;
            if child >= entries.len() {
                return;
            }
            if child + 1 < entries.len() && order(&entries[child + 1], &entries[child]).is_gt() {
                child += 1;
            }
            if order(&entries[child], &entries[at]).is_le() {
                return;
            }
            entries.swap(at, child);
            at = child;
        }
    }
}
