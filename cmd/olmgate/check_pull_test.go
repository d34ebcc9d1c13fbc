package main

import (
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestCheckPullScripts runs testdata/pull with a registry of its own: silence counts what connects to it.
func TestCheckPullScripts(t *testing.T) {
	server, connections := imageRegistry(t)
	host := server.Listener.Addr().String()
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/pull",
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			for _, env := range []string{"KUBECONFIG", "NO_COLOR", "XDG_RUNTIME_DIR", "DOCKER_CONFIG", "HTTPS_PROXY", "HTTP_PROXY"} {
				e.Setenv(env, "")
			}
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("REGISTRY", host)
			for name, text := range map[string]string{
				"ca.pem":    string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})),
				"auth.json": fmt.Sprintf(`{"auths":{%q:{"auth":"cG90dGVyOmNsYXk="}}}`, host),
			} {
				if err := os.WriteFile(filepath.Join(e.WorkDir, name), []byte(text), 0o600); err != nil {
					return err
				}
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": wantStatus,
			"fill": func(ts *testscript.TestScript, _ bool, args []string) {
				text := strings.ReplaceAll(ts.ReadFile(args[0]), "@REGISTRY@", host)
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
			},
			"silence": func(ts *testscript.TestScript, neg bool, args []string) {
				before := connections.Load()
				wantStatus(ts, neg, args)
				if n := connections.Load() - before; n > 0 {
					ts.Fatalf("%d connections to the registry", n)
				}
			},
		},
	})
}
