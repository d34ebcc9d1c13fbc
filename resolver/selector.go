package resolver

import (
	"errors"
	"fmt"
	"sort"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// selectorFault finds the part of a selector that cannot be read, by compiling its parts one by one.
func selectorFault(s *metav1.LabelSelector, whole error) (field, why string) {
	keys := make([]string, 0, len(s.MatchLabels))
	for k := range s.MatchLabels {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		if _, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchLabels: map[string]string{k: s.MatchLabels[k]}}); err != nil {
			return fmt.Sprintf("%s.matchLabels[%s]", fieldSelector, k), err.Error()
		}
	}
	for i, e := range s.MatchExpressions {
		_, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{e}})
		if err == nil {
			continue
		}
		field = fmt.Sprintf("%s.matchExpressions[%d]", fieldSelector, i)
		switch e.Operator {
		case metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn:
			if len(e.Values) == 0 {
				return field + ".values", fmt.Sprintf("operator %s needs values", e.Operator)
			}
		case metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist:
			if len(e.Values) > 0 {
				return field + ".values", fmt.Sprintf("operator %s takes no values", e.Operator)
			}
		default:
			return field + ".operator", fmt.Sprintf("%q is not an operator; use In, NotIn, Exists or DoesNotExist", e.Operator)
		}
		return field, err.Error()
	}
	return fieldSelector, whole.Error()
}

// labelled are the labels of a catalog as selectors see them: the name label counts as present and true on every
// catalog, whatever is stored.
type labelled struct{ c *Catalog }

func (l labelled) Has(key string) bool {
	_, ok := l.Lookup(key)
	return ok
}

func (l labelled) Get(key string) string {
	v, _ := l.Lookup(key)
	return v
}

func (l labelled) Lookup(key string) (string, bool) {
	if key == ocv1.MetadataNameLabel {
		return l.c.Name, true
	}
	v, ok := l.c.Labels[key]
	return v, ok
}

// Selector selects catalogs as the field of that name does. The zero value selects every catalog.
type Selector struct{ compiled labels.Selector }

// NewSelector reads the selector of an extension's catalog source; a nil source or selector selects every catalog.
func NewSelector(source *ocv1.CatalogFilter) (Selector, error) {
	if source == nil {
		return Selector{}, nil
	}
	r := &request{}
	if f := r.parseSelector(source.Selector); f != nil {
		return Selector{}, errors.New(f.message)
	}
	return Selector{r.selector}, nil
}

// Selects reports whether a catalog is selected, whether or not it is available.
func (s Selector) Selects(c *Catalog) bool {
	return s.compiled == nil || s.compiled.Matches(labelled{c})
}
