package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/olmgate/olmgate/catalog"
)

// cluster is the API server's side: what it holds now, whether or not a Store has seen it.
type cluster struct {
	mu      sync.Mutex
	version int
	objects map[string]*ocv1.ClusterCatalog
}

func newCluster() *cluster { return &cluster{version: 100, objects: map[string]*ocv1.ClusterCatalog{}} }

// set changes a ClusterCatalog, made when it is not there, and returns what a watch would bring.
func (c *cluster) set(name string, edits ...func(*ocv1.ClusterCatalog)) *ocv1.ClusterCatalog {
	c.mu.Lock()
	defer c.mu.Unlock()
	cc := c.objects[name]
	if cc == nil {
		cc = &ocv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(fmt.Sprintf("uid-%d", c.version))}}
	}
	cc = cc.DeepCopy()
	for _, edit := range edits {
		edit(cc)
	}
	c.version++
	cc.ResourceVersion = strconv.Itoa(c.version)
	c.objects[name] = cc
	return cc.DeepCopy()
}

func (c *cluster) remove(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.objects, name)
}

func (c *cluster) latest(_ context.Context, name string) (*ocv1.ClusterCatalog, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cc := c.objects[name]; cc != nil {
		return cc.DeepCopy(), nil
	}
	return nil, fmt.Errorf("clustercatalog %q not found", name)
}

// serves is a status as catalogd writes it for a revision.
func serves(ref string) func(*ocv1.ClusterCatalog) {
	return func(cc *ocv1.ClusterCatalog) {
		cc.Status.URLs = &ocv1.ClusterCatalogURLs{Base: "https://catalogd-service.olmv1-system.svc/catalogs/" + cc.Name}
		cc.Status.ResolvedSource = &ocv1.ResolvedCatalogSource{Image: &ocv1.ResolvedImageSource{Ref: ref}}
		cc.Status.Conditions = []metav1.Condition{{Type: ocv1.TypeServing, Status: metav1.ConditionTrue, Reason: ocv1.ReasonAvailable}}
	}
}

// unavailable is what becomes of a catalog with availabilityMode Unavailable.
func unavailable(cc *ocv1.ClusterCatalog) {
	cc.Spec.AvailabilityMode = ocv1.AvailabilityModeUnavailable
	cc.Status = ocv1.ClusterCatalogStatus{Conditions: []metav1.Condition{
		{Type: ocv1.TypeServing, Status: metav1.ConditionFalse, Reason: ocv1.ReasonUserSpecifiedUnavailable}}}
}

func available(cc *ocv1.ClusterCatalog) { cc.Spec.AvailabilityMode = ocv1.AvailabilityModeAvailable }

func deleting(cc *ocv1.ClusterCatalog) {
	now := metav1.NewTime(time.Unix(1, 0))
	cc.DeletionTimestamp = &now
}

func labelled(cc *ocv1.ClusterCatalog) { cc.Labels = map[string]string{"a": "b"} }

// index is a catalog with one package.
func index(t *testing.T, pkg string) *catalog.Index {
	t.Helper()
	x, err := catalog.Read(strings.NewReader(`{"schema":"olm.package","name":"`+pkg+`"}`), catalog.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// remote is a Fetcher whose answers a test gives, one by one.
type remote struct{ downloads chan *download }

type download struct {
	ctx    context.Context
	name   string
	ref    string
	answer chan answer
}

type answer struct {
	index *catalog.Index
	err   error
}

func newRemote() *remote { return &remote{downloads: make(chan *download)} }

func (r *remote) Fetch(ctx context.Context, cc *ocv1.ClusterCatalog) (*catalog.Index, error) {
	d := &download{ctx: ctx, name: cc.Name, ref: RefOf(cc), answer: make(chan answer)}
	select {
	case r.downloads <- d:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case a := <-d.answer:
		return a.index, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// next is the download that has begun; the test fails when none has.
func (r *remote) next(t *testing.T, name, ref string) *download {
	t.Helper()
	synctest.Wait()
	select {
	case d := <-r.downloads:
		if d.name != name || d.ref != ref {
			t.Fatalf("got a download of %s at %s, want %s at %s", d.name, d.ref, name, ref)
		}
		return d
	default:
		t.Fatalf("no download of %s at %s has begun", name, ref)
		return nil
	}
}

// none fails the test when a download has begun.
func (r *remote) none(t *testing.T) {
	t.Helper()
	synctest.Wait()
	select {
	case d := <-r.downloads:
		t.Fatalf("got a download of %s at %s, want none", d.name, d.ref)
	default:
	}
}

func (d *download) succeed(t *testing.T, pkg string) {
	t.Helper()
	d.answer <- answer{index: index(t, pkg)}
	synctest.Wait()
}

func (d *download) fail(err error) {
	d.answer <- answer{err: err}
	synctest.Wait()
}

// inBubble runs a test with a clock of its own, a cluster, a remote and a Store of them.
func inBubble(t *testing.T, o Options, test func(t *testing.T, c *cluster, r *remote, s *Store)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c, r := newCluster(), newRemote()
		o.Fetcher, o.Latest = r, c.latest
		o.Jitter = func(d time.Duration) time.Duration { return d }
		s := New(o)
		s.free = func() {}
		defer s.Close()
		test(t, c, r, s)
	})
}

// expect compares what a Store says about a catalog: the package it holds, "" for no content, and the problem's
// beginning.
func expect(t *testing.T, s *Store, cc *ocv1.ClusterCatalog, pkg string, outdated bool, problem string) {
	t.Helper()
	got := s.Content(cc)
	if pkg == "" && got.Index != nil || pkg != "" && (got.Index == nil || got.Index.Package(pkg) == nil) {
		t.Errorf("got index %v, want package %q", got.Index, pkg)
	}
	if got.Outdated != outdated || !strings.HasPrefix(got.Problem, problem) || problem == "" && got.Problem != "" {
		t.Errorf("got outdated %v, problem %q, want %v, %q", got.Outdated, got.Problem, outdated, problem)
	}
}

func expectPhase(t *testing.T, s *Store, want Phase) State {
	t.Helper()
	states := s.States()
	if len(states) != 1 || states[0].Phase != want || (states[0].Why == "") != (want == Current) {
		t.Errorf("got %+v, want %s", states, want)
	}
	if len(states) == 0 {
		return State{}
	}
	return states[0]
}
