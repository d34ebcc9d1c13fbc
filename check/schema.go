package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	k8svalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/olmgate/olmgate/check/report"
)

// validate says what the API server would not take, or would drop without a word.
func (o *object) validate(ctx context.Context) []report.Finding {
	v := &validator{o: o}
	for _, r := range o.repeated {
		f := o.finding(report.DuplicateKey, report.Warning, r.path, "%s stands twice, and the last one counts", r.path)
		if o.source == nil {
			f.Line, f.Column, f.EndLine, f.EndColumn = r.line, r.column, 0, 0
		}
		v.add(f)
	}
	if v.oldAPI() {
		return v.list
	}
	c := compiled[o.kind]()
	content, _ := runtime.DeepCopyJSONValue(o.content).(map[string]any)
	delete(content, "status")
	v.metadata(content)
	v.shapes(content)
	v.unknown(c, content)
	defaulting.Default(content, c.structural)
	defaulting.PruneNonNullableNullsWithoutDefaults(content, c.structural)
	errs := validation.ValidateCustomResource(nil, content, c.schema)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, c.structural, content)...)
	if !hasBlocking(errs) {
		more, _ := c.cel.Validate(ctx, nil, c.structural, content, nil, celconfig.RuntimeCELCostBudget)
		errs = append(errs, more...)
	}
	for _, e := range errs {
		v.violation(c, content, e)
	}
	if more := len(v.list) - maxFindings; more > 0 {
		v.list = append(v.list[:maxFindings], o.finding(report.InvalidValue, report.Error, "", "there are %d more findings about this object", more))
	}
	return v.list
}

// maxFindings bounds what is said about one object.
const maxFindings = 100

// hasBlocking reports whether the rules of the CRD are not asked, as they could not be answered.
func hasBlocking(errs field.ErrorList) bool {
	for _, e := range errs {
		if e.Type == field.ErrorTypeNotSupported || e.Type == field.ErrorTypeRequired || e.Type == field.ErrorTypeTooLong || e.Type == field.ErrorTypeTooMany || e.Type == field.ErrorTypeTypeInvalid {
			return true
		}
	}
	return false
}

// validator collects the findings about one object. Of several about one field the first stays.
type validator struct {
	o    *object
	list []report.Finding
	// told are the fields that need no further word.
	told map[string]bool
}

func (v *validator) add(f report.Finding) {
	v.list = append(v.list, f)
}

// tell adds a finding, unless there is one about the field.
func (v *validator) tell(f report.Finding, fixes ...report.Fix) {
	if v.told[f.Field] && f.Field != "" {
		return
	}
	if v.told == nil {
		v.told = map[string]bool{}
	}
	v.told[f.Field] = true
	f.Fixes = append(f.Fixes, fixes...)
	v.list = append(v.list, f)
}

// metadata looks at what the API server demands of every object.
func (v *validator) metadata(content map[string]any) {
	meta, ok := content["metadata"].(map[string]any)
	if content["metadata"] != nil && !ok {
		v.tell(v.o.finding(report.WrongType, report.Error, "metadata", "metadata must be a mapping"))
		content["metadata"] = map[string]any{}
		return
	}
	name, isText := meta["name"].(string)
	_, generated := meta["generateName"].(string)
	switch {
	case meta["name"] != nil && !isText:
		v.tell(v.o.finding(report.WrongType, report.Error, "metadata.name", "metadata.name must be text: put it in quotes"), set("metadata.name", fmt.Sprint(meta["name"])))
	case name == "" && !generated:
		v.tell(v.o.finding(report.MissingField, report.Error, "metadata.name", "this %s has no metadata.name", v.o.kind))
	case name != "":
		if why := k8svalidation.IsDNS1123Subdomain(name); len(why) > 0 {
			v.tell(v.o.finding(report.InvalidValue, report.Error, "metadata.name", "metadata.name %q: %s", name, strings.Join(why, "; ")))
		}
	}
	if ns, _ := meta["namespace"].(string); ns != "" {
		more := ""
		if v.o.kind == kindExtension {
			more = "; spec.namespace says where it is installed"
		}
		v.tell(v.o.finding(report.IgnoredField, report.Warning, "metadata.namespace", "a %s belongs to no namespace, so metadata.namespace has no effect%s", v.o.kind, more),
			fix("metadata.namespace", nil, "remove metadata.namespace"))
	}
	for _, key := range []string{"labels", "annotations"} {
		switch m := meta[key].(type) {
		case nil:
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(m)) {
				if _, ok := m[name].(string); !ok {
					at := join("metadata."+key, name)
					v.tell(v.o.finding(report.WrongType, report.Error, at, "%s must be text: put it in quotes", at), set(at, v.written(at, m[name])))
				}
			}
		default:
			v.tell(v.o.finding(report.WrongType, report.Error, "metadata."+key, "metadata.%s must be a mapping", key))
		}
	}
}

// unknown finds the fields that the API server does not know.
func (v *validator) unknown(c *crd, content map[string]any) {
	paths := pruning.PruneWithOptions(content, c.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	for _, path := range paths {
		if path == "status" || strings.HasPrefix(path, "status.") || v.below(path) {
			continue
		}
		parent, name := "", path
		if i := strings.LastIndexByte(path, '.'); i >= 0 {
			parent, name = path[:i], path[i+1:]
		}
		if experimental(v.o.kind, path) {
			v.tell(v.o.finding(report.ExperimentalField, report.Warning, path, "%s is a field of the experimental CRD: where the standard one is installed the API server drops or refuses it", path))
			continue
		}
		f := v.o.finding(report.UnknownField, report.Error, path, "%s is no field of a %s: the API server drops it, and kubectl refuses it", path, v.o.kind)
		var fixes []report.Fix
		if near := nearest(name, propertiesAt(c.structural, parent)); near != "" {
			to := join(parent, near)
			f.Message += "; did you mean " + near + "?"
			fixes = append(fixes, fix(to, valueAt(v.o.content, path), "if that is meant, rename it to %s", to))
		}
		v.tell(f, fixes...)
	}
}

// below reports whether something has been said of a field or one above it.
func (v *validator) below(path string) bool {
	for at := path; at != ""; {
		if v.told[at] {
			return true
		}
		i := strings.LastIndexAny(at, ".[")
		if i < 0 {
			return false
		}
		at = at[:i]
	}
	return false
}

// propertiesAt are the names of the fields below a path.
func propertiesAt(s *structuralschema.Structural, path string) []string {
	for _, step := range steps(path) {
		if s == nil {
			return nil
		}
		next, ok := s.Properties[step]
		switch {
		case ok:
			s = &next
		case s.Items != nil:
			s = s.Items
		default:
			return nil
		}
	}
	var names []string
	if s != nil {
		for n := range s.Properties {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}

// valueAt is what an object has at a path, nil when it has nothing.
func valueAt(v any, path string) any {
	for _, step := range steps(path) {
		switch x := v.(type) {
		case map[string]any:
			v = x[step]
		case []any:
			i := index(step)
			if i < 0 || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// goTypes have the fields of the experimental CRDs too.
var goTypes = map[string]reflect.Type{
	kindExtension: reflect.TypeFor[ocv1.ClusterExtension](),
	kindCatalog:   reflect.TypeFor[ocv1.ClusterCatalog](),
}

// experimental reports whether the API's types have a field that its standard CRD lacks.
func experimental(kind, path string) bool {
	t := goTypes[kind]
	for _, step := range steps(path) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if index(step) >= 0 {
			continue
		}
		if t.Kind() != reflect.Struct {
			return t.PkgPath() != "" || t.Kind() == reflect.Map
		}
		next, ok := jsonField(t, step)
		if !ok {
			return false
		}
		t = next
	}
	return true
}

func jsonField(t reflect.Type, name string) (reflect.Type, bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == name {
			return f.Type, true
		}
	}
	return nil, false
}

// namedAtEnd is the field at the end of a text about the whole object.
var namedAtEnd = regexp.MustCompile(` in ((?:spec|metadata)[\w.\[\]]*)$`)

var valueShown = regexp.MustCompile(`^Invalid value: `)

// violation turns an error of the API server's validation into a finding.
func (v *validator) violation(c *crd, content map[string]any, e *field.Error) {
	path := strings.TrimPrefix(e.Field, "<nil>.")
	if path == "<nil>" {
		path = ""
	}
	if e.Type == field.ErrorTypeInternal && errors.Is(e, context.Canceled) {
		return
	}
	detail := strings.TrimSpace(valueShown.ReplaceAllString(e.Detail, ""))
	if m := namedAtEnd.FindStringSubmatch(detail); path == "" && m != nil {
		path = m[1]
	}
	detail = strings.TrimPrefix(detail, path+" in body ")
	switch e.Type {
	case field.ErrorTypeRequired:
		if v.below(path) {
			return
		}
		v.tell(v.o.finding(report.MissingField, report.Error, path, "%s is missing, and must be there", path))
	case field.ErrorTypeTypeInvalid:
		v.wrongType(c, content, path, detail)
	case field.ErrorTypeNotSupported:
		v.notSupported(content, path, detail)
	default:
		if v.below(path) && path != "" {
			return
		}
		at := path
		if at == "" {
			at = "the object"
		}
		shown := ""
		if s, ok := valueAt(content, path).(string); ok {
			shown = fmt.Sprintf(" %q", s)
		}
		v.tell(v.o.finding(report.InvalidValue, report.Error, path, "%s%s: %s", at, shown, strings.TrimSuffix(detail, ".")))
	}
}

// wrongType says what belongs into a field.
func (v *validator) wrongType(c *crd, content map[string]any, path, detail string) {
	if v.below(path) {
		return
	}
	value := valueAt(content, path)
	want := typeAt(c.structural, path)
	f := v.o.finding(report.WrongType, report.Error, path, "%s must be %s, and is %s", path, typeWords[want], typeOf(value))
	if typeWords[want] == "" {
		f.Message = path + ": " + detail
	}
	var fixes []report.Fix
	switch value.(type) {
	case string:
		if want == "array" {
			fixes = append(fixes, set(path, []any{value}))
		}
	case int64, float64, bool:
		if want == "string" {
			text := v.written(path, value)
			f.Message += ": put it in quotes"
			fixes = append(fixes, fix(path, text, "set %s: %q", path, text))
		}
	}
	v.tell(f, fixes...)
}

// written is a value as it stands in the file: 1.10 is another number than 1.1 to its author.
func (v *validator) written(path string, value any) string {
	if m, whole := v.o.marks.find(path); whole && m.text != "" {
		return m.text
	}
	return fmt.Sprint(value)
}

// typeWords name the types of a schema.
var typeWords = map[string]string{
	"string": "text", "array": "a list", "object": "a mapping", "boolean": "true or false", "integer": "a whole number", "number": "a number",
}

func typeAt(s *structuralschema.Structural, path string) string {
	for _, step := range steps(path) {
		next, ok := s.Properties[step]
		switch {
		case ok:
			s = &next
		case s.Items != nil:
			s = s.Items
		case s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil:
			s = s.AdditionalProperties.Structural
		default:
			return ""
		}
	}
	return s.Type
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "empty"
	case string:
		return "text"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	case map[string]any:
		return "a mapping"
	}
	return "a number"
}

var quoted = regexp.MustCompile(`"([^"]*)"`)

// notSupported says which of the words that are allowed may be meant.
func (v *validator) notSupported(content map[string]any, path, detail string) {
	if v.below(path) {
		return
	}
	var words []string
	for _, m := range quoted.FindAllStringSubmatch(detail, -1) {
		words = append(words, m[1])
	}
	value := fmt.Sprint(valueAt(content, path))
	f := v.o.finding(report.InvalidValue, report.Error, path, "%s is %q, and must be %s", path, value, strings.Join(words, " or "))
	var fixes []report.Fix
	near := nearest(value, words)
	if mode, ok := modes[value]; ok && near == "" {
		near = mode
	}
	if near == "" && len(words) == 1 {
		near = words[0]
	}
	if near != "" {
		fixes = append(fixes, set(path, near))
	}
	v.tell(f, fixes...)
}
