package gitopstest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
)

// generation is that of every object, unless a case says something else.
const generation = 2

var conditionLine = regexp.MustCompile(`^([\w./]+)=(\w+)/(\w+)@(\d+)(?:: (.*))?$`)

// conditions are a list of them, each written as Type=Status/Reason@observedGeneration: message.
func conditions(lines ...string) []any {
	list := []any{}
	for _, line := range lines {
		m := conditionLine.FindStringSubmatch(line)
		if m == nil {
			panic("no condition: " + line)
		}
		observed, err := strconv.ParseInt(m[4], 10, 64)
		if err != nil {
			panic(err)
		}
		list = append(list, map[string]any{
			"type": m[1], "status": m[2], "reason": m[3], "observedGeneration": observed, "message": m[5],
			"lastTransitionTime": "2025-01-01T00:00:00Z",
		})
	}
	return list
}

// object is one of a kind with conditions, changed by some edits.
func object(kind string, edits []edit, lines ...string) map[string]any {
	o := map[string]any{
		"apiVersion": group + "/v1",
		"kind":       kind,
		"metadata":   map[string]any{"name": "kiln", "generation": int64(generation)},
		"spec": map[string]any{
			"namespace": "kiln",
			"source":    map[string]any{"sourceType": "Catalog", "catalog": map[string]any{"packageName": "kiln-operator"}},
		},
		"status": map[string]any{},
	}
	if kind == "ClusterCatalog" {
		o["spec"] = map[string]any{"source": map[string]any{"type": "Image", "image": map[string]any{"ref": "example.com/catalog:latest"}}}
	}
	if len(lines) > 0 {
		o["status"] = map[string]any{"conditions": conditions(lines...)}
	}
	for _, e := range edits {
		e(o)
	}
	return o
}

// edit changes an object.
type edit func(object map[string]any)

// set writes a field, below maps that it makes. The value nil takes the field away.
func set(path string, value any) edit {
	return func(object map[string]any) {
		keys := strings.Split(path, ".")
		for _, key := range keys[:len(keys)-1] {
			inner, ok := object[key].(map[string]any)
			if !ok {
				inner = map[string]any{}
				object[key] = inner
			}
			object = inner
		}
		if last := keys[len(keys)-1]; value == nil {
			delete(object, last)
		} else {
			object[last] = value
		}
	}
}

var (
	deleting = set("metadata.deletionTimestamp", "2025-01-01T00:00:00Z")
	bundle   = set("status.install.bundle", map[string]any{"name": "kiln-operator.v1.0.0", "version": "1.0.0"})
)

// testCase is an object and what each engine must say of it.
type testCase struct {
	conditions []string
	edits      []edit
	argo       string
	message    string
	flux       status.Status
	// invalid says that the API server would never store the object.
	invalid bool
}

// Conditions that many cases share.
const (
	works     = "Progressing=True/Succeeded@2: Desired state reached"
	retrying  = "Progressing=True/Retrying@2: found bundles in multiple catalogs"
	has       = "Installed=True/Succeeded@2: Installed bundle example.com/kiln:v1 successfully"
	hasNot    = "Installed=False/Failed@2: No bundle installed"
	resolves  = "olmgate.dev/Resolved=True/Resolved@2: kiln-operator 1.0.0 of a"
	ambiguous = "olmgate.dev/Resolved=False/AmbiguousCatalogs@2: it is in 2 catalogs"
	undecided = "olmgate.dev/Resolved=Unknown/CatalogContentUnavailable@2: a is being unpacked"
)

var extensionCases = map[string]testCase{
	"olmgate and operator-controller agree that all is well": {
		conditions: []string{works, has, resolves}, edits: []edit{bundle},
		argo: healthy, message: "Installed kiln-operator.v1.0.0.", flux: ready,
	},
	"there is an update outside of the range, and what is installed is deprecated": {
		conditions: []string{
			works, has, resolves, "olmgate.dev/UpdateAvailable=True/HeldBack@2: 2.0.0 is out of range", "olmgate.dev/Deprecated=True/PackageDeprecated@2: use oven",
		},
		edits: []edit{bundle}, argo: healthy, flux: ready,
		message: "Installed kiln-operator.v1.0.0.\nHeldBack: 2.0.0 is out of range\nPackageDeprecated: use oven",
	},
	"what olmgate said of updates and deprecation is about an older spec": {
		conditions: []string{works, has, resolves, "olmgate.dev/UpdateAvailable=True/HeldBack@1: x", "olmgate.dev/Deprecated=True/PackageDeprecated@1: y"},
		edits:      []edit{bundle}, argo: healthy, message: "Installed kiln-operator.v1.0.0.", flux: ready,
	},
	"the source does not resolve and nothing is installed": {
		conditions: []string{retrying, hasNot, ambiguous},
		argo:       degraded, message: "AmbiguousCatalogs: it is in 2 catalogs", flux: fails,
	},
	"the source does not resolve and something older is installed": {
		conditions: []string{retrying, has, ambiguous}, edits: []edit{bundle}, argo: degraded, flux: fails,
		message: "What is installed, kiln-operator.v1.0.0, stays, but the source does not resolve: AmbiguousCatalogs: it is in 2 catalogs",
	},
	"the source does not resolve any more and operator-controller has not noticed": {
		conditions: []string{works, has, ambiguous}, edits: []edit{bundle}, argo: degraded, flux: fails,
		message: "What is installed, kiln-operator.v1.0.0, stays, but the source does not resolve: AmbiguousCatalogs: it is in 2 catalogs",
	},
	"olmgate is quicker than operator-controller to see that a new spec does not resolve": {
		conditions: []string{"Progressing=True/Succeeded@1", "Installed=True/Succeeded@1", ambiguous}, argo: degraded, flux: fails,
		message: "What is installed, a bundle, stays, but the source does not resolve: AmbiguousCatalogs: it is in 2 catalogs",
	},
	"a failed resolution of an older spec says nothing": {
		conditions: []string{works, has, "olmgate.dev/Resolved=False/NoMatchingVersion@1: x"},
		argo:       progressing, message: "olmgate has not judged the present spec yet.", flux: waits,
	},
	"a resolution of an older spec says nothing": {
		conditions: []string{works, has, "olmgate.dev/Resolved=True/Resolved@1"},
		argo:       progressing, message: "olmgate has not judged the present spec yet.", flux: waits,
	},
	"a catalog is being unpacked": {
		conditions: []string{retrying, hasNot, undecided},
		argo:       progressing, message: "CatalogContentUnavailable: a is being unpacked", flux: waits,
	},
	"a catalog is being unpacked again while all is well": {
		conditions: []string{works, has, undecided}, argo: progressing, message: "CatalogContentUnavailable: a is being unpacked", flux: waits,
	},
	"it resolves and is being installed": {
		conditions: []string{"Progressing=True/RollingOut@2: Revision 1.0.0 is rolling out.", "Installed=False/Absent@2: No bundle installed", resolves},
		argo:       progressing, message: "RollingOut: Revision 1.0.0 is rolling out.", flux: waits,
	},
	"it resolves and cannot be installed for now": {
		conditions: []string{"Progressing=True/Retrying@2: conflict with a field manager", hasNot, resolves},
		argo:       progressing, message: "Retrying: conflict with a field manager", flux: waits,
	},
	"it resolves and operator-controller sees an older spec": {
		conditions: []string{"Progressing=True/Succeeded@1", "Installed=True/Succeeded@1", resolves},
		argo:       progressing, message: "operator-controller has not seen the present spec yet.", flux: waits,
	},
	"it resolves and Installed is about an older spec": {
		conditions: []string{works, "Installed=True/Succeeded@1", resolves},
		argo:       progressing, message: "Nothing is installed for the present spec yet.", flux: waits,
	},
	"it resolves and Installed is not there": {
		conditions: []string{works, resolves}, argo: progressing, message: "Nothing is installed for the present spec yet.", flux: waits,
	},
	"it resolves and what is installed cannot be read": {
		conditions: []string{works, "Installed=Unknown/Failed@2: cannot list releases", resolves},
		argo:       progressing, message: "Failed: cannot list releases", flux: waits,
	},
	"it is installed and its objects are not available": {
		conditions: []string{works, has, "Available=False/ProbeFailure@2: a Deployment is not ready", resolves},
		argo:       progressing, message: "ProbeFailure: a Deployment is not ready", flux: waits,
	},
	"it is installed and its objects are available": {
		conditions: []string{works, has, "Available=True/ProbesSucceeded@2", resolves}, edits: []edit{bundle},
		argo: healthy, message: "Installed kiln-operator.v1.0.0.", flux: ready,
	},
	"it was not available under an older spec": {
		conditions: []string{works, has, "Available=False/ProbeFailure@1", resolves}, edits: []edit{bundle},
		argo: healthy, message: "Installed kiln-operator.v1.0.0.", flux: ready,
	},
	"it resolves and its configuration is invalid": {
		conditions: []string{"Progressing=False/InvalidConfiguration@2: unknown field", hasNot, resolves},
		argo:       degraded, message: "InvalidConfiguration: unknown field", flux: fails,
	},
	"it resolves and its bundle is blocked": {
		conditions: []string{"Progressing=False/Blocked@2: bad reference", has, resolves}, argo: degraded, message: "Blocked: bad reference", flux: fails,
	},
	"it resolves and takes too long": {
		conditions: []string{"Progressing=False/ProgressDeadlineExceeded@2: not rolled out for 10 minutes", resolves},
		argo:       degraded, message: "ProgressDeadlineExceeded: not rolled out for 10 minutes", flux: fails,
	},
	"it was blocked under an older spec": {
		conditions: []string{"Progressing=False/Blocked@1: bad reference", has, resolves},
		argo:       progressing, message: "operator-controller has not seen the present spec yet.", flux: waits,
	},
	"it is blocked and olmgate cannot decide": {
		conditions: []string{"Progressing=False/Blocked@2: bad reference", undecided}, argo: degraded, message: "Blocked: bad reference", flux: fails,
	},

	"without olmgate all is well": {
		conditions: []string{works, has}, edits: []edit{bundle}, argo: healthy, message: "Installed kiln-operator.v1.0.0.", flux: ready,
	},
	"without olmgate a resolution fails": {
		conditions: []string{retrying, hasNot}, argo: progressing, message: "Retrying: found bundles in multiple catalogs", flux: waits,
	},
	"without olmgate a resolution fails with something installed": {
		conditions: []string{retrying, has}, argo: progressing, message: "Retrying: found bundles in multiple catalogs", flux: waits,
	},
	"without olmgate it is blocked": {
		conditions: []string{"Progressing=False/Blocked@2: bad reference"}, argo: degraded, message: "Blocked: bad reference", flux: fails,
	},
	"without olmgate operator-controller sees an older spec": {
		conditions: []string{"Progressing=True/Succeeded@1", "Installed=True/Succeeded@1"},
		argo:       progressing, message: "operator-controller has not seen the present spec yet.", flux: waits,
	},
	"only olmgate has written anything": {
		conditions: []string{resolves}, argo: progressing, message: "operator-controller has not seen the present spec yet.", flux: waits,
	},
	"there are no conditions": {
		argo: progressing, message: "operator-controller has not seen the present spec yet.", flux: waits,
	},
	"there is no status": {
		edits: []edit{set("status", nil)}, argo: progressing, message: "operator-controller has not seen the present spec yet.", flux: errs,
	},

	"it is being deleted": {
		conditions: []string{works, has, resolves}, edits: []edit{deleting}, argo: progressing, message: "It is being deleted.", flux: waits,
	},
	"it is being deleted and does not resolve": {
		conditions: []string{retrying, hasNot, ambiguous}, edits: []edit{deleting}, argo: progressing, message: "It is being deleted.", flux: waits,
	},
	"it is being deleted and has no status": {
		edits: []edit{deleting, set("status", nil)}, argo: progressing, message: "It is being deleted.", flux: waits,
	},

	"its source is of another type, of which olmgate says nothing": {
		conditions: []string{works, has}, edits: []edit{set("spec.source.sourceType", "Image"), bundle}, invalid: true,
		argo: healthy, message: "Installed kiln-operator.v1.0.0.", flux: ready,
	},
	"its source has become of another type, and what olmgate said is left over": {
		conditions: []string{works, has, "olmgate.dev/Resolved=False/PackageNotFound@1: x"}, invalid: true,
		edits: []edit{set("spec.source.sourceType", "Image"), bundle}, argo: healthy, message: "Installed kiln-operator.v1.0.0.", flux: ready,
	},
	"there is no spec, which does not resolve": {
		conditions: []string{retrying, hasNot, ambiguous}, edits: []edit{set("spec", nil)},
		argo: degraded, message: "AmbiguousCatalogs: it is in 2 catalogs", flux: fails,
	},
	"there is no spec, which resolves": {
		conditions: []string{works, has, resolves}, edits: []edit{set("spec", nil), bundle},
		argo: healthy, message: "Installed kiln-operator.v1.0.0.", flux: ready,
	},
	"there is no spec, and nobody knows": {
		conditions: []string{works, has, undecided}, edits: []edit{set("spec", nil)},
		argo: progressing, message: "CatalogContentUnavailable: a is being unpacked", flux: errs,
	},
	"there is no source, and nobody knows": {
		conditions: []string{works, has, undecided}, edits: []edit{set("spec.source", nil)},
		argo: progressing, message: "CatalogContentUnavailable: a is being unpacked", flux: waits,
	},

	"there is no metadata": {
		conditions: []string{works, has, resolves}, edits: []edit{set("metadata", nil)}, invalid: true,
		argo: progressing, message: "olmgate has not judged the present spec yet.", flux: errs,
	},
	"the conditions are a text": {
		edits: []edit{set("status.conditions", "Progressing")}, invalid: true,
		argo: progressing, message: "operator-controller has not seen the present spec yet.", flux: errs,
	},
	"the conditions are an object": {
		edits: []edit{set("status.conditions", map[string]any{"type": "Progressing", "status": "False"})}, invalid: true,
		argo: progressing, message: "operator-controller has not seen the present spec yet.", flux: waits,
	},
	"the conditions are texts, numbers, lists and null": {
		edits: []edit{set("status.conditions", []any{"Progressing", int64(1), []any{}, nil})}, invalid: true,
		argo: progressing, message: "operator-controller has not seen the present spec yet.", flux: errs,
	},
	"a failed resolution does not say of which generation it is": {
		conditions: []string{works, has, ambiguous}, edits: []edit{forEach("observedGeneration", nil)},
		argo: progressing, message: "olmgate has not judged the present spec yet.", flux: waits,
	},
	"Resolved does not say of which generation it is": {
		conditions: []string{works, has, "Available=False/ProbeFailure@1", resolves}, edits: []edit{of("olmgate.dev/Resolved", "observedGeneration", nil)},
		argo: progressing, message: "olmgate has not judged the present spec yet.", flux: waits,
	},
	"Progressing does not say of which generation it is": {
		conditions: []string{works, has, "Available=False/ProbeFailure@1", resolves}, edits: []edit{of("Progressing", "observedGeneration", nil)},
		argo: progressing, message: "operator-controller has not seen the present spec yet.", flux: waits,
	},
	"Installed does not say of which generation it is": {
		conditions: []string{works, has, "Available=False/ProbeFailure@1", resolves}, edits: []edit{of("Installed", "observedGeneration", nil)},
		argo: progressing, message: "Nothing is installed for the present spec yet.", flux: waits,
	},
	"Available does not say of which generation it is": {
		conditions: []string{works, has, "Available=False/ProbeFailure@1", resolves}, edits: []edit{of("Available", "observedGeneration", nil)},
		argo: healthy, message: "Installed a bundle.", flux: ready,
	},
	"a condition has nothing but a type": {
		edits: []edit{set("status.conditions", []any{map[string]any{"type": "olmgate.dev/Resolved"}, map[string]any{"type": "Progressing"}})}, invalid: true,
		argo: progressing, message: "olmgate has not judged the present spec yet.", flux: waits,
	},
	"the conditions do not say of which generation they are": {
		conditions: []string{works, has, resolves}, edits: []edit{forEach("observedGeneration", nil)},
		argo: progressing, message: "olmgate has not judged the present spec yet.", flux: waits,
	},
	"neither the conditions nor the object have a generation": {
		conditions: []string{works, has, resolves}, edits: []edit{forEach("observedGeneration", nil), set("metadata.generation", nil)},
		argo: progressing, message: "olmgate has not judged the present spec yet.", flux: waits,
	},
	"the status of conditions is a number": {
		conditions: []string{works, has, resolves}, edits: []edit{forEach("status", int64(1))}, invalid: true,
		argo: progressing, message: "Resolved: kiln-operator 1.0.0 of a", flux: waits,
	},
	"the messages are lists": {
		conditions: []string{retrying, hasNot, ambiguous}, edits: []edit{forEach("message", []any{"x"})}, invalid: true,
		argo: degraded, message: "AmbiguousCatalogs", flux: fails,
	},
	"install is a text": {
		conditions: []string{works, has, resolves}, edits: []edit{set("status.install", "x")}, invalid: true,
		argo: healthy, message: "Installed a bundle.", flux: ready,
	},
	"there are twenty thousand conditions": {
		edits: []edit{many(20000, works, has, resolves), bundle}, argo: healthy, message: "Installed kiln-operator.v1.0.0.", flux: ready,
	},
}

var catalogCases = map[string]testCase{
	"it is served": {
		conditions: []string{"Progressing=True/Succeeded@2", "Serving=True/Available@2"}, argo: healthy, message: "It is served.", flux: ready,
	},
	"it is switched off": {
		conditions: []string{"Progressing=True/Succeeded@2", "Serving=False/UserSpecifiedUnavailable@2"},
		argo:       healthy, message: "It is not served, as spec.availabilityMode says.", flux: ready,
	},
	"it was switched off and is being switched on": {
		conditions: []string{"Progressing=True/Succeeded@1", "Serving=False/UserSpecifiedUnavailable@1"},
		argo:       progressing, message: "catalogd has not seen the present spec yet.", flux: waits,
	},
	"it cannot be pulled and was never served": {
		conditions: []string{"Progressing=True/Retrying@2: no such tag"}, argo: progressing, message: "Retrying: no such tag", flux: waits,
	},
	"a new image cannot be pulled and the old content is served": {
		conditions: []string{"Progressing=True/Retrying@2: no such tag", "Serving=True/Available@1"},
		argo:       progressing, message: "Retrying: no such tag", flux: waits,
	},
	"it is blocked": {
		conditions: []string{"Progressing=False/Blocked@2: bad reference", "Serving=True/Available@1"},
		argo:       degraded, message: "Blocked: bad reference", flux: fails,
	},
	"it was blocked under an older spec": {
		conditions: []string{"Progressing=False/Blocked@1: bad reference", "Serving=True/Available@1"},
		argo:       progressing, message: "catalogd has not seen the present spec yet.", flux: waits,
	},
	"it is unpacked and Serving is not there": {
		conditions: []string{"Progressing=True/Succeeded@2"}, argo: progressing, message: "It is not served yet.", flux: waits,
	},
	"it is unpacked and Serving is about an older spec": {
		conditions: []string{"Progressing=True/Succeeded@2", "Serving=True/Available@1"}, argo: progressing, message: "It is not served yet.", flux: waits,
	},
	"it is unpacked and not served": {
		conditions: []string{"Progressing=True/Succeeded@2", "Serving=False/Unavailable@2"}, argo: progressing, message: "Unavailable", flux: waits,
	},
	"it is being deleted": {
		conditions: []string{"Progressing=False/Blocked@2", "Serving=True/Available@2"}, edits: []edit{deleting},
		argo: progressing, message: "It is being deleted.", flux: waits,
	},
	"there are no conditions": {
		argo: progressing, message: "catalogd has not seen the present spec yet.", flux: waits,
	},
	"there is no status": {
		edits: []edit{set("status", nil)}, argo: progressing, message: "catalogd has not seen the present spec yet.", flux: errs,
	},
	"the conditions do not say of which generation they are": {
		conditions: []string{"Progressing=True/Succeeded@2", "Serving=True/Available@2"}, edits: []edit{forEach("observedGeneration", nil)},
		argo: progressing, message: "catalogd has not seen the present spec yet.", flux: waits,
	},
	"Blocked does not say of which generation it is": {
		conditions: []string{"Progressing=False/Blocked@2"}, edits: []edit{forEach("observedGeneration", nil)},
		argo: progressing, message: "catalogd has not seen the present spec yet.", flux: waits,
	},
	"Progressing does not say of which generation it is": {
		conditions: []string{"Progressing=True/Succeeded@2", "Serving=True/Available@2"}, edits: []edit{of("Progressing", "observedGeneration", nil)},
		argo: progressing, message: "catalogd has not seen the present spec yet.", flux: waits,
	},
	"Serving does not say of which generation it is": {
		conditions: []string{"Progressing=True/Succeeded@2", "Serving=True/Available@2"}, edits: []edit{of("Serving", "observedGeneration", nil)},
		argo: progressing, message: "It is not served yet.", flux: waits,
	},
	"the conditions are a text": {
		edits: []edit{set("status.conditions", "Serving")}, invalid: true,
		argo: progressing, message: "catalogd has not seen the present spec yet.", flux: errs,
	},
	"the conditions are texts, numbers, lists and null": {
		edits: []edit{set("status.conditions", []any{"Progressing", int64(1), []any{}, nil})}, invalid: true,
		argo: progressing, message: "catalogd has not seen the present spec yet.", flux: errs,
	},
}

// forEach writes a field of every condition.
func forEach(field string, value any) edit { return of("", field, value) }

// of writes a field of the conditions of a type.
func of(kind, field string, value any) edit {
	return func(object map[string]any) {
		for _, c := range object["status"].(map[string]any)["conditions"].([]any) {
			if c := c.(map[string]any); kind == "" || c["type"] == kind {
				set(field, value)(c)
			}
		}
	}
}

// many puts conditions behind many others.
func many(n int, lines ...string) edit {
	return func(object map[string]any) {
		var list []any
		for i := range n {
			list = append(list, conditions(fmt.Sprintf("example.com/c%d=True/Made@2: up", i))...)
		}
		set("status.conditions", append(list, conditions(lines...)...))(object)
	}
}
