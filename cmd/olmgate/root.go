package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// streams are what a command reads and writes.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// Exit statuses, whatever the output format. When several apply, 2 comes before 1 before 3.
const (
	exitOK        = 0 // everything resolved
	exitFailed    = 1 // some failed
	exitUsage     = 2 // wrong usage or unreadable input
	exitUndecided = 3 // some undecided
)

// status is an error that has been told to the user already and only sets the exit status.
type status int

func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// run executes one command line and returns the exit status.
func run(ctx context.Context, args []string, s streams) int {
	root := newRoot(s)
	root.SetArgs(args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	err := root.ExecuteContext(ctx)
	var code status
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintf(s.err, "olmgate: %s\n", printable(err.Error()))
	return exitUsage
}

func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "olmgate",
		Short: "Say what a ClusterExtension resolves to, and why, before it is installed",
		Long: strings.TrimSpace(`
olmgate answers what an OLM v1 ClusterExtension resolves to, with the same inputs as operator-controller: at the
moment of kubectl apply, as an admission webhook, and on the command line, with a cluster or with catalog files.`),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
	})
	root.AddCommand(newServe(s), newResolve(s), newExplain(s), newCatalog(s), newConfig(s), newVersion(s))
	return root
}
