package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmgate/olmgate/docs"
)

func newExplain(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [REASON]",
		Short: "Explain a reason or note, or list all of them",
		Example: `  olmgate explain
  olmgate explain AmbiguousCatalogs`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("olmgate explain takes one reason, or none to list all of them, not %d", len(args))
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions(docs.ReasonNames(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			screen := newScreen(s.out)
			if len(args) == 0 {
				rows := [][]string{{"REASON", "MEANING"}}
				for _, r := range docs.Reasons() {
					rows = append(rows, []string{r.Name, r.Summary})
				}
				screen.table(0, rows)
				return screen.err
			}
			r, ok := docs.Reason(args[0])
			if !ok {
				return fmt.Errorf("unknown reason %q: olmgate explain lists all of them%s", args[0], didYouMean(similar(args[0], docs.ReasonNames())))
			}
			screen.line(screen.paint(bold, r.Name))
			screen.line()
			screen.write(strings.TrimSpace(r.Text) + "\n")
			return screen.err
		},
	}
}
