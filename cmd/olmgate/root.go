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
	s.say("%v", err)
	return exitUsage
}

// say tells a person something beside the answer.
func (s streams) say(format string, args ...any) {
	text := strings.TrimSpace(printable(fmt.Sprintf(format, args...)))
	fmt.Fprintf(s.err, "olmgate: %s\n", strings.ReplaceAll(text, "\n", "\n  "))
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
		Args:          knownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(usage)
	root.AddCommand(newServe(s), newStatusWriter(s), newResolve(s), newCheck(s), newStatus(s), newOutdated(s), newExplain(s), newCatalog(s), newDoctor(s), newConfig(s), newVersion(s))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Short, c.Long = "Show the help of a command", ""
			c.Run, c.RunE = nil, help
		case "completion":
			c.Short, c.Long = "Write a script that completes command lines in a shell", ""
			c.Args, c.RunE = knownCommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
	return root
}

// help shows the help of a command; cobra's own says nothing of a command that is not there.
func help(cmd *cobra.Command, args []string) error {
	about, rest, err := cmd.Root().Find(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return knownCommand(about, rest)
	}
	about.InitDefaultHelpFlag()
	return about.Help()
}
