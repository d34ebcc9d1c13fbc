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
	// Certificates is where the serving certificate comes from.
	Certificates Certificates `json:"certificates"`
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
	// StatusWriter writes conditions into the status of ClusterExtensions.
	StatusWriter StatusWriter `json:"statusWriter"`
}

// Which conditions the status writer writes.
const (
	ConditionsOwn  = "own"
	ConditionsFull = "full"
)

// StatusWriter writes conditions into the status of ClusterExtensions.
type StatusWriter struct {
	// Enabled is whether olmgate serve does it too. olmgate status-writer does it whatever this says.
	Enabled bool `json:"enabled"`
	// Conditions is own, or full for the plain types too, where nobody else has them.
	Conditions string `json:"conditions"`
	// WritesPerSecond paces it.
	WritesPerSecond float64 `json:"writesPerSecond"`
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
	// ClientCA makes the server refuse other clients.
	ClientCA ClientCA `json:"clientCA"`
}

// ClientCA says which clients the server lets in.
type ClientCA struct {
	// File holds the CAs of clients, as PEM; "" lets in everybody.
	File string `json:"file"`
	// AllowedNames are the common names and DNS names of which a client's certificate must have one; none lets in
	// whoever has a certificate.
	AllowedNames []string `json:"allowedNames"`
}

// Sources of the serving certificate.
const (
	SourceSelfManaged = "SelfManaged"
	SourceCertManager = "CertManager"
	SourceFiles       = "Files"
)

// Certificates is where the serving certificate comes from.
type Certificates struct {
	// Source is SelfManaged, CertManager or Files.
	Source string `json:"source"`
	// Settle is how long every API server takes at most to learn of a changed caBundle.
	Settle Duration `json:"settle"`
	// SelfManaged is about the source of that name.
	SelfManaged SelfManaged `json:"selfManaged"`
	// CertManager is about the source of that name.
	CertManager CertManager `json:"certManager"`
	// Files is about the source of that name.
	Files Files `json:"files"`
}

// SelfManaged is about certificates that olmgate makes.
type SelfManaged struct {
	// AuthorityLifetime is how long an authority lives. It is replaced in the last tenth.
	AuthorityLifetime Duration `json:"authorityLifetime"`
	// ServingLifetime is how long a serving certificate lives. It is replaced in the last third.
	ServingLifetime Duration `json:"servingLifetime"`
}

// CertManager is about certificates that cert-manager issues.
type CertManager struct {
	// Create is whether olmgate makes the Certificate and a private CA itself.
	Create bool `json:"create"`
}

// Files is about a certificate that something else writes to disk.
type Files struct {
	// CertFile holds the certificate and those between it and its root, as PEM.
	CertFile string `json:"certFile"`
	// KeyFile holds its key, as PEM.
	KeyFile string `json:"keyFile"`
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
