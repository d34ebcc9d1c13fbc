package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// watchedCluster is an API server with ClusterExtensions and ClusterCatalogs that can be watched, and whose connections
// can be cut; e2e has a real one.
type watchedCluster struct {
	t       *testing.T
	address string
	server  *httptest.Server
	// down is closed when the server stops, which ends the watches.
	down chan struct{}

	mu      sync.Mutex
	version int
	objects map[string]map[string]client.Object // by resource and name
	log     []change
	// logged is closed and replaced when the log grows.
	logged chan struct{}
	// content is that of the catalogs, by name; what is not there is answered by 503.
	content map[string]string
	fetched map[string]int
	// hold makes fetches wait until it is closed; nil does not.
	hold chan struct{}
	// forbidden are verbs and resources such as "watch clusterextensions".
	forbidden []string
}

// change is an event of a watch.
type change struct {
	resource string
	version  int
	event    []byte
}

func newWatchedCluster(t *testing.T) *watchedCluster {
	t.Helper()
	c := &watchedCluster{
		t: t, version: 100, logged: make(chan struct{}),
		objects: map[string]map[string]client.Object{"clusterextensions": {}, "clustercatalogs": {}},
		content: map[string]string{}, fetched: map[string]int{},
	}
	c.start("127.0.0.1:0")
	t.Cleanup(func() { c.stop() })
	return c
}

func (c *watchedCluster) start(address string) {
	c.t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		c.t.Fatal(err)
	}
	c.address = listener.Addr().String()
	down := make(chan struct{})
	c.down = down
	c.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { c.serveHTTP(w, r, down) }))
	_ = c.server.Listener.Close()
	c.server.Listener = listener
	c.server.Start()
}

func (c *watchedCluster) stop() {
	close(c.down)
	c.server.CloseClientConnections()
	c.server.Close()
}

// restart stops the server and starts it again at the same address, with the same objects.
func (c *watchedCluster) restart(meanwhile func()) {
	c.t.Helper()
	c.stop()
	meanwhile()
	c.start(c.address)
}

// set creates or changes an object.
func (c *watchedCluster) set(o client.Object) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	resource := resourceOf(o)
	kind := watch.Modified
	if old := c.objects[resource][o.GetName()]; old == nil {
		kind = watch.Added
		o.SetUID(types.UID(fmt.Sprintf("uid-%d", c.version)))
	} else {
		o.SetUID(old.GetUID())
	}
	c.record(kind, resource, o)
	c.objects[resource][o.GetName()] = o
}

func (c *watchedCluster) remove(resource, name string) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.objects[resource][name]
	delete(c.objects[resource], name)
	c.record(watch.Deleted, resource, o)
}

func (c *watchedCluster) record(kind watch.EventType, resource string, o client.Object) {
	c.t.Helper()
	c.version++
	o.SetResourceVersion(strconv.Itoa(c.version))
	raw, err := json.Marshal(map[string]any{"type": kind, "object": o})
	if err != nil {
		c.t.Fatal(err)
	}
	c.log = append(c.log, change{resource, c.version, append(raw, '\n')})
	close(c.logged)
	c.logged = make(chan struct{})
}

// serve gives a catalog content; "" has it answer 503.
func (c *watchedCluster) serve(name, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.content, name)
	if text != "" {
		c.content[name] = text
	}
}

func (c *watchedCluster) fetches(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fetched[name]
}

func (c *watchedCluster) holdFetches(until chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hold = until
}

func resourceOf(o client.Object) string {
	if _, ok := o.(*ocv1.ClusterCatalog); ok {
		return "clustercatalogs"
	}
	return "clusterextensions"
}

func (c *watchedCluster) serveHTTP(w http.ResponseWriter, r *http.Request, down <-chan struct{}) {
	const group = "/apis/olm.operatorframework.io/v1"
	resource, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, group+"/"), "/")
	verb := "list"
	switch {
	case name != "":
		verb = "get"
	case r.URL.Query().Get("watch") == "true":
		verb = "watch"
	}
	switch {
	case r.URL.Path == "/api":
		answerJSON(w, http.StatusOK, metav1.APIVersions{})
	case r.URL.Path == "/apis":
		version := metav1.GroupVersionForDiscovery{GroupVersion: ocv1.GroupVersion.String(), Version: "v1"}
		answerJSON(w, http.StatusOK, metav1.APIGroupList{Groups: []metav1.APIGroup{{Name: ocv1.GroupVersion.Group, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version}}})
	case r.URL.Path == group:
		verbs := metav1.Verbs{"get", "list", "watch"}
		answerJSON(w, http.StatusOK, metav1.APIResourceList{GroupVersion: ocv1.GroupVersion.String(), APIResources: []metav1.APIResource{
			{Name: "clusterextensions", Kind: ocv1.ClusterExtensionKind, Verbs: verbs}, {Name: "clustercatalogs", Kind: "ClusterCatalog", Verbs: verbs},
		}})
	case strings.Contains(r.URL.Path, "/proxy/catalogs/"):
		c.catalog(w, r)
	case c.forbids(verb + " " + resource):
		refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden, fmt.Sprintf("%s.%s is forbidden: User \"eve\" cannot %s resource %q", resource, ocv1.GroupVersion.Group, verb, resource))
	case verb == "watch" && r.URL.Query().Get("sendInitialEvents") == "true":
		refuse(w, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "sendInitialEvents is not known") // as an old API server; a list follows
	case verb == "watch":
		c.watch(w, r, resource, down)
	default:
		c.read(w, resource, name)
	}
}

func (c *watchedCluster) forbids(what string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Contains(c.forbidden, what)
}

// forbid makes these verbs and resources the only ones that are forbidden.
func (c *watchedCluster) forbid(what ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forbidden = what
}

func refuse(w http.ResponseWriter, code int32, reason metav1.StatusReason, message string) {
	answerJSON(w, int(code), metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Reason: reason, Code: code, Message: message})
}

// catalog is catalogd behind the service proxy.
func (c *watchedCluster) catalog(w http.ResponseWriter, r *http.Request) {
	_, after, _ := strings.Cut(r.URL.Path, "/proxy/catalogs/")
	name, _, _ := strings.Cut(after, "/")
	c.mu.Lock()
	hold := c.hold
	c.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	}
	c.mu.Lock()
	text, ok := c.content[name]
	c.fetched[name]++
	c.mu.Unlock()
	if !ok {
		http.Error(w, "no endpoints available", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprint(w, text)
}

func (c *watchedCluster) watch(w http.ResponseWriter, r *http.Request, resource string, down <-chan struct{}) {
	from, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	w.Header().Set("Content-Type", "application/json")
	for sent := 0; ; {
		_ = http.NewResponseController(w).Flush()
		c.mu.Lock()
		log, logged := c.log, c.logged
		c.mu.Unlock()
		for _, e := range log[sent:] {
			if e.resource == resource && e.version > from {
				_, _ = w.Write(e.event)
			}
		}
		if sent = len(log); sent > 0 {
			_ = http.NewResponseController(w).Flush()
		}
		select {
		case <-logged:
		case <-down:
			return
		case <-r.Context().Done():
			return
		}
	}
}

func (c *watchedCluster) read(w http.ResponseWriter, resource, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if name != "" {
		if o, ok := c.objects[resource][name]; ok {
			answerJSON(w, http.StatusOK, o)
		} else {
			refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("%s %q not found", resource, name))
		}
		return
	}
	items := []client.Object{}
	for _, k := range slices.Sorted(maps.Keys(c.objects[resource])) {
		items = append(items, c.objects[resource][k])
	}
	kind := map[string]string{"clusterextensions": "ClusterExtensionList", "clustercatalogs": "ClusterCatalogList"}[resource]
	answerJSON(w, http.StatusOK, map[string]any{
		"apiVersion": ocv1.GroupVersion.String(), "kind": kind, "metadata": metav1.ListMeta{ResourceVersion: strconv.Itoa(c.version)}, "items": items,
	})
}

// catalogAt is a catalog that serves a revision of its content.
func catalogAt(name string, priority int32, revision int) *ocv1.ClusterCatalog {
	return &ocv1.ClusterCatalog{
		TypeMeta:   metav1.TypeMeta{APIVersion: ocv1.GroupVersion.String(), Kind: "ClusterCatalog"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"olm.operatorframework.io/metadata.name": name}},
		Spec:       ocv1.ClusterCatalogSpec{Priority: priority},
		Status: ocv1.ClusterCatalogStatus{
			URLs:           &ocv1.ClusterCatalogURLs{Base: "https://catalogd-service.olmv1-system.svc/catalogs/" + name},
			ResolvedSource: &ocv1.ResolvedCatalogSource{Type: ocv1.SourceTypeImage, Image: &ocv1.ResolvedImageSource{Ref: fmt.Sprintf("example.com/c/%s@sha256:%064d", name, revision)}},
			Conditions:     []metav1.Condition{{Type: ocv1.TypeServing, Status: metav1.ConditionTrue, Reason: ocv1.ReasonAvailable}},
		},
	}
}

func extensionOf(name, pkg string) *ocv1.ClusterExtension {
	return &ocv1.ClusterExtension{
		TypeMeta:   metav1.TypeMeta{APIVersion: ocv1.GroupVersion.String(), Kind: ocv1.ClusterExtensionKind},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       ocv1.ClusterExtensionSpec{Source: ocv1.SourceConfig{SourceType: ocv1.SourceTypeCatalog, Catalog: &ocv1.CatalogFilter{PackageName: pkg}}},
	}
}

// content is a catalog with one package, whose one channel has these versions.
func content(pkg string, versions ...string) string {
	var text strings.Builder
	fmt.Fprintf(&text, `{"schema":"olm.package","name":%q,"defaultChannel":"stable"}`+"\n", pkg)
	entries := []string{}
	for i, v := range versions {
		entry := fmt.Sprintf(`{"name":"%s.v%s"}`, pkg, v)
		if i > 0 {
			entry = fmt.Sprintf(`{"name":"%s.v%s","replaces":"%s.v%s"}`, pkg, v, pkg, versions[i-1])
		}
		entries = append(entries, entry)
		fmt.Fprintf(&text, `{"schema":"olm.bundle","package":%q,"name":"%s.v%s","image":"x","properties":[{"type":"olm.package","value":{"packageName":%q,"version":%q}}]}`+"\n", pkg, pkg, v, pkg, v)
	}
	fmt.Fprintf(&text, `{"schema":"olm.channel","package":%q,"name":"stable","entries":[%s]}`+"\n", pkg, strings.Join(entries, ","))
	return text.String()
}

// watching is a running olmgate status --watch.
type watching struct {
	t        *testing.T
	out, err *lines
	stop     context.CancelFunc
	ended    chan int
}

func (c *watchedCluster) status(args ...string) *watching {
	c.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	w := &watching{t: c.t, out: newLines(), err: newLines(), stop: stop, ended: make(chan int, 1)}
	args = append([]string{"status", "--watch", "--server=http://" + c.address}, args...)
	go func() { w.ended <- run(ctx, args, streams{out: w.out, err: w.err}) }()
	c.t.Cleanup(func() {
		if stop(); <-w.ended != exitOK {
			c.t.Error("the watch did not end with exit status 0")
		}
	})
	return w
}

// prints wants these lines next on standard output; runs of spaces count as one.
func (w *watching) prints(want ...string) {
	w.t.Helper()
	for _, line := range want {
		if got := strings.Join(strings.Fields(w.out.next(w.t)), " "); got != line {
			w.t.Fatalf("got %q, want %q", got, line)
		}
	}
}

// says waits for a line on standard error that has all of the parts.
func (w *watching) says(parts ...string) {
	w.t.Helper()
	for {
		line := w.err.next(w.t)
		if !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(line, p) }) {
			return
		}
	}
}

// lines is a writer whose lines can be waited for.
type lines struct {
	mu   sync.Mutex
	part []byte
	all  chan string
}

func newLines() *lines { return &lines{all: make(chan string, 10_000)} }

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.part = append(l.part, p...)
	for {
		line, rest, found := bytes.Cut(l.part, []byte("\n"))
		if !found {
			return len(p), nil
		}
		l.all <- string(line)
		l.part = slices.Clone(rest)
	}
}

func (l *lines) next(t *testing.T) string {
	t.Helper()
	select {
	case line := <-l.all:
		return line
	case <-time.After(30 * time.Second):
		t.Fatal("no further line")
		return ""
	}
}

// eventNames are the type and extension of a line of -o json.
func eventNames(t *testing.T, line string) string {
	t.Helper()
	var e event
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return path.Join(string(e.Type), e.Object.Extension, e.Object.Catalog)
}
