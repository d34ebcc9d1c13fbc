package sandbox

import (
	"errors"
	"fmt"
	"os"
)

// Run calls work in the inner copy and returns, in the outer copy, its exit code.
// It must be the first thing main or TestMain does. The error wraps
// ErrUnavailable when the machine does not permit sandboxes.
func Run(config Config, work func() int) (int, error) {
	switch os.Getenv(stageEnv) {
	case stageInit:
		os.Exit(runInit(config))
	case stageJanitor:
		os.Exit(runJanitor())
	case stageInner:
		// Programs started from here must not take themselves for a copy.
		if err := os.Unsetenv(stageEnv); err != nil {
			return 1, err
		}
		if err := adoptListeners(config.Forward); err != nil {
			return 1, err
		}
		return work(), nil
	}
	if config.Prepare != nil {
		if err := config.Prepare(); err != nil {
			return 1, err
		}
	}
	return runOuter(config)
}

// Required reports whether a missing sandbox is a failure and not a reason to
// skip: OLMGATE_E2E_REQUIRED=1, or CI=true as build services set it.
func Required() bool {
	return os.Getenv("OLMGATE_E2E_REQUIRED") == "1" || os.Getenv("CI") == "true"
}

// unavailable explains what the machine refused and what to do about it.
func unavailable(err error) error {
	advice := "run as root, or permit user namespaces: sysctl -w user.max_user_namespaces=15000, " +
		"and on Ubuntu sysctl -w kernel.apparmor_restrict_unprivileged_userns=0; " +
		"in a container: add the capability SYS_ADMIN"
	return fmt.Errorf("%w: %w (%s)", ErrUnavailable, err, advice)
}

// exitStatus is the code of a program that could not be run at all.
const exitStatus = 125

var errSetup = errors.New("setting up the sandbox")
