package store

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/olmgate/olmgate/catalog/source"
)

// view is what readers see of one catalog at one moment. It never changes.
type view struct {
	want   revision
	loaded *loaded
	// failure is why the last load of want failed, "" when none failed.
	failure string
	state   State
}

// missing says why there is no content, as a phrase behind "because".
func (v view) missing(cc *ocv1.ClusterCatalog) string {
	ref := RefOf(cc)
	switch {
	case cc.DeletionTimestamp != nil:
		return "it is being deleted"
	case cc.Spec.AvailabilityMode == ocv1.AvailabilityModeUnavailable:
		return "its availabilityMode is Unavailable"
	case ref == "":
		return "it has not been unpacked yet" + unpacking(cc)
	case !serving(cc):
		return "it is not serving and was never loaded"
	case v.failure != "" && v.want.ref == ref:
		return "loading it failed: " + v.failure
	}
	return "its content is being loaded"
}

// outdated says why the content is not of the revision that is asked for.
func (v view) outdated(ref string) string {
	if v.failure != "" && v.want.ref == ref {
		return "loading its newer revision failed: " + v.failure
	}
	return "a newer revision of it is being loaded"
}

// unpacking adds what catalogd says about its trouble.
func unpacking(cc *ocv1.ClusterCatalog) string {
	c := meta.FindStatusCondition(cc.Status.Conditions, ocv1.TypeProgressing)
	if c == nil || c.Reason == ocv1.ReasonSucceeded || c.Message == "" {
		return ""
	}
	return fmt.Sprintf(" (%s: %s)", c.Reason, shorten(c.Message))
}

// reason is an error without what the reader knows already.
func reason(err error) string {
	var fetch *source.FetchError
	if errors.As(err, &fetch) {
		if fetch.URL == "" {
			return shorten(fetch.Err.Error())
		}
		return shorten(fmt.Sprintf("%v (%s)", fetch.Err, fetch.URL))
	}
	return shorten(err.Error())
}

// maxReason bounds what is repeated of an error, in characters.
const maxReason = 500

// fleeting is what differs in an error from try to try though nothing has changed: the own end of a connection, and the
// time.
var fleeting = regexp.MustCompile(`(?:\d+\.\d+\.\d+\.\d+|\[[0-9A-Fa-f:.%a-z]*\]):\d+->|current time \S+ is`)

// shorten makes a text one line of bounded length, and equal for the same trouble: who compares reasons would otherwise
// take every try for news.
func shorten(s string) string {
	s = fleeting.ReplaceAllStringFunc(s, func(found string) string {
		if strings.HasSuffix(found, "is") {
			return "current time is"
		}
		return ""
	})
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if r := []rune(s); len(r) > maxReason {
		return string(r[:maxReason]) + "..."
	}
	return s
}

// publish shows readers what is tracked of a catalog now, and reports whether that is something new. Store.mu is held.
func (s *Store) publish(name string) bool {
	was := *s.views.Load()
	old, had := was[name]
	t := s.tracked[name]
	if t == nil {
		if !had {
			return false
		}
		now := maps.Clone(was)
		delete(now, name)
		s.views.Store(&now)
		return true
	}
	v := view{want: t.want, loaded: t.loaded}
	if t.err != nil {
		v.failure = reason(t.err)
	}
	v.state = stateOf(t, v)
	if had && old == v {
		return false
	}
	now := maps.Clone(was)
	now[name] = v
	s.views.Store(&now)
	return true
}
