package sandbox

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// Attract makes packets to a subnet enter the network stack of the sandbox as if
// there were a device for it: kube-proxy can then send them elsewhere. Without a
// route there is nothing to change.
func Attract(subnet netip.Prefix) error {
	request, err := routeRequest(subnet)
	if err == nil {
		err = netlink(request)
	}
	if err != nil {
		return fmt.Errorf("adding a route for %s: %w", subnet, err)
	}
	return nil
}

// loopbackIndex is the number of the loopback device in every network.
const loopbackIndex = 1

// routeRequest encodes "ip route add SUBNET dev lo src FIRST-ADDRESS".
func routeRequest(subnet netip.Prefix) ([]byte, error) {
	var message bytes.Buffer
	for _, part := range []any{
		unix.NlMsghdr{
			Type:  unix.RTM_NEWROUTE,
			Flags: unix.NLM_F_REQUEST | unix.NLM_F_ACK | unix.NLM_F_CREATE,
			Seq:   1,
		},
		unix.RtMsg{
			Family:   unix.AF_INET,
			Dst_len:  uint8(subnet.Bits()),
			Table:    unix.RT_TABLE_MAIN,
			Protocol: unix.RTPROT_STATIC,
			Scope:    unix.RT_SCOPE_LINK,
			Type:     unix.RTN_UNICAST,
		},
		attribute(unix.RTA_DST), subnet.Addr().As4(),
		attribute(unix.RTA_PREFSRC), netip.MustParseAddr(firstAddress).As4(),
		attribute(unix.RTA_OIF), uint32(loopbackIndex),
	} {
		if err := binary.Write(&message, binary.NativeEndian, part); err != nil {
			return nil, err
		}
	}
	// The length, which the header begins with, is known now.
	binary.NativeEndian.PutUint32(message.Bytes(), uint32(message.Len()))
	return message.Bytes(), nil
}

// attribute is the header of an attribute of four bytes.
func attribute(kind uint16) unix.RtAttr { return unix.RtAttr{Len: unix.SizeofRtAttr + 4, Type: kind} }

// netlink sends a request to the kernel and returns the error that it answers.
func netlink(request []byte) error {
	socket, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	if err := unix.Sendto(socket, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, unix.Getpagesize())
	n, _, err := unix.Recvfrom(socket, answer, 0)
	if err != nil {
		return err
	}
	// An acknowledgement is an error with the number zero.
	if n < unix.SizeofNlMsghdr+4 {
		return fmt.Errorf("the kernel answered %d bytes", n)
	}
	if code := int32(binary.NativeEndian.Uint32(answer[unix.SizeofNlMsghdr:])); code != 0 {
		return unix.Errno(-code)
	}
	return nil
}
