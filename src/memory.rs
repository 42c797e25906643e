//! Memory: large blocks straight from the system, and fetching ahead.
//!
//! In: requests for memory. Out: small blocks from the usual allocator, large ones from the system, and returned to it one
//! by one. The usual allocator would keep them, and buffers that grow by doubling leave holes that nothing fits into: a
//! parity training of 30 languages and 32,000 merges then peaks at 725 MB instead of 630.
//!
//! glibc's own threshold for this (`M_MMAP_THRESHOLD`) saves the same memory without this code, but training took 8% more
//! processor time (nine runs each, on a busy machine), and the setting affects the whole process: NumPy's sums of arrays of
//! 4 MB took 3.5 ms instead of 0.2, because every result was mapped and unmapped. This allocator serves only the core.
//!
//! It serves everything that it is linked into, so this crate is only for our extension module, not for others to link.

use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::ptr::slice_from_raw_parts_mut;

#[cfg(target_os = "linux")]
mod large_blocks {
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::ptr::{copy_nonoverlapping, null_mut};

    struct Allocator;

    #[global_allocator]
    static ALLOCATOR: Allocator = Allocator;

    /// Smaller blocks come and go too often to ask the system each time.
    pub const LARGE: usize = 2 << 20;
    const SMALLEST_PAGE: usize = 4096;

    fn is_large(size: usize, align: usize) -> bool {
        size >= LARGE && align <= SMALLEST_PAGE
    }

    // SAFETY: the layout alone decides whether a block is large, so each goes back to where it came from. Small ones belong
    // to the system allocator; large ones are separate mappings of the size in the layout, page-aligned and zeroed.
    unsafe impl GlobalAlloc for Allocator {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            if is_large(layout.size(), layout.align()) {
                map(layout.size())
            } else {
                unsafe { System.alloc(layout) }
            }
        }

        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            if is_large(layout.size(), layout.align()) {
                map(layout.size())
            } else {
                unsafe { System.alloc_zeroed(layout) }
            }
        }

        unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
            if is_large(layout.size(), layout.align()) {
                unsafe { libc::munmap(block.cast(), layout.size()) };
            } else {
                unsafe { System.dealloc(block, layout) };
            }
        }

        unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            match (is_large(layout.size(), layout.align()), is_large(size, layout.align())) {
                (false, false) => unsafe { System.realloc(block, layout, size) },
                // Moves the pages without copying them.
                (true, true) => unsafe {
                    block_at(libc::mremap(block.cast(), layout.size(), size, libc::MREMAP_MAYMOVE))
                },
                _ => unsafe {
                    let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
                    if !new.is_null() {
                        copy_nonoverlapping(block, new, size.min(layout.size()));
                        self.dealloc(block, layout);
                    }
                    new
                },
            }
        }
    }

    fn map(size: usize) -> *mut u8 {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at an address chosen by the system overlaps no other memory.
        block_at(unsafe { libc::mmap(null_mut(), size, access, kind, -1, 0) })
    }

    /// A null pointer, as allocators return it, if the system made no mapping.
    fn block_at(mapping: *mut libc::c_void) -> *mut u8 {
        if mapping == libc::MAP_FAILED { null_mut() } else { mapping.cast() }
    }

    #[cfg(test)]
    mod tests {
        use super::LARGE;

        #[test]
        fn blocks_keep_what_they_hold_while_they_grow_and_shrink() {
            let mut numbers: Vec<u32> = Vec::new();
            for number in 0..6 << 20 {
                numbers.push(number); // grows from small to large, and moves several times
            }
            assert!(numbers.iter().copied().eq(0..6 << 20));
            numbers.truncate(LARGE / 4 + 1);
            numbers.shrink_to_fit();
            assert!(numbers.iter().copied().eq(0..LARGE as u32 / 4 + 1));
            numbers.truncate(1000);
            numbers.shrink_to_fit(); // and shrinks again
            assert!(numbers.iter().copied().eq(0..1000));
        }

        #[test]
        fn new_blocks_are_zero_where_asked() {
            for size in [LARGE - 1, LARGE, LARGE + 1] {
                let mut block = vec![0u8; size];
                assert!(block.iter().all(|&byte| byte == 0));
                block.fill(1);
            }
        }
    }
}

/// Memory that is all zeros and not touched yet, so the system provides its pages one by one as they are used.
///
/// # Safety
///
/// Zeros must be a valid `T`.
pub unsafe fn zeroed<T>(count: usize) -> Box<[T]> {
    let layout = Layout::array::<T>(count).expect("it is less than all memory");
    assert!(layout.size() > 0);
    // SAFETY: the size is not 0. The box owns the new block of just this layout, and the caller vouches for its contents.
    unsafe {
        let start = alloc_zeroed(layout);
        if start.is_null() {
            handle_alloc_error(layout);
        }
        Box::from_raw(slice_from_raw_parts_mut(start.cast(), count))
    }
}

/// Prefetches what will be read soon into the nearest cache.
#[inline(always)]
pub fn prefetch<T>(item: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching is safe at any address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(item.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}
