package sandbox

import (
	"fmt"
	"io"
	"net"
	"os"
	"sync"
)

var outside = map[string]net.Listener{}

// adoptListeners takes over the sockets that the outer copy opened.
func adoptListeners(names []string) error {
	for i, name := range names {
		file := os.NewFile(uintptr(innerListenerFD+i), name)
		listener, err := net.FileListener(file)
		file.Close()
		if err != nil {
			return fmt.Errorf("taking over the outside socket for %s: %w", name, err)
		}
		outside[name] = listener
	}
	return nil
}

// Listener returns the socket that Config.Forward named: connections made to its
// address outside the sandbox are accepted here, inside. It is nil for a name
// that was not configured.
func Listener(name string) net.Listener { return outside[name] }

// ForwardTo connects whatever the listener accepts with an address inside the
// sandbox, until the listener is closed.
func ForwardTo(listener net.Listener, address string) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer client.Close()
			server, err := net.Dial("tcp", address)
			if err != nil {
				return
			}
			defer server.Close()
			join(client, server)
		}()
	}
}

// join copies both ways, passing on the end of each direction.
func join(a, b net.Conn) {
	var both sync.WaitGroup
	for _, pair := range [][2]net.Conn{{a, b}, {b, a}} {
		both.Go(func() {
			_, _ = io.Copy(pair[0], pair[1])
			if half, ok := pair[0].(*net.TCPConn); ok {
				_ = half.CloseWrite()
			}
		})
	}
	both.Wait()
}
