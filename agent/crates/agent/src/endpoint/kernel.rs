//! Settings of a host's own kernel: the files below /proc/sys (proc(5)), which in a network
//! namespace or a guest are nobody else's.

use super::answer::Answer;
use std::collections::BTreeMap;

/// The `set` event, with what each setting was, and which were refused.
#[cfg(target_os = "linux")]
pub fn set(values: &BTreeMap<String, String>) -> Result<Answer, String> {
    use super::answer::RefusedSetting;
    let mut before = BTreeMap::new();
    let mut refused = Vec::new();
    for (name, value) in values {
        let harmless = |c: char| c.is_ascii_alphanumeric() || "/_-".contains(c);
        if name.is_empty() || name.starts_with('/') || !name.chars().all(harmless) {
            return Err(format!(
                "'{name}' is no setting of the kernel, such as net/ipv4/tcp_rmem"
            ));
        }
        let path = format!("/proc/sys/{name}");
        let was = std::fs::read_to_string(&path).unwrap_or_default();
        before.insert(name.clone(), was.trim().to_owned());
        if let Err(error) = std::fs::write(&path, value) {
            refused.push(RefusedSetting {
                setting: name.clone(),
                reason: error.to_string(),
            });
        }
    }
    Ok(Answer::Set { before, refused })
}

#[cfg(not(target_os = "linux"))]
pub fn set(_: &BTreeMap<String, String>) -> Result<Answer, String> {
    Err("this agent sets the kernel of Linux only".into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_settings_of_the_kernel_are_set() {
        for wrong in ["/etc/passwd", "../../etc/passwd", "net.ipv4"] {
            let values = BTreeMap::from([(wrong.to_owned(), "1".to_owned())]);
            assert!(set(&values).unwrap_err().contains("no setting"), "{wrong}");
        }
        let values = BTreeMap::from([("net/nothing".to_owned(), "1".to_owned())]);
        let Answer::Set { refused, .. } = set(&values).unwrap() else {
            panic!("it is no other answer");
        };
        assert_eq!(refused[0].setting, "net/nothing");
    }
}
