package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/olmgate/olmgate/resolver"
)

// resolveOptions are the flags of resolve.
type resolveOptions struct {
	catalogs catalogFlags
	files    []string
	rule     string
	output   string
	explain  bool
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
	cmd.Flags().StringArrayVarP(&o.files, "filename", "f", nil, "`FILE` or directory with ClusterExtensions, - for standard input; can be repeated")
	cmd.Flags().StringVar(&o.rule, "rule", string(resolver.RulePackage), "selection `RULE`: Package, or Bundle as operator-controller 1.0 to 1.11 selects")
	cmd.Flags().StringVarP(&o.output, "output", "o", "text", "output `FORMAT`: text, json or yaml")
	cmd.Flags().BoolVar(&o.explain, "explain", false, "print how each answer came about")
	o.catalogs.add(cmd.Flags())
	for flag, values := range map[string][]string{
		"rule":   {string(resolver.RulePackage), string(resolver.RuleBundle)},
		"output": {"text", "json", "yaml"},
	} {
		if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic(err) // cannot be: the flags were just added
		}
	}
	return cmd
}

func (o *resolveOptions) run(ctx context.Context, s streams, names []string) error {
	rule, err := resolver.ParseRule(o.rule)
	if err != nil {
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
	extensions, err := o.extensions(ctx, s, names)
	if err != nil {
		return err
	}
	catalogs, err := o.catalogs.load(ctx, s)
	if err != nil {
		return err
	}
	var verdicts []resolver.Verdict
	for _, e := range extensions {
		if !resolver.Judges(e.object) {
			s.say("%s has sourceType %q, which is not olmgate's to judge", oneLine(e.object.Name), e.object.Spec.Source.SourceType)
			continue
		}
		v := resolver.Resolve(e.object, catalogs, rule)
		v.Location = e.at
		verdicts = append(verdicts, v)
	}
	if err := write(s.out, verdicts); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return exitOf(verdicts)
}

// extensions are those of the files, in their order, then the named ones.
func (o *resolveOptions) extensions(ctx context.Context, s streams, names []string) ([]extension, error) {
	for _, name := range names {
		if _, err := os.Stat(name); err == nil && manifestName(name) {
			return nil, fmt.Errorf("%s is a file, and arguments are names of ClusterExtensions in the cluster: write -f %s", name, name)
		}
	}
	if i := slices.Index(o.files, "-"); i >= 0 && slices.Contains(o.files[i+1:], "-") {
		return nil, errors.New("standard input can be read once: write -f - once")
	}
	r := &reader{in: s.in}
	for _, f := range o.files {
		if err := r.read(f); err != nil {
			return nil, err
		}
	}
	for _, w := range r.warnings {
		s.say("warning: %v", w)
	}
	if len(names) == 0 {
		if len(r.found) == 0 {
			return nil, r.nothing(o.files)
		}
		return r.found, nil
	}
	c, config, err := o.catalogs.client()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		ext := &ocv1.ClusterExtension{}
		if err := c.Get(ctx, types.NamespacedName{Name: name}, ext); err != nil {
			return nil, fmt.Errorf("reading ClusterExtension %s at %s: %w", name, config.Host, clusterProblem(err))
		}
		r.found = append(r.found, extension{object: ext})
	}
	return r.found, nil
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
	return nil, fmt.Errorf("unknown output format %q: it is text, json or yaml", format)
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
