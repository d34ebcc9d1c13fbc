package config

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// known stands for the names that the resolver gives.
var known = Names{
	Rules:    []string{"Package", "Bundle"},
	Failures: []string{"NoCatalogsSelected", "AmbiguousCatalogs", "NoUpgradePath"},
	Notes:    []string{"SelectionDiffers", "BundleDeprecated"},
}

const head = "apiVersion: config.olmgate.dev/v1alpha1\nkind: OlmgateConfiguration\n"

func TestWhatAFileLeavesOutKeepsItsDefault(t *testing.T) {
	want := Default()
	want.Mode = ModeWarn
	want.Policy.Reasons["AmbiguousCatalogs"] = ActionIgnore
	want.Exempt.Users = []string{"alice"}
	want.BreakGlass.Annotation = false
	want.Limits.Blobs = 5
	got, err := Decode([]byte(head + "mode: Warn\npolicy: {reasons: {AmbiguousCatalogs: Ignore}}\nexempt: {users: [alice]}\nbreakGlass: {annotation: false}\nlimits: {blobs: 5}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if err := got.Validate(known); err != nil {
		t.Error(err)
	}
}

func TestEveryMistakeNamesItsField(t *testing.T) {
	for name, tc := range map[string]struct{ file, want string }{
		"an unknown field at the top":            {head + "moda: Warn\n", "moda: unknown field, did you mean mode?"},
		"an unknown field further down":          {head + "policy: {undecide: Warn}\n", "policy.undecide: unknown field, did you mean undecided?"},
		"an unknown field like none":             {head + "limits: {zzzzzzzzzzzz: 1}\n", "limits.zzzzzzzzzzzz: unknown field"},
		"a field in another case":                {head + "Mode: Warn\n", "Mode: unknown field, did you mean mode?"},
		"a field that stands twice":              {head + "mode: Warn\nmode: Enforce\n", "mode: stands twice, in line 3 and in line 4: keep one"},
		"a nested field that stands twice":       {head + "limits:\n  blobs: 1\n  blobs: 2\n", "limits.blobs: stands twice, in line 4 and in line 5: keep one"},
		"JSON with a field that stands twice":    {`{"apiVersion":"config.olmgate.dev/v1alpha1","kind":"OlmgateConfiguration","mode":"Warn","mode":"Warn"}`, "mode: stands twice, in line 1 and in line 1: keep one"},
		"text where a number belongs":            {head + "limits: {blobs: many}\n", "limits.blobs: is a string, must be a whole number"},
		"a number where text belongs":            {head + "webhook: {minTLSVersion: 1.3}\n", "webhook.minTLSVersion: is a number, must be text; put it in quotes"},
		"text where a list belongs":              {head + "exempt: {users: alice}\n", "exempt.users: is a string, must be a list"},
		"another version":                        {"apiVersion: config.olmgate.dev/v2\nkind: OlmgateConfiguration\n", `apiVersion: is "config.olmgate.dev/v2", must be config.olmgate.dev/v1alpha1`},
		"another kind":                           {"apiVersion: config.olmgate.dev/v1alpha1\nkind: Config\n", `kind: is "Config", must be OlmgateConfiguration`},
		"an empty file":                          {"", "the configuration is empty: write at least apiVersion and kind"},
		"two documents":                          {head + "---\n" + head, "the configuration has more than one YAML document: keep one"},
		"no YAML at all":                         {head + "mode: [", "the configuration is not YAML"},
		"an unknown reason":                      {head + "policy: {reasons: {NoUpgradPath: Warn}}\n", "policy.reasons.NoUpgradPath: unknown reason, did you mean NoUpgradePath?"},
		"an unknown note":                        {head + "policy: {notes: {BundleDeprecatd: Warn}}\n", "policy.notes.BundleDeprecatd: unknown reason, did you mean BundleDeprecated?"},
		"a note that denies":                     {head + "policy: {notes: {BundleDeprecated: Deny}}\n", `policy.notes.BundleDeprecated: is "Deny", must be Warn or Ignore`},
		"undecided that denies":                  {head + "policy: {undecided: Deny}\n", `policy.undecided: is "Deny", must be Warn or Ignore`},
		"an unknown action":                      {head + "policy: {reasons: {NoUpgradePath: deny}}\n", `policy.reasons.NoUpgradePath: is "deny", must be Deny or Warn or Ignore`},
		"an unknown rule":                        {head + "rule: package\n", `rule: is "package", must be Package or Bundle`},
		"an unknown mode":                        {head + "mode: \"Off\"\n", `mode: is "Off", must be Enforce or Warn`},
		"a blank user":                           {head + "exempt: {users: [a, ' ']}\n", "exempt.users[1]: is blank: remove it"},
		"an address without a port":              {head + "webhook: {bindAddress: localhost}\n", `webhook.bindAddress: is "localhost", must be host:port such as :9443`},
		"a webhook without an address":           {head + "webhook: {bindAddress: \"0\"}\n", `webhook.bindAddress: is "0", must be host:port such as :9443`},
		"an old TLS version":                     {head + "webhook: {minTLSVersion: \"1.1\"}\n", `webhook.minTLSVersion: is "1.1", must be 1.3 or 1.2`},
		"a URL where a host belongs":             {head + "catalogd: {allowedHosts: [\"https://x\"]}\n", `catalogd.allowedHosts[0]: is "https://x", must be a host name, with a port or without`},
		"a host where a URL belongs":             {head + "catalogd: {url: localhost}\n", `catalogd.url: is "localhost", must be a URL such as https://localhost:8443`},
		"a size that is no quantity":             {head + "limits: {blob: 16 MB}\n", `limits.blob: "16 MB" is not a quantity such as 16Mi`},
		"a size of nothing":                      {head + "limits: {index: \"0\"}\n", `limits.index: "0" is not a positive whole number of bytes`},
		"no objects at all":                      {head + "limits: {blobs: 0}\n", "limits.blobs: is 0, must be at least 1"},
		"an unknown source of certificates":      {head + "certificates: {source: certManager}\n", `certificates.source: is "certManager", must be SelfManaged or CertManager or Files`},
		"a duration that is none":                {head + "certificates: {settle: 30}\n", "certificates.settle: is a number, must be text; put it in quotes"},
		"a duration without a unit":              {head + "certificates: {settle: \"30\"}\n", `certificates.settle: "30" is not a duration such as 30s, 5m or 720h`},
		"a duration of nothing":                  {head + "certificates: {settle: 0s}\n", `certificates.settle: "0s" is not a positive duration`},
		"a settle time without an end":           {head + "certificates: {settle: 2h}\n", "certificates.settle: is 2h, must be at most 1h0m0s"},
		"certificates that hardly live":          {head + "certificates: {selfManaged: {servingLifetime: 1m}}\n", "certificates.selfManaged.servingLifetime: is 1m, must be at least six times settle: 3m0s"},
		"an authority that hardly outlives them": {head + "certificates: {selfManaged: {authorityLifetime: 1000h}}\n", "certificates.selfManaged.authorityLifetime: is 1000h, must be at least three times servingLifetime: 2160h0m0s"},
		"files of another source":                {head + "certificates: {files: {certFile: a, keyFile: b}}\n", "certificates.files: is given, and source is SelfManaged: set source to Files, or leave the files out"},
		"a certificate without its key":          {head + "certificates: {files: {certFile: tls.crt}}\n", "certificates.files: certFile and keyFile belong together: give both"},
		"names of clients without a CA":          {head + "webhook: {clientCA: {allowedNames: [a]}}\n", "webhook.clientCA.file: is missing: allowedNames mean nothing without a CA"},
		"a blank name of a client":               {head + "webhook: {clientCA: {file: ca.crt, allowedNames: ['']}}\n", "webhook.clientCA.allowedNames[0]: is blank: remove it"},
		"a misspelt field of certificates":       {head + "certificates: {certManager: {creat: true}}\n", "certificates.certManager.creat: unknown field, did you mean create?"},
		"a file that is far too large":           {strings.Repeat("#", maxFileBytes+1), "the configuration is larger than 1048576 bytes"},
		"two mistakes of which both are told":    {head + "rule: x\nmode: z\n", "must be Package or Bundle\nmode: is"},
		"a duplicate that an alias would expand": {head + "exempt: {users: &u [a], groups: *u}\nexempt: {}\n", "exempt: stands twice"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := Decode([]byte(tc.file))
			if err == nil {
				err = c.Validate(known)
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error: %v\nwant:  %s", err, tc.want)
			}
		})
	}
}

func TestTheDefaultsWrittenOutAreTheDefaults(t *testing.T) {
	text, err := DefaultsYAML(known)
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "defaults.yaml")
	if *update {
		if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("run with -update after looking at this: %s", diff)
	}
	got, err := Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Validate(known); err != nil {
		t.Error(err)
	}
	expected := Default()
	for _, r := range known.Failures {
		if _, ok := expected.Policy.Reasons[r]; !ok {
			expected.Policy.Reasons[r] = ActionDeny
		}
	}
	for _, r := range known.Notes {
		expected.Policy.Notes[r] = ActionWarn
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Error(diff)
	}
}

func TestEveryFieldHasACommentInTheDefaults(t *testing.T) {
	text, err := DefaultsYAML(known)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text, "\n")
	var check func(t *testing.T, typ reflect.Type, indent string)
	check = func(t *testing.T, typ reflect.Type, indent string) {
		for i := range typ.NumField() {
			name := jsonName(typ.Field(i))
			if name == "apiVersion" || name == "kind" {
				continue
			}
			found := false
			for n, line := range lines {
				if strings.HasPrefix(line, indent+name+":") && strings.HasPrefix(lines[n-1], indent+"# ") {
					found = true
				}
			}
			if !found {
				t.Errorf("no commented %s%s", indent, name)
			}
			if typ.Field(i).Type.Kind() == reflect.Struct {
				check(t, typ.Field(i).Type, indent+"  ")
			}
		}
	}
	check(t, reflect.TypeFor[OlmgateConfiguration](), "")
}

func TestLoadSaysWhichFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "olmgate.yaml")
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("absent file: %v", err)
	}
	if err := os.WriteFile(path, []byte(head+"x: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path+": x: unknown field") {
		t.Errorf("wrong file: %v", err)
	}
	if err := os.WriteFile(path, []byte(head+"rule: Bundle\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Load(path); err != nil || c.Rule != "Bundle" {
		t.Errorf("good file: %v, %v", c.Rule, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(head + "mode: Warn\n"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Decode(data)
		if err == nil {
			_ = c.Validate(known)
		}
	})
}
