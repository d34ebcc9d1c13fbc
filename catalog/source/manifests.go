package source

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"go.yaml.in/yaml/v3"
)

// maxManifests is the size of a file of manifests; a list of every ClusterCatalog of a cluster has a few kB.
const maxManifests = 16 << 20

const kindCatalog = "ClusterCatalog"

// readManifests returns the ClusterCatalogs in a file, members of Lists included. Objects of other kinds are skipped.
func readManifests(path string) ([]*ocv1.ClusterCatalog, error) {
	in, done, err := openText(path)
	if err != nil {
		return nil, err
	}
	defer done()
	text, err := io.ReadAll(io.LimitReader(in, maxManifests+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(text) > maxManifests {
		return nil, fmt.Errorf("%s: it holds manifests and is larger than %d bytes", path, maxManifests)
	}
	docs, err := documents(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var found []*ocv1.ClusterCatalog
	for _, doc := range docs {
		more, err := catalogsIn(doc, true)
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, doc.Line, err)
		}
		found = append(found, more...)
	}
	return found, nil
}

// documents splits a text. YAML errors have the line; JSON is tried first, as YAML is pickier about tabs.
func documents(text []byte) ([]*yaml.Node, error) {
	if isJSON(bufio.NewReader(bytes.NewReader(text))) {
		if docs, err := jsonDocuments(text); err == nil {
			return docs, nil
		}
	}
	var docs []*yaml.Node
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var doc yaml.Node
		switch err := d.Decode(&doc); {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err != nil:
			return nil, err
		}
		docs = append(docs, content(&doc))
	}
}

// jsonDocuments makes nodes of JSON objects, each with the line that it begins in.
func jsonDocuments(text []byte) ([]*yaml.Node, error) {
	var docs []*yaml.Node
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var raw json.RawMessage
		switch err := d.Decode(&raw); {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err != nil:
			return nil, err
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, raw); err != nil {
			return nil, err
		}
		var doc yaml.Node
		if err := yaml.Unmarshal(compact.Bytes(), &doc); err != nil {
			return nil, err
		}
		node := content(&doc)
		node.Line = 1 + bytes.Count(text[:d.InputOffset()-int64(len(raw))], []byte("\n"))
		docs = append(docs, node)
	}
}

func catalogsIn(doc *yaml.Node, lists bool) ([]*ocv1.ClusterCatalog, error) {
	head := headerOf(doc)
	switch {
	case lists && (head.Kind == "List" && head.APIVersion == "v1" || head.Kind == kindCatalog+"List"):
		return catalogsInList(doc)
	case head.Kind != kindCatalog || !isOLM(string(head.APIVersion)):
		return nil, nil
	case string(head.APIVersion) != ocv1.GroupVersion.String():
		return nil, fmt.Errorf("a ClusterCatalog of apiVersion %s: olmgate reads %s", head.APIVersion, ocv1.GroupVersion)
	}
	cc, err := decodeCatalog(doc)
	if err != nil {
		return nil, err
	}
	return []*ocv1.ClusterCatalog{cc}, nil
}

func isOLM(apiVersion string) bool {
	group := ocv1.GroupVersion.Group
	return len(apiVersion) > len(group) && apiVersion[:len(group)+1] == group+"/"
}

func catalogsInList(doc *yaml.Node) ([]*ocv1.ClusterCatalog, error) {
	var found []*ocv1.ClusterCatalog
	for i := 0; i+1 < len(doc.Content); i += 2 {
		if doc.Content[i].Value != "items" || doc.Content[i+1].Kind != yaml.SequenceNode {
			continue
		}
		for n, item := range doc.Content[i+1].Content {
			more, err := catalogsIn(item, false)
			if err != nil {
				return nil, fmt.Errorf("items[%d]: %w", n, err)
			}
			found = append(found, more...)
		}
	}
	return found, nil
}

// decodeCatalog goes by way of JSON, whose rules the API types follow. Fields it does not know are skipped, since a
// newer OLM may have more.
func decodeCatalog(doc *yaml.Node) (*ocv1.ClusterCatalog, error) {
	var value any
	if err := doc.Decode(&value); err != nil {
		return nil, err
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var cc ocv1.ClusterCatalog
	if err := json.Unmarshal(text, &cc); err != nil {
		return nil, fmt.Errorf("not a ClusterCatalog: %w", err)
	}
	if cc.Name == "" {
		return nil, errors.New("a ClusterCatalog without metadata.name: give it one")
	}
	if why := badName(cc.Name); why != "" {
		return nil, fmt.Errorf("metadata.name %q of a ClusterCatalog: %s", cc.Name, why)
	}
	return &cc, nil
}
