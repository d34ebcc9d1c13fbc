package e2e_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/olmgate/olmgate/e2e/cluster"
)

// fault is a catalog server's misbehaviour and what olmgate makes of it.
type fault struct {
	answer http.HandlerFunc
	// base of the catalog's address; empty: the scripted server.
	base string
	// state in the metrics, and why in the warning.
	state, why string
}

var millContent = operator("mill-operator", "1.0.0")

func faults(repaired *atomic.Bool) map[string]fault {
	return map[string]fault{
		"truncated": {
			answer: func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Content-Length", strconv.Itoa(len(millContent)))
				_, _ = rw.Write(millContent[:strings.Index(string(millContent), "\n")+1])
			},
			state: "failed", why: "the content was cut short",
		},
		"aborted": {
			answer: func(rw http.ResponseWriter, _ *http.Request) {
				_, _ = rw.Write(millContent[:len(millContent)/2])
				rw.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			},
			state: "failed", why: "the content was cut short",
		},
		"empty": {
			answer: func(http.ResponseWriter, *http.Request) {},
			state:  "failed", why: "it served no content: the catalog image may have a configs label that names an absent or empty directory",
		},
		"redirect": {
			answer: func(rw http.ResponseWriter, r *http.Request) {
				http.Redirect(rw, r, "https://evil.example.com/all", http.StatusFound)
			},
			state: "failed", why: `a redirect to the host "evil.example.com", and olmgate follows none`,
		},
		"late": {
			answer: func(rw http.ResponseWriter, _ *http.Request) {
				if !repaired.Load() {
					http.Error(rw, "404 Not Found", http.StatusNotFound)
					return
				}
				_, _ = rw.Write(millContent)
			},
			state: "failed", why: "the answer was 404 Not Found",
		},
		"forged": {
			base:  "https://evil.example.com/catalogs/forged",
			state: "failed", why: `refused: status.urls.base names the host "evil.example.com", which is not one of the allowed catalogd hosts`,
		},
		"not-https": {
			base:  "http://" + scriptedHost + "/catalogs/not-https",
			state: "failed", why: "refused: ",
		},
	}
}

func TestFaultsOfACatalogServerAreWarnings(t *testing.T) {
	w := gated(t)
	w.sample(0, "a")
	var repaired atomic.Bool
	all := faults(&repaired)
	stall := fault{
		answer: func(rw http.ResponseWriter, r *http.Request) {
			_, _ = rw.Write(millContent[:20])
			rw.(http.Flusher).Flush()
			<-r.Context().Done()
		},
		state: "loading", why: "its content is being loaded",
	}
	all["stalled"] = stall
	w.serveFaults(all)

	w.forge("stalled", stall) // first, since it takes 30 s to be given up
	for name, f := range all {
		if name != "stalled" {
			w.forge(name, f)
		}
	}
	for name, f := range all {
		t.Run(name, func(t *testing.T) {
			w := &world{Cluster: w.Cluster, T: t, gate: w.gate}
			w.inState(f.state, name)
			w.apply(millFrom(name)).warned("CatalogContentUnavailable", name+" (priority 0)", f.why)
		})
	}
	w.try(extension("mill", "packageName: mill-operator")).warned("CatalogContentUnavailable", "8 catalogs")
	w.try(extension("kiln", "packageName: kiln-operator")).warned("CatalogContentUnavailable")
	w.try(extension("kiln", "packageName: kiln-operator", "version: 9.9.9")).denied("NoMatchingVersion")

	repaired.Store(true)
	w.kubectl("annotate", "clustercatalog", "late", "tried=again")
	w.inState("current", "late")
	w.try(strings.Replace(millFrom("late"), "name: mill-late", "name: mill-in-time", 1)).admitted()

	late := strings.Replace(millFrom("stalled"), "name: mill-stalled", "name: mill-at-last", 1)
	w.trySays(late, "the download stalled").warned("CatalogContentUnavailable", "nothing arrived for 30s")
}

// millFrom is an extension that wants mill-operator of one catalog.
func millFrom(catalog string) string {
	return extension("mill-"+catalog, "packageName: mill-operator", "selector: {matchLabels: {olm.operatorframework.io/metadata.name: "+catalog+"}}")
}

// serveFaults serves each fault below its name until the test ends.
func (w *world) serveFaults(all map[string]fault) {
	w.Helper()
	certFile, keyFile, err := w.CatalogdCA.Issue("scripted", cluster.Subject{CommonName: "scripted", IPs: []string{"10.200.0.20"}})
	if err != nil {
		w.Fatal(err)
	}
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		w.Fatal(err)
	}
	mux := http.NewServeMux()
	for name, f := range all {
		if f.answer != nil {
			mux.HandleFunc("GET /catalogs/"+name+"/api/v1/all", f.answer)
		}
	}
	listener, err := tls.Listen("tcp", scriptedHost, &tls.Config{Certificates: []tls.Certificate{cert}})
	if err != nil {
		w.Fatal(err)
	}
	server := &http.Server{Handler: mux, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = server.Serve(listener) }()
	w.Cleanup(func() { _ = server.Close() })
}

// forge makes a ClusterCatalog whose image does not exist, so that catalogd writes no more than its trouble into the
// status, and puts another server in catalogd's place.
func (w *world) forge(name string, f fault) {
	w.Helper()
	calls := w.caller()
	if _, err := calls.create(w.ctx(), catalogObject(name, cluster.RegistryAddress+"/absent-"+name+":latest")); err != nil {
		w.Fatal(err)
	}
	base := f.base
	if base == "" {
		base = "https://" + scriptedHost + "/catalogs/" + name
	}
	status := fmt.Sprintf(`{"status":{"urls":{"base":%q},"lastUnpacked":"2026-01-01T00:00:00Z",
		"resolvedSource":{"type":"Image","image":{"ref":"registry.example.com/%s@sha256:%064d"}},
		"conditions":[{"type":"Serving","status":"True","reason":"Available","message":"","observedGeneration":1,"lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`,
		base, name, 1)
	if err := calls.patch(w.ctx(), "ClusterCatalog", name, status, "status"); err != nil {
		w.Fatal(err)
	}
}
