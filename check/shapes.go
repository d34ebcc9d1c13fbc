package check

import (
	"strconv"
	"strings"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/check/report"
)

// Groups of the API before it was OLM v1's of today.
const (
	oldCatalogGroup  = "catalogd.operatorframework.io"
	oldOperatorGroup = "operators.operatorframework.io"
)

// index is a position in a list, -1 when the step is none.
func index(step string) int {
	i, err := strconv.Atoi(step)
	if err != nil {
		return -1
	}
	return i
}

// oldAPI finds objects of APIs that are gone. Their other fields are told too, where they have another place now.
func (v *validator) oldAPI() bool {
	o := v.o
	version := ocv1.GroupVersion.String()
	kind := o.kind
	switch o.kind {
	case "Operator":
		kind = kindExtension
	case "Catalog":
		kind = kindCatalog
	}
	if o.apiVersion == version && kind == o.kind {
		return false
	}
	if o.apiVersion == "" {
		v.tell(o.finding(report.MissingField, report.Error, "apiVersion", "this %s has no apiVersion", o.kind), set("apiVersion", version))
		return true
	}
	var fixes []report.Fix
	if o.apiVersion != version {
		fixes = append(fixes, set("apiVersion", version))
	}
	if o.kind != kind {
		fixes = append(fixes, set("kind", kind))
	}
	v.tell(o.finding(report.OldAPI, report.Error, "apiVersion", "OLM v1 does not serve %s of %s: it is %s of %s", o.kind, o.apiVersion, kind, version), fixes...)
	v.moved(kind, o.content)
	return true
}

// shapes finds what people paste from earlier APIs, and takes it out of the content so that it is told once.
func (v *validator) shapes(content map[string]any) {
	if v.o.kind == kindExtension {
		v.selector(content)
		v.serviceAccount()
	}
	v.moved(v.o.kind, content)
}

// place is where a field of an earlier API has gone.
type place struct {
	from, to string
	// value makes the new value of the old one, nil for the same.
	value func(any) any
	// why is what else is to be said.
	why string
}

func inList(v any) any { return []any{v} }

// byName is the selector of the catalog of that name.
func byName(v any) any {
	return map[string]any{"matchLabels": map[string]any{ocv1.MetadataNameLabel: v}}
}

// minutes reads a duration such as 10m.
func minutes(v any) any {
	text, _ := v.(string)
	d, err := time.ParseDuration(text)
	if err != nil {
		return 10
	}
	return max(1, int64(d/time.Minute))
}

// modes are the availability modes as they were called before.
var modes = map[string]string{
	"Enabled":  string(ocv1.AvailabilityModeAvailable),
	"Disabled": string(ocv1.AvailabilityModeUnavailable),
}

func availability(v any) any {
	text, _ := v.(string)
	if mode, ok := modes[text]; ok {
		return mode
	}
	return v
}

const (
	toCatalog    = "spec.source.catalog."
	watchesAll   = "OLM v1 installs extensions for all namespaces"
	pickedByRule = "OLM v1 chooses by version and upgrade edges"
)

// places are the fields of earlier APIs and of OLM v0, by kind.
var places = map[string][]place{
	kindExtension: {
		{from: "spec.packageName", to: toCatalog + "packageName"},
		{from: "spec.package", to: toCatalog + "packageName"},
		{from: "spec.name", to: toCatalog + "packageName"},
		{from: "spec.version", to: toCatalog + "version"},
		{from: "spec.channel", to: toCatalog + "channels", value: inList},
		{from: "spec.channels", to: toCatalog + "channels"},
		{from: "spec.catalogSelector", to: toCatalog + "selector"},
		{from: "spec.selector", to: toCatalog + "selector"},
		{from: "spec.upgradeConstraintPolicy", to: toCatalog + "upgradeConstraintPolicy"},
		{from: "spec.startingCSV", to: toCatalog + "version", value: csvVersion, why: pickedByRule},
		{from: "spec.installPlanApproval", why: pickedByRule + ", without an approval: pin a version in spec.source.catalog.version"},
		{from: "spec.sourceNamespace", why: "a ClusterCatalog belongs to no namespace"},
		{from: "spec.installNamespace", to: "spec.namespace"},
		{from: "spec.targetNamespaces", why: watchesAll},
		{from: "spec.watchNamespaces", why: watchesAll},
		{from: "spec.watchNamespace", why: watchesAll},
		{from: "spec.install.namespace", to: "spec.namespace"},
		{from: "spec.install.serviceAccount", why: "operator-controller uses an account of its own"},
		{from: "spec.install.watchNamespaces", why: watchesAll},
		{from: "spec.preflight", to: "spec.install.preflight"},
		{from: "spec.source.packageName", to: toCatalog + "packageName"},
		{from: "spec.source.version", to: toCatalog + "version"},
		{from: "spec.source.channel", to: toCatalog + "channels", value: inList},
		{from: "spec.source.channels", to: toCatalog + "channels"},
		{from: "spec.source.selector", to: toCatalog + "selector"},
		{from: "spec.source.type", to: "spec.source.sourceType"},
		{from: "spec.source.upgradeConstraintPolicy", to: toCatalog + "upgradeConstraintPolicy"},
		{from: toCatalog + "package", to: toCatalog + "packageName"},
		{from: toCatalog + "channel", to: toCatalog + "channels", value: inList},
		{from: toCatalog + "catalogSelector", to: toCatalog + "selector"},
		{from: toCatalog + "name", to: toCatalog + "selector", value: byName, why: "a catalog is selected by its labels"},
		{from: toCatalog + "catalogName", to: toCatalog + "selector", value: byName, why: "a catalog is selected by its labels"},
	},
	kindCatalog: {
		{from: "spec.image", to: "spec.source.image.ref"},
		{from: "spec.source.ref", to: "spec.source.image.ref"},
		{from: "spec.source.image.pollInterval", to: "spec.source.image.pollIntervalMinutes", value: minutes},
		{from: "spec.source.pollInterval", to: "spec.source.image.pollIntervalMinutes", value: minutes},
		{from: "spec.source.image.insecureSkipTLSVerify", why: "registries are configured at catalogd"},
		{from: "spec.source.image.pullSecret", why: "pull secrets are configured at catalogd"},
		{from: "spec.source.sourceType", to: "spec.source.type"},
		{from: "spec.labels", to: "metadata.labels"},
		{from: "spec.availability", to: "spec.availabilityMode", value: availability},
	},
}

// csvVersion is the version in the name of a bundle such as kiln.v1.2.0.
func csvVersion(v any) any {
	text, _ := v.(string)
	if _, version, found := strings.Cut(text, ".v"); found {
		return version
	}
	return text
}

// moved finds fields that have another place now.
func (v *validator) moved(kind string, content map[string]any) {
	v.subscription(kind, content)
	for _, p := range places[kind] {
		old := valueAt(content, p.from)
		if old == nil {
			continue
		}
		remove(content, p.from)
		if p.to == "" {
			v.tell(v.o.finding(report.OldField, report.Error, p.from, "%s is no field of a %s any more: %s", p.from, kind, p.why), fix(p.from, nil, "remove %s", p.from))
			continue
		}
		value := old
		if p.value != nil {
			value = p.value(old)
		}
		f := v.o.finding(report.OldField, report.Error, p.from, "%s is no field of a %s: it is %s now", p.from, kind, p.to)
		if p.why != "" {
			f.Message += "; " + p.why
		}
		fixes := []report.Fix{set(p.to, value)}
		if there := valueAt(v.o.content, p.to); there != nil {
			fixes = []report.Fix{fix(p.from, nil, "remove %s, since %s is there", p.from, p.to)}
		}
		v.tell(f, fixes...)
		v.excuse(p.to)
	}
}

// excuse keeps what a finding brings from being told as missing.
func (v *validator) excuse(path string) {
	if v.told == nil {
		v.told = map[string]bool{}
	}
	for at := path; strings.Contains(at, "."); at = at[:strings.LastIndexByte(at, '.')] {
		if valueAt(v.o.content, at) == nil {
			v.told[at] = true
		}
	}
}

// subscription finds an image or catalog that stands where a mapping belongs.
func (v *validator) subscription(kind string, content map[string]any) {
	if name, ok := valueAt(content, "spec.source").(string); ok {
		f := v.o.finding(report.OldField, report.Error, "spec.source", "spec.source is %q, as in a Subscription of OLM v0, and must be a mapping", name)
		if kind == kindExtension {
			v.tell(f, set(toCatalog+"selector", byName(name)))
			v.excuse("spec.source.sourceType")
		} else {
			v.tell(f, set("spec.source", map[string]any{"type": "Image", "image": map[string]any{"ref": name}}))
		}
		remove(content, "spec.source")
	}
	if ref, ok := valueAt(content, "spec.source.image").(string); ok && kind == kindCatalog {
		v.tell(v.o.finding(report.OldField, report.Error, "spec.source.image", "spec.source.image is %q, and must be a mapping", ref), set("spec.source.image", map[string]any{"ref": ref}))
		if source, ok := valueAt(content, "spec.source").(map[string]any); ok {
			source["image"] = map[string]any{"ref": ref}
		}
	}
}

// remove takes a field out of an object.
func remove(content map[string]any, path string) {
	i := strings.LastIndexByte(path, '.')
	if parent, ok := valueAt(content, path[:i]).(map[string]any); ok {
		delete(parent, path[i+1:])
	}
}

// selector finds labels where a selector belongs.
func (v *validator) selector(content map[string]any) {
	const path = toCatalog + "selector"
	selector, ok := valueAt(content, path).(map[string]any)
	if !ok || selector["matchLabels"] != nil || selector["matchExpressions"] != nil || len(selector) == 0 {
		return
	}
	known := []string{"matchLabels", "matchExpressions"}
	labels := map[string]any{}
	for key, value := range selector {
		text, ok := value.(string)
		if !ok || strings.EqualFold(key, known[0]) || strings.EqualFold(key, known[1]) {
			return
		}
		labels[key] = text
	}
	v.tell(v.o.finding(report.LabelsForSelector, report.Error, path, "%s holds labels, which the API server drops, and then every catalog is selected: they belong into matchLabels", path),
		set(path, map[string]any{"matchLabels": labels}))
	remove(content, path)
}

// serviceAccount tells of the field that has no effect.
func (v *validator) serviceAccount() {
	const path = "spec.serviceAccount"
	if valueAt(v.o.content, path) != nil {
		v.tell(v.o.finding(report.IgnoredField, report.Warning, path, "%s has no effect: operator-controller uses an account of its own", path), fix(path, nil, "remove %s", path))
	}
}
