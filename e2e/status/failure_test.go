package status

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/e2e/gate"
	"github.com/olmgate/olmgate/e2e/load"
	"github.com/olmgate/olmgate/status"
)

// kilns adds extensions of one package.
func (w *world) kilns(n int) {
	w.Helper()
	for i := range n {
		w.add(extension(fmt.Sprintf("kiln-%03d", i), "kiln", ""), "", "")
	}
}

// leader is who holds the Lease.
func (w *world) leader() string {
	return w.kubectl("get", "lease", status.LeaseName, "--namespace="+gate.Namespace, "-o", "jsonpath={.spec.holderIdentity}")
}

func TestTheNextLeaderFinishesTheJob(t *testing.T) {
	const n = 100
	w := newWorld(t)
	w.catalog("kilns", 0, chain("kiln", "1.0.0"))
	w.kilns(n)
	first := w.writer("writer-1", firstAddress, "--status-write-rate=20")
	w.resolved("kiln-000", "Resolved")
	second := w.writer("writer-2", secondAddress, "--status-write-rate=20")
	w.settled()

	before := w.metric(first, writesSeries)
	w.catalogImage("kilns", "kilns-2", chain("kiln", "1.0.0", "1.1.0"))
	w.eventually(func(context.Context) error {
		if done := w.metric(first, writesSeries) - before; done < 10 {
			return fmt.Errorf("%v writes yet", done)
		}
		return nil
	})
	first.Process.Kill()
	killed, left := time.Now(), 0
	for _, ext := range w.extensions() {
		if c := condition(ext, status.TypeResolved); c == nil || !strings.Contains(c.Message, "1.1.0") {
			left++
		}
	}
	w.settled()
	finished := w.metric(second, writesSeries)
	t.Logf("killed with %d of %d left; the next leader finished %s later with %v writes", left, n, time.Since(killed).Round(time.Second), finished)
	if left == 0 || left == n || finished < float64(left-4) || finished > float64(left+4) {
		t.Errorf("%d left of %d, and %v writes by the next leader", left, n, finished)
	}
}

func TestAnAPIServerThatRestarts(t *testing.T) {
	w := newWorld(t)
	w.catalog("kilns", 0, chain("kiln", "1.0.0"))
	w.catalog("others", -5, chain("kiln", "2.0.0"))
	w.kilns(20)
	writer := w.writer("status-writer", firstAddress)
	w.settled()
	w.StopAPIServer()
	time.Sleep(12 * time.Second) // longer than the Lease is renewed for
	if err := w.RestartAPIServer(w.ctx()); err != nil {
		t.Fatal(err)
	}
	w.priority("others", 0)
	w.resolved("kiln-000", "AmbiguousCatalogs")
	w.settled()
	if writer.Process.PID() == 0 {
		t.Error("the process ended")
	}
	select {
	case <-writer.Process.Done():
		t.Error("the process ended")
	default:
	}
}

// cutter forwards connections and cuts them on demand.
type cutter struct {
	mu    sync.Mutex
	conns map[net.Conn]bool
}

func (c *cutter) serve(l net.Listener, to string) {
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", to)
		if err != nil {
			in.Close()
			continue
		}
		c.mu.Lock()
		c.conns[in], c.conns[out] = true, true
		c.mu.Unlock()
		for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
			go func() {
				_, _ = io.Copy(pair[0], pair[1])
				pair[0].Close()
				pair[1].Close()
			}()
		}
	}
}

func (c *cutter) cut() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.conns)
	for conn := range c.conns {
		conn.Close()
	}
	clear(c.conns)
	return n
}

func TestAWatchThatIsCut(t *testing.T) {
	w := newWorld(t)
	w.catalog("kilns", 0, chain("kiln", "1.0.0"))
	w.catalog("others", -5, chain("kiln", "2.0.0"))
	w.kilns(20)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	c := &cutter{conns: map[net.Conn]bool{}}
	go c.serve(listener, cluster.APIAddress)

	path, err := w.ServiceAccountKubeconfig(w.ctx(), gate.Namespace, status.LeaseName) // the account has the same name
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, cl := range config.Clusters {
		cl.TLSServerName, _, _ = net.SplitHostPort(cluster.APIAddress)
		cl.Server = "https://" + listener.Addr().String()
	}
	through := path + "-through"
	if err := clientcmd.WriteToFile(*config, through); err != nil {
		t.Fatal(err)
	}
	w.writerBy(through, "status-writer", firstAddress)
	w.settled()
	for i := range 6 {
		if n := c.cut(); n == 0 {
			t.Error("there was no connection to cut")
		}
		want := "AmbiguousCatalogs"
		if i%2 == 1 {
			want = "Resolved"
		}
		w.priority("others", []int{0, -5}[i%2])
		w.resolved("kiln-000", want)
	}
	w.settled()
}

// Others write the same extensions as fast as they can.
func TestAStormOfConflicts(t *testing.T) {
	w := newWorld(t)
	w.catalog("kilns", 0, chain("kiln", "1.0.0"))
	w.catalog("others", -5, chain("kiln", "2.0.0"))
	w.kilns(10)
	writer := w.writer("status-writer", firstAddress, "--status-write-rate=100", "--conditions=full")
	w.settled()
	ctx, stop := context.WithCancel(context.Background())
	var storm sync.WaitGroup
	for i := range 10 {
		storm.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				patch := fmt.Sprintf(`{"metadata":{"labels":{"storm":"%d"}},"status":{"conditions":null}}`, n)
				if n%2 == 1 {
					patch = fmt.Sprintf(`{"metadata":{"annotations":{"storm":"%d"}}}`, n)
				}
				ext := &ocv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("kiln-%03d", i)}}
				_ = w.client.Patch(ctx, ext, client.RawPatch("application/merge-patch+json", []byte(patch)))
			}
		})
	}
	storm.Go(func() { // of field managers, about one of the plain types
		for n := 0; ctx.Err() == nil; n++ {
			var ext ocv1.ClusterExtension
			if w.client.Get(ctx, client.ObjectKey{Name: "kiln-001"}, &ext) == nil {
				meta.SetStatusCondition(&ext.Status.Conditions, metav1.Condition{Type: "Progressing", Status: metav1.ConditionTrue, Reason: fmt.Sprintf("Other%d", n)})
				_ = w.client.Status().Update(ctx, &ext, client.FieldOwner("somebody"))
			}
		}
	})
	for i := range 6 {
		w.priority("others", []int{0, -5}[i%2])
		w.resolved("kiln-000", []string{"AmbiguousCatalogs", "Resolved"}[i%2])
	}
	stop()
	storm.Wait()
	if c := condition(w.extensions()["kiln-001"], "Progressing"); c == nil || !strings.HasPrefix(c.Reason, "Other") {
		t.Errorf("somebody wrote Progressing all the time, and it is %+v", c)
	}
	w.settled()
	if n := w.metric(writer, writesSeries); n > 10+6*10+10 { // ten more for the one that is fought about
		t.Errorf("%v writes, want at most one for each changed verdict", n)
	}
}

// While catalogd is away, what was said stays. A revision that cannot be loaded is said to be outdated.
func TestCatalogdIsAway(t *testing.T) {
	w := newWorld(t)
	w.catalog("kilns", 0, chain("kiln", "1.0.0"))
	w.kilns(3)
	w.writer("status-writer", firstAddress)
	w.settled()
	before := w.extensions()["kiln-000"]
	w.StopCatalogd()
	t.Cleanup(func() { // before the catalogs are deleted: their finalizers are catalogd's
		if err := w.StartCatalogd(w.ctx()); err != nil {
			t.Error(err)
		}
	})
	time.Sleep(3 * time.Second)
	if now := w.extensions()["kiln-000"]; now.ResourceVersion != before.ResourceVersion {
		t.Errorf("written though nothing changed: %+v", now.Status.Conditions)
	}
	ref := w.kubectl("get", "clustercatalog", "kilns", "-o", "jsonpath={.status.resolvedSource.image.ref}")
	image, _, _ := strings.Cut(ref, "@")
	other := image + "@sha256:" + strings.Repeat("0123456789abcdef", 4)
	w.kubectl("patch", "clustercatalog", "kilns", "--subresource=status", "--type=merge", fmt.Sprintf(`--patch={"status":{"resolvedSource":{"image":{"ref":%q}}}}`, other))
	w.eventually(func(context.Context) error {
		c := condition(w.extensions()["kiln-000"], status.TypeResolved)
		if c.Status != metav1.ConditionTrue || !strings.Contains(c.Message, "CatalogContentOutdated: the content of catalog kilns is older than what its status reports: loading its newer revision failed: ") {
			return fmt.Errorf("the condition is %+v", c)
		}
		return nil
	})
	if err := w.StartCatalogd(w.ctx()); err != nil {
		t.Fatal(err)
	}
	w.kubectl("patch", "clustercatalog", "kilns", "--subresource=status", "--type=merge", fmt.Sprintf(`--patch={"status":{"resolvedSource":{"image":{"ref":%q}}}}`, ref))
	w.eventually(func(context.Context) error {
		if c := condition(w.extensions()["kiln-000"], status.TypeResolved); strings.Contains(c.Message, "Outdated") {
			return errors.New(c.Message)
		}
		return nil
	})
	w.settled()
}

// The Lease is taken away from a process that also answers reviews. Not one review fails.
func TestALostLeaseRestartsOnlyTheWriter(t *testing.T) {
	w := newWorld(t)
	w.catalog("kilns", 0, chain("kiln", "1.0.0"))
	w.kubectl("apply", "--server-side", "-k", w.kustomization("write-status"))
	t.Cleanup(func() {
		w.kubectl("delete", "validatingwebhookconfiguration", gate.Configuration, "--ignore-not-found")
	})
	w.kubectl("patch", "validatingwebhookconfiguration", gate.Configuration, "--type=json", `--patch=[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Fail"}]`)
	g, err := gate.Start(w.ctx(), w.Cluster, gate.Options{Args: []string{"--write-status", "--catalogd-allowed-hosts=" + cluster.CatalogdHost}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Process.Terminate(40 * time.Second) })
	w.kilns(5)
	w.settled()

	unreadable := load.Extension("unreadable", "kiln")
	selector := map[string]any{"matchExpressions": []any{map[string]any{"key": "a", "operator": "Foo"}}}
	unreadable.Object["spec"].(map[string]any)["source"].(map[string]any)["catalog"].(map[string]any)["selector"] = selector
	l, err := load.Start(context.Background(), w.kube, load.Options{Cases: []load.Case{{Object: unreadable, Denied: "InvalidSelector"}, {Object: load.Extension("fine", "kiln")}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Pass(w.ctx(), 50); err != nil {
		t.Error(err)
	}
	holder := w.leader()
	w.kubectl("patch", "lease", status.LeaseName, "--namespace="+gate.Namespace, "--type=merge", `--patch={"spec":{"holderIdentity":"thief"}}`)
	w.eventually(func(context.Context) error {
		if !strings.Contains(g.Process.Tail(400), "the status writer ended and is started again") {
			return errors.New("the writer has not noticed")
		}
		return nil
	})
	w.catalogImage("kilns", "kilns-2", chain("kiln", "1.0.0", "1.1.0"))
	w.eventually(func(context.Context) error {
		if now := w.leader(); now == "thief" || now == holder {
			return fmt.Errorf("the lease is held by %s", now)
		}
		return nil
	})
	w.settled()
	if err := l.Pass(w.ctx(), 50); err != nil {
		t.Error(err)
	}
	result := l.Stop()
	t.Log(result)
	if result.Failed+result.Wrong > 0 || result.Requests == 0 {
		t.Errorf("%s: %s", result, strings.Join(result.FirstFailures, "\n"))
	}
	for _, ext := range w.extensions() {
		if c := condition(ext, status.TypeResolved); !strings.Contains(c.Message, "1.1.0") {
			t.Errorf("%s was not written since: %s", ext.Name, c.Message)
		}
	}
}
