package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/olmgate/olmgate/resolver"
)

// resolveOptions are the flags of resolve.
type resolveOptions struct {
	judgeFlags
	explain bool
}

func newResolve(s streams) *cobra.Command {
	o := &resolveOptions{}
	cmd := &cobra.Command{
		Use:   "resolve [NAME...] [-f FILE]",
		Short: "Say what ClusterExtensions resolve to",
		Long: strings.TrimSpace(`
Says what ClusterExtensions resolve to, and why. The extensions are those of files, or named ones of the cluster; the
catalogs are files, or those of the cluster. What is installed is read from the extensions' status, so the output of
kubectl get clusterextensions -o yaml can be piped in.

Exit status: 0 all resolved, 1 some failed, 2 wrong usage or unreadable input, 3 some undecided; 2 before 1 before 3.`),
		Example: `  olmgate resolve -f argocd.yaml --catalogs ./catalogs
  olmgate resolve -f apps/ --catalog hub=hub.jsonl.zst -o json
  olmgate resolve argocd --explain
  kubectl get clusterextensions -o yaml | olmgate resolve -f -`,
		RunE: func(cmd *cobra.Command, names []string) error { return o.run(cmd.Context(), s, names) },
	}
	o.add(cmd, "text", "json", "yaml")
	cmd.Flags().BoolVar(&o.explain, "explain", false, "print how each answer came about")
	return cmd
}

func (o *resolveOptions) run(ctx context.Context, s streams, names []string) error {
	if _, err := resolver.ParseRule(o.rule); err != nil {
		return err
	}
	write, err := printer(o.output, o.explain)
	if err != nil {
		return err
	}
	if err := o.catalogs.check(); err != nil {
		return err
	}
	if len(names) == 0 && len(o.files) == 0 {
		return errors.New("nothing to resolve: name ClusterExtensions of the cluster, or files with -f; see olmgate resolve --help")
	}
	list, _, err := o.judgeAll(ctx, s, names, resolver.Resolve)
	if err != nil {
		return err
	}
	verdicts := verdictsOf(list)
	if err := write(s.out, verdicts); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return exitOf(verdicts)
}

// exitOf is the exit status that verdicts ask for, nil for 0.
func exitOf(verdicts []resolver.Verdict) error {
	code := exitOK
	for i := range verdicts {
		switch verdicts[i].Outcome {
		case resolver.OutcomeFailed:
			return status(exitFailed)
		case resolver.OutcomeUndecided:
			code = exitUndecided
		}
	}
	if code != exitOK {
		return status(code)
	}
	return nil
}

// printer writes verdicts in a format.
func printer(format string, explain bool) (func(io.Writer, []resolver.Verdict) error, error) {
	switch format {
	case "text":
		return func(w io.Writer, v []resolver.Verdict) error { return printText(w, v, explain) }, nil
	case "json":
		return printJSON, nil
	case "yaml":
		return printYAML, nil
	}
	return nil, unknownFormat(format, []string{"text", "json", "yaml"})
}

func printJSON(w io.Writer, verdicts []resolver.Verdict) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(resolver.NewVerdictList(verdicts))
}

func printYAML(w io.Writer, verdicts []resolver.Verdict) error {
	raw, err := yaml.Marshal(resolver.NewVerdictList(verdicts))
	if err != nil {
		return err
	}
	_, err = w.Write(raw)
	return err
}
