//! `ModelicaRandom_*`: the xorshift generators of S. Vigna ("An experimental exploration of Marsaglia's xorshift generators,
//! scrambled", 2014) on states stored as 32-bit Integers, low half first.

/// A number in (0, 1] from 64 random bits, read as a signed number.
fn uniform(bits: u64) -> f64 {
    /// 2^-64
    const SCALE: f64 = 5.421_010_862_427_522e-20;
    (bits as i64) as f64 * SCALE + 0.5
}

fn pack(state: &[i64]) -> Vec<u64> {
    state
        .chunks_exact(2)
        .map(|p| u64::from(p[0] as i32 as u32) | (u64::from(p[1] as i32 as u32) << 32))
        .collect()
}

fn unpack(words: &[u64]) -> Vec<i64> {
    words
        .iter()
        .flat_map(|w| {
            [
                i64::from(*w as u32 as i32),
                i64::from((*w >> 32) as u32 as i32),
            ]
        })
        .collect()
}

/// New state and number; two Integers.
pub fn xorshift64star(state: &[i64]) -> Result<(Vec<i64>, f64), String> {
    let [mut x] = pack(check(state, 2)?)[..] else {
        return Err("the state needs 2 elements".into());
    };
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    x = x.wrapping_mul(2_685_821_657_736_338_717);
    Ok((unpack(&[x]), uniform(x)))
}

/// Four Integers.
pub fn xorshift128plus(state: &[i64]) -> Result<(Vec<i64>, f64), String> {
    let [mut s1, s0] = pack(check(state, 4)?)[..] else {
        return Err("the state needs 4 elements".into());
    };
    s1 ^= s1 << 23;
    let new = (s1 ^ s0 ^ (s1 >> 17) ^ (s0 >> 26)).wrapping_add(s0);
    Ok((unpack(&[s0, new]), uniform(new)))
}

/// 32 Integers and a position.
pub fn xorshift1024star(state: &[i64]) -> Result<(Vec<i64>, f64), String> {
    let state = check(state, 33)?;
    let mut s = pack(&state[..32]);
    let p = (state[32] & 15) as usize;
    let q = (p + 1) & 15;
    let (mut s0, mut s1) = (s[p], s[q]);
    s1 ^= s1 << 31;
    s1 ^= s1 >> 11;
    s0 ^= s0 >> 30;
    s[q] = s0 ^ s1;
    let number = uniform(s[q].wrapping_mul(1_181_783_497_276_652_981));
    let mut out = unpack(&s);
    out.push(q as i64);
    Ok((out, number))
}

fn check(state: &[i64], n: usize) -> Result<&[i64], String> {
    if state.len() == n {
        Ok(state)
    } else {
        Err(format!(
            "the state of a random number generator has {} elements instead of {n}",
            state.len()
        ))
    }
}
