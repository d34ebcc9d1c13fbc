package cluster

import "testing"

func TestSplitManifest(t *testing.T) {
	objects, err := splitManifest([]byte("---\n# a comment only\n---\nkind: A\n---\nkind: B\ndata: |\n  text --- text\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(objects) != 2 || objects[0]["kind"] != "A" || objects[1]["kind"] != "B" {
		t.Errorf("got %v, want A and B", objects)
	}
	if _, err := splitManifest([]byte("apiVersion: v1\n")); err == nil {
		t.Error("a document without a kind was accepted")
	}
}
