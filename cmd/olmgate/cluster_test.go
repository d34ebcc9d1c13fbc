package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// apiServer answers what the command line asks of one, from canned objects; e2e has a real one. It has the extension
// kiln, the catalog hub behind the service proxy, and the catalog late, which has not been unpacked.
func apiServer(t *testing.T) string {
	const group = "/apis/olm.operatorframework.io"
	catalog := func(name, base string) ocv1.ClusterCatalog {
		cc := ocv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: ocv1.ClusterCatalogSpec{Priority: -1}}
		if base != "" {
			cc.Spec.Priority = 5
			cc.Status.URLs = &ocv1.ClusterCatalogURLs{Base: base}
			cc.Status.Conditions = []metav1.Condition{{Type: ocv1.TypeServing, Status: metav1.ConditionTrue}}
		}
		return cc
	}
	objects := map[string]any{
		"/api":  metav1.APIVersions{},
		"/apis": metav1.APIGroupList{Groups: []metav1.APIGroup{{Name: "olm.operatorframework.io", Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: ocv1.GroupVersion.String(), Version: "v1"}}, PreferredVersion: metav1.GroupVersionForDiscovery{GroupVersion: ocv1.GroupVersion.String(), Version: "v1"}}}},
		group + "/v1": metav1.APIResourceList{GroupVersion: ocv1.GroupVersion.String(), APIResources: []metav1.APIResource{
			{Name: "clusterextensions", Kind: ocv1.ClusterExtensionKind, Verbs: metav1.Verbs{"get"}}, {Name: "clustercatalogs", Kind: "ClusterCatalog", Verbs: metav1.Verbs{"list"}},
		}},
		group + "/v1/clusterextensions/kiln": ocv1.ClusterExtension{
			TypeMeta: metav1.TypeMeta{APIVersion: ocv1.GroupVersion.String(), Kind: ocv1.ClusterExtensionKind}, ObjectMeta: metav1.ObjectMeta{Name: "kiln"},
			Spec: ocv1.ClusterExtensionSpec{Source: ocv1.SourceConfig{SourceType: ocv1.SourceTypeCatalog, Catalog: &ocv1.CatalogFilter{PackageName: "kiln-operator"}}},
		},
		group + "/v1/clustercatalogs": ocv1.ClusterCatalogList{
			TypeMeta: metav1.TypeMeta{APIVersion: ocv1.GroupVersion.String(), Kind: "ClusterCatalogList"},
			Items:    []ocv1.ClusterCatalog{catalog("late", ""), catalog("hub", "https://catalogd-service.olmv1-system.svc/catalogs/hub")},
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch o, ok := objects[r.URL.Path]; {
		case ok:
			answerJSON(w, http.StatusOK, o)
		case strings.Contains(r.URL.Path, "/proxy/catalogs/hub/api/v1/all"):
			fmt.Fprint(w, hub)
		default:
			answerJSON(w, http.StatusNotFound, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Reason: metav1.StatusReasonNotFound, Code: 404, Message: "not found"})
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestExtensionsAndCatalogsOfACluster(t *testing.T) {
	server := "--server=" + apiServer(t)
	got := olmgate(t, nil, "resolve", "kiln", server, "-o", "json")
	if v := only(t, got.out); got.code != exitOK || got.err != "" || v.Catalog != "hub" || v.Location != nil {
		t.Errorf("got %+v", got)
	}
	checkShape(t, got.out)

	// Files come first, and have a location.
	got = olmgate(t, nil, "resolve", "kiln", "-f", put(t, "x.yaml", strings.Replace(kiln, "kiln-operator", "elsewhere", 1)), server)
	if got.code != exitUndecided || !strings.HasPrefix(got.out, "undecided kiln  /") || !strings.Contains(got.out, "late (priority -1): it has not been unpacked yet") || !strings.Contains(got.out, "\nresolved  kiln\n") {
		t.Errorf("got %+v", got)
	}

	// The extension of the cluster with catalogs of files.
	got = olmgate(t, nil, "resolve", "kiln", server, "--catalog", "mine="+put(t, "hub.jsonl", hub))
	if got.code != exitOK || !strings.Contains(got.out, "from catalog mine") {
		t.Errorf("got %+v", got)
	}

	refused(t, olmgate(t, nil, "resolve", "kiln", "nosuch", server), "reading ClusterExtension nosuch at http://", "kubectl get clusterextensions")

	got = olmgate(t, nil, "catalog", "ls", server)
	if got.code != exitOK || !strings.Contains(got.out, "hub   5         1         1         1        0      ok") || !strings.Contains(got.out, "no content: it has not been unpacked yet") {
		t.Errorf("got %+v", got)
	}
}

func TestAClusterWithoutOLM(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api":
			answerJSON(w, http.StatusOK, metav1.APIVersions{})
		case "/apis":
			answerJSON(w, http.StatusOK, metav1.APIGroupList{})
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	refused(t, olmgate(t, nil, "resolve", "kiln", "--server="+server.URL), "OLM v1 is not installed there")
	refused(t, olmgate(t, nil, "catalog", "ls", "--server="+server.URL), "OLM v1 is not installed there")
}

func answerJSON(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}
