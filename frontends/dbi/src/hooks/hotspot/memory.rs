//! Memory of the program, read without a thread that has stopped: the translator asks while it makes code.
//!
//! Knows nothing of what is there.

/// Longest name that is read, in bytes.
const LONGEST: u64 = 256;

/// Reader of memory: fills a buffer from an address on, and tells whether all of it was there.
#[derive(Clone, Copy)]
pub(crate) struct Memory<'a>(pub(crate) &'a dyn Fn(u64, &mut [u8]) -> bool);

impl Memory<'_> {
    fn bytes<const N: usize>(self, address: u64) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        (self.0)(address, &mut bytes).then_some(bytes)
    }

    pub(super) fn u64(self, address: u64) -> Option<u64> {
        self.bytes(address).map(u64::from_le_bytes)
    }

    pub(super) fn u32(self, address: u64) -> Option<u32> {
        self.bytes(address).map(u32::from_le_bytes)
    }

    pub(super) fn u16(self, address: u64) -> Option<u16> {
        self.bytes(address).map(u16::from_le_bytes)
    }

    pub(super) fn u8(self, address: u64) -> Option<u8> {
        self.bytes(address).map(|[byte]| byte)
    }

    /// The text at `address`, which ends by a zero.
    pub(super) fn string(self, address: u64) -> Option<String> {
        let mut text = Vec::new();
        for at in address..address.checked_add(LONGEST)? {
            match self.u8(at)? {
                0 => break,
                byte => text.push(byte),
            }
        }
        String::from_utf8(text).ok()
    }

    /// So many bytes at `address`.
    pub(super) fn piece(self, address: u64, length: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; length];
        (self.0)(address, &mut bytes).then_some(bytes)
    }

    /// Tells whether these bytes are at `address`.
    pub(super) fn is(self, address: u64, bytes: &[u8]) -> bool {
        self.piece(address, bytes.len()).is_some_and(|there| there == bytes)
    }
}
