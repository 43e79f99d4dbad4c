//! Exceptions that a thread's rules have raised, and whether its code is isolated for that reason: `exceptions` has the story.

/// The flag *inexact*.
pub(super) const INEXACT: u32 = 0x20;

/// Number of traps by *inexact* until they are avoided.
const MANY_TRAPS: u32 = 16;

/// Isolated blocks that may begin before code goes on without isolation: at first, and at most.
const PATIENCE: std::ops::RangeInclusive<u32> = 256..=1 << 20;

/// Exceptions of a thread's rules, as far as they are known.
#[derive(Debug)]
pub(super) struct Raised {
    /// True if code is isolated.
    pub(super) isolated: bool,
    /// True if that ends when the guest has raised *inexact*.
    pub(super) until_inexact: bool,
    /// True if the guest had raised that when it was last looked at.
    pub(super) had_inexact: bool,
    /// Number of times that came as a trap.
    pub(super) traps: u32,
    /// Blocks that may begin isolated.
    pub(super) patience: u32,
    /// Time when isolation last began or ended, and the time the last one took, in cycles of the processor's clock.
    pub(super) changed: u64,
    pub(super) took: u64,
}

impl Raised {
    pub(super) fn new() -> Self {
        let patience = *PATIENCE.start();
        Raised {
            isolated: false,
            until_inexact: false,
            had_inexact: true,
            traps: 0,
            patience,
            changed: 0,
            took: 0,
        }
    }

    /// Code is isolated from now on. If it was for longer the last time than it has not been since, it is for longer still.
    pub(super) fn isolate(&mut self, now: u64, until_inexact: bool) {
        let soon = now.wrapping_sub(self.changed) < self.took;
        let longer = self.patience.saturating_mul(2).min(*PATIENCE.end());
        let patience = if soon { longer } else { *PATIENCE.start() };
        *self = Raised { isolated: true, until_inexact, patience, changed: now, ..*self };
    }

    pub(super) fn leave(&mut self, now: u64) {
        *self = Raised { isolated: false, took: now.wrapping_sub(self.changed), changed: now, ..*self };
    }

    /// Notes which exceptions the guest has raised when its MXCSR is `guest`.
    pub(super) fn look(&mut self, guest: u32, now: impl Fn() -> u64) {
        let has_inexact = guest & INEXACT != 0;
        if self.isolated && self.until_inexact && has_inexact {
            self.leave(now());
        } else if !self.isolated && self.had_inexact && !has_inexact && self.traps >= MANY_TRAPS {
            self.isolate(now(), true);
        }
        self.had_inexact = has_inexact;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: u32 = 0x1f80;

    #[test]
    fn isolation_lasts_longer_the_sooner_it_is_needed_again() {
        let mut raised = Raised::new();
        raised.isolate(1000, false);
        assert_eq!(raised.patience, 256);
        raised.leave(1100);
        raised.isolate(1150, false);
        assert_eq!(raised.patience, 512, "it was needed again within the time it had taken");
        raised.leave(1250);
        raised.isolate(2000, false);
        assert_eq!(raised.patience, 256);
    }

    #[test]
    fn flags_that_are_cleared_often_are_no_longer_trapped() {
        let mut raised = Raised { traps: MANY_TRAPS - 1, ..Raised::new() };
        raised.look(DEFAULT, || 0);
        assert!(!raised.isolated);
        raised.traps += 1;
        raised.look(DEFAULT | INEXACT, || 0);
        assert!(!raised.isolated);
        raised.look(DEFAULT, || 0);
        assert!(raised.isolated && raised.until_inexact);
        raised.look(DEFAULT | INEXACT, || 0);
        assert!(!raised.isolated);
    }
}
