package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/resolver"
)

func newCatalog(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "catalog",
		Short: "Look into catalogs",
		Args:  knownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCatalogLs(s), newCatalogShow(s), newCatalogSnapshot(s), newCatalogInspect(s), newCatalogDiff(s))
	return cmd
}

func newCatalogLs(s streams) *cobra.Command {
	var flags catalogFlags
	var notes bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the catalogs and what they hold",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := flags.load(cmd.Context(), s)
			if err != nil {
				return err
			}
			screen := newScreen(s.out)
			rows := [][]string{{"NAME", "PRIORITY", "PACKAGES", "CHANNELS", "BUNDLES", "NOTES", "STATE", "LABELS"}}
			for i := range list {
				c := &list[i]
				row := []string{c.Name, strconv.Itoa(int(c.Priority)), "", "", "", ""}
				if x := c.Content.Index; x != nil {
					st := x.Stats()
					row = append(row[:2], strconv.Itoa(st.Packages), strconv.Itoa(st.Channels), strconv.Itoa(st.Bundles), strconv.Itoa(len(x.Notes())))
				}
				rows = append(rows, append(row, state(c), labels(c.Labels)))
			}
			screen.table(0, rows)
			if notes {
				for i := range list {
					screen.notes(&list[i])
				}
			}
			return screen.err
		},
	}
	cmd.Flags().BoolVar(&notes, "notes", false, "print what was found wrong in the catalogs and tolerated")
	flags.add(cmd.Flags())
	return cmd
}

// state says how a catalog stands.
func state(c *resolver.Catalog) string {
	switch {
	case c.Deleting:
		return "being deleted"
	case c.Unavailable:
		return "unavailable"
	case c.Content.Index == nil:
		return "no content: " + c.Content.Problem
	case !c.Serving:
		return "not serving"
	}
	return "ok"
}

func labels(m map[string]string) string {
	var list []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, k+"="+m[k])
	}
	return strings.Join(list, ",")
}

func (s *screen) notes(c *resolver.Catalog) {
	if c.Content.Index == nil || len(c.Content.Index.Notes()) == 0 {
		return
	}
	s.line()
	s.line(s.paint(bold, oneLine(c.Name)))
	for _, n := range c.Content.Index.Notes() {
		s.para(2, oneLine(n.Package)+": ", dim, n.Message)
	}
}

func newCatalogShow(s streams) *cobra.Command {
	var flags catalogFlags
	cmd := &cobra.Command{
		Use:   "show PACKAGE",
		Short: "Show a package in every catalog that has it",
		Args:  one("package"),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := flags.load(cmd.Context(), s)
			if err != nil {
				return err
			}
			screen := newScreen(s.out)
			found := false
			for i := range list {
				if x := list[i].Content.Index; x != nil {
					if p := x.Package(args[0]); p.Contained() {
						if found {
							screen.line()
						}
						found = true
						screen.pkg(&list[i], p)
					}
				}
			}
			if !found && screen.err == nil {
				return notShown(s, args[0], list)
			}
			return screen.err
		},
	}
	flags.add(cmd.Flags())
	return cmd
}

// notShown says that no catalog has a package, or that it cannot be known.
func notShown(s streams, pkg string, list []resolver.Catalog) error {
	var names, unread []string
	for i := range list {
		if x := list[i].Content.Index; x != nil {
			for _, p := range x.Packages() {
				names = append(names, p.Name)
			}
		} else {
			unread = append(unread, fmt.Sprintf("%s (%s)", list[i].Name, state(&list[i])))
		}
	}
	slices.Sort(names)
	hint := didYouMean(similar(pkg, slices.Compact(names)))
	if len(unread) > 0 {
		s.say("package %q was not found, and it may be in a catalog that was not read: %s%s", pkg, strings.Join(unread, ", "), hint)
		return status(exitUndecided)
	}
	s.say("no catalog has package %q%s", pkg, hint)
	return status(exitFailed)
}

// pkg writes a package: its channels, then its bundles, the newest first.
func (s *screen) pkg(c *resolver.Catalog, p *catalog.Package) {
	s.line(s.paint(bold, oneLine(p.Name)), oneLine(fmt.Sprintf("  in catalog %s (priority %d, %s)", c.Name, c.Priority, state(c))))
	deprecated := map[[2]string]string{}
	for _, d := range p.Deprecations {
		if d.Schema == catalog.SchemaPackage {
			s.para(2, "deprecated: ", yellow, d.Message)
		}
		deprecated[[2]string{d.Schema, d.Name}] = strings.TrimSuffix("deprecated: "+d.Message, ": ")
	}
	channels := [][]string{{"CHANNEL", "ENTRIES", ""}}
	in := map[string][]string{}
	for i := range p.Channels {
		ch := &p.Channels[i]
		remark := deprecated[[2]string{catalog.SchemaChannel, ch.Name}]
		if ch.Name == p.DefaultChannel {
			remark = strings.TrimSuffix("default, "+remark, ", ")
		}
		channels = append(channels, []string{ch.Name, strconv.Itoa(len(ch.Entries)), remark})
		for j := range ch.Entries {
			in[ch.Entries[j].Name] = append(in[ch.Entries[j].Name], ch.Name)
		}
	}
	s.table(2, channels)
	bundles := [][]string{{"BUNDLE", "VERSION", "RELEASE", "CHANNELS", ""}}
	order := slices.Clone(p.Bundles)
	slices.SortStableFunc(order, func(a, b catalog.Bundle) int {
		if c := b.Version.Compare(a.Version); c != 0 {
			return c
		}
		return b.Release.Compare(a.Release)
	})
	for i := range order {
		b := &order[i]
		version, remark := b.Version.String(), deprecated[[2]string{catalog.SchemaBundle, b.Name}]
		if b.Problem != "" {
			version, remark = "", b.Problem
		}
		bundles = append(bundles, []string{b.Name, version, b.Release.String(), strings.Join(in[b.Name], ","), remark})
	}
	s.table(2, bundles)
}
