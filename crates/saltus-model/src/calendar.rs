//! Events at times that are known: a heap by time, then priority, then order of insertion.
//!
//! Comes in: times with what is to happen. Goes out: the next time, and what is due at a time in the order in which it is to happen.
//! Entries may be added while others are carried out. Insertion and removal take time logarithmic in their number.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

#[derive(Clone, Debug)]
struct Entry<T> {
    time: f64,
    priority: i32,
    number: u64,
    item: T,
}

impl<T> Entry<T> {
    /// Earlier first, higher priority first, first inserted first; the heap gives the greatest.
    fn rank(&self, other: &Entry<T>) -> Ordering {
        other
            .time
            .total_cmp(&self.time)
            .then(self.priority.cmp(&other.priority))
            .then(other.number.cmp(&self.number))
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Entry<T>) -> bool {
        self.rank(other) == Ordering::Equal
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Entry<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Entry<T>) -> Ordering {
        self.rank(other)
    }
}

/// ```
/// use saltus_model::calendar::Calendar;
/// let mut calendar = Calendar::default();
/// calendar.add(2.0, 0, "late");
/// calendar.add(1.0, 0, "second");
/// calendar.add(1.0, 5, "first");
/// assert_eq!(calendar.next_time(), 1.0);
/// assert_eq!(calendar.take_due(1.0), Some("first"));
/// assert_eq!(calendar.take_due(1.0), Some("second"));
/// assert_eq!(calendar.take_due(1.0), None);
/// ```
#[derive(Clone, Debug)]
pub struct Calendar<T> {
    heap: BinaryHeap<Entry<T>>,
    inserted: u64,
}

impl<T> Default for Calendar<T> {
    fn default() -> Calendar<T> {
        Calendar {
            heap: BinaryHeap::new(),
            inserted: 0,
        }
    }
}

impl<T> Calendar<T> {
    /// Lets `item` happen at `time`; of equal times the higher priority first, then the one added first. False, and nothing is
    /// added, if the time is not a number.
    pub fn add(&mut self, time: f64, priority: i32, item: T) -> bool {
        if time.is_nan() {
            return false;
        }
        // Adding zero makes -0 and 0 one time.
        self.heap.push(Entry {
            time: time + 0.0,
            priority,
            number: self.inserted,
            item,
        });
        self.inserted += 1;
        true
    }

    /// The earliest time; infinity if there is none.
    pub fn next_time(&self) -> f64 {
        self.heap.peek().map_or(f64::INFINITY, |entry| entry.time)
    }

    /// The next item at or before `now`.
    pub fn take_due(&mut self, now: f64) -> Option<T> {
        if self.next_time() <= now {
            self.heap.pop().map(|entry| entry.item)
        } else {
            None
        }
    }

    pub fn len(&self) -> usize {
        self.heap.len()
    }

    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    pub fn clear(&mut self) {
        self.heap.clear();
    }
}
