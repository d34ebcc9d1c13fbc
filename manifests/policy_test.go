package manifests

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	mm "github.com/Masterminds/semver/v3"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// policy is a ValidatingAdmissionPolicy, compiled with the API server's own code as of Kubernetes 1.30.
type policy struct {
	admissionregistrationv1.ValidatingAdmissionPolicy
	validator validating.Validator
}

func compiled(t *testing.T, name string) policy {
	t.Helper()
	p := policy{ValidatingAdmissionPolicy: *get[*admissionregistrationv1.ValidatingAdmissionPolicy](t, decode(t, "admission-policy"), "ValidatingAdmissionPolicy "+name)}
	// With Fail, an expression that cannot be evaluated is an error instead of a silent pass.
	fail := admissionregistrationv1.Fail
	compiler, err := cel.NewCompositedCompiler(environment.MustBaseEnvSet(version.MajorMinor(1, 30)))
	if err != nil {
		t.Fatal(err)
	}
	declared := cel.OptionalVariableDeclarations{HasAuthorizer: true}
	compile := func(accessors []cel.ExpressionAccessor) cel.ConditionEvaluator {
		evaluator := compiler.CompileCondition(accessors, declared, environment.NewExpressions)
		for _, err := range evaluator.CompilationErrors() {
			t.Errorf("%s: %v", name, err)
		}
		return evaluator
	}
	var variables []cel.NamedExpressionAccessor
	for _, v := range p.Spec.Variables {
		variables = append(variables, &validating.Variable{Name: v.Name, Expression: v.Expression})
	}
	compiler.CompileAndStoreVariables(variables, declared, environment.NewExpressions)
	var conditions, validations, messages, annotations []cel.ExpressionAccessor
	for _, c := range p.Spec.MatchConditions {
		conditions = append(conditions, (*matchconditions.MatchCondition)(&c))
	}
	for _, v := range p.Spec.Validations {
		validations = append(validations, &validating.ValidationCondition{Expression: v.Expression, Message: v.Message, Reason: v.Reason})
		var message cel.ExpressionAccessor
		if v.MessageExpression != "" {
			message = &validating.MessageExpressionCondition{MessageExpression: v.MessageExpression}
		}
		messages = append(messages, message)
	}
	for _, a := range p.Spec.AuditAnnotations {
		annotations = append(annotations, &validating.AuditAnnotationCondition{Key: a.Key, ValueExpression: a.ValueExpression})
	}
	matcher := matchconditions.NewMatcher(compile(conditions), &fail, "policy", "validate", name)
	p.validator = validating.NewValidator(compile(validations), matcher, compile(annotations), compile(messages), &fail, nil)
	return p
}

// says is what a policy denies an object with, for a user of some groups, and its audit annotation.
func (p policy) says(t rapid.TB, before, now string, groups ...string) (denials []string, audit string) {
	t.Helper()
	attributes := &admission.VersionedAttributes{VersionedKind: extensionKind}
	var object, old *unstructured.Unstructured
	operation := admission.Create
	read := func(text string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
			t.Fatal(err)
		}
		u.SetGroupVersionKind(extensionKind)
		u.SetName("x")
		return u
	}
	object = read(now)
	who := &user.DefaultInfo{Name: "alice", Groups: groups}
	if before != "" {
		old, operation = read(before), admission.Update
		attributes.VersionedOldObject = admission.NewLazyObject(old)
		attributes.Attributes = admission.NewAttributesRecord(object, old, extensionKind, "", "x", extensionResource, "", operation, nil, false, who)
	} else {
		attributes.VersionedOldObject = admission.NewLazyObject(nil)
		attributes.Attributes = admission.NewAttributesRecord(object, nil, extensionKind, "", "x", extensionResource, "", operation, nil, false, who)
	}
	attributes.VersionedObject = admission.NewLazyObject(object)
	result := p.validator.Validate(context.Background(), extensionResource, attributes, nil, nil, celconfig.RuntimeCELCostBudget, nil)
	for _, d := range result.Decisions {
		if d.Evaluation == validating.EvalError {
			t.Fatalf("%s\n%s", now, d.Message)
		}
		if d.Action == validating.ActionDeny {
			if d.Reason != metav1.StatusReasonForbidden {
				t.Errorf("denied with %q, which is not 403: %s", d.Reason, d.Message)
			}
			denials = append(denials, d.Message)
		}
	}
	for _, a := range result.AuditAnnotations {
		if a.Action == validating.AuditAnnotationActionPublish {
			audit += a.Key + "=" + a.Value
		}
	}
	return denials, audit
}

const (
	cannotSelect = "the catalog selector cannot be read: spec.source.catalog.selector"
	cannotRange  = `spec.source.catalog.version %q cannot be read as a version range. Ranges look like 1.2.3, >=1.2.0 <2.0.0, ~1.2, ^1.2.0, 1.x or 1.2.x || 2.x; numbers have no leading zeros.`
)

func wanting(catalog string) string {
	return "spec: {namespace: n, source: {sourceType: Catalog, catalog: {packageName: p, " + catalog + "}}}"
}

func TestWhatThePoliciesSay(t *testing.T) {
	unreadable, advice := compiled(t, "olmgate-unreadable"), compiled(t, "olmgate-advice")
	const good = "version: '>=1.2.0 <2.0.0', selector: {matchLabels: {a.b/c: d}, matchExpressions: [{key: e, operator: NotIn, values: [f, '']}, {key: g, operator: Exists}]}"
	bad := wanting("selector: {matchExpressions: [{key: a, operator: Equals, values: [b]}]}")
	for name, tc := range map[string]struct {
		policy   policy
		old, now string
		groups   []string
		want     string
		audit    string
	}{
		"everything in order":                      {now: wanting(good)},
		"no selector and no version":               {now: wanting("channels: [a]")},
		"an empty selector":                        {now: wanting("selector: {}")},
		"no spec":                                  {now: "metadata: {}", want: "the extension has no spec.source.catalog, so it does not say which package to install. Set spec.source.sourceType: Catalog and spec.source.catalog.packageName."},
		"an unknown operator":                      {now: bad, want: cannotSelect + `.matchExpressions: "Equals" is not an operator; use In, NotIn, Exists or DoesNotExist`},
		"In without values":                        {now: wanting("selector: {matchExpressions: [{key: a, operator: In}]}"), want: cannotSelect + ".matchExpressions: operator In needs values"},
		"NotIn with an empty list":                 {now: wanting("selector: {matchExpressions: [{key: a, operator: NotIn, values: []}]}"), want: cannotSelect + ".matchExpressions: operator NotIn needs values"},
		"Exists with values":                       {now: wanting("selector: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}"), want: cannotSelect + ".matchExpressions: operator Exists takes no values"},
		"a key that begins with a slash":           {now: wanting("selector: {matchLabels: {/a: b}}"), want: cannotSelect + `: "/a" is not the key of a label`},
		"a key of an expression with a space":      {now: wanting("selector: {matchExpressions: [{key: 'a b', operator: Exists}]}"), want: cannotSelect + `: "a b" is not the key of a label`},
		"a key with a name of 64 characters":       {now: wanting("selector: {matchLabels: {" + strings.Repeat("a", 64) + ": b}}"), want: cannotSelect + `: "` + strings.Repeat("a", 64) + `" is not the key of a label`},
		"a value with a space":                     {now: wanting("selector: {matchLabels: {a: 'b c'}}"), want: cannotSelect + `: "b c" is not the value of a label`},
		"a second value that ends in a dot":        {now: wanting("selector: {matchExpressions: [{key: a, operator: In, values: [b, c.]}]}"), want: cannotSelect + `: "c." is not the value of a label`},
		"a lone bar":                               {now: wanting("version: '|'"), want: fmt.Sprintf(cannotRange, "|")},
		"a bar behind an operator":                 {now: wanting("version: '>=|'"), want: fmt.Sprintf(cannotRange, ">=|")},
		"a bar for a major version":                {now: wanting("version: '|.1.2'"), want: fmt.Sprintf(cannotRange, "|.1.2")},
		"a prerelease with a leading zero":         {now: wanting("version: '1.2.3-01'"), want: fmt.Sprintf(cannotRange, "1.2.3-01")},
		"the same in a later identifier":           {now: wanting("version: '>1 <1.2.3-rc.01'"), want: fmt.Sprintf(cannotRange, ">1 <1.2.3-rc.01")},
		"a number beyond 64 bits":                  {now: wanting("version: '99999999999999999999.0.0'"), want: fmt.Sprintf(cannotRange, "99999999999999999999.0.0")},
		"the first number beyond 64 bits":          {now: wanting("version: '^1 || ~18446744073709551616.1.18446744073709551615'"), want: fmt.Sprintf(cannotRange, "^1 || ~18446744073709551616.1.18446744073709551615")},
		"the last number of 64 bits":               {now: wanting("version: '18446744073709551615.1.18446744073709551615-rc.99999999999999999999'")},
		"a hyphen and a zero in a prerelease":      {now: wanting("version: '1.2.3-a-01'")},
		"two hyphens":                              {now: wanting("version: '1.2.3--01'")},
		"a leading zero in build metadata":         {now: wanting("version: '1.2.3+01'")},
		"alternatives":                             {now: wanting("version: '^1.2.0 || ^2.0.0||3.x'")},
		"broken before, and nothing changed":       {old: bad, now: bad},
		"broken before, and another field":         {old: bad, now: "metadata: {labels: {a: b}}\n" + bad},
		"broken by an update":                      {old: wanting(good), now: bad, want: cannotSelect + `.matchExpressions: "Equals" is not an operator; use In, NotIn, Exists or DoesNotExist`},
		"broken, and being deleted":                {old: wanting(good), now: "metadata: {deletionTimestamp: 2031-01-01T00:00:00Z}\n" + bad},
		"broken, by somebody with the group":       {now: bad, groups: []string{"olmgate:break-glass"}},
		"broken, with the annotation":              {now: "metadata: {annotations: {olmgate.dev/bypass: change 4711}}\n" + bad, audit: "bypass=change 4711"},
		"broken, with a blank annotation":          {now: "metadata: {annotations: {olmgate.dev/bypass: ' '}}\n" + bad, want: cannotSelect + `.matchExpressions: "Equals" is not an operator; use In, NotIn, Exists or DoesNotExist`},
		"advice on nothing":                        {policy: advice, now: wanting(good)},
		"advice on build metadata":                 {policy: advice, now: wanting("version: 1.2.3+2"), want: "build metadata in spec.source.catalog.version takes no part in matching: a release cannot be pinned, and the highest release of the version is installed"},
		"advice on the policy that drops edges":    {policy: advice, now: wanting("upgradeConstraintPolicy: SelfCertified"), want: "spec.source.catalog.upgradeConstraintPolicy is SelfCertified: any version may follow the installed one, an older one too, whether its author planned for it or not"},
		"advice without a spec":                    {policy: advice, now: "metadata: {}"},
		"advice that was given before, on a label": {policy: advice, old: wanting("version: 1.2.3+2"), now: "metadata: {labels: {a: b}}\n" + wanting("version: 1.2.3+2")},
	} {
		t.Run(name, func(t *testing.T) {
			p := tc.policy
			if p.validator == nil {
				p = unreadable
			}
			denials, audit := p.says(t, tc.old, tc.now, tc.groups...)
			if got := strings.Join(denials, "\n"); got != tc.want {
				t.Errorf("said %q, want %q", got, tc.want)
			}
			if audit != tc.audit {
				t.Errorf("audited %q, want %q", audit, tc.audit)
			}
		})
	}
}

// TestThePolicyReadsSelectorsAsOLMDoes compares it with the parser that OLM and olmgate use.
func TestThePolicyReadsSelectorsAsOLMDoes(t *testing.T) {
	p := compiled(t, "olmgate-unreadable")
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.OneOf(rapid.SampledFrom([]string{"a", "a/b", "/a", "a/", "a//b", "A.b/c", strings.Repeat("a.", 126) + "a/b", strings.Repeat("a.", 127) + "a/b"}),
			rapid.StringOfN(rapid.RuneFrom([]rune("aB0./-_ é")), 0, 70, -1))
		value := rapid.OneOf(rapid.SampledFrom([]string{"", "b", "-", strings.Repeat("a", 63), strings.Repeat("a", 64)}),
			rapid.StringOfN(rapid.RuneFrom([]rune("aB0./-_ é")), 0, 5, -1))
		selector := metav1.LabelSelector{
			MatchLabels: rapid.MapOfN(key, value, 0, 2).Draw(t, "labels"),
			MatchExpressions: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) metav1.LabelSelectorRequirement {
				return metav1.LabelSelectorRequirement{
					Key:      key.Draw(t, "key"),
					Operator: metav1.LabelSelectorOperator(rapid.SampledFrom([]string{"In", "NotIn", "Exists", "DoesNotExist", "in", ""}).Draw(t, "operator")),
					Values:   rapid.SliceOfN(value, 0, 2).Draw(t, "values"),
				}
			}), 0, 2).Draw(t, "expressions"),
		}
		raw, err := json.Marshal(selector)
		if err != nil {
			t.Fatal(err)
		}
		_, parse := metav1.LabelSelectorAsSelector(&selector)
		denials, _ := p.says(t, "", wanting("selector: "+string(raw)))
		if (len(denials) > 0) != (parse != nil) {
			t.Errorf("%s\nthe policy says %q, the parser %v", raw, denials, parse)
		}
	})
}

// TestThePolicyDeniesNoRangeThatCanBeRead tries texts that look like ranges.
func TestThePolicyDeniesNoRangeThatCanBeRead(t *testing.T) {
	p := compiled(t, "olmgate-unreadable")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.StringOfN(rapid.RuneFrom([]rune("0129x*.-+ ,|<>=~^!va")), 1, 24, -1),
			rapid.Custom(func(t *rapid.T) string {
				return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
					"1", "0", "01", "10", "x", ".", "-", "+", " ", ",", "||", "|", ">=", "<", "~", "v", "rc", "18446744073709551615", "18446744073709551616", "20000000000000000000",
				}), 1, 9).Draw(t, "parts"), "")
			}),
		).Draw(t, "range")
		denials, _ := p.says(t, "", wanting(fmt.Sprintf("version: %q", text)))
		if _, err := mm.NewConstraint(text); len(denials) > 0 && err == nil {
			t.Errorf("%q is a range, and the policy says %q", text, denials)
		}
	})
}
