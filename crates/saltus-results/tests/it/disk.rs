//! A file system in memory, with pages as of a real one: a long write is a sequence of short ones, which end at pages, and a page takes room once something is written in it.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, Seek, SeekFrom, Write};
use std::rc::Rc;

use saltus_results::Medium;

#[derive(Default)]
struct Content {
    bytes: Vec<u8>,
    position: usize,
    pages: BTreeSet<usize>,
    /// What a process that is killed leaves: the file after each change.
    states: Vec<Vec<u8>>,
}

/// A file that shows every change, on a disk of bounded size.
#[derive(Clone)]
pub(crate) struct Disk {
    content: Rc<RefCell<Content>>,
    page: usize,
    pages_max: usize,
    keeps_states: bool,
}

impl Disk {
    /// Every state is kept.
    pub(crate) fn watched(page: usize) -> Disk {
        Disk {
            content: Rc::default(),
            page,
            pages_max: usize::MAX,
            keeps_states: true,
        }
    }

    pub(crate) fn bounded(page: usize, pages_max: usize) -> Disk {
        Disk {
            pages_max,
            keeps_states: false,
            ..Disk::watched(page)
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.content.borrow().bytes.clone()
    }

    pub(crate) fn states(&self) -> Vec<Vec<u8>> {
        self.content.borrow().states.clone()
    }

    pub(crate) fn n_pages(&self) -> usize {
        self.content.borrow().pages.len()
    }

    fn changed(&self, content: &mut Content) {
        if self.keeps_states {
            content.states.push(content.bytes.clone());
        }
    }
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let content = &mut *self.content.borrow_mut();
        let (at, page) = (content.position, content.position / self.page);
        if !content.pages.contains(&page) && content.pages.len() >= self.pages_max {
            return Err(io::ErrorKind::StorageFull.into());
        }
        content.pages.insert(page);
        let n = bytes.len().min((page + 1) * self.page - at);
        if content.bytes.len() < at + n {
            content.bytes.resize(at + n, 0);
        }
        content.bytes[at..at + n].copy_from_slice(&bytes[..n]);
        content.position += n;
        self.changed(content);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Disk {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let mut content = self.content.borrow_mut();
        content.position = match to {
            SeekFrom::Start(at) => at as usize,
            SeekFrom::End(0) => content.bytes.len(),
            other => panic!("{other:?}"),
        };
        Ok(content.position as u64)
    }
}

impl Medium for Disk {
    fn cut(&mut self, len: u64) -> io::Result<()> {
        let content = &mut *self.content.borrow_mut();
        content.bytes.truncate(len as usize);
        content.position = len as usize;
        let end = (len as usize).div_ceil(self.page);
        content.pages.split_off(&end);
        self.changed(content);
        Ok(())
    }

    fn extend(&mut self, len: u64) -> io::Result<()> {
        let content = &mut *self.content.borrow_mut();
        content.bytes.resize(len as usize, 0);
        self.changed(content);
        Ok(())
    }
}
