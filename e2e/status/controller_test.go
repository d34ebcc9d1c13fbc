package status

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/olmgate/olmgate/status"
)

// installer writes as operator-controller does: it patches finalizers in, reads extensions from a cache, changes
// conditions of its own in what it read, and puts the whole status back when something changed. It reconciles every
// extension whenever a catalog changes.
type installer struct {
	client client.Client
	// round is what its messages say, so that every round changes something.
	round               atomic.Int64
	updates, reconciled atomic.Int64
	// conflicts counts updates that were refused since the cache was behind.
	conflicts atomic.Int64
}

const finalizer = "e2e.olmgate.dev/installer"

// installerTypes are the conditions that it writes.
var installerTypes = []string{"Installed", "Progressing", "Deprecated", "PackageDeprecated", "ChannelDeprecated", "BundleDeprecated"}

// start runs the installer until stop is called, which also lets extensions go.
func (i *installer) start(w *world) (stop func()) {
	w.Helper()
	mgr, err := ctrl.NewManager(w.kube, ctrl.Options{Scheme: w.client.Scheme(), Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		w.Fatal(err)
	}
	i.client = mgr.GetClient()
	everything := handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, _ client.Object) []reconcile.Request {
		var list ocv1.ClusterExtensionList
		if err := i.client.List(ctx, &list); err != nil {
			return nil
		}
		var all []reconcile.Request
		for n := range list.Items {
			all = append(all, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[n])})
		}
		return all
	})
	err = ctrl.NewControllerManagedBy(mgr).
		For(&ocv1.ClusterExtension{}).
		Watches(&ocv1.ClusterCatalog{}, everything).
		WithOptions(controller.Options{SkipNameValidation: ptr.To(true)}).
		Complete(i)
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := mgr.Start(ctx); err != nil {
			w.Error(err)
		}
	}()
	return func() {
		cancel()
		<-done
		for name := range w.extensions() {
			w.kubectl("patch", "clusterextension", name, "--type=merge", `--patch={"metadata":{"finalizers":null}}`)
		}
	}
}

// Reconcile implements reconcile.Reconciler.
func (i *installer) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	i.reconciled.Add(1)
	var ext ocv1.ClusterExtension
	if err := i.client.Get(ctx, req.NamespacedName, &ext); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if ext.DeletionTimestamp != nil {
		before := ext.DeepCopy()
		controllerutil.RemoveFinalizer(&ext, finalizer)
		return reconcile.Result{}, i.client.Patch(ctx, &ext, client.MergeFrom(before))
	}
	if !controllerutil.ContainsFinalizer(&ext, finalizer) {
		before := ext.DeepCopy()
		controllerutil.AddFinalizer(&ext, finalizer)
		return reconcile.Result{}, i.client.Patch(ctx, &ext, client.MergeFrom(before))
	}
	before := ext.DeepCopy()
	for _, name := range installerTypes {
		meta.SetStatusCondition(&ext.Status.Conditions, metav1.Condition{
			Type: name, Status: metav1.ConditionTrue, Reason: "Succeeded", ObservedGeneration: ext.Generation,
			Message: fmt.Sprintf("round %d", i.round.Load()),
		})
	}
	if equality.Semantic.DeepEqual(before.Status, ext.Status) {
		return reconcile.Result{}, nil
	}
	err := i.client.Status().Update(ctx, &ext)
	switch {
	case apierrors.IsConflict(err):
		i.conflicts.Add(1)
		return reconcile.Result{RequeueAfter: 5 * time.Millisecond}, nil
	case err == nil:
		i.updates.Add(1)
	}
	return reconcile.Result{}, client.IgnoreNotFound(err)
}

// For a minute, while what extensions resolve to changes again and again, a controller that writes the whole status from
// its cache works beside the writer. Neither loses a condition, and when nothing changes any more, nobody writes any more.
func TestBesideAControllerThatWritesTheWholeStatus(t *testing.T) {
	const extensions, minute = 20, time.Minute
	w := newWorld(t)
	w.catalog("kilns", 0, chain("kiln", "1.0.0", "1.1.0"))
	w.catalog("others", 0, chain("wheel", "1.0.0"))
	for i := range extensions {
		w.add(extension(fmt.Sprintf("kiln-%02d", i), "kiln", ""), "kiln.v1.0.0", "1.0.0")
	}
	inst := &installer{}
	t.Cleanup(inst.start(w))
	writer := w.writer("status-writer", firstAddress, "--status-write-rate=100")
	w.settled()
	begun, writes, flips := time.Now(), w.metric(writer, writesSeries), 0
	for time.Since(begun) < minute {
		flips++
		inst.round.Add(1)
		// kiln is in one catalog, then in two that tie, and in one again.
		content := chain("wheel", "1.0.0")
		if flips%2 == 1 {
			content = append(content, chain("kiln", "2.0.0")...)
		}
		w.catalogImage("others", fmt.Sprintf("others-%d", flips), content)
		reason := "Resolved"
		if flips%2 == 1 {
			reason = "AmbiguousCatalogs"
		}
		w.resolved("kiln-00", reason)
		w.settled()
		w.everyConditionIsThere(inst)
	}
	changed := float64(flips * extensions)
	made := w.metric(writer, writesSeries) - writes
	t.Logf("in %s: %d flips, %v writes by olmgate, %d by the installer, which was refused %d times", time.Since(begun).Round(time.Second), flips, made, inst.updates.Load(), inst.conflicts.Load())
	if made != changed {
		t.Errorf("%v writes, want %v: one for each changed verdict", made, changed)
	}
	// Nobody answers the other's write by one of his own.
	versions, reconciled := w.versions(), inst.reconciled.Load()
	time.Sleep(5 * time.Second)
	if now := w.versions(); !maps.Equal(versions, now) {
		t.Error("extensions are written though nothing changes")
	}
	if n := inst.reconciled.Load() - reconciled; n > extensions {
		t.Errorf("the installer reconciled %d times though nothing changes", n)
	}
}

// catalogImage has a catalog serve other content, by an image of its own.
func (w *world) catalogImage(name, image string, content []byte) {
	w.Helper()
	before := w.kubectl("get", "clustercatalog", name, "-o", "jsonpath={.status.resolvedSource.image.ref}")
	ref, err := w.PushCatalog(w.ctx(), image, content)
	if err != nil {
		w.Fatal(err)
	}
	w.kubectl("patch", "clustercatalog", name, "--type=merge", fmt.Sprintf(`--patch={"spec":{"source":{"image":{"ref":%q}}}}`, ref))
	w.eventually(func(context.Context) error {
		if now := w.kubectl("get", "clustercatalog", name, "-o", "jsonpath={.status.resolvedSource.image.ref}"); now == before {
			return errors.New("catalogd still serves " + now)
		}
		return nil
	})
}

// everyConditionIsThere waits until the conditions of both writers are there and say what they should.
func (w *world) everyConditionIsThere(inst *installer) {
	w.Helper()
	w.eventually(func(context.Context) error {
		var missing []string
		for name, ext := range w.extensions() {
			for _, want := range slices.Concat(ownTypes, installerTypes) {
				c := condition(ext, want)
				switch {
				case c == nil:
					missing = append(missing, name+" has no "+want)
				case slices.Contains(installerTypes, want) && c.Message != fmt.Sprintf("round %d", inst.round.Load()):
					missing = append(missing, fmt.Sprintf("%s has %s of %s", name, want, c.Message))
				}
			}
		}
		if len(missing) > 0 {
			return errors.New(strings.Join(missing, "; "))
		}
		return nil
	})
}

// Somebody takes olmgate's conditions away, again and again. They come back, but ever more slowly.
func TestConditionsThatAreTakenAwayComeBack(t *testing.T) {
	w := newWorld(t)
	w.catalog("kilns", 0, chain("kiln", "1.0.0"))
	w.add(extension("kiln", "kiln", ""), "", "")
	writer := w.writer("status-writer", firstAddress)
	w.resolved("kiln", "Resolved")
	takeAway := func() {
		w.kubectl("patch", "clusterextension", "kiln", "--subresource=status", "--type=merge", `--patch={"status":{"conditions":[]}}`)
	}
	takeAway()
	w.resolved("kiln", "Resolved")

	begun := time.Now()
	for time.Since(begun) < 8*time.Second {
		takeAway()
		time.Sleep(20 * time.Millisecond)
	}
	if n := w.metric(writer, writesSeries); n > 8 {
		t.Errorf("%v writes in 8 s against somebody who takes them away", n)
	}
	w.resolved("kiln", "Resolved")
	w.settled()
}

// In the full profile plain types are written where nobody else has them.
func TestFullConditions(t *testing.T) {
	w := newWorld(t)
	deprecated := append(chain("kiln", "1.0.0", "1.1.0"),
		`{"schema":"olm.deprecations","package":"kiln","entries":[{"reference":{"schema":"olm.package"},"message":"use pottery"},{"reference":{"schema":"olm.bundle","name":"kiln.v1.0.0"},"message":"leaks"}]}`+"\n"...)
	w.catalog("kilns", 0, deprecated)
	w.add(extension("free", "kiln", ""), "kiln.v1.0.0", "1.0.0")
	w.add(extension("failing", "kiln", "9.9.9"), "", "")
	owned := extension("owned", "kiln", "9.9.9")
	w.add(owned, "", "")
	w.setByOther("owned", "Progressing", "PackageDeprecated")
	w.writer("status-writer", firstAddress, "--conditions=full")
	w.settled()

	all := w.extensions()
	for name, want := range map[string]map[string]string{
		"free":    {"Deprecated": "Deprecated", "PackageDeprecated": "Deprecated", "ChannelDeprecated": "NotDeprecated", "BundleDeprecated": "Deprecated"},
		"failing": {"Progressing": "Retrying", "Deprecated": "Deprecated", "BundleDeprecated": "Absent"},
		"owned":   {"Progressing": "Other", "PackageDeprecated": "Other", "Deprecated": "Deprecated"},
	} {
		for kind, reason := range want {
			if c := condition(all[name], kind); c == nil || c.Reason != reason {
				t.Errorf("%s: condition %s is %+v, want reason %s", name, kind, c, reason)
			}
		}
	}
	if c := condition(all["failing"], "Progressing"); c != nil && !strings.HasPrefix(c.Message, "NoMatchingVersion: ") {
		t.Errorf("Progressing says %q", c.Message)
	}
	if c := condition(all["free"], "Progressing"); c != nil {
		t.Errorf("an extension that resolves has %+v", c)
	}

	// It resolves now, so Progressing goes; another owner comes, so that type is left to it.
	w.kubectl("patch", "clusterextension", "failing", "--type=merge", `--patch={"spec":{"source":{"catalog":{"version":"1.1.0"}}}}`)
	w.resolved("failing", "Resolved")
	w.setByOther("free", "Deprecated")
	w.catalogImage("kilns", "kilns-2", chain("kiln", "1.0.0", "1.1.0", "1.2.0"))
	w.eventually(func(context.Context) error {
		free := w.extensions()["free"]
		if c := condition(free, "PackageDeprecated"); c == nil || c.Reason != "NotDeprecated" {
			return fmt.Errorf("PackageDeprecated is %+v", c)
		}
		if c := condition(free, "Deprecated"); c == nil || c.Reason != "Other" {
			return fmt.Errorf("Deprecated is %+v, and another owner set it", c)
		}
		if events := w.kubectl("get", "events", "-n", "default", "-o", `jsonpath={range .items[*]}{.involvedObject.name} {.reason}: {.message}{"\n"}{end}`); !strings.Contains(events, "free ConditionOwnedByOther: condition Deprecated is left to its other owner: somebody") {
			return errors.New("no event says that a type was left to its owner: " + events)
		}
		return nil
	})
	if c := condition(w.extensions()["failing"], "Progressing"); c != nil {
		t.Errorf("an extension that resolves again has %+v", c)
	}
}

// setByOther writes conditions as another field manager.
func (w *world) setByOther(name string, types ...string) {
	w.Helper()
	w.eventually(func(ctx context.Context) error {
		var ext ocv1.ClusterExtension
		if err := w.client.Get(ctx, client.ObjectKey{Name: name}, &ext); err != nil {
			return err
		}
		for _, kind := range types {
			meta.SetStatusCondition(&ext.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: "Other", Message: "of somebody else"})
		}
		return w.client.Status().Update(ctx, &ext, client.FieldOwner("somebody"))
	})
}

// Events tell of transitions, once each.
func TestEventsTellOfTransitions(t *testing.T) {
	w := newWorld(t)
	w.catalog("kilns", 0, chain("kiln", "1.0.0"))
	w.add(extension("eventful", "kiln", "1.1.0"), "", "")
	writer := w.writer("status-writer", firstAddress)
	w.resolved("eventful", "NoMatchingVersion")
	w.catalogImage("kilns", "kilns-2", chain("kiln", "1.0.0", "1.1.0"))
	w.resolved("eventful", "Resolved")
	w.eventually(func(context.Context) error {
		lines := w.kubectl("get", "events", "-n", "default", "--field-selector=involvedObject.name=eventful",
			"-o", `jsonpath={range .items[*]}{.type} {.reason} {.reportingComponent}{"\n"}{end}`)
		for _, want := range []string{"Warning NoMatchingVersion olmgate-status-writer", "Normal Resolved olmgate-status-writer"} {
			if strings.Count(lines, want) != 1 {
				return fmt.Errorf("%q is not once in:\n%s", want, lines)
			}
		}
		return nil
	})
	if n := w.metric(writer, `olmgate_extension_state{extension="eventful",outcome="Resolved",reason="Resolved"}`); n != 1 {
		t.Error("the metric does not say that it resolves")
	}
}

// What docs/status.md says takes the conditions away, and leaves those of others.
func TestTakingItAway(t *testing.T) {
	w := newWorld(t)
	w.catalog("kilns", 0, chain("kiln", "1.0.0"))
	w.add(extension("kiln", "kiln", ""), "", "")
	w.setByOther("kiln", "Installed")
	writer := w.writer("status-writer", firstAddress)
	w.resolved("kiln", "Resolved")
	writer.Process.Terminate(20 * time.Second)
	manifest := "apiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\nmetadata:\n  name: kiln\n"
	if _, _, err := w.Kubectl(w.ctx(), []byte(manifest), "apply", "--server-side", "--subresource=status", "--field-manager="+status.FieldManager, "--force-conflicts", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	kiln := w.extensions()["kiln"]
	for _, name := range ownTypes {
		if c := condition(kiln, name); c != nil {
			t.Errorf("%+v is left", c)
		}
	}
	if condition(kiln, "Installed") == nil {
		t.Error("the condition of somebody else is gone")
	}
}
