//! Our own bugs. In a file of its own, because the panic hook belongs to the whole process.

use spinor::exit::Exit;

#[test]
fn a_panic_becomes_status_4() {
    assert_eq!(spinor::guarded(|| panic!("S3")), Exit::Internal);
    assert_eq!(spinor::guarded(|| Exit::Violated), Exit::Violated);
}
