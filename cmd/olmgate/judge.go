package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/olmgate/olmgate/resolver"
)

// judgeFlags are the flags of the verbs that judge ClusterExtensions.
type judgeFlags struct {
	catalogs catalogFlags
	files    []string
	rule     string
	output   string
	// all is whether the verb judges all extensions of the cluster when neither names nor files are given.
	all bool
}

// judged is a ClusterExtension with its verdict.
type judged struct {
	extension *ocv1.ClusterExtension
	verdict   resolver.Verdict
}

// judge is resolver.Resolve or resolver.Outlook.
type judge func(*ocv1.ClusterExtension, []resolver.Catalog, resolver.Rule) resolver.Verdict

// add adds the flags, with the formats that -o takes; the first is the default.
func (f *judgeFlags) add(cmd *cobra.Command, formats ...string) {
	cmd.Flags().StringArrayVarP(&f.files, "filename", "f", nil, "`FILE` or directory with ClusterExtensions, - for standard input; can be repeated")
	cmd.Flags().StringVar(&f.rule, "rule", string(resolver.RulePackage), "selection `RULE`: Package, or Bundle as operator-controller 1.0 to 1.11 selects")
	cmd.Flags().StringVarP(&f.output, "output", "o", formats[0], "output `FORMAT`: "+either(formats))
	f.catalogs.add(cmd.Flags())
	for flag, values := range map[string][]string{
		"rule":   {string(resolver.RulePackage), string(resolver.RuleBundle)},
		"output": formats,
	} {
		if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic(err) // cannot be: the flags were just added
		}
	}
}

// either joins words as in "text, json or yaml".
func either(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// unknownFormat is the error for an -o that is none of the formats.
func unknownFormat(got string, formats []string) error {
	return fmt.Errorf("unknown output format %q: it is %s", got, either(formats))
}

// judgeAll reads extensions and catalogs and judges the extensions, in the order of the input. The catalogs come with it.
func (f *judgeFlags) judgeAll(ctx context.Context, s streams, names []string, judge judge) ([]judged, []resolver.Catalog, error) {
	rule, err := resolver.ParseRule(f.rule)
	if err != nil {
		return nil, nil, err
	}
	extensions, err := f.extensions(ctx, s, names)
	if err != nil {
		return nil, nil, err
	}
	catalogs, err := f.catalogs.load(ctx, s)
	if err != nil {
		return nil, nil, permitted(err)
	}
	var list []judged
	for _, e := range extensions {
		if !resolver.Judges(e.object) {
			s.say("%s", notJudged(e.object))
			continue
		}
		v := judge(e.object, catalogs, rule)
		v.Location = e.at
		list = append(list, judged{e.object, v})
	}
	return list, catalogs, nil
}

func notJudged(ext *ocv1.ClusterExtension) string {
	return fmt.Sprintf("%s has sourceType %q, which is not olmgate's to judge", oneLine(ext.Name), ext.Spec.Source.SourceType)
}

// extensions are those of the files, in their order, then the named ones of the cluster; where the verb takes all and
// nothing else is given, all of the cluster by name.
func (f *judgeFlags) extensions(ctx context.Context, s streams, names []string) ([]extension, error) {
	for _, name := range names {
		if _, err := os.Stat(name); err == nil && manifestName(name) {
			return nil, fmt.Errorf("%s is a file, and arguments are names of ClusterExtensions in the cluster: write -f %s", name, name)
		}
	}
	if i := slices.Index(f.files, "-"); i >= 0 && slices.Contains(f.files[i+1:], "-") {
		return nil, errors.New("standard input can be read once: write -f - once")
	}
	r := &reader{in: s.in}
	for _, name := range f.files {
		if err := r.read(name); err != nil {
			return nil, err
		}
	}
	for _, w := range r.warnings {
		s.say("warning: %v", w)
	}
	switch {
	case len(names) > 0:
		named, err := f.named(ctx, names)
		return append(r.found, named...), err
	case f.all && len(f.files) == 0:
		return f.everything(ctx, s)
	case len(r.found) == 0:
		return nil, r.nothing(f.files)
	}
	return r.found, nil
}

// named are ClusterExtensions of the cluster, in the order of the names.
func (f *judgeFlags) named(ctx context.Context, names []string) ([]extension, error) {
	c, config, err := f.catalogs.client()
	if err != nil {
		return nil, err
	}
	var found []extension
	for _, name := range names {
		ext := &ocv1.ClusterExtension{}
		if err := c.Get(ctx, types.NamespacedName{Name: name}, ext); err != nil {
			return nil, fmt.Errorf("reading ClusterExtension %s at %s: %w", name, config.Host, permitted(clusterProblem(err)))
		}
		found = append(found, extension{object: ext})
	}
	return found, nil
}

// everything are all ClusterExtensions of the cluster, by name.
func (f *judgeFlags) everything(ctx context.Context, s streams) ([]extension, error) {
	c, config, err := f.catalogs.client()
	if err != nil {
		return nil, err
	}
	var list ocv1.ClusterExtensionList
	if err := c.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("listing the ClusterExtensions at %s: %w", config.Host, permitted(clusterProblem(err)))
	}
	if len(list.Items) == 0 {
		s.say("there is no ClusterExtension at %s", config.Host)
	}
	found := make([]extension, len(list.Items))
	for i := range list.Items {
		found[i].object = &list.Items[i]
	}
	slices.SortFunc(found, func(a, b extension) int { return strings.Compare(a.object.Name, b.object.Name) })
	return found, nil
}

// permitted adds what to do when the API server forbids something.
func permitted(err error) error {
	if apierrors.IsForbidden(err) {
		return fmt.Errorf("%w; olmgate needs get, list and, for --watch, watch of clusterextensions and clustercatalogs in the group %s", err, ocv1.GroupVersion.Group)
	}
	return err
}

// verdictsOf are the verdicts alone.
func verdictsOf(list []judged) []resolver.Verdict {
	verdicts := make([]resolver.Verdict, len(list))
	for i := range list {
		verdicts[i] = list[i].verdict
	}
	return verdicts
}
