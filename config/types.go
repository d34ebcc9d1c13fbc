package config

// Identity of the one version that is read.
const (
	APIVersion = "config.olmgate.dev/v1alpha1"
	Kind       = "OlmgateConfiguration"
)

// OlmgateConfiguration is how olmgate serve behaves.
type OlmgateConfiguration struct {
	// APIVersion is config.olmgate.dev/v1alpha1.
	APIVersion string `json:"apiVersion"`
	// Kind is OlmgateConfiguration.
	Kind string `json:"kind"`
	// Rule selects among catalogs: Package or Bundle.
	Rule string `json:"rule"`
	// Mode is Enforce, or Warn, which turns every denial into a warning.
	Mode string `json:"mode"`
	// Policy says what each reason leads to.
	Policy Policy `json:"policy"`
	// Exempt users and groups are never judged.
	Exempt Exempt `json:"exempt"`
	// BreakGlass are the deliberate ways past a denial.
	BreakGlass BreakGlass `json:"breakGlass"`
	// Webhook is the server that the API server calls.
	Webhook Webhook `json:"webhook"`
	// Catalogd is where content of catalogs comes from.
	Catalogd Catalogd `json:"catalogd"`
	// CacheDir keeps compact indexes over restarts; "" for none.
	CacheDir string `json:"cacheDir"`
	// Limits of what is read from a catalog.
	Limits Limits `json:"limits"`
	// Metrics is the server of Prometheus metrics.
	Metrics Endpoint `json:"metrics"`
	// Health is the server of /healthz and /readyz.
	Health Endpoint `json:"health"`
}

// Actions of a policy.
const (
	ActionDeny   = "Deny"
	ActionWarn   = "Warn"
	ActionIgnore = "Ignore"
)

// Modes.
const (
	ModeEnforce = "Enforce"
	ModeWarn    = "Warn"
)

// Policy says what each reason leads to. Reasons that are not named keep their default.
type Policy struct {
	// Reasons of failures: Deny, Warn or Ignore. Deny by default, except NoCatalogsSelected: Warn.
	Reasons map[string]string `json:"reasons"`
	// Undecided verdicts: Warn or Ignore.
	Undecided string `json:"undecided"`
	// Notes: Warn or Ignore. Warn by default.
	Notes map[string]string `json:"notes"`
}

// Exempt names who is never judged. Names are compared as they are.
type Exempt struct {
	Users  []string `json:"users"`
	Groups []string `json:"groups"`
}

// BreakGlass are the deliberate ways past a denial.
type BreakGlass struct {
	// Group whose members are never judged, "" for none. The ValidatingWebhookConfiguration names it too.
	Group string `json:"group"`
	// Annotation is whether olmgate.dev/bypass turns a denial into a warning.
	Annotation bool `json:"annotation"`
}

// Webhook is the server that the API server calls.
type Webhook struct {
	// BindAddress is host:port.
	BindAddress string `json:"bindAddress"`
	// MinTLSVersion is "1.3" or "1.2".
	MinTLSVersion string `json:"minTLSVersion"`
}

// Catalogd is where content of catalogs comes from.
type Catalogd struct {
	// CAFile holds the certificates that sign catalogd's, as PEM; "" for those of the system.
	CAFile string `json:"caFile"`
	// AllowedHosts are the only hosts that status.urls.base of a ClusterCatalog may name.
	AllowedHosts []string `json:"allowedHosts"`
	// URL replaces the scheme, host and port of status.urls.base; "" to use what the status says.
	URL string `json:"url"`
}

// Limits of what is read from a catalog. Sizes are quantities such as 16Mi.
type Limits struct {
	// Blob is the size of the largest single object.
	Blob Size `json:"blob"`
	// Catalog is the size of a whole catalog after decompression.
	Catalog Size `json:"catalog"`
	// Index is about how much text of a catalog is kept in memory.
	Index Size `json:"index"`
	// Blobs is the number of objects.
	Blobs int `json:"blobs"`
	// Files is the number of files of a directory.
	Files int `json:"files"`
}

// Endpoint is a server on an address of its own.
type Endpoint struct {
	// BindAddress is host:port, "0" for none.
	BindAddress string `json:"bindAddress"`
}
