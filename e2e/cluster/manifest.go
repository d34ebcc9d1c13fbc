package cluster

import (
	"bytes"
	"encoding/base64"
	"fmt"

	"sigs.k8s.io/yaml"
)

// splitManifest decodes the objects of a file of several YAML documents.
func splitManifest(content []byte) ([]map[string]any, error) {
	var objects []map[string]any
	content = append([]byte("\n"), content...)
	for i, document := range bytes.Split(content, []byte("\n---")) {
		var object map[string]any
		if err := yaml.Unmarshal(document, &object); err != nil {
			return nil, fmt.Errorf("document %d: %w", i, err)
		}
		if len(object) == 0 {
			continue
		}
		if _, ok := object["kind"].(string); !ok {
			return nil, fmt.Errorf("document %d has no kind", i)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// trustWebhooks does what cert-manager does in a real installation: it tells the
// API server which CA to expect.
func trustWebhooks(configuration map[string]any, ca []byte) {
	webhooks, _ := configuration["webhooks"].([]any)
	for _, webhook := range webhooks {
		fields, _ := webhook.(map[string]any)
		if client, ok := fields["clientConfig"].(map[string]any); ok {
			client["caBundle"] = base64.StdEncoding.EncodeToString(ca)
		}
	}
}
