package sandbox

import (
	"os"
	"os/signal"
	"syscall"
)

// forwardSignals hands the signals that end a program to send, until stop.
func forwardSignals(send func(os.Signal)) (stop func()) {
	signals := make(chan os.Signal, 8)
	done := make(chan struct{})
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP)
	go func() {
		for {
			select {
			case s := <-signals:
				send(s)
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

// exitCode is the code a shell would report for a status.
func exitCode(status syscall.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}
