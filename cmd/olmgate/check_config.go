package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/olmgate/olmgate/check/report"
	"github.com/olmgate/olmgate/config"
	"github.com/olmgate/olmgate/resolver"
)

// configName is the file that is looked for.
const configName = ".olmgate.yaml"

// configuration reads the file that is named, or the next one upward; where is the directory that its paths start from.
func (o *checkOptions) configuration() (c config.CheckConfiguration, where string, err error) {
	file := o.configFile
	if file == "" {
		if file, err = findConfig(); err != nil {
			return c, "", err
		}
	}
	if file == "" {
		return config.DefaultCheck(), ".", nil
	}
	if c, err = config.LoadCheck(file); err != nil {
		return c, "", err
	}
	var schema []string
	for _, r := range report.SchemaRules() {
		if r.Name != report.UnreadableInput {
			schema = append(schema, r.Name)
		}
	}
	if err := c.Validate(knownNames(), schema); err != nil {
		return c, "", fmt.Errorf("%s: %w", file, err)
	}
	return c, filepath.Dir(file), nil
}

// findConfig looks for the configuration from here up to the top of the git repository; without a repository only here.
// "" when there is none.
func findConfig() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	rel := "."
	found := ""
	for {
		if _, err := os.Lstat(filepath.Join(dir, configName)); err == nil && found == "" {
			found = filepath.Join(rel, configName)
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", unreadable(filepath.Join(rel, configName), err)
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return found, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir, rel = up, filepath.Join(rel, "..")
	}
	if found == configName {
		return found, nil
	}
	return "", nil
}

// clusterNamed reports whether a flag says which cluster the catalogs are those of.
func (o *checkOptions) clusterNamed() bool {
	return slices.ContainsFunc([]string{"catalogd-url", "server", "kubeconfig", "context", "cluster"}, o.flags.Changed)
}

// takeFromConfig lets flags override the file, and the file fill in what no flag says.
func (o *checkOptions) takeFromConfig(c *config.CheckConfiguration, where string) error {
	in := func(name string) string {
		if name == "" || filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(where, name)
	}
	if o.flags.Changed("rule") {
		c.Rule = o.rule
	}
	if _, err := resolver.ParseRule(c.Rule); err != nil {
		return err
	}
	if o.flags.Changed("fail-on") {
		c.FailOn = o.failOn
	}
	switch report.Level(c.FailOn) {
	case report.Error, report.Warning, report.Undecided:
	default:
		return fmt.Errorf("--fail-on %q: it is error, warning or undecided", c.FailOn)
	}
	c.RequireObjects = c.RequireObjects || o.requireObjects
	if o.baseline == "" {
		o.baseline = in(c.Baseline)
	}
	if !o.schemaOnly && !o.catalogs.offline() && !o.clusterNamed() {
		o.catalogs.dir = in(c.Catalogs)
		for _, name := range c.Snapshots {
			o.catalogs.snapshots = append(o.catalogs.snapshots, in(name))
		}
	}
	return nil
}
