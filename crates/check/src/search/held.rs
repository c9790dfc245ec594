//! A list, and a line at whose front things leave: they ask the budget before they grow.

use spinor_store::{Account, Budget, Full};
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Charged for its capacity; gives it back when dropped.
#[derive(Debug)]
pub struct Held<T> {
    items: Vec<T>,
    account: Account,
}

impl<T> Held<T> {
    pub fn new(budget: &Arc<Budget>) -> Held<T> {
        Held { items: Vec::new(), account: budget.account() }
    }

    #[inline]
    pub fn push(&mut self, item: T) -> Result<(), Full> {
        if self.items.len() == self.items.capacity() {
            self.make_room(1)?;
        }
        self.items.push(item);
        Ok(())
    }

    #[inline]
    pub fn extend(&mut self, items: &[T]) -> Result<(), Full>
    where
        T: Copy,
    {
        if self.items.capacity() - self.items.len() < items.len() {
            self.make_room(items.len())?;
        }
        self.items.extend_from_slice(items);
        Ok(())
    }

    pub fn pop(&mut self) -> Option<T> {
        self.items.pop()
    }

    pub fn truncate(&mut self, len: usize) {
        self.items.truncate(len);
    }

    /// By a half at a time: the last growth before the limit should not waste most of it.
    #[cold]
    fn make_room(&mut self, n: usize) -> Result<(), Full> {
        let before = self.items.capacity();
        let after = (self.items.len() + n).max(before + before / 2).max(64);
        self.account.charge(((after - before) * size_of::<T>()) as u64)?;
        self.items.reserve_exact(after - self.items.len());
        assert_eq!(self.items.capacity(), after, "what is charged is what is held");
        Ok(())
    }
}

impl<T> Deref for Held<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T> DerefMut for Held<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

/// First in, first out; charged like a [`Held`].
#[derive(Debug)]
pub struct Line<T> {
    items: VecDeque<T>,
    account: Account,
}

impl<T: Copy> Line<T> {
    pub fn new(budget: &Arc<Budget>) -> Line<T> {
        Line { items: VecDeque::new(), account: budget.account() }
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn first(&self) -> Option<T> {
        self.items.front().copied()
    }

    /// So many, from the first on.
    pub fn firsts(&self, n: usize) -> impl Iterator<Item = T> {
        self.items.range(..n).copied()
    }

    pub fn let_go(&mut self, n: usize) {
        self.items.drain(..n);
    }

    #[inline]
    pub fn extend(&mut self, items: &[T]) -> Result<(), Full> {
        let before = self.items.capacity();
        if before - self.items.len() < items.len() {
            let after = (self.items.len() + items.len()).max(before + before / 2).max(64);
            self.account.charge(((after - before) * size_of::<T>()) as u64)?;
            self.items.reserve_exact(after - self.items.len());
            assert_eq!(self.items.capacity(), after, "what is charged is what is held");
        }
        self.items.extend(items);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_budget_refuses_is_not_held() {
        let budget = Budget::new(1000);
        let mut list: Held<u64> = Held::new(&budget);
        let n = (0..).take_while(|&i| list.push(i).is_ok()).count();
        assert_eq!(list.len(), n);
        assert!(n >= 64 && budget.used() <= 1000 && budget.used() >= 8 * n as u64);
        assert_eq!(list.extend(&[0; 1000]), Err(Full::Memory));
        assert_eq!(list.pop(), Some(n as u64 - 1));
        drop(list);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn a_line_gives_back_what_came_first_and_keeps_its_budget() {
        let budget = Budget::new(1000);
        let mut line: Line<u64> = Line::new(&budget);
        let n = (0..).take_while(|&i| line.extend(&[i, i + 1]).is_ok()).count() as u64;
        assert!(n >= 32 && budget.used() <= 1000 && line.len() as u64 == 2 * n);
        assert_eq!((line.first(), line.firsts(3).collect()), (Some(0), vec![0, 1, 1]));
        line.let_go(3);
        assert_eq!(line.first(), Some(2));
        // What left makes room.
        assert_eq!(line.extend(&[7, 8, 9]), Ok(()));
        assert_eq!(line.firsts(line.len()).last(), Some(9));
        drop(line);
        assert_eq!(budget.used(), 0);
    }
}
