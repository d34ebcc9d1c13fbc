package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	engine "github.com/olmgate/olmgate/check"
	"github.com/olmgate/olmgate/check/report"
	"github.com/olmgate/olmgate/config"
	"github.com/olmgate/olmgate/resolver"
)

// checkOptions are the flags of check.
type checkOptions struct {
	catalogs catalogFlags

	kustomize    []string
	exclude      []string
	stdinName    string
	allowNetwork bool

	outputs        []string
	failOn         string
	requireObjects bool
	configFile     string
	rule           string
	schemaOnly     bool

	base      string
	installed string
	assume    string
	baseline  string
	write     bool
	why       string
	expires   string
	watch     bool
	flags     *pflag.FlagSet
}

// checkGC is how much the heap may grow between collections, in percent.
const checkGC = 75

func newCheck(s streams) *cobra.Command {
	o := &checkOptions{}
	cmd := &cobra.Command{
		Use:   "check [FILE|DIR|-]...",
		Short: "Check manifests before they are merged, and show what would change",
		Long: strings.TrimSpace(`
Finds the ClusterExtensions and ClusterCatalogs in files, validates them against their CRDs, says what each extension
resolves to and what is wrong, with the line, and shows by --base what a change makes of it.

Exit status: 0 all is well, 1 findings at or above --fail-on, 2 wrong usage or unreadable input, 3 something cannot be
decided; 2 before 1 before 3.`),
		Example: `  olmgate check . --snapshot catalogs.olmgate
  olmgate check clusters/prod --catalogs catalogs/ --base origin/main
  olmgate check -k overlays/prod --snapshot catalogs.olmgate -o text -o json=check.json
  helm template chart/ | olmgate check - --stdin-filename chart.yaml --snapshot catalogs.olmgate`,
		RunE: func(cmd *cobra.Command, paths []string) error { return o.run(cmd.Context(), s, paths) },
	}
	o.add(cmd)
	return cmd
}

func (o *checkOptions) add(cmd *cobra.Command) {
	to := cmd.Flags()
	to.StringArrayVarP(&o.outputs, "output", "o", nil, "`FORMAT` on standard output, or FORMAT=FILE; can be repeated: "+either(report.Formats()))
	to.StringVar(&o.failOn, "fail-on", string(report.Error), "lowest `LEVEL` of findings that make the check fail: error, warning or undecided")
	to.BoolVar(&o.requireObjects, "require-objects", false, "fail when there is nothing to check")
	to.StringVar(&o.configFile, "config", "", "configuration `FILE`; without it .olmgate.yaml, looked for from here up to the top of the repository")
	to.StringVar(&o.rule, "rule", string(resolver.RulePackage), "selection `RULE`: Package, or Bundle as operator-controller 1.0 to 1.11 selects")
	to.BoolVar(&o.schemaOnly, "schema-only", false, "look at the objects themselves and resolve nothing; takes no catalogs")
	to.StringVar(&o.installed, "installed", "", "where the installed state is taken from: cluster, or a `FILE` of kubectl get clusterextensions -o yaml; without it the manifests' status")
	to.BoolVar(&o.watch, "watch", false, "check again whenever a file changes")

	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringArrayVarP(&o.kustomize, "kustomize", "k", nil, "`DIR` with a kustomization that is rendered; can be repeated")
	flags.StringArrayVar(&o.exclude, "exclude", nil, "`GLOB` of files to leave out, as in a .gitignore; can be repeated")
	flags.StringVar(&o.stdinName, "stdin-filename", "", "`NAME` of the file that standard input stands for")
	flags.BoolVar(&o.allowNetwork, "allow-network", false, "let kustomizations take bases from elsewhere, by git and the network")
	addSection(to, "Inputs", flags)

	flags = pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringVar(&o.base, "base", "", "show the plan against a `REV` of the git repository here, or a directory")
	flags.StringVar(&o.assume, "assume-installed", "", "with base: what the `BASE` resolves to counts as installed")
	addSection(to, "Plan", flags)

	flags = pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringVar(&o.baseline, "baseline", "", "`FILE` with findings that are accepted")
	flags.BoolVar(&o.write, "write-baseline", false, "accept all findings of today by writing them to the --baseline")
	flags.StringVar(&o.why, "why", "", "`TEXT` that --write-baseline gives as the reason")
	flags.StringVar(&o.expires, "expires", "", "`DATE` such as 2026-12-31 from which what --write-baseline accepts counts again")
	addSection(to, "Baseline", flags)

	o.catalogs.add(to)
	o.catalogs.orFiles = "; for an answer without a cluster, give catalogs with --catalogs or --snapshot, or check the objects alone with --schema-only"
	o.flags = to
	for flag, values := range map[string][]string{
		"rule":             {string(resolver.RulePackage), string(resolver.RuleBundle)},
		"output":           report.Formats(),
		"fail-on":          {string(report.Error), string(report.Warning), string(report.Undecided)},
		"assume-installed": {"base"},
	} {
		if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic(err) // cannot be: the flags were just added
		}
	}
}

// validate refuses flags that make no sense together.
func (o *checkOptions) validate(paths []string) error {
	switch {
	case len(paths)+len(o.kustomize) == 0:
		return errors.New("nothing to check: name files or directories, - for standard input, or -k DIR; olmgate check . checks all that is here")
	case slices.Index(paths, "-") >= 0 && slices.Contains(paths[slices.Index(paths, "-")+1:], "-"):
		return errors.New("standard input can be read once: write - once")
	case o.stdinName != "" && !slices.Contains(paths, "-"):
		return errors.New("--stdin-filename names what - stands for: add - to read standard input")
	case o.assume != "" && o.assume != "base":
		return fmt.Errorf("--assume-installed %q: it is base", o.assume)
	case o.assume != "" && o.base == "":
		return errors.New("--assume-installed base needs --base")
	case o.write && o.baseline == "":
		return errors.New("--write-baseline needs --baseline FILE to write to")
	case (o.why != "" || o.expires != "") && !o.write:
		return errors.New("--why and --expires belong to --write-baseline")
	case o.watch && slices.Contains(paths, "-"):
		return errors.New("--watch needs files: standard input is read once")
	case o.watch && o.write:
		return errors.New("--watch and --write-baseline do not go together")
	case o.schemaOnly && (o.catalogs.offline() || o.base != "" || o.installed != ""):
		return errors.New("--schema-only resolves nothing, so catalogs, --base and --installed have no effect: leave them out")
	case o.allowNetwork && o.catalogs.images.offline:
		return errors.New("--allow-network and --offline contradict each other")
	case o.catalogs.images.offline && o.installed == "cluster":
		return errors.New("--installed cluster asks a cluster, which --offline forbids")
	}
	if o.expires != "" {
		if _, err := time.Parse("2006-01-02", o.expires); err != nil {
			return fmt.Errorf("--expires %q is no date such as 2026-12-31", o.expires)
		}
	}
	return nil
}

func (o *checkOptions) run(ctx context.Context, s streams, paths []string) error {
	outputs, err := parseOutputs(o.outputs)
	if err != nil {
		return err
	}
	conf, where, err := o.configuration()
	if err != nil {
		return err
	}
	if err := o.validate(paths); err != nil {
		return err
	}
	if err := o.takeFromConfig(&conf, where); err != nil {
		return err
	}
	if err := spareInputs(outputs, paths); err != nil {
		return err
	}
	if os.Getenv("GOGC") == "" {
		// Most of what is read is soon dropped: a tenth less memory, for hardly more time.
		defer debug.SetGCPercent(debug.SetGCPercent(checkGC))
	}
	once := func() error { return o.once(ctx, s, paths, conf, outputs) }
	if o.watch {
		return o.follow(ctx, s, paths, outputs, once)
	}
	return once()
}

// once checks, writes and says how it went.
func (o *checkOptions) once(ctx context.Context, s streams, paths []string, conf config.CheckConfiguration, outputs []output) error {
	options := engine.Options{
		Config: conf, SchemaOnly: o.schemaOnly, AssumeBase: o.assume == "base", Today: time.Now(),
		Inputs: engine.Inputs{
			Paths: paths, Kustomize: o.kustomize, Exclude: o.exclude, Stdin: s.in, StdinName: o.stdinName, AllowNetwork: o.allowNetwork,
		},
	}
	if err := o.prepare(ctx, s, &options); err != nil {
		return err
	}
	bar := newProgress(s)
	options.Progress = bar.tick
	result, err := engine.Run(ctx, options)
	bar.done()
	if err != nil {
		return err
	}
	if o.write {
		return o.writeBaseline(s, result, options.Baseline)
	}
	if err := writeOutputs(s, outputs, result.Report, report.Options{Version: version, Now: time.Now(), FailOn: report.Level(conf.FailOn)}); err != nil {
		return err
	}
	if result.Nothing != "" {
		s.say("%s", result.Nothing)
	}
	return checkExit(result, report.Level(conf.FailOn), conf.RequireObjects)
}

// prepare reads what the inputs are compared with: catalogs, base, installed state, baseline.
func (o *checkOptions) prepare(ctx context.Context, s streams, options *engine.Options) error {
	var err error
	if o.baseline != "" {
		if _, statErr := os.Stat(o.baseline); !o.write || statErr == nil {
			if options.Baseline, err = engine.ReadBaseline(o.baseline); err != nil {
				return err
			}
		}
	}
	if o.base != "" {
		if options.Base, err = engine.OpenBase(o.base, options.Inputs); err != nil {
			return err
		}
	}
	if o.schemaOnly {
		return nil
	}
	if err := o.installedState(ctx, s, options); err != nil {
		return err
	}
	return o.knownCatalogs(ctx, s, options)
}

// checkExit is the exit status: 2 before 1 before 3.
func checkExit(r *engine.Result, failOn report.Level, require bool) error {
	switch {
	case r.Unreadable:
		return status(exitUsage)
	case r.Nothing != "" && require:
		return status(exitFailed)
	}
	undecided := false
	for i := range r.Report.Findings {
		level := r.Report.Findings[i].Level
		if level.AtLeast(failOn) {
			return status(exitFailed)
		}
		undecided = undecided || level == report.Undecided
	}
	if undecided {
		return status(exitUndecided)
	}
	return nil
}

func (o *checkOptions) writeBaseline(s streams, r *engine.Result, earlier *engine.Baseline) error {
	if r.Unreadable {
		for _, f := range r.Report.Findings {
			if f.Rule == report.UnreadableInput {
				s.say("%s:%d: %s", f.File, f.Line, f.Message)
			}
		}
		return errors.New("no baseline is written: not all of the input could be read")
	}
	b, err := engine.NewBaseline(r.Report, earlier, o.why, o.expires)
	if err != nil {
		return err
	}
	if err := b.Write(o.baseline); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "%s accepts %d findings\n", oneLine(o.baseline), len(b.Findings))
	return err
}
