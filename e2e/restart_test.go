package e2e_test

import "testing"

func TestRestartedWebhookAnswersFromItsDisk(t *testing.T) {
	w := gated(t)
	w.sample(0, "a")
	nine := extension("nine", "packageName: kiln-operator", "version: 9.9.9")
	before := w.apply(nine).denied("NoMatchingVersion", "The nearest version is 1.2.0")

	w.StopCatalogd()
	t.Cleanup(func() { // before the catalogs are deleted: their finalizers are catalogd's
		if err := w.StartCatalogd(w.ctx()); err != nil {
			t.Error(err)
		}
	})
	w.restart()
	w.inState("current", "a")
	if after := w.apply(nine).denied("NoMatchingVersion"); after.errs != before.errs {
		t.Errorf("before the restart:\n%s\nafter it:\n%s", before.errs, after.errs)
	}
	w.apply(extension("kiln", "packageName: kiln-operator", "version: 1.2.0")).admitted()
}

func TestStoppedWebhookLetsThrough(t *testing.T) {
	w := gated(t)
	w.sample(0, "a")
	nine := extension("nine", "packageName: kiln-operator", "version: 9.9.9")
	w.apply(nine).denied("NoMatchingVersion")

	w.stop()
	w.apply(nine).admitted()
	w.restart()
	// What went through stays editable but for its source.
	w.kubectl("label", "clusterextension", "nine", "tier=gold").admitted()
	w.kubectl("patch", "clusterextension", "nine", "--type=merge", `--patch={"spec":{"source":{"catalog":{"version":"8.8.8"}}}}`).
		denied("NoMatchingVersion")
}
