package diff

import (
	"fmt"

	"github.com/olmgate/olmgate/catalog"
)

// pair goes through two lists that are sorted by name, and calls found for what differs: with nil for what the one or
// the other does not have. Of several with one name, those with an equal are left out and the others pair off in order.
func pair[T any](before, after []T, name func(*T) string, found func(before, after *T)) {
	for len(before) > 0 || len(after) > 0 {
		var next string
		switch {
		case len(before) == 0:
			next = name(&after[0])
		case len(after) == 0:
			next = name(&before[0])
		default:
			next = min(name(&before[0]), name(&after[0]))
		}
		var a, b []T
		a, before = cutName(before, next, name)
		b, after = cutName(after, next, name)
		pairOff(a, b, found)
	}
}

func cutName[T any](list []T, next string, name func(*T) string) (same, rest []T) {
	n := 0
	for n < len(list) && name(&list[n]) == next {
		n++
	}
	return list[:n], list[n:]
}

func pairOff[T any](a, b []T, found func(before, after *T)) {
	if len(a) > 1 || len(b) > 1 {
		a, b = unequal(a, b)
	}
	for i := range max(len(a), len(b)) {
		var x, y *T
		if i < len(a) {
			x = &a[i]
		}
		if i < len(b) {
			y = &b[i]
		}
		found(x, y)
	}
}

// unequal leaves out what both lists have.
func unequal[T any](a, b []T) (restA, restB []T) {
	count := map[string]int{}
	for i := range a {
		count[textOf(&a[i])]++
	}
	for i := range b {
		if text := textOf(&b[i]); count[text] > 0 {
			count[text]--
		} else {
			restB = append(restB, b[i])
		}
	}
	for i := range a {
		if text := textOf(&a[i]); count[text] > 0 {
			count[text]--
			restA = append(restA, a[i])
		}
	}
	return restA, restB
}

// textOf is equal for what is equal. Where a bundle is in its package makes no difference.
func textOf(x any) string {
	if e, ok := x.(*catalog.Entry); ok {
		e := *e
		e.Bundle = 0
		return fmt.Sprintf("%#v", e)
	}
	return fmt.Sprintf("%#v", x)
}

// values is nil when both are the same.
func values(before, after string) *Values {
	if before == after {
		return nil
	}
	return &Values{before, after}
}

// lists is nil when both have the same members as often. Their order does not count.
func lists(before, after []string) *Lists {
	count := map[string]int{}
	for _, s := range after {
		count[s]++
	}
	l := &Lists{Added: []string{}, Removed: []string{}}
	for _, s := range before {
		if count[s]--; count[s] < 0 {
			l.Removed = append(l.Removed, s)
		}
	}
	for _, s := range after {
		if count[s] > 0 {
			l.Added = append(l.Added, s)
			count[s]--
		}
	}
	if len(l.Added)+len(l.Removed) == 0 {
		return nil
	}
	return l
}

// changeOf tells by which side there is.
func changeOf[T any](before, after *T) Change {
	switch {
	case before == nil:
		return Added
	case after == nil:
		return Removed
	}
	return Changed
}

// sides are the two, with an empty one for what is not there.
func sides[T any](before, after *T) (b, a *T) {
	if before == nil {
		before = new(T)
	}
	if after == nil {
		after = new(T)
	}
	return before, after
}
