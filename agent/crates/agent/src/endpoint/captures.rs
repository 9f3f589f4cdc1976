//! Captures of an endpoint, by the name of their trial.

#[cfg(target_os = "linux")]
pub use real::Captures;

#[cfg(not(target_os = "linux"))]
pub use none::Captures;

#[cfg(target_os = "linux")]
mod real {
    use crate::endpoint::answer::Answer;
    use crate::endpoint::trial::File;
    use pentathlon_os::interface;
    use pentathlon_packets::capture::Capture;
    use std::collections::HashMap;
    use std::path::PathBuf;

    pub struct Captures {
        scratch: PathBuf,
        running: HashMap<String, Capture>,
        count: u64,
    }

    impl Captures {
        pub fn new(scratch: PathBuf) -> Self {
            Self {
                scratch,
                running: HashMap::new(),
                count: 0,
            }
        }

        /// Captures an interface from now on; the `capturing` event.
        pub fn start(&mut self, trial: &str, name: &str) -> Result<Answer, String> {
            if self.running.contains_key(trial) {
                return Err(format!("the trial '{trial}' is being captured already"));
            }
            let known = interface::list().map_err(|e| format!("no list of interfaces: {e}"))?;
            let index = known
                .iter()
                .find(|(_, known)| known == name)
                .map(|(index, _)| *index)
                .ok_or_else(|| format!("there is no interface '{name}' on this host"))?;
            self.count += 1;
            let path = self.scratch.join(format!("capture-{}", self.count));
            let capture = Capture::start(index, name, &path)
                .map_err(|e| format!("the interface {name} cannot be captured: {e}"))?;
            self.running.insert(trial.to_owned(), capture);
            Ok(Answer::Capturing {
                trial: trial.to_owned(),
                interface: name.to_owned(),
            })
        }

        /// Ends a capture; the `captured` event, and its file.
        pub fn stop(&mut self, trial: &str) -> Result<(Answer, File), String> {
            let capture = self
                .running
                .remove(trial)
                .ok_or_else(|| format!("the trial '{trial}' is not being captured"))?;
            let (counts, path) = capture
                .stop()
                .map_err(|e| format!("the capture of the trial '{trial}' failed: {e}"))?;
            let captured = Answer::Captured {
                trial: trial.to_owned(),
                frames: counts.frames,
                bytes: counts.bytes,
                dropped: counts.dropped,
            };
            let file = File {
                flow: 0,
                kind: "capture",
                path,
            };
            Ok((captured, file))
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod none {
    use crate::endpoint::answer::Answer;
    use crate::endpoint::trial::File;
    use std::path::PathBuf;

    /// Packet sockets are Linux's.
    pub struct Captures;

    impl Captures {
        pub fn new(_: PathBuf) -> Self {
            Self
        }

        pub fn start(&mut self, _: &str, _: &str) -> Result<Answer, String> {
            Err("this agent captures frames on Linux only".into())
        }

        pub fn stop(&mut self, trial: &str) -> Result<(Answer, File), String> {
            Err(format!("the trial '{trial}' is not being captured"))
        }
    }
}
