//! Requests to the kernel's table of links, addresses and routes, and its answers: rtnetlink(7).

use netlink_packet_core::{
    NetlinkBuffer, NetlinkMessage, NetlinkPayload, NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST,
};
use netlink_packet_route::RouteNetlinkMessage;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, Read, Write};
use std::time::Duration;

/// One connection for any number of requests.
pub struct Netlink(Socket);

impl Netlink {
    /// `patience`: a system that never answers must not hold us.
    pub fn open(patience: Duration) -> io::Result<Self> {
        let socket = Socket::new(
            Domain::from(libc::AF_NETLINK),
            Type::RAW,
            Some(Protocol::from(libc::NETLINK_ROUTE)),
        )?;
        socket.set_read_timeout(Some(patience))?;
        Ok(Self(socket))
    }

    /// The messages of the answer. With NLM_F_DUMP or NLM_F_ACK among the flags it goes on to its
    /// end; without, it is what comes at once.
    pub fn ask(
        &mut self,
        message: RouteNetlinkMessage,
        flags: u16,
    ) -> io::Result<Vec<RouteNetlinkMessage>> {
        let mut request = NetlinkMessage::from(message);
        request.header.flags = NLM_F_REQUEST | flags;
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        self.0.write_all(&bytes)?;
        let mut buffer = vec![0; 64 * 1024];
        let mut answer = Vec::new();
        loop {
            let came = self.0.read(&mut buffer)?;
            if came == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if read(&buffer[..came], &mut answer)? || flags & (NLM_F_DUMP | NLM_F_ACK) == 0 {
                return Ok(answer);
            }
        }
    }
}

/// The answer to one request that the kernel has no reason to wait with.
pub fn ask(message: RouteNetlinkMessage, flags: u16) -> io::Result<Vec<RouteNetlinkMessage>> {
    Netlink::open(Duration::from_millis(500))?.ask(message, flags)
}

/// Reads the messages of one datagram; true if the last of all was among them.
fn read(mut bytes: &[u8], answer: &mut Vec<RouteNetlinkMessage>) -> io::Result<bool> {
    while !bytes.is_empty() {
        let length = NetlinkBuffer::new_checked(bytes)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?
            .length() as usize;
        // One that is not understood, such as a newer kernel's, is left out: what is looked for may
        // be another.
        if let Ok(message) = NetlinkMessage::deserialize(bytes) {
            match message.payload {
                NetlinkPayload::Done(_) => return Ok(true),
                NetlinkPayload::Error(error) if error.code.is_none() => return Ok(true),
                NetlinkPayload::Error(error) => return Err(error.to_io()),
                NetlinkPayload::InnerMessage(message) => answer.push(message),
                _ => {}
            }
        }
        bytes = &bytes[length.next_multiple_of(4).min(bytes.len())..];
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlink_packet_core::{DoneMessage, ErrorMessage};
    use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage};
    use std::num::NonZeroI32;

    fn bytes(payload: NetlinkPayload<RouteNetlinkMessage>) -> Vec<u8> {
        let mut message = NetlinkMessage::new(Default::default(), payload);
        message.finalize();
        let mut bytes = vec![0; message.buffer_len().next_multiple_of(4)];
        message.serialize(&mut bytes);
        bytes
    }

    fn qdisc(index: i32, kind: &str) -> RouteNetlinkMessage {
        let mut message = TcMessage::with_index(index);
        message.header.parent = TcHandle::ROOT;
        message.attributes = vec![TcAttribute::Kind(kind.to_owned())];
        RouteNetlinkMessage::NewQueueDiscipline(message)
    }

    #[test]
    fn messages_are_read_up_to_the_last() {
        let wanted = [qdisc(2, "mq"), qdisc(1, "noqueue")];
        let mut datagram: Vec<u8> = wanted
            .iter()
            .flat_map(|m| bytes(m.clone().into()))
            .collect();
        let mut answer = Vec::new();
        assert!(!read(&datagram, &mut answer).unwrap());
        assert_eq!(answer, wanted);
        datagram.extend(bytes(NetlinkPayload::Done(DoneMessage::default())));
        assert!(read(&datagram, &mut Vec::new()).unwrap());
        let acknowledged = bytes(NetlinkPayload::Error(ErrorMessage::default()));
        assert!(read(&acknowledged, &mut Vec::new()).unwrap());
    }

    #[test]
    fn an_error_of_the_kernel_is_an_error() {
        let mut refusal = ErrorMessage::default();
        refusal.code = NonZeroI32::new(-libc::EPERM);
        let error = read(&bytes(NetlinkPayload::Error(refusal)), &mut Vec::new()).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EPERM));
    }

    #[test]
    fn a_message_that_is_not_understood_hides_no_other() {
        let mut torn = bytes(qdisc(2, "mq").into());
        let attribute = torn.len() - 8;
        torn[attribute] = 3; // Shorter than the head of an attribute.
        torn.extend(bytes(qdisc(3, "fq").into()));
        let mut answer = Vec::new();
        assert!(!read(&torn, &mut answer).unwrap());
        assert_eq!(answer, [qdisc(3, "fq")]);
    }

    #[test]
    fn any_bytes_are_survived() {
        let good = [
            bytes(qdisc(2, "mq").into()),
            bytes(qdisc(3, "pfifo_fast").into()),
        ]
        .concat();
        for at in 0..good.len() {
            for value in [0, 1, 3, 16, 40, 127, 255] {
                let mut bad = good.clone();
                bad[at] = value;
                let _ = read(&bad, &mut Vec::new());
                let _ = read(&bad[..at], &mut Vec::new());
            }
        }
    }
}
