//! Random damage to seeds, the same on every machine and in every run.

/// Inputs do not grow beyond this.
const LEN_MAX: usize = 4096;
/// Damages per input, at most.
const STEPS_MAX: usize = 6;

/// Makes inputs from seeds. It learns nothing from what it runs: finding new paths is libFuzzer's work, this only
/// looks again where a change to the code may have broken something.
#[derive(Debug)]
pub struct Mutator<'a> {
    seeds: &'a [Vec<u8>],
    state: u64,
}

impl<'a> Mutator<'a> {
    /// Needs at least one seed.
    pub fn new(seeds: &'a [Vec<u8>]) -> Self {
        assert!(!seeds.is_empty());
        Self { seeds, state: 0x9e37_79b9_7f4a_7c15 }
    }

    pub fn next_input(&mut self) -> Vec<u8> {
        let mut input = self.seed().to_vec();
        for _ in 0..=self.below(STEPS_MAX) {
            self.damage(&mut input);
        }
        input.truncate(LEN_MAX);
        input
    }

    fn damage(&mut self, input: &mut Vec<u8>) {
        let (start, end) = self.span(input.len());
        match self.below(6) {
            0 => drop(input.drain(start..end)),
            1 => drop(input.splice(start..start, [self.byte()])),
            2 => drop(input.splice(start..end, input[start..end].repeat(2))),
            3 => {
                let seed = self.seed();
                let (from, to) = self.span(seed.len());
                drop(input.splice(start..end, seed[from..to].iter().copied()));
            }
            4 if start < input.len() => input[start] = self.byte(),
            5 if start < input.len() => input[start] ^= 1 << self.below(8),
            _ => {}
        }
    }

    fn seed(&mut self) -> &'a [u8] {
        let index = self.below(self.seeds.len());
        &self.seeds[index]
    }

    /// Mostly short: a few bytes are where the grammar turns.
    fn span(&mut self, len: usize) -> (usize, usize) {
        let start = self.below(len + 1);
        let long = if self.below(4) == 0 { len } else { 4 };
        (start, len.min(start + self.below(long + 1)))
    }

    fn byte(&mut self) -> u8 {
        self.random().to_le_bytes()[7]
    }

    fn below(&mut self, limit: usize) -> usize {
        let random = u128::from(self.random());
        usize::try_from((random * limit as u128) >> 64).expect("below the limit, which is a usize")
    }

    /// xorshift64*, by Marsaglia and Vigna.
    fn random(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}
