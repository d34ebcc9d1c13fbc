package store

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/olmgate/olmgate/catalog/source"
)

const (
	one = "example.com/x/c@sha256:1"
	two = "example.com/x/c@sha256:2"
)

var errNotFound = &source.StatusError{Code: http.StatusNotFound}

func TestContentIsLoadedInTheBackground(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, c *cluster, r *remote, s *Store) {
		cc := c.set("a", serves(one))
		expect(t, s, cc, "", false, "its content is being loaded")
		s.observe(cc)
		d := r.next(t, "a", one)
		expect(t, s, cc, "", false, "its content is being loaded")
		expectPhase(t, s, Loading)
		d.succeed(t, "first")
		expect(t, s, cc, "first", false, "")
		st := expectPhase(t, s, Current)
		if st.Ref != one || st.Wanted != one || st.Packages != 1 || st.UID != cc.UID || st.Loaded.IsZero() {
			t.Errorf("got %+v", st)
		}
		s.observe(c.set("a", labelled))
		r.none(t)
	})
}

func TestANewerRevisionTakesItsPlaceInOneStep(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, c *cluster, r *remote, s *Store) {
		old := c.set("a", serves(one))
		s.observe(old)
		r.next(t, "a", one).succeed(t, "first")
		cc := c.set("a", serves(two))
		expect(t, s, cc, "first", true, "a newer revision of it is being loaded")
		s.observe(cc)
		d := r.next(t, "a", two)
		expect(t, s, cc, "first", true, "a newer revision of it is being loaded")
		expectPhase(t, s, Outdated)
		before := s.Content(cc)
		d.succeed(t, "second")
		expect(t, s, cc, "second", false, "")
		if before.Index.Package("first") == nil || before.Index.Package("second") != nil {
			t.Error("content that was handed out has changed")
		}
		expect(t, s, old, "second", true, "a newer")
	})
}

func TestANewRevisionEndsARunningDownload(t *testing.T) {
	inBubble(t, Options{Concurrency: 1}, func(t *testing.T, c *cluster, r *remote, s *Store) {
		s.observe(c.set("a", serves(one)))
		d := r.next(t, "a", one)
		cc := c.set("a", serves(two))
		s.observe(cc)
		synctest.Wait()
		if d.ctx.Err() == nil {
			t.Error("the download of the old revision goes on")
		}
		r.next(t, "a", two).succeed(t, "second")
		expect(t, s, cc, "second", false, "")
	})
}

func TestContentOfARevisionThatChangedDuringTheDownloadIsDropped(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, c *cluster, r *remote, s *Store) {
		stale := c.set("a", serves(one))
		s.observe(stale)
		d := r.next(t, "a", one)
		cc := c.set("a", serves(two)) // the watch has not brought it yet
		d.succeed(t, "of which revision?")
		expect(t, s, cc, "", false, "its content is being loaded")
		d = r.next(t, "a", two)
		late := stale.DeepCopy()
		s.observe(late) // nor does it undo what the API server said
		synctest.Wait()
		if d.ctx.Err() != nil {
			t.Error("a late watch event ended the download of the newer revision")
		}
		d.succeed(t, "second")
		expect(t, s, cc, "second", false, "")
		s.observe(cc)
		r.none(t)
	})
}

func TestADownloadThatCannotBeConfirmedIsTriedAgain(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, c *cluster, r *remote, s *Store) {
		cc := c.set("a", serves(one))
		s.observe(cc)
		d := r.next(t, "a", one)
		c.remove("a")
		d.succeed(t, "first")
		expect(t, s, cc, "", false, "loading it failed: reading ClusterCatalog")
	})
}

func TestAFailingReloadKeepsTheOldContent(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, c *cluster, r *remote, s *Store) {
		s.observe(c.set("a", serves(one)))
		r.next(t, "a", one).succeed(t, "first")
		cc := c.set("a", serves(two))
		s.observe(cc)
		r.next(t, "a", two).fail(&source.FetchError{Catalog: "a", URL: "https://x/all", Err: source.ErrEmpty})
		expect(t, s, cc, "first", true, "loading its newer revision failed: it served no content")
		if st := expectPhase(t, s, Outdated); st.Ref != one || st.Wanted != two || st.Failures != 1 {
			t.Errorf("got %+v", st)
		}
		time.Sleep(time.Minute)
		r.next(t, "a", two).succeed(t, "second")
		expect(t, s, cc, "second", false, "")
	})
}

func TestWaitsBetweenTries(t *testing.T) {
	tests := map[string]struct {
		err   error
		waits []time.Duration
	}{
		"404 soon, and then every 30 s":                   {errNotFound, []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second, 30 * time.Second}},
		"a failure of any kind up to every 5 min":         {errors.New("x"), []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, 64 * time.Second, 128 * time.Second, 256 * time.Second, 300 * time.Second, 300 * time.Second}},
		"empty content slowly, as it stays so for a time": {source.ErrEmpty, []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 5 * time.Minute}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Options{}, func(t *testing.T, c *cluster, r *remote, s *Store) {
				cc := c.set("a", serves(one))
				s.observe(cc)
				for n, wait := range tc.waits {
					r.next(t, "a", one).fail(tc.err)
					if st := expectPhase(t, s, Failed); st.Failures != n+1 {
						t.Errorf("got %+v, want %d failures", st, n+1)
					}
					time.Sleep(wait - time.Millisecond)
					r.none(t)
					time.Sleep(time.Millisecond)
				}
				r.next(t, "a", one).succeed(t, "first")
				expect(t, s, cc, "first", false, "")
			})
		})
	}
}

func TestANewRevisionDoesNotWaitForTheFailuresOfTheOldOne(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, c *cluster, r *remote, s *Store) {
		s.observe(c.set("a", serves(one)))
		r.next(t, "a", one).fail(source.ErrEmpty)
		cc := c.set("a", serves(two))
		s.observe(cc)
		d := r.next(t, "a", two)
		expect(t, s, cc, "", false, "its content is being loaded")
		d.fail(source.ErrEmpty)
		if st := expectPhase(t, s, Failed); st.Failures != 1 {
			t.Errorf("got %+v, want the count begun anew", st)
		}
		time.Sleep(time.Minute)
		r.next(t, "a", two)
	})
}

func TestAnEditBringsTheNextTryForward(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, c *cluster, r *remote, s *Store) {
		cc := c.set("a", serves(one))
		s.observe(cc)
		r.next(t, "a", one).fail(source.ErrEmpty)
		s.observe(cc.DeepCopy()) // a resync is no edit
		time.Sleep(2 * time.Second)
		r.none(t)
		s.observe(c.set("a", labelled))
		r.none(t)
		time.Sleep(900 * time.Millisecond)
		s.observe(c.set("a", labelled)) // does not put it off
		time.Sleep(100 * time.Millisecond)
		r.next(t, "a", one).fail(source.ErrEmpty)
		time.Sleep(2*time.Minute - time.Millisecond)
		r.none(t)
		time.Sleep(time.Millisecond)
		r.next(t, "a", one)
	})
}

func TestACatalogThatWasCreatedAgainNeverGetsTheOldContent(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, c *cluster, r *remote, s *Store) {
		old := c.set("a", serves(one))
		s.observe(old)
		r.next(t, "a", one).succeed(t, "first")
		c.remove("a")
		again := c.set("a", serves(one))
		expect(t, s, again, "", false, "its content is being loaded")
		s.observe(again) // the deletion in between was never seen
		d := r.next(t, "a", one)
		expect(t, s, again, "", false, "its content is being loaded")
		expect(t, s, old, "", false, "its content is being loaded")
		d.succeed(t, "second")
		expect(t, s, again, "second", false, "")
		expect(t, s, old, "", false, "its content is being loaded")
	})
}

func TestADeletedCatalogIsDropped(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, c *cluster, r *remote, s *Store) {
		cc := c.set("a", serves(one))
		s.observe(cc)
		r.next(t, "a", one).succeed(t, "first")
		s.drop("a")
		expect(t, s, cc, "", false, "its content is being loaded")
		if got := s.States(); len(got) != 0 {
			t.Errorf("got %+v, want nothing", got)
		}
		s.drop("never there")
		s.observe(c.set("b", serves(one)))
		d := r.next(t, "b", one)
		s.drop("b")
		synctest.Wait()
		if d.ctx.Err() == nil {
			t.Error("the download of a deleted catalog goes on")
		}
		s.observe(c.set("c", serves(one)))
		r.next(t, "c", one).fail(errNotFound)
		s.drop("c")
		time.Sleep(time.Hour)
		r.none(t)
	})
}

func TestAnUnavailableCatalogKeepsItsContent(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, c *cluster, r *remote, s *Store) {
		s.observe(c.set("a", serves(one)))
		r.next(t, "a", one).succeed(t, "first")
		cc := c.set("a", unavailable)
		s.observe(cc)
		expect(t, s, cc, "first", false, "")
		expectPhase(t, s, NotServing)
		cc = c.set("a", available, serves(one))
		s.observe(cc)
		r.none(t)
		expect(t, s, cc, "first", false, "")
		expectPhase(t, s, Current)
	})
}

func TestWhyThereIsNoContent(t *testing.T) {
	progressing := func(reason, message string) func(*ocv1.ClusterCatalog) {
		return func(cc *ocv1.ClusterCatalog) {
			cc.Status.Conditions = append(cc.Status.Conditions, metav1.Condition{Type: ocv1.TypeProgressing, Reason: reason, Message: message})
		}
	}
	notServing := func(cc *ocv1.ClusterCatalog) { cc.Status.Conditions[0].Status = metav1.ConditionFalse }
	withoutURL := func(cc *ocv1.ClusterCatalog) { cc.Status.URLs = nil }
	tests := map[string]struct {
		edits []func(*ocv1.ClusterCatalog)
		want  string
	}{
		"just created":      {nil, "it has not been unpacked yet"},
		"being unpacked":    {[]func(*ocv1.ClusterCatalog){progressing(ocv1.ReasonRetrying, "no such\ntag")}, "it has not been unpacked yet (Retrying: no such tag)"},
		"unavailable":       {[]func(*ocv1.ClusterCatalog){unavailable}, "its availabilityMode is Unavailable"},
		"being deleted":     {[]func(*ocv1.ClusterCatalog){serves(one), deleting}, "it is being deleted"},
		"not serving":       {[]func(*ocv1.ClusterCatalog){serves(one), notServing}, "it is not serving and was never loaded"},
		"without a address": {[]func(*ocv1.ClusterCatalog){serves(one), withoutURL}, "its content is being loaded"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Options{}, func(t *testing.T, c *cluster, r *remote, s *Store) {
				cc := c.set("a", tc.edits...)
				expect(t, s, cc, "", false, tc.want)
				s.observe(cc)
				r.none(t)
				expect(t, s, cc, "", false, tc.want)
				expectPhase(t, s, NotServing)
			})
		})
	}
}

func TestDownloadsAtATimeAreLimited(t *testing.T) {
	inBubble(t, Options{Concurrency: 2}, func(t *testing.T, c *cluster, r *remote, s *Store) {
		frees := 0
		s.free = func() { frees++ }
		for _, name := range []string{"a", "b", "c"} {
			s.observe(c.set(name, serves(one)))
		}
		synctest.Wait()
		first, second := <-r.downloads, <-r.downloads
		r.none(t)
		first.succeed(t, "x")
		third := <-r.downloads
		third.succeed(t, "x")
		if frees != 0 {
			t.Error("memory was given back while a download runs")
		}
		second.succeed(t, "x")
		if frees != 1 {
			t.Errorf("memory was given back %d times, want once", frees)
		}
		s.observe(c.set("d", serves(one)))
		r.next(t, "d", one).fail(errNotFound)
		if frees != 1 {
			t.Error("a 404 had memory given back")
		}
	})
}

func TestSettled(t *testing.T) {
	settled := func(s *Store) bool {
		select {
		case <-s.Settled():
			return true
		default:
			return false
		}
	}
	tests := map[string]struct {
		end func(t *testing.T, c *cluster, r *remote, s *Store)
	}{
		"when the last is loaded":           {func(t *testing.T, _ *cluster, r *remote, _ *Store) { r.next(t, "a", one).succeed(t, "x") }},
		"when the last has failed once":     {func(t *testing.T, _ *cluster, r *remote, _ *Store) { r.next(t, "a", one).fail(errNotFound) }},
		"when the last is gone":             {func(_ *testing.T, _ *cluster, _ *remote, s *Store) { s.drop("a") }},
		"when the last has nothing to load": {func(_ *testing.T, c *cluster, _ *remote, s *Store) { s.observe(c.set("a", unavailable)) }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Options{}, func(t *testing.T, c *cluster, r *remote, s *Store) {
				s.observe(c.set("not unpacked"))
				s.observe(c.set("a", serves(one)))
				if settled(s) {
					t.Error("settled before the first list")
				}
				s.listed()
				if settled(s) {
					t.Error("settled with a catalog that is being loaded")
				}
				tc.end(t, c, r, s)
				if !settled(s) {
					t.Error("not settled")
				}
				s.observe(c.set("later", serves(one)))
				if !settled(s) {
					t.Error("a later catalog undid it")
				}
			})
		})
	}
	t.Run("without any catalog", func(t *testing.T) {
		inBubble(t, Options{}, func(t *testing.T, _ *cluster, _ *remote, s *Store) {
			s.listed()
			if !settled(s) {
				t.Error("not settled")
			}
		})
	})
}

func TestWatchersAreTold(t *testing.T) {
	var got []string
	inBubble(t, Options{}, func(t *testing.T, c *cluster, r *remote, s *Store) {
		stop := s.Watch(func(name string) { got = append(got, name) })
		changes := func(want int) {
			t.Helper()
			synctest.Wait()
			if len(got) != want {
				t.Errorf("got %d changes, want %d", len(got), want)
			}
			got = nil
		}
		cc := c.set("a", serves(one))
		s.observe(cc)
		changes(1) // loading
		s.observe(c.set("a", labelled))
		changes(0)
		r.next(t, "a", one).succeed(t, "x")
		changes(1)
		s.drop("a")
		changes(1)
		s.drop("a")
		changes(0)
		stop()
		s.observe(cc)
		changes(0)
	})
}

func TestStatesAreSorted(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, c *cluster, _ *remote, s *Store) {
		for _, name := range []string{"c", "a", "b"} {
			s.observe(c.set(name))
		}
		if !slices.IsSortedFunc(s.States(), func(a, b State) int { return int(a.Name[0]) - int(b.Name[0]) }) {
			t.Errorf("got %+v", s.States())
		}
	})
}

func TestNothingBeginsAfterClose(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, c *cluster, r *remote, s *Store) {
		s.observe(c.set("a", serves(one)))
		d := r.next(t, "a", one)
		s.Close()
		if d.ctx.Err() == nil {
			t.Error("a download outlives the Store")
		}
		s.observe(c.set("b", serves(one)))
		r.none(t)
	})
}

func TestReadersNeverWaitAndNeverSeeHalf(t *testing.T) {
	c := newCluster()
	pairs := map[string]string{one: "one", two: "two"}
	s := New(Options{Latest: c.latest, Fetcher: fetchFunc(func(cc *ocv1.ClusterCatalog) answer {
		return answer{index: index(t, pairs[RefOf(cc)])}
	})})
	s.free = func() {}
	defer s.Close()
	var readers sync.WaitGroup
	stop := make(chan struct{})
	cc := c.set("a", serves(one))
	s.observe(cc)
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				got := s.Content(cc)
				if got.Index != nil && got.Outdated == (got.Index.Package("one") != nil) {
					t.Errorf("got outdated %v of the wrong revision", got.Outdated)
					return
				}
				s.States()
			}
		})
	}
	for n := range 200 {
		s.observe(c.set("a", serves([]string{one, two}[n%2])))
	}
	close(stop)
	readers.Wait()
	await(t, func() error {
		last := c.objects["a"]
		if got := s.Content(last); got.Outdated || got.Index == nil {
			return fmt.Errorf("got %+v", got)
		}
		return nil
	})
}
