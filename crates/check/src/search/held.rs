//! A list that asks the budget before it grows.

use spinor_store::{Account, Budget, Full};
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
}
