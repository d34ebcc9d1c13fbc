// Package manifests holds what is applied to a cluster to install olmgate, as a kustomize base.
package manifests

import "embed"

// Base is the folder base: everything in one namespace, with a self-managed certificate.
//
//go:embed base
var Base embed.FS
