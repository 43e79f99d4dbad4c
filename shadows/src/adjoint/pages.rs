//! A cell for each statement of a tape, in pages that exist only while something is in them.

/// Cells per page: few, since a page is cleared whole for a few statements between two loops.
const PAGE: usize = 512;

/// Cells of type `C`, one for each statement of a tape.
#[derive(Debug)]
pub(super) struct Pages<C> {
    pages: Vec<Option<Box<[C; PAGE]>>>,
    /// Pages that are empty again.
    spare: Vec<Box<[C; PAGE]>>,
}

/// Number of a statement's page.
pub(super) fn page_of(statement: u64) -> usize {
    place(statement).0
}

/// Number of the first page whose first statement has at least this number.
pub(super) fn first_from(statement: u64) -> usize {
    statement.div_ceil(PAGE as u64) as usize
}

/// Page of a statement, and its place there.
fn place(statement: u64) -> (usize, usize) {
    ((statement / PAGE as u64) as usize, statement as usize % PAGE)
}

impl<C: Copy + Default> Pages<C> {
    /// No cell has anything in it.
    pub(super) fn new() -> Self {
        Pages { pages: Vec::new(), spare: Vec::new() }
    }

    /// Content of the cell of a statement.
    #[inline(always)]
    pub(super) fn get(&self, statement: u64) -> C {
        let (page, at) = place(statement);
        self.pages.get(page).and_then(Option::as_ref).map_or(C::default(), |page| page[at])
    }

    /// The cell of a statement.
    #[inline(always)]
    pub(super) fn at(&mut self, statement: u64) -> &mut C {
        let (page, at) = place(statement);
        &mut self.page(page)[at]
    }

    #[inline(always)]
    fn page(&mut self, page: usize) -> &mut [C; PAGE] {
        if self.pages.get(page).is_none_or(Option::is_none) {
            self.make(page);
        }
        self.pages[page].as_mut().expect("it was made if it was not there")
    }

    #[cold]
    fn make(&mut self, page: usize) {
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, || None);
        }
        let cells = match self.spare.pop() {
            Some(mut cells) => {
                cells.fill(C::default());
                cells
            }
            None => {
                vec![C::default(); PAGE].try_into().unwrap_or_else(|_| unreachable!("it has that length"))
            }
        };
        self.pages[page] = Some(cells);
    }

    /// Forgets a page, by number.
    pub(super) fn forget(&mut self, page: usize) {
        self.spare.extend(self.pages.get_mut(page).and_then(Option::take));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_there_when_they_are_asked_for() {
        let mut pages = Pages::<f64>::new();
        *pages.at(3) += 1.0;
        *pages.at(5 * PAGE as u64 + 7) += 2.0;
        assert_eq!([3, 4, 5 * PAGE as u64 + 7, 1 << 40].map(|n| pages.get(n)), [1.0, 0.0, 2.0, 0.0]);
        pages.forget(5);
        assert_eq!((pages.get(3), pages.get(5 * PAGE as u64 + 7)), (1.0, 0.0));
        assert_eq!([1, PAGE as u64, PAGE as u64 + 1].map(first_from), [1, 1, 2]);
        assert_eq!(*pages.at(PAGE as u64 + 7), 0.0, "a page that is used again is empty");
    }
}
