package status

import (
	"encoding/json"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FieldManager is the name under which conditions are applied.
const FieldManager = "olmgate-status"

// fields are those of one condition that somebody manages, by their names in JSON; "." is the condition itself.
type fields map[string]bool

// owners are the fields of the conditions of an object that managers have, by type.
type owners struct {
	// applied are those that FieldManager has applied.
	applied map[string]fields
	// others are those of anybody else, names one of them per type.
	others map[string]fields
	names  map[string]string
}

// conditionOwners reads the managed fields of an object.
func conditionOwners(entries []metav1.ManagedFieldsEntry) owners {
	o := owners{applied: map[string]fields{}, others: map[string]fields{}, names: map[string]string{}}
	for i := range entries {
		e := &entries[i]
		if e.FieldsV1 == nil {
			continue
		}
		into := o.others
		if e.Manager == FieldManager && e.Operation == metav1.ManagedFieldsOperationApply {
			into = o.applied
		}
		for name, fs := range conditionFields(e.FieldsV1) {
			if into[name] == nil {
				into[name] = fields{}
			}
			for f := range fs {
				into[name][f] = true
			}
			if e.Manager != FieldManager {
				o.names[name] = e.Manager
			}
		}
	}
	return o
}

// conditionFields are the fields of the conditions in a set, by type. What cannot be read is left out.
func conditionFields(v1 *metav1.FieldsV1) map[string]fields {
	var set struct {
		Status struct {
			Conditions map[string]map[string]json.RawMessage `json:"f:conditions"`
		} `json:"f:status"`
	}
	if json.Unmarshal(v1.GetRawBytes(), &set) != nil {
		return nil
	}
	all := map[string]fields{}
	for key, in := range set.Status.Conditions {
		text, isKey := strings.CutPrefix(key, "k:")
		var k struct {
			Type string `json:"type"`
		}
		if !isKey || json.Unmarshal([]byte(text), &k) != nil || k.Type == "" {
			continue
		}
		fs := fields{}
		for f := range in {
			fs[strings.TrimPrefix(f, "f:")] = true
		}
		all[k.Type] = fs
	}
	return all
}

// remains are the fields of a condition that olmgate alone has. To stop applying them would take them away, and the
// condition with them, from under those who have its other fields: they are applied as they are from then on. Shared fields
// are given up.
func (o *owners) remains(name string) (fs []string, shared bool) {
	for f := range o.applied[name] {
		switch {
		case o.others[name][f]:
			shared = true
		case f != ".":
			fs = append(fs, f)
		}
	}
	return fs, shared
}

// slimManagedFields leaves what conditionOwners needs.
func slimManagedFields(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	var left []metav1.ManagedFieldsEntry
	for i := range entries {
		if entries[i].Subresource == "status" {
			left = append(left, entries[i])
		}
	}
	return left
}
