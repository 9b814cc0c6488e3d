//! Where the frames of a web socket begin, as far as it takes to see that one side closes it.

/// The operation of the frame that closes a web socket.
const CLOSE: u8 = 8;

/// What one side has sent. Nothing is checked and nothing of a message is kept.
#[derive(Default)]
pub(super) struct Frames {
    /// The head of a frame that is not whole yet.
    head: Vec<u8>,
    /// How much of the frame is still to come.
    left: u64,
    closes: bool,
}

impl Frames {
    /// More of what the side sends.
    pub(super) fn see(&mut self, mut bytes: &[u8]) {
        while let Some((first, rest)) = bytes.split_first() {
            if self.left > 0 {
                let passed = bytes.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
                self.left -= passed as u64;
                bytes = &bytes[passed..];
                continue;
            }
            self.head.push(*first);
            bytes = rest;
            if let Some(left) = after(&self.head) {
                self.closes |= self.head[0] & 0x0f == CLOSE;
                self.left = left;
                self.head.clear();
            }
        }
    }

    /// Whether it has said that it closes.
    pub(super) fn closes(&self) -> bool {
        self.closes
    }
}

/// How many bytes of a frame follow its head; nothing while the head is not whole.
fn after(head: &[u8]) -> Option<u64> {
    let (masked, short) = (head.get(1)? & 0x80 != 0, head[1] & 0x7f);
    let length = match short {
        126 => u64::from(u16::from_be_bytes(*head.get(2..)?.first_chunk()?)),
        127 => u64::from_be_bytes(*head.get(2..)?.first_chunk()?),
        length => u64::from(length),
    };
    Some(length.saturating_add(if masked { 4 } else { 0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(operation: u8, masked: bool, length: usize) -> Vec<u8> {
        let mask = if masked { 0x80 } else { 0 };
        let mut frame = vec![0x80 | operation];
        match length {
            0..126 => frame.push(mask | length as u8),
            126..65_536 => {
                frame.push(mask | 126);
                frame.extend(u16::try_from(length).expect("short").to_be_bytes());
            }
            _ => {
                frame.push(mask | 127);
                frame.extend((length as u64).to_be_bytes());
            }
        }
        // Bytes that would close, were they taken for a head.
        frame.extend(vec![0x88; length + if masked { 4 } else { 0 }]);
        frame
    }

    #[test]
    fn only_a_frame_that_closes_closes_however_the_bytes_come() {
        for masked in [false, true] {
            let messages: Vec<u8> = [0, 1, 125, 126, 65_535, 65_536]
                .into_iter()
                .flat_map(|length| [frame(1, masked, length), frame(9, masked, length.min(125))].concat())
                .collect();
            let close = frame(CLOSE, masked, 2);
            for part in [1, 7, messages.len()] {
                let mut frames = Frames::default();
                messages.chunks(part).for_each(|bytes| frames.see(bytes));
                assert!(!frames.closes(), "messages, in parts of {part}");
                close.chunks(part).for_each(|bytes| frames.see(bytes));
                assert!(frames.closes(), "a close, in parts of {part}");
            }
        }
    }

    #[test]
    fn a_frame_that_claims_to_be_endless_is_passed_over() {
        let mut frames = Frames::default();
        frames.see(&[0x82, 0xff]);
        frames.see(&[0xff; 8]);
        frames.see(&[0x88; 64]);
        assert!(!frames.closes());
    }
}
