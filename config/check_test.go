package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const checkHead = "apiVersion: config.olmgate.dev/v1alpha1\nkind: CheckConfiguration\n"

func TestEveryMistakeOfACheckConfigurationNamesItsField(t *testing.T) {
	for name, tc := range map[string]struct{ file, want string }{
		"an unknown field":            {checkHead + "failon: error\n", "failon: unknown field, did you mean failOn?"},
		"an unknown field below":      {checkHead + "policy: {reason: {}}\n", "policy.reason: unknown field, did you mean reasons?"},
		"a field that stands twice":   {checkHead + "rule: Package\nrule: Bundle\n", "rule: stands twice, in line 3 and in line 4: keep one"},
		"an unknown reason":           {checkHead + "policy: {reasons: {NoUpgradPath: Warn}}\n", "policy.reasons.NoUpgradPath: unknown reason, did you mean NoUpgradePath?"},
		"an unknown rule on objects":  {checkHead + "objects: {UnknwonField: Warn}\n", "objects.UnknwonField: unknown reason, did you mean UnknownField?"},
		"a note that denies":          {checkHead + "policy: {notes: {BundleDeprecated: Deny}}\n", `policy.notes.BundleDeprecated: is "Deny", must be Warn or Ignore`},
		"an unknown level":            {checkHead + "failOn: info\n", `failOn: is "info", must be error or warning or undecided`},
		"text where a list belongs":   {checkHead + "exclude: a\n", "exclude: is a string, must be a list"},
		"a blank glob":                {checkHead + "exclude: ['']\n", "exclude[0]: is blank: remove it"},
		"an unknown rule":             {checkHead + "rule: package\n", `rule: is "package", must be Package or Bundle`},
		"another kind":                {"apiVersion: config.olmgate.dev/v1alpha1\nkind: Config\n", `kind: is "Config", must be CheckConfiguration`},
		"another version":             {"apiVersion: v1\nkind: CheckConfiguration\n", `apiVersion: is "v1", must be config.olmgate.dev/v1alpha1`},
		"no YAML":                     {"a: [", "the configuration is not YAML"},
		"an empty file":               {"", "the configuration is empty"},
		"a file that is far too long": {strings.Repeat("#", maxFileBytes+1), "larger than 1048576 bytes"},
		"a mistake in the webhook's":  {head + "moda: Warn\n", "moda: unknown field, did you mean mode?"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := DecodeCheck([]byte(tc.file))
			if err == nil {
				err = c.Validate(known, []string{"UnknownField"})
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error: %v\nwant:  %s", err, tc.want)
			}
		})
	}
}

func TestACheckConfigurationOverTheDefaults(t *testing.T) {
	c, err := DecodeCheck([]byte(checkHead + "policy: {undecided: Ignore}\nsnapshots: [a]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if c.FailOn != "error" || c.Rule != "Package" || !c.BypassAnnotation || c.WarnOnly() || c.Policy.Undecided != ActionIgnore || c.Policy.Reasons["NoCatalogsSelected"] != ActionWarn {
		t.Errorf("got %+v", c)
	}
}

func TestTheWebhooksConfigurationWillDo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "olmgate.yaml")
	if _, err := LoadCheck(file); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("absent file: %v", err)
	}
	if err := os.WriteFile(file, []byte(head+"mode: Warn\nrule: Bundle\nbreakGlass: {annotation: false}\npolicy: {reasons: {NoUpgradePath: Ignore}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := LoadCheck(file)
	if err != nil || c.Rule != "Bundle" || !c.WarnOnly() || c.BypassAnnotation || c.Policy.Reasons["NoUpgradePath"] != ActionIgnore || c.FailOn != "error" {
		t.Errorf("got %+v, %v", c, err)
	}
}

func FuzzDecodeCheck(f *testing.F) {
	f.Add([]byte(checkHead + "objects: {UnknownField: Warn}\n"))
	f.Add([]byte(head))
	f.Fuzz(func(_ *testing.T, data []byte) {
		c, err := DecodeCheck(data)
		if err == nil {
			_ = c.Validate(known, nil)
		}
	})
}
