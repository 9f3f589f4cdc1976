// The loops of venkata2003, figure 31: one operation in each iteration, on numbers that the compiler
// does not know, into a result that it must have. Compiled once per level. Where nothing is
// optimised the numbers lie in memory, otherwise they stay in registers.
//
// Divisions of integers are an instruction here: the language would check the divisor for zero.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod operation {
    use super::*;

    #[cfg(target_arch = "x86_64")]
    macro_rules! hidden {
        (whole, $number:ident) => {
            asm!("/* {0} */", inout(reg) $number, options(nomem, nostack, preserves_flags))
        };
        (float, $number:ident) => {
            asm!("/* {0} */", inout(xmm_reg) $number, options(nomem, nostack, preserves_flags))
        };
    }
    #[cfg(target_arch = "aarch64")]
    macro_rules! hidden {
        (whole, $number:ident) => {
            asm!("/* {0} */", inout(reg) $number, options(nomem, nostack, preserves_flags))
        };
        (float, $number:ident) => {
            asm!("/* {0:v} */", inout(vreg) $number, options(nomem, nostack, preserves_flags))
        };
    }

    #[cfg(target_arch = "x86_64")]
    macro_rules! quotient {
        (i32, $a:ident, $b:ident) => {{
            let quotient: i32;
            asm!("cdq", "idiv {b:e}", b = in(reg) $b, inout("eax") $a => quotient,
                 out("edx") _, options(nomem, nostack));
            quotient
        }};
        (i64, $a:ident, $b:ident) => {{
            let quotient: i64;
            asm!("cqo", "idiv {b}", b = in(reg) $b, inout("rax") $a => quotient,
                 out("rdx") _, options(nomem, nostack));
            quotient
        }};
    }
    #[cfg(target_arch = "aarch64")]
    macro_rules! quotient {
        (i32, $a:ident, $b:ident) => {{
            let quotient: i32;
            asm!("sdiv {q:w}, {a:w}, {b:w}", a = in(reg) $a, b = in(reg) $b,
                 q = out(reg) quotient, options(nomem, nostack));
            quotient
        }};
        (i64, $a:ident, $b:ident) => {{
            let quotient: i64;
            asm!("sdiv {q}, {a}, {b}", a = in(reg) $a, b = in(reg) $b,
                 q = out(reg) quotient, options(nomem, nostack));
            quotient
        }};
    }

    macro_rules! looped {
        ($name:ident, $class:ident, $type:ident, $word:ident, $a:ident, $b:ident, $result:expr) => {
            pub extern "C" fn $name(iterations: u64, first: u64, second: u64) -> u64 {
                // SAFETY: plain numbers of one size, of which all bits are valid; the divisions'
                // operands are positive.
                unsafe {
                    let first = core::mem::transmute::<$word, $type>(first as $word);
                    let $b = core::mem::transmute::<$word, $type>(second as $word);
                    let mut sum = 0u64;
                    let mut i = 0u64;
                    while i < iterations {
                        let mut $a = first;
                        hidden!($class, $a);
                        let mut result: $type = $result;
                        hidden!($class, result);
                        sum += core::mem::transmute::<$type, $word>(result) as u64;
                        i += 1;
                    }
                    sum
                }
            }
        };
    }

    looped!(add_i32, whole, i32, u32, a, b, a + b);
    looped!(add_i64, whole, i64, u64, a, b, a + b);
    looped!(add_f32, float, f32, u32, a, b, a + b);
    looped!(add_f64, float, f64, u64, a, b, a + b);
    looped!(subtract_i32, whole, i32, u32, a, b, a - b);
    looped!(subtract_i64, whole, i64, u64, a, b, a - b);
    looped!(subtract_f32, float, f32, u32, a, b, a - b);
    looped!(subtract_f64, float, f64, u64, a, b, a - b);
    looped!(multiply_i32, whole, i32, u32, a, b, a * b);
    looped!(multiply_i64, whole, i64, u64, a, b, a * b);
    looped!(multiply_f32, float, f32, u32, a, b, a * b);
    looped!(multiply_f64, float, f64, u64, a, b, a * b);
    looped!(divide_i32, whole, i32, u32, a, b, quotient!(i32, a, b));
    looped!(divide_i64, whole, i64, u64, a, b, quotient!(i64, a, b));
    looped!(divide_f32, float, f32, u32, a, b, a / b);
    looped!(divide_f64, float, f64, u64, a, b, a / b);

    pub const ALL: [[Option<Operation>; 4]; 4] = [
        [Some(add_i32), Some(add_i64), Some(add_f32), Some(add_f64)],
        [Some(subtract_i32), Some(subtract_i64), Some(subtract_f32), Some(subtract_f64)],
        [Some(multiply_i32), Some(multiply_i64), Some(multiply_f32), Some(multiply_f64)],
        [Some(divide_i32), Some(divide_i64), Some(divide_f32), Some(divide_f64)],
    ];
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod operation {
    use super::*;

    pub const ALL: [[Option<Operation>; 4]; 4] = [[None; 4]; 4];
}
