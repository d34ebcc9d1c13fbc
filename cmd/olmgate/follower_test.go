package main

import (
	"bytes"
	"strings"
	"testing"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/resolver"
)

const rowHeadings = "NAME PACKAGE INSTALLED RESOLVES-TO CATALOG UPDATE REASON"

// pottery is a cluster with two catalogs that tie and two extensions.
func pottery(t *testing.T) *watchedCluster {
	c := newWatchedCluster(t)
	for _, name := range []string{"a", "b"} {
		c.set(catalogAt(name, 0, 1))
		c.serve(name, content("kiln-operator", "1.0.0"))
	}
	c.set(extensionOf("kiln", "kiln-operator"))
	c.set(extensionOf("apron", "apron-operator"))
	return c
}

func TestWatchPrintsWhatChanges(t *testing.T) {
	c := pottery(t)
	w := c.status()
	w.prints(rowHeadings, "apron apron-operator - - - - PackageNotFound", "kiln kiln-operator - - - - AmbiguousCatalogs")

	c.set(catalogAt("b", 5, 1))
	w.prints("kiln kiln-operator - 1.0.0 b - Resolved")

	// What shows in no row prints none.
	irrelevant := catalogAt("b", 5, 1)
	irrelevant.Annotations = map[string]string{"polled": "again"}
	c.set(irrelevant)
	installed := extensionOf("kiln", "kiln-operator")
	installed.Status.Install = &ocv1.ClusterExtensionInstallStatus{Bundle: ocv1.BundleMetadata{Name: "kiln-operator.v1.0.0", Version: "1.0.0"}}
	c.set(installed)
	w.prints("kiln kiln-operator 1.0.0 1.0.0 b up to date Resolved")

	c.serve("b", content("kiln-operator", "1.0.0", "1.1.0"))
	c.set(catalogAt("b", 5, 2))
	w.prints("kiln kiln-operator 1.0.0 1.1.0 b available Resolved")
	if a, b := c.fetches("a"), c.fetches("b"); a != 1 || b != 2 {
		t.Errorf("content was fetched %d and %d times, want 1 and 2", a, b)
	}

	c.set(extensionOf("oven", "kiln-operator"))
	w.prints("oven kiln-operator - 1.1.0 b - Resolved")
	c.remove("clusterextensions", "kiln")
	w.prints("kiln kiln-operator - - - - (deleted)")
	c.remove("clustercatalogs", "a")
	c.remove("clustercatalogs", "b")
	w.prints("apron apron-operator - - - - NoCatalogsSelected", "oven kiln-operator - - - - NoCatalogsSelected")
}

func TestWatchOfNamedExtensions(t *testing.T) {
	c := pottery(t)
	w := c.status("kiln", "-o", "wide")
	w.prints(rowHeadings+" PRIORITY NEWEST HOPS HELD BY CHANNELS VERSION DEPRECATED", "kiln kiln-operator - - - - AmbiguousCatalogs - - - - - - -")
	c.set(extensionOf("apron", "kiln-operator"))
	c.set(catalogAt("b", 5, 1))
	w.prints("kiln kiln-operator - 1.0.0 b - Resolved 5 - - - - - -")
}

func TestWatchForPrograms(t *testing.T) {
	c := pottery(t)
	w := c.status("-o", "json")
	next := func(want string) {
		t.Helper()
		if got := eventNames(t, w.out.next(t)); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
	next("ADDED/apron")
	next("ADDED/kiln")
	c.set(catalogAt("b", 5, 1))
	next("MODIFIED/apron") // its trace has the priority
	next("MODIFIED/kiln/b")
	c.set(extensionOf("oven", "kiln-operator"))
	next("ADDED/oven/b")
	c.remove("clusterextensions", "kiln")
	next("DELETED/kiln/b")

	w = c.status("-o", "yaml", "oven")
	w.prints("---", "object:")
}

func TestWatchWithoutExtensions(t *testing.T) {
	c := newWatchedCluster(t)
	w := c.status()
	w.says("there is no ClusterExtension yet")
	c.set(extensionOf("kiln", "kiln-operator"))
	w.prints(rowHeadings, "kiln kiln-operator - - - - NoCatalogsSelected")
}

func TestWatchGoesOnAfterACut(t *testing.T) {
	c := pottery(t)
	w := c.status("kiln")
	w.prints(rowHeadings, "kiln kiln-operator - - - - AmbiguousCatalogs")
	c.server.CloseClientConnections()
	c.set(catalogAt("b", 5, 1))
	w.prints("kiln kiln-operator - 1.0.0 b - Resolved")

	c.restart(func() {
		w.says("the watch of cluster", "was cut: ", "connection refused; trying again")
		c.set(catalogAt("a", 9, 1))
	})
	w.says("watching cluster", " again")
	w.prints("kiln kiln-operator - 1.0.0 a - Resolved")
	if a, b := c.fetches("a"), c.fetches("b"); a != 1 || b != 1 {
		t.Errorf("content was fetched %d and %d times, want once each", a, b)
	}
}

func TestWatchTellsOfCatalogsThatCannotBeRead(t *testing.T) {
	c := pottery(t)
	c.serve("b", "")
	w := c.status("kiln")
	w.prints(rowHeadings, "kiln kiln-operator - - - - CatalogContentUnavailable")
	w.says("the content of catalog b is not at hand: loading it failed: ", "503")
	c.serve("b", content("kiln-operator", "1.0.0"))
	w.prints("kiln kiln-operator - - - - AmbiguousCatalogs")
}

// While content is being loaded, what is shown stays.
func TestWatchWaitsForContent(t *testing.T) {
	c := pottery(t)
	w := c.status("kiln")
	w.prints(rowHeadings, "kiln kiln-operator - - - - AmbiguousCatalogs")
	hold := make(chan struct{})
	c.holdFetches(hold)
	c.serve("c", content("kiln-operator", "3.0.0"))
	c.set(catalogAt("c", 7, 1))
	c.set(extensionOf("oven", "kiln-operator"))
	close(hold)
	w.prints("kiln kiln-operator - 3.0.0 c - Resolved")
}

func TestWatchIsRefusedAtOnce(t *testing.T) {
	c := pottery(t)
	server := "--server=http://" + c.address
	refused(t, olmgate(t, nil, "status", "-w", "nosuch", server), `reading ClusterExtension nosuch at http://`, "not found")
	for _, tc := range []struct{ forbidden, says string }{
		{"list clusterextensions", "listing the ClusterExtensions at http://"},
		{"watch clusterextensions", "watching the ClusterExtensions at http://"},
		{"list clustercatalogs", "listing the ClusterCatalogs at http://"},
		{"watch clustercatalogs", "watching the ClusterCatalogs at http://"},
	} {
		c.forbid(tc.forbidden)
		refused(t, olmgate(t, nil, "status", "-w", server), tc.says, "is forbidden", "olmgate needs get, list and, for --watch, watch of")
	}
	c.forbid("list clusterextensions")
	for _, verb := range []string{"status", "outdated"} {
		refused(t, olmgate(t, nil, verb, server), "listing the ClusterExtensions at http://", "is forbidden", "olmgate needs get, list")
	}
	c.forbid("list clustercatalogs")
	refused(t, olmgate(t, nil, "status", server), "listing the ClusterCatalogs at http://", "is forbidden", "olmgate needs get, list")
	c.forbid("get clusterextensions")
	refused(t, olmgate(t, nil, "outdated", "kiln", server), "reading ClusterExtension kiln at http://", "is forbidden", "olmgate needs get, list")
}

func TestStatusOfACluster(t *testing.T) {
	c := pottery(t)
	server := "--server=http://" + c.address
	got := olmgate(t, nil, "status", server)
	if got.code != exitFailed || got.err != "" || !strings.HasPrefix(got.out, "NAME ") || !strings.Contains(got.out, "\n2 extensions: 0 resolved, 2 failed, 0 undecided\n") {
		t.Errorf("got %+v", got)
	}
	c.set(catalogAt("b", 5, 1))
	got = olmgate(t, nil, "status", "kiln", server, "-o", "json")
	if v := only(t, got.out); got.code != exitOK || v.Update == nil || v.Catalog != "b" {
		t.Errorf("got %+v", got)
	}

	c.serve("a", "")
	got = olmgate(t, nil, "status", server)
	if got.code != exitUndecided || !strings.Contains(got.out, "CatalogContentUnavailable") || !strings.Contains(got.err, "the content of catalog a is not at hand: its content could not be fetched: ") {
		t.Errorf("got %+v", got)
	}
	refused(t, olmgate(t, nil, "outdated", "nosuch", server), "reading ClusterExtension nosuch at http://", "kubectl get clusterextensions")

	c.remove("clusterextensions", "kiln")
	c.remove("clusterextensions", "apron")
	for _, verb := range []string{"status", "outdated"} {
		if got := olmgate(t, nil, verb, server); got.code != exitOK || got.out != "" || !strings.Contains(got.err, "there is no ClusterExtension at http://") {
			t.Errorf("%s: got %+v", verb, got)
		}
	}
}

func TestBadRowsAreColoured(t *testing.T) {
	var out bytes.Buffer
	s := &screen{w: &out, colour: true}
	update := &resolver.Update{Reason: resolver.NotInstalled}
	printStatus(s, []judged{
		{extensionOf("a", "x"), resolver.Verdict{Extension: "a", Outcome: resolver.OutcomeResolved, Reason: resolver.Resolved, Update: update}},
		{extensionOf("b", "x"), resolver.Verdict{Extension: "b", Outcome: resolver.OutcomeUndecided, Reason: resolver.CatalogContentUnavailable, Update: update}},
		{extensionOf("c", "x"), resolver.Verdict{Extension: "c", Outcome: resolver.OutcomeFailed, Reason: resolver.PackageNotFound, Update: update}},
	}, false)
	rows := strings.Split(out.String(), "\n")
	for i, want := range []string{"\x1b[2mNAME", "\x1b[31mc ", "\x1b[33mb ", "a "} {
		if !strings.HasPrefix(rows[i], want) {
			t.Errorf("row %d is %q, want it to begin with %q", i, rows[i], want)
		}
	}
}
