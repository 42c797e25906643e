//! Memory: large pages, fetching ahead, and giving back.
//!
//! Training and counting jump about in tables of many megabytes. With pages of 4 KB most of those jumps also miss the
//! processor's table of pages, which costs as much as the jump itself. Linux gives large pages to memory that asks for
//! them; where it does not (or on other systems) nothing changes.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, asking for large pages where a block is large enough to have some.
struct LargePages;

#[global_allocator]
static ALLOCATOR: LargePages = LargePages;

const PAGE: usize = 2 << 20;
const LARGE: usize = 2 * PAGE;

// SAFETY: every call goes to the system's allocator; what is added only advises the kernel and changes no contents.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        advise(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        advise(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        advise(unsafe { System.realloc(block, layout, size) }, size)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        unsafe { System.dealloc(block, layout) }
    }
}

#[inline]
fn advise(block: *mut u8, size: usize) -> *mut u8 {
    if size >= LARGE && !block.is_null() {
        ask_for_large_pages(block, size);
    }
    block
}

#[cfg(target_os = "linux")]
#[cold]
fn ask_for_large_pages(block: *mut u8, size: usize) {
    // Only whole pages of the block, so that no neighbour in memory is touched.
    let start = block.addr().next_multiple_of(PAGE) - block.addr();
    let length = (size - start) / PAGE * PAGE;
    // SAFETY: the range lies within a live block; the advice changes no contents, and a refusal changes nothing.
    unsafe { libc::madvise(block.add(start).cast(), length, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn ask_for_large_pages(_: *mut u8, _: usize) {}

/// Fetches into the nearest cache what will be read soon.
#[inline(always)]
pub fn prefetch<T>(item: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching reads nothing; the address is that of a live reference besides.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}

/// Gives freed memory back to the system. The lists of boundaries are millions of small blocks that come and go, and
/// the allocator of glibc keeps what lies between those that live.
pub fn give_back_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it only touches memory that nobody holds.
    unsafe {
        libc::malloc_trim(0);
    }
}
