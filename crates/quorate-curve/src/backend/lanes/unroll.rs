//! Loops over limbs that are written out.

/// Pastes a block for each number of a list, or for each below a constant of at most eight, with the number as a constant. LLVM does not
/// unroll nested loops, which halves the speed.
macro_rules! unroll {
    ($i:ident in [$($n:literal)*] $body:block) => { $(
        #[allow(clippy::absurd_extreme_comparisons)]
        { const $i: usize = $n; $body }
    )* };
    ($i:ident < $n:ident $body:block) => {
        $crate::backend::lanes::unroll::unroll!($i in [0 1 2 3 4 5 6 7] { if $i < $n $body })
    };
}
pub(crate) use unroll;

/// An array of a constant number of limbs, at most eight, each an expression of its index. `array::from_fn` would not do: its closure is a
/// separate function without the vector instructions.
macro_rules! limbs_of {
    ($i:ident < 8 => $limb:expr) => { $crate::backend::lanes::unroll::limbs_of!($i in [0 1 2 3 4 5 6 7] => $limb) };
    ($i:ident < $n:ident => $limb:expr) => {{
        let mut limbs = [{
            const $i: usize = 0;
            $limb
        }; $n];
        $crate::backend::lanes::unroll::unroll!($i in [1 2 3 4 5 6 7] { if $i < $n { limbs[$i] = $limb; } });
        limbs
    }};
    ($i:ident in [$($n:literal)*] => $limb:expr) => { [$({ const $i: usize = $n; $limb }),*] };
}
pub(crate) use limbs_of;
