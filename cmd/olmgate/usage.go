package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usageWidth is where the descriptions of flags are wrapped.
const usageWidth = 120

// sectionOf is the annotation that puts a flag into a section of its own in the help.
const sectionOf = "olmgate.dev/section"

// addSection adds flags under a heading of their own in the help.
func addSection(to *pflag.FlagSet, heading string, flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) { f.Annotations = map[string][]string{sectionOf: {heading}} })
	to.AddFlagSet(flags)
}

// usage writes what comes after the description in the help of a command.
func usage(cmd *cobra.Command) error {
	var b strings.Builder
	line := cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		line = cmd.CommandPath() + " COMMAND"
	}
	fmt.Fprintf(&b, "Usage:\n  %s\n", line)
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\nCommands:\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() || c.Name() == "help" {
				fmt.Fprintf(&b, "  %-*s %s\n", namePadding(cmd), c.Name(), c.Short)
			}
		}
	}
	headings := []string{"Flags"}
	sections := map[string]*pflag.FlagSet{"Flags": pflag.NewFlagSet("", pflag.ContinueOnError)}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		heading := "Flags"
		if s := f.Annotations[sectionOf]; len(s) == 1 {
			heading = s[0]
		}
		if sections[heading] == nil {
			headings = append(headings, heading)
			sections[heading] = pflag.NewFlagSet("", pflag.ContinueOnError)
		}
		sections[heading].AddFlag(f)
	})
	slices.Sort(headings[1:])
	for _, h := range headings {
		if text := sections[h].FlagUsagesWrapped(usageWidth); text != "" {
			fmt.Fprintf(&b, "\n%s:\n%s", h, text)
		}
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n%s COMMAND --help says more about a command.\n", cmd.CommandPath())
	}
	_, err := fmt.Fprint(cmd.OutOrStderr(), b.String())
	return err
}

// knownCommand refuses arguments of a command that only has commands below it.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.SuggestionsMinimumDistance <= 0 {
		cmd.SuggestionsMinimumDistance = 2
	}
	return fmt.Errorf("unknown command %q: %s --help lists the commands%s", args[0], cmd.CommandPath(), didYouMean(cmd.SuggestionsFor(args[0])))
}

// noArgs takes no argument.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("%s takes no arguments, not %q; see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
}

// one takes exactly one argument, named what.
func one(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		return fmt.Errorf("%s takes one %s, not %d: %s", cmd.CommandPath(), what, len(args), cmd.UseLine())
	}
}

var unknownFlag = regexp.MustCompile(`^unknown flag: --([^=\s]+)`)

// flagError says what to do about a wrong flag.
func flagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	hint := ""
	if m := unknownFlag.FindStringSubmatch(err.Error()); m != nil {
		var names, flags []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		for _, n := range similar(m[1], names) {
			flags = append(flags, "--"+n)
		}
		hint = didYouMean(flags)
	}
	return fmt.Errorf("%w; see %s --help%s", err, cmd.CommandPath(), hint)
}

// similar are those of the names that someone may have meant, by the rules that cobra has for commands.
func similar(got string, names []string) []string {
	parent := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, n := range names {
		parent.AddCommand(&cobra.Command{Use: n, Run: func(*cobra.Command, []string) {}})
	}
	return parent.SuggestionsFor(got)
}

// didYouMean is a hint at the end of an error, "" without names.
func didYouMean(names []string) string {
	const most = 5
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(names[:min(most, len(names))], " or ") + "?"
}

// namePadding is a column for the names of a command's subcommands; cobra's NamePadding is one for its siblings.
func namePadding(cmd *cobra.Command) int {
	widest := 0
	for _, c := range cmd.Commands() {
		widest = max(widest, len(c.Name()))
	}
	return widest + 1
}
