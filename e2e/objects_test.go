package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// extension is a ClusterExtension with fields of spec.source.catalog, each "name: value" in flow style.
func extension(name string, fields ...string) string {
	return annotated(name, "", fields...)
}

// annotated is an extension with annotations, as a flow mapping.
func annotated(name, annotations string, fields ...string) string {
	if annotations == "" {
		annotations = "{}"
	}
	return fmt.Sprintf(`apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata:
  name: %s
  annotations: %s
spec:
  namespace: default
  source:
    sourceType: Catalog
    catalog:
      %s
`, name, annotations, strings.Join(fields, "\n      "))
}

// clusterCatalog is a ClusterCatalog of an image.
func clusterCatalog(name, ref string) string {
	return fmt.Sprintf(`apiVersion: olm.operatorframework.io/v1
kind: ClusterCatalog
metadata:
  name: %s
spec:
  source:
    type: Image
    image:
      ref: %s
`, name, ref)
}

// manifestOf is an object as a manifest, JSON being YAML.
func manifestOf(o object) string {
	raw, err := o.MarshalJSON()
	if err != nil {
		panic(err) // cannot be: it was made here
	}
	return string(raw) + "\n"
}

// documents joins manifests into one.
func documents(manifests ...string) string { return strings.Join(manifests, "---\n") }

// operator is the content of a catalog with one package: a channel stable in which each version replaces the one
// before.
func operator(name string, versions ...string) []byte {
	var entries []any
	blobs := []any{map[string]any{"schema": "olm.package", "name": name, "defaultChannel": "stable"}}
	for i, version := range versions {
		entry := map[string]any{"name": bundleName(name, version)}
		if i > 0 {
			entry["replaces"] = bundleName(name, versions[i-1])
		}
		entries = append(entries, entry)
		blobs = append(blobs, bundle(name, bundleName(name, version), version))
	}
	return fbc(append(blobs, channel(name, "stable", entries...))...)
}

func bundleName(name, version string) string { return name + ".v" + version }

func bundle(pkg, name, version string) map[string]any {
	return map[string]any{
		"schema": "olm.bundle", "package": pkg, "name": name,
		"image": "registry.example.com/" + pkg + ":" + version,
		"properties": []any{map[string]any{
			"type": "olm.package", "value": map[string]any{"packageName": pkg, "version": version},
		}},
	}
}

func channel(pkg, name string, entries ...any) map[string]any {
	return map[string]any{"schema": "olm.channel", "package": pkg, "name": name, "entries": entries}
}

// fbc writes blobs as file-based catalog content.
func fbc(blobs ...any) []byte {
	var out bytes.Buffer
	for _, blob := range blobs {
		line, err := json.Marshal(blob)
		if err != nil {
			panic(err) // cannot be: only maps, lists and strings come here
		}
		out.Write(append(line, '\n'))
	}
	return out.Bytes()
}
