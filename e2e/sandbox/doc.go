// Package sandbox runs the current program again inside fresh Linux namespaces,
// so that a whole control plane gets a network, a file system view and a process
// tree of its own: ports never collide, service names resolve, and everything
// that was started dies with it, whatever happens.
//
// Three copies of the program are involved. The outer one stays where it was
// started, creates the namespaces and waits. The init copy is process 1 inside:
// it sets up network and mounts, starts the inner copy and reaps orphans. The
// inner copy is the one that does the work; it may use os/exec freely, because
// nobody else collects the exit codes of its children.
//
// It works as root, and without root where the kernel permits user namespaces.
//
// With Config.Containers it is also a place for a kubelet and the containers it
// starts, which takes root. What the machine would keep of them, control groups
// and files, is removed by a fourth copy, the janitor, that waits outside for the
// end of the others, however they end.
package sandbox

import (
	"errors"
	"os"
)

// stageEnv tells a copy of the program which of the three it is.
const stageEnv = "OLMGATE_SANDBOX_STAGE"

const (
	stageInit    = "init"
	stageInner   = "inner"
	stageJanitor = "janitor"
)

// ErrUnavailable says that this machine does not permit the namespaces.
var ErrUnavailable = errors.New("namespaces are not available")

// Network inside the sandbox: one loopback device that answers for all of
// Subnet, so that any number of "pods" can have an address of their own.
const (
	Subnet       = "10.200.0.0/24"
	firstAddress = "10.200.0.1"
	subnetMask   = "255.255.255.0"
)

// Config describes the sandbox.
type Config struct {
	// Hosts maps names to addresses, on top of localhost.
	Hosts map[string]string
	// Forward names listening sockets to open on 127.0.0.1 outside the sandbox
	// and to hand to the inner copy; see Listener.
	Forward []string
	// Containers makes the sandbox fit for a kubelet: see CgroupRoot. Temporary
	// files made inside are then removed with the sandbox.
	Containers bool
	// Prepare, when set, runs in the outer copy first: the place for anything
	// that needs the real network. What it sets in the environment arrives inside.
	Prepare func() error
}

// Inside reports whether this is the inner copy.
func Inside() bool { return inside }

var inside = os.Getenv(stageEnv) == stageInner
