package e2e_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/e2e/suite"
	"github.com/olmgate/olmgate/e2e/tools"
)

// testTimeout bounds everything one test waits for.
const testTimeout = 2 * time.Minute

func TestAPIServerIsTheReleaseWeSayItIs(t *testing.T) {
	c := suite.Cluster(t)
	out, _, err := c.Kubectl(t.Context(), nil, "get", "--raw", "/version")
	if err != nil {
		t.Fatal(err)
	}
	var version struct{ GitVersion string }
	if err := json.Unmarshal([]byte(out), &version); err != nil {
		t.Fatal(err)
	}
	if version.GitVersion != tools.KubernetesVersion {
		t.Errorf("API server %s, want %s", version.GitVersion, tools.KubernetesVersion)
	}
}

func TestCatalogsAreServedAsInProduction(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	c := suite.Cluster(t)
	for _, name := range []string{"community", "operatorhubio"} {
		addSample(ctx, t, c, name, 0)
	}
	for _, name := range []string{"community", "operatorhubio"} {
		base := kubectl(ctx, t, c, "get", "clustercatalog", name, "-o", "jsonpath={.status.urls.base}")
		if want := "https://catalogd-service.olmv1-system.svc/catalogs/" + name; base != want {
			t.Errorf("catalog %s is served at %q, want %q", name, base, want)
		}
		label := kubectl(ctx, t, c, "get", "clustercatalog", name,
			"-o", `jsonpath={.metadata.labels.olm\.operatorframework\.io/metadata\.name}`)
		if label != name {
			t.Errorf("catalog %s carries the name label %q: catalogd's webhook was not called", name, label)
		}
		content, err := c.WaitContent(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(content), `"argocd-operator.v0.15.0"`) {
			t.Errorf("catalog %s lacks its newest bundle:\n%s", name, content)
		}
		for _, port := range []string{"https", "443"} {
			proxied := kubectl(ctx, t, c, "get", "--raw",
				"/api/v1/namespaces/olmv1-system/services/https:catalogd-service:"+port+"/proxy/catalogs/"+name+"/api/v1/all")
			if proxied != string(content) {
				t.Errorf("the service proxy's port %s answers other content for %s", port, name)
			}
		}
	}
}

func TestCatalogIsServedAgainAfterCatalogdRestarted(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	c := suite.Cluster(t)
	addSample(ctx, t, c, "a", 0)

	c.StopCatalogd()
	client, err := c.CatalogClient()
	if err != nil {
		t.Fatal(err)
	}
	if response, err := client.Get(cluster.CatalogURL("a")); err == nil {
		response.Body.Close()
		t.Errorf("a stopped catalogd answered %s", response.Status)
	}
	if err := c.StartCatalogd(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := c.WaitContent(ctx, "a"); err != nil {
		t.Error(err)
	}
}

func TestCatalogsSurviveAnAPIServerRestart(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	c := suite.Cluster(t)
	addSample(ctx, t, c, "a", 0)
	if err := c.RestartAPIServer(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.WaitServing(ctx, "a"); err != nil {
		t.Error(err)
	}
}
