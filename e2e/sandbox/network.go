package sandbox

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// setUpNetwork brings the loopback device up and gives it the sandbox's subnet.
// On a loopback device every address of a subnet is local, so one entry is enough.
func setUpNetwork() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening a socket to set up the network: %w", err)
	}
	defer unix.Close(socket)

	device, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	device.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, device); err != nil {
		return fmt.Errorf("bringing the loopback device up: %w", err)
	}
	// A second address of a device is set through an alias of it.
	if err := setAddress(socket, "lo:0", unix.SIOCSIFADDR, firstAddress); err != nil {
		return fmt.Errorf("adding address %s: %w", firstAddress, err)
	}
	if err := setAddress(socket, "lo:0", unix.SIOCSIFNETMASK, subnetMask); err != nil {
		return fmt.Errorf("setting the mask of %s: %w", firstAddress, err)
	}
	return nil
}

func setAddress(socket int, device string, request uint, address string) error {
	ifreq, err := unix.NewIfreq(device)
	if err != nil {
		return err
	}
	if err := ifreq.SetInet4Addr(net.ParseIP(address).To4()); err != nil {
		return err
	}
	return unix.IoctlIfreq(socket, request, ifreq)
}
