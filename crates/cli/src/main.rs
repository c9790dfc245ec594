fn main() -> std::process::ExitCode {
    spinor::run_guarded(std::env::args_os().skip(1).collect())
}
