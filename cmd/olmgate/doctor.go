package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/olmgate/olmgate/cmd/olmgate/internal/doctor"
)

// doctorOptions are the flags of doctor.
type doctorOptions struct {
	catalogs  catalogFlags
	namespace string
	output    string
	timeout   time.Duration
	wait      time.Duration
}

func newDoctor(s streams) *cobra.Command {
	o := &doctorOptions{}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check an installation and say what to do about each fault",
		Long: strings.TrimSpace(`
Checks an installation of olmgate from outside: the API server and OLM v1, the catalogs and catalogd, the Deployment and
its Service, the webhook configuration and its caBundle, the certificate that is served, what the Pods hold, and a dry
run of an extension that cannot resolve. Nothing is changed. What your permissions do not let it see is skipped.

Exit status: 0 no fault, 1 at least one fault, 2 wrong usage or no cluster to ask.`),
		Example: `  olmgate doctor
  olmgate doctor --namespace gatekeepers --context staging
  olmgate doctor --wait 2m -o json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), s) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.namespace, "namespace", "n", namespaceDefault(), "`NAMESPACE` that olmgate runs in")
	f.StringVarP(&o.output, "output", "o", "text", "output `FORMAT`: text or json")
	f.DurationVar(&o.timeout, "timeout", 10*time.Second, "longest `TIME` for one check")
	f.DurationVar(&o.wait, "wait", 0, "how long to check again while there is a fault, such as `2m` after an installation")
	o.catalogs.addCluster(f)
	if err := cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // cannot be: the flag was just added
	}
	return cmd
}

// doctorPause is between two runs with --wait.
const doctorPause = 3 * time.Second

func (o *doctorOptions) run(ctx context.Context, s streams) error {
	write, ok := map[string]func(io.Writer, []doctor.Finding) error{"text": writeFindings, "json": writeFindingsJSON}[o.output]
	switch {
	case !ok:
		return fmt.Errorf("unknown --output %q: it is text or json", o.output)
	case o.timeout <= 0:
		return fmt.Errorf("--timeout %s leaves no time for a check: give at least 1s", o.timeout)
	case o.namespace == "":
		return fmt.Errorf("--namespace is empty: give the one that olmgate runs in")
	}
	_, config, err := o.catalogs.client()
	if err != nil {
		return err
	}
	options := doctor.Options{
		Config: config, Namespace: o.namespace, InCluster: o.catalogs.inCluster(),
		CatalogdURL: o.catalogs.url, CatalogdCA: o.catalogs.ca, Timeout: o.timeout,
	}
	deadline := time.Now().Add(o.wait)
	for {
		findings, err := doctor.Run(ctx, options)
		if err != nil {
			return err
		}
		faults := doctor.Count(findings)[doctor.Fault]
		if faults == 0 || time.Now().Add(doctorPause).After(deadline) || ctx.Err() != nil {
			if err := write(s.out, findings); err != nil {
				return fmt.Errorf("writing the findings: %w", err)
			}
			if faults > 0 {
				return status(exitFailed)
			}
			return nil
		}
		s.say("%d of the checks found a fault, trying again", faults)
		select {
		case <-ctx.Done():
		case <-time.After(doctorPause):
		}
	}
}

// inCluster reports whether this process is a Pod that talks to its own cluster.
func (f *catalogFlags) inCluster() bool {
	return os.Getenv("KUBERNETES_SERVICE_HOST") != "" && os.Getenv("KUBECONFIG") == "" && *f.cluster.KubeConfig == "" && *f.cluster.APIServer == ""
}

var stateColours = map[doctor.State]string{doctor.OK: green, doctor.Skipped: dim, doctor.Warning: yellow, doctor.Fault: red}

func writeFindings(w io.Writer, findings []doctor.Finding) error {
	s := newScreen(w)
	width := 0
	for _, f := range findings {
		width = max(width, len(f.Check))
	}
	for _, f := range findings {
		label := fmt.Sprintf("%-7s  %-*s  ", f.State, width, f.Check)
		s.para(0, label, stateColours[f.State], oneLine(f.Message))
		if f.Next != "" {
			s.para(len(label), "next: ", bold, oneLine(f.Next))
		}
	}
	counts := doctor.Count(findings)
	var parts []string
	for _, state := range []doctor.State{doctor.OK, doctor.Warning, doctor.Fault, doctor.Skipped} {
		parts = append(parts, fmt.Sprintf("%d %s", counts[state], state))
	}
	s.line(strings.Join(parts, ", "))
	return s.err
}

func writeFindingsJSON(w io.Writer, findings []doctor.Finding) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(struct {
		Findings []doctor.Finding     `json:"findings"`
		Counts   map[doctor.State]int `json:"counts"`
	}{findings, doctor.Count(findings)})
}
