package check

import (
	"strings"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/check/report"
	"github.com/olmgate/olmgate/config"
	"github.com/olmgate/olmgate/resolver"
)

// bypassAnnotation turns a denial of the webhook into a warning.
const bypassAnnotation = "olmgate.dev/bypass"

// levelOf is what an action of the policy makes of a finding; false for none.
func levelOf(action string) (report.Level, bool) {
	switch action {
	case config.ActionDeny:
		return report.Error, true
	case config.ActionWarn:
		return report.Warning, true
	}
	return "", false
}

// failure is the level of a failed verdict, by the webhook's rules.
func failure(c *config.CheckConfiguration, r resolver.Reason) (report.Level, bool) {
	action, ok := c.Policy.Reasons[string(r)]
	if !ok {
		action = config.ActionDeny
	}
	if action == config.ActionDeny && c.WarnOnly() {
		action = config.ActionWarn
	}
	return levelOf(action)
}

func note(c *config.CheckConfiguration, r resolver.Reason) (report.Level, bool) {
	action, ok := c.Policy.Notes[string(r)]
	if !ok {
		action = config.ActionWarn
	}
	return levelOf(action)
}

// bySchema applies the configuration to findings about the objects themselves.
func bySchema(c *config.CheckConfiguration, list []report.Finding) []report.Finding {
	kept := list[:0]
	for _, f := range list {
		if action, ok := c.Objects[f.Rule]; ok {
			level, shown := levelOf(action)
			if !shown {
				continue
			}
			f.Level = level
		}
		kept = append(kept, f)
	}
	return kept
}

// spared is why an extension is not to be denied, "" when it has no such annotation.
func spared(c *config.CheckConfiguration, ext *ocv1.ClusterExtension) string {
	if !c.BypassAnnotation {
		return ""
	}
	return strings.Join(strings.Fields(ext.Annotations[bypassAnnotation]), " ")
}
