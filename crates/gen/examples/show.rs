//! Prints the model of a seed: `cargo run -p spinor-gen --example show -- 7`. With three arguments, `FROM TO DIR`,
//! writes one file per seed instead, and the features of each to `DIR/features`.

use std::fmt::Write as _;

fn main() -> std::io::Result<()> {
    let args = std::env::args().skip(1).collect::<Vec<_>>();
    let number = |i: usize| args.get(i).and_then(|a| a.parse::<u64>().ok());
    match (number(0), number(1), args.get(2)) {
        (Some(from), Some(to), Some(dir)) => {
            let mut features = String::new();
            for seed in from..to {
                let model = spinor_gen::generate(seed);
                std::fs::write(format!("{dir}/{seed}.pml"), &model.text)?;
                let _ = writeln!(features, "{seed} {} {}", model.may_fault, model.features.join(" "));
            }
            std::fs::write(format!("{dir}/features"), features)?;
        }
        (Some(seed), ..) => print!("{}", spinor_gen::generate(seed).text),
        _ => eprintln!("usage: show SEED | show FROM TO DIR"),
    }
    Ok(())
}
