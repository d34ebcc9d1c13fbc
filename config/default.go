package config

// Default is what olmgate does without a configuration file.
func Default() OlmgateConfiguration {
	return OlmgateConfiguration{
		APIVersion: APIVersion,
		Kind:       Kind,
		Rule:       "Package",
		Mode:       ModeEnforce,
		Policy: Policy{
			// An absent catalog is no evidence: GitOps tools dry-run catalogs and extensions together.
			Reasons:   map[string]string{"NoCatalogsSelected": ActionWarn},
			Undecided: ActionWarn,
			Notes:     map[string]string{},
		},
		Exempt:     Exempt{Users: []string{}, Groups: []string{}},
		BreakGlass: BreakGlass{Group: "olmgate:break-glass", Annotation: true},
		Webhook:    Webhook{BindAddress: ":9443", MinTLSVersion: "1.3", ClientCA: ClientCA{AllowedNames: []string{}}},
		Certificates: Certificates{
			Source:      SourceSelfManaged,
			Settle:      "30s",
			SelfManaged: SelfManaged{AuthorityLifetime: "87600h", ServingLifetime: "720h"},
		},
		Catalogd: Catalogd{AllowedHosts: []string{
			"catalogd-service.olmv1-system.svc",
			"catalogd-service.olmv1-system.svc.cluster.local",
			"catalogd-service.openshift-catalogd.svc",
			"catalogd-service.openshift-catalogd.svc.cluster.local",
		}},
		Limits:       Limits{Blob: "8Mi", Catalog: "2Gi", Index: "512Mi", Blobs: 2_000_000, Files: 100_000},
		Metrics:      Endpoint{BindAddress: ":8080"},
		Health:       Endpoint{BindAddress: ":8081"},
		StatusWriter: StatusWriter{Conditions: ConditionsOwn, WritesPerSecond: 20},
	}
}
