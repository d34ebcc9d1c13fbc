package resolver

import (
	"encoding/json"
	"fmt"
	"strings"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
)

// asJSON is a value ready for a suggestion.
func asJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null") // cannot be: only strings and lists of strings come here
	}
	return raw
}

// byName is a selector of one catalog.
func byName(catalog string) json.RawMessage {
	return asJSON(map[string]map[string]string{"matchLabels": {ocv1.MetadataNameLabel: catalog}})
}

// byNameText is the same selector in the form that people write.
func byNameText(catalog string) string {
	return fmt.Sprintf("{matchLabels: {%s: %s}}", ocv1.MetadataNameLabel, catalog)
}

func suggestCatalog(catalog, why string) Suggestion {
	return Suggestion{fieldSelector, byName(catalog), fmt.Sprintf("%s set %s: %s", why, fieldSelector, byNameText(catalog))}
}

func suggestVersion(version, why string) Suggestion {
	return Suggestion{fieldVersion, asJSON(version), fmt.Sprintf("%s set %s: %q", why, fieldVersion, version)}
}

func suggestChannels(why string, channels ...string) Suggestion {
	return Suggestion{fieldChannels, asJSON(channels), fmt.Sprintf("%s set %s: [%s]", why, fieldChannels, strings.Join(channels, ", "))}
}

func suggestPackage(name, why string) Suggestion {
	return Suggestion{fieldPackage, asJSON(name), fmt.Sprintf("%s set %s: %s", why, fieldPackage, name)}
}

func suggestRemoval(field, why string) Suggestion {
	return Suggestion{field, json.RawMessage("null"), fmt.Sprintf("%s remove %s", why, field)}
}

func suggestSelfCertified(why string) Suggestion {
	return Suggestion{fieldPolicy, asJSON(string(ocv1.UpgradeConstraintPolicySelfCertified)),
		fmt.Sprintf("%s set %s: %s", why, fieldPolicy, ocv1.UpgradeConstraintPolicySelfCertified)}
}
