package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/olmgate/olmgate/config"
	"github.com/olmgate/olmgate/resolver"
)

func newConfig(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Write out or check the configuration of olmgate serve",
		Args:  knownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "defaults",
		Short: "Write out the configuration that holds without a file",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			text, err := config.DefaultsYAML(knownNames())
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(s.out, text)
			return err
		},
	}, &cobra.Command{
		Use:   "check FILE",
		Short: "Say what is wrong in a configuration file",
		Args:  one("file"),
		RunE: func(_ *cobra.Command, args []string) error {
			if _, err := loadConfig(args[0]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(s.out, "%s is a valid configuration\n", oneLine(args[0]))
			return err
		},
	})
	return cmd
}

// knownNames are the names that a configuration may use.
func knownNames() config.Names {
	names := config.Names{Rules: []string{string(resolver.RulePackage), string(resolver.RuleBundle)}}
	for _, r := range resolver.Failures() {
		names.Failures = append(names.Failures, string(r))
	}
	for _, r := range resolver.Notes() {
		names.Notes = append(names.Notes, string(r))
	}
	return names
}

// loadConfig reads and checks a file; "" is the default configuration.
func loadConfig(file string) (config.OlmgateConfiguration, error) {
	if file == "" {
		return config.Default(), nil
	}
	c, err := config.Load(file)
	if err != nil {
		return c, err
	}
	if err := c.Validate(knownNames()); err != nil {
		return c, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}
